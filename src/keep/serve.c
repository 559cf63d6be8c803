/* SPDX-License-Identifier: ISC
 *
 * The loop of the keep's main process and its two tables of verbs. It trusts
 * the supervisor and its config. It distrusts the core: the core may name a
 * source by its index in the generation in force and hand over one socket,
 * nothing more; an order that is no order costs it its link and all its
 * couriers. This process holds no token and no key, and reads no byte that a
 * source or a name server made.
 */
#include "keep/serve.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/log.h"
#include "base/memory.h"
#include "confine/landlock.h"
#include "keep/courier_link.h"
#include "keep/report.h"
#include "wire/super_msg.h"
#include "wire/yard_msg.h"

enum {
	WATCH_SUPERVISOR,
	WATCH_CORE,
	WATCH_COURIERS,
	WATCH_GRAVE = WATCH_COURIERS + LIMIT_COURIERS * COURIER_LINK_FDS,
	WATCH_END = WATCH_GRAVE + LIMIT_KEEP_DYING,
};

struct keep {
	const char *state;
	int supervisor;
	int core; /* -1: there is none */
	bool is_stopping;
	uint32_t generation; /* in force; its config is NULL at first */
	uint32_t old_generation; /* in force before */
	struct config *config;
	uint32_t pending_generation;
	struct config *pending;
	struct report report;
	struct courier_link couriers[LIMIT_COURIERS];
	struct grave grave;
};

static void
close_couriers(struct keep *keep)
{
	for (size_t i = 0; i < LIMIT_COURIERS; i++)
		courier_link_close(&keep->couriers[i], &keep->grave);
}

static void
lose_core(struct keep *keep)
{
	cleanup_fd_at(&keep->core);
	close_couriers(keep);
}

static void
answer_core(
    struct keep *keep, const struct keep_order *order, enum keep_result result)
{
	struct keep_answer answer;

	keep_answer_encode(&answer, order, result);
	if (packet_write(keep->core, &answer, sizeof(answer)) < 0)
		lose_core(keep);
}

/* -- orders of the core ------------------------------------------------- */

static struct courier_link *
find_courier(struct keep *keep, uint32_t source)
{
	for (size_t i = 0; i < LIMIT_COURIERS; i++) {
		struct courier_link *link = &keep->couriers[i];

		if (link->stage != STAGE_NONE && link->source == source)
			return link;
	}
	return NULL;
}

static struct courier_link *
find_room(struct keep *keep)
{
	for (size_t i = 0; i < LIMIT_COURIERS; i++) {
		if (keep->couriers[i].stage == STAGE_NONE)
			return &keep->couriers[i];
	}
	return NULL;
}

/* Whether fd is an end of a packet pair, as a courier will expect. */
static bool
is_link(int fd)
{
	int domain = 0, type = 0;
	socklen_t n = sizeof(int), m = sizeof(int);

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &n) == 0 &&
	    getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &m) == 0 &&
	    domain == AF_UNIX && type == SOCK_SEQPACKET;
}

static int
take_open(struct keep *keep, const struct keep_order *order, int *fd)
{
	struct courier_link *link;
	enum keep_result result;

	if (!is_link(*fd))
		return -1;
	if (keep->config == NULL ||
	    order->head.generation != keep->generation) {
		answer_core(keep, order, KEEP_RESULT_STALE);
		return 0;
	}
	if (order->source >= keep->config->n_sources)
		return -1;
	link = find_courier(keep, order->source);
	if (link != NULL && courier_link_has_left(link)) {
		courier_link_close(link, &keep->grave);
		link = NULL;
	}
	if (link != NULL || keep->is_stopping ||
	    (link = find_room(keep)) == NULL) {
		answer_core(keep, order, KEEP_RESULT_BUSY);
		return 0;
	}
	result = courier_link_open(link, &keep->config->sources[order->source],
	    order, take_fd(fd), keep->state);
	if (result != KEEP_RESULT_OK) {
		report_opened(
		    &keep->report, keep->config, order->source, result);
		answer_core(keep, order, result);
	}
	return 0;
}

/* A DROP that crossed a change of the config still means the courier it
 * meant when it was sent. */
static int
take_drop(struct keep *keep, const struct keep_order *order, int *fd)
{
	bool is_late = order->head.generation == keep->old_generation;

	(void)fd;
	for (size_t i = 0; i < LIMIT_COURIERS; i++) {
		struct courier_link *link = &keep->couriers[i];
		bool is_meant = order->head.generation == keep->generation
		    ? link->source == order->source
		    : is_late && link->is_carried &&
			link->old_source == order->source;

		if (link->stage != STAGE_NONE && is_meant)
			courier_link_close(link, &keep->grave);
	}
	return 0;
}

/* Each 0, or -1: no order that a core gives. */
static int (*const core_verbs[KEEP_VERB_END])(
    struct keep *, const struct keep_order *, int *) = {
	[KEEP_OPEN] = take_open,
	[KEEP_DROP] = take_drop,
};

static void
attend_core(struct keep *keep)
{
	int fds[PACKET_FDS];
	struct keep_order order;
	int r = packet_receive(keep->core, &order, sizeof(order), fds);

	if (r == -EAGAIN)
		return;
	if (r == PACKET_GOT &&
	    keep_order_decode(&order, packet_count_fds(fds)) == 0) {
		r = core_verbs[order.head.verb](keep, &order, &fds[0]);
	} else {
		r = -1;
	}
	packet_close_fds(fds);
	if (r < 0)
		lose_core(keep);
}

/* -- orders of the supervisor ------------------------------------------- */

/* The one wall of the keep that a kernel may lack. */
static int
check_walls(const struct config *config, struct fault *fault)
{
	if (landlock_version() > 0 ||
	    (config->accept_missing & 1u << WALL_LANDLOCK) != 0)
		return 0;
	return fault_set(fault, FAULT_CONFIG,
	    "accept_missing: this kernel has no Landlock, with which keep and "
	    "dialer are shut in: boot with lsm=landlock,..., or list landlock "
	    "here");
}

static const char *
take_config(struct keep *keep, const struct super_order *order, int fd,
    struct fault *fault)
{
	struct config *config;

	config_free(keep->pending);
	keep->pending = NULL;
	if (config_read(fd, false, &config, fault) < 0)
		return fault->text;
	if (check_walls(config, fault) < 0) {
		config_free(config);
		return fault->text;
	}
	keep->pending = config;
	keep->pending_generation = order->head.generation;
	return NULL;
}

/* Couriers of sources that are as they were stay, under their new index. */
static void
carry_over(struct keep *keep, struct courier_link *link)
{
	int source = config_find_source(keep->config, link->name);

	if (source >= 0 &&
	    courier_link_fits(link, &keep->config->sources[source])) {
		link->old_source = link->source;
		link->is_carried = true;
		link->source = (uint32_t)source;
		return;
	}
	if (link->stage == STAGE_OPENING)
		answer_core(keep, &link->order, KEEP_RESULT_STALE);
	courier_link_close(link, &keep->grave);
}

static const char *
commit(struct keep *keep, const struct super_order *order)
{
	if (keep->pending == NULL ||
	    keep->pending_generation != order->head.generation)
		return "no configuration of that generation is waiting";
	report_carry_over(&keep->report, keep->config, keep->pending);
	config_free(keep->config);
	keep->config = keep->pending;
	keep->old_generation = keep->generation;
	keep->generation = keep->pending_generation;
	keep->pending = NULL;
	for (size_t i = 0; i < LIMIT_COURIERS; i++) {
		if (keep->couriers[i].stage != STAGE_NONE)
			carry_over(keep, &keep->couriers[i]);
	}
	return NULL;
}

/* 0, or -1: not an order that a keep gets, or no one to answer to. */
static int
obey(struct keep *keep, const struct super_order *order, int *fd)
{
	struct fault fault = { 0 };
	struct super_answer answer;
	const char *refusal;

	switch ((enum super_verb)order->head.verb) {
	case SUPER_CONFIG:
		refusal = take_config(keep, order, *fd, &fault);
		break;
	case SUPER_COMMIT:
		refusal = commit(keep, order);
		break;
	case SUPER_LINK:
		if (order->peer != SUPER_PEER_CORE)
			return -1;
		lose_core(keep);
		keep->core = take_fd(fd);
		return 0;
	case SUPER_STOP:
		keep->is_stopping = true;
		if (order->is_urgent)
			close_couriers(keep);
		return 0;
	case SUPER_VERB_END:
	case SUPER_OK:
	case SUPER_REFUSED:
	case SUPER_ANSWER_END:
	default:
		return -1;
	}
	super_answer_encode(&answer, order, refusal);
	return packet_write(keep->supervisor, &answer, sizeof(answer));
}

/* -1: there is no supervisor any more. */
static int
attend_supervisor(struct keep *keep)
{
	int fds[PACKET_FDS];
	struct super_order order;
	int r = packet_receive(keep->supervisor, &order, sizeof(order), fds);

	if (r == -EAGAIN)
		return 0;
	if (r != PACKET_GOT)
		return -1;
	r = super_order_decode(&order, packet_count_fds(fds));
	if (r == 0)
		r = obey(keep, &order, &fds[0]);
	packet_close_fds(fds);
	return r < 0 ? -1 : 0;
}

/* -- the loop ----------------------------------------------------------- */

static void
attend_courier(struct keep *keep, struct courier_link *link, uint64_t now_ms)
{
	switch (courier_link_attend(link, now_ms, &keep->grave)) {
	case NEWS_NONE:
		break;
	case NEWS_OPENED:
		report_opened(
		    &keep->report, keep->config, link->source, link->result);
		answer_core(keep, &link->order, link->result);
		break;
	case NEWS_DIALED:
		report_dialed(
		    &keep->report, keep->config, link->source, &link->dialed);
		break;
	}
}

static bool
is_idle(const struct keep *keep)
{
	for (size_t i = 0; i < LIMIT_COURIERS; i++) {
		if (keep->couriers[i].stage != STAGE_NONE)
			return false;
	}
	return true;
}

static int
timeout(const struct keep *keep)
{
	uint64_t now = clock_boot_ms();
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < LIMIT_COURIERS; i++) {
		uint64_t deadline = courier_link_deadline(&keep->couriers[i]);

		if (deadline < first)
			first = deadline;
	}
	if (first == UINT64_MAX)
		return -1;
	if (first <= now)
		return 0;
	return first - now < INT32_MAX ? (int)(first - now) : INT32_MAX;
}

static int
wait_for_events(struct keep *keep, struct pollfd watched[WATCH_END])
{
	size_t n = WATCH_GRAVE;
	int r;

	watched[WATCH_SUPERVISOR] =
	    (struct pollfd){ keep->supervisor, POLLIN, 0 };
	watched[WATCH_CORE] = (struct pollfd){ keep->core, POLLIN, 0 };
	for (size_t i = 0; i < LIMIT_COURIERS; i++)
		courier_link_watch(&keep->couriers[i],
		    &watched[WATCH_COURIERS + i * COURIER_LINK_FDS]);
	n += grave_watch(&keep->grave, &watched[WATCH_GRAVE]);
	do
		r = poll(watched, (nfds_t)n, timeout(keep));
	while (r < 0 && errno == EINTR);
	return r < 0 ? -errno : 0;
}

/* One turn of the loop. False: it is over. */
static bool
turn(struct keep *keep)
{
	struct pollfd watched[WATCH_END];
	int core = keep->core;
	int r = wait_for_events(keep, watched);

	if (r < 0) {
		log_error("cannot wait for events: %s", strerror(-r));
		return false;
	}
	grave_reap(&keep->grave);
	for (size_t i = 0; i < LIMIT_COURIERS; i++)
		attend_courier(keep, &keep->couriers[i], clock_boot_ms());
	if (watched[WATCH_SUPERVISOR].revents != 0 &&
	    attend_supervisor(keep) < 0)
		return false;
	if (watched[WATCH_CORE].revents != 0 && keep->core == core)
		attend_core(keep);
	return !(keep->is_stopping && is_idle(keep));
}

int
serve(int supervisor, const char *state)
{
	struct keep *keep = memory_new(1, sizeof(*keep));

	keep->state = state;
	keep->supervisor = supervisor;
	keep->core = -1;
	for (size_t i = 0; i < LIMIT_COURIERS; i++)
		courier_link_init(&keep->couriers[i]);
	while (turn(keep))
		;
	lose_core(keep);
	config_free(keep->pending);
	config_free(keep->config);
	free(keep);
	return 0;
}
