/* SPDX-License-Identifier: ISC
 *
 * sandcastle-yard.
 *
 * Theory of operation. The yard makes the boxes in which jobs run. It holds no
 * secret, reads nothing that a source or a box wrote except one fixed packet
 * per box, and needs no privilege: it refuses to run as root.
 *
 * At its start it leaves the host's namespaces and goes on as PID 1 of its own
 * (nest.c); a process of ours stays outside and only passes its end on. With
 * the one config of its life, SUPER_CONFIG, it opens what boxes need, builds
 * the tree they are made from, and lets go of the host's files (root.c). It
 * compiles the filters of a box (filters.c) and makes a test box in which the
 * driver tries every wall (survey.c). What the machine lacks is no reason to
 * end: the yard lists it, the core claims nothing, and results go on being
 * delivered.
 *
 * Then it takes orders of the core, one box at a time: YARD_MAKE brings two
 * letters, which go into the box with the driver's order (box.c, ration.c).
 * The yard watches the box from outside (run.c): the wall limit, the order to
 * kill, the verdict, the end. A lost core, and its own end, are the end of the
 * box; the kernel sees to the latter.
 *
 * fd 3 is the link to the supervisor, or to `try` and `check`, which play
 * supervisor and core.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/spawn.h"
#include "wire/letter.h"
#include "wire/super_msg.h"
#include "yard/nest.h"
#include "yard/yard.h"

struct links {
	int super; /* -1: lost */
	int core; /* -1: none */
};

static void
drop_core(struct yard *yard, struct links *links)
{
	run_abandon(&yard->run);
	cleanup_fd_at(&links->core);
}

static void
answer_super(
    struct links *links, const struct super_order *order, const char *refusal)
{
	struct super_answer answer;

	super_answer_encode(&answer, order, refusal);
	if (packet_send(links->super, &answer, sizeof(answer), NULL, 0) < 0)
		cleanup_fd_at(&links->super);
}

static void
answer_core(
    struct yard *yard, struct links *links, const struct yard_answer *answer)
{
	if (links->core >= 0 &&
	    packet_send(links->core, answer, sizeof(*answer), NULL, 0) < 0)
		drop_core(yard, links);
}

static void
take_config(struct yard *yard, struct links *links,
    const struct super_order *order, int config)
{
	struct fault fault = { 0 };

	if (yard->config != NULL)
		(void)fault_set(&fault, FAULT_PEER,
		    "yard: one config in a life; start another");
	else
		(void)yard_prepare(
		    yard, config, order->head.generation, &fault);
	answer_super(
	    links, order, fault.code == FAULT_NONE ? NULL : fault.text);
}

static void
stop(struct yard *yard, bool is_urgent)
{
	yard->is_stopping = true;
	if (is_urgent && run_is_on(&yard->run))
		run_kill(&yard->run, YARD_END_ORDER);
}

/* False when the packet makes no sense here. */
static bool
obey_super(struct yard *yard, struct links *links,
    const struct super_order *order, int fds[PACKET_FDS])
{
	switch ((enum super_verb)order->head.verb) {
	case SUPER_CONFIG:
		take_config(yard, links, order, fds[0]);
		return true;
	case SUPER_COMMIT:
		if (yard->config == NULL)
			return false;
		answer_super(links, order, NULL);
		return true;
	case SUPER_LINK:
		if (order->peer != SUPER_PEER_CORE || yard->config == NULL)
			return false;
		drop_core(yard, links);
		links->core = take_fd(&fds[0]);
		return true;
	case SUPER_STOP:
		stop(yard, order->is_urgent != 0);
		return true;
	case SUPER_VERB_END:
	case SUPER_OK:
	case SUPER_REFUSED:
	case SUPER_ANSWER_END:
		break;
	}
	return false;
}

static void
hear_super(struct yard *yard, struct links *links)
{
	struct super_order order;
	int fds[PACKET_FDS];
	int r = packet_receive(links->super, &order, sizeof(order), fds);

	if (r == -EAGAIN)
		return;
	if (r != PACKET_GOT ||
	    super_order_decode(&order, packet_count_fds(fds)) < 0 ||
	    !obey_super(yard, links, &order, fds))
		cleanup_fd_at(&links->super);
	packet_close_fds(fds);
}

/* The input can no longer be changed, the output still can; and neither end
 * of a letter opens anything else to the box. */
static bool
are_letters(const int fds[PACKET_FDS])
{
	int input = fcntl(fds[0], F_GETFL);
	int output = fcntl(fds[1], F_GETFL);

	return letter_size(fds[0], LIMIT_BODY_BYTES) >= 0 && input >= 0 &&
	    (input & O_ACCMODE) == O_RDONLY && output >= 0 &&
	    (output & O_ACCMODE) == O_RDWR && fcntl(fds[1], F_GET_SEALS) == 0;
}

static bool
make(struct yard *yard, struct links *links, const struct yard_order *order,
    const int fds[PACKET_FDS])
{
	struct yard_answer answer = { .capability = order->capability };

	if (run_is_on(&yard->run) || !are_letters(fds))
		return false;
	if (yard_begin(yard, order, fds, &answer) < 0) {
		yard_answer_encode(&answer, YARD_ENDED, order);
		answer_core(yard, links, &answer);
	}
	return true;
}

static bool
obey_core(struct yard *yard, struct links *links,
    const struct yard_order *order, const int fds[PACKET_FDS])
{
	switch ((enum yard_verb)order->head.verb) {
	case YARD_LIST:
		yard_answer_encode(&yard->listing, YARD_LISTED, order);
		answer_core(yard, links, &yard->listing);
		return true;
	case YARD_MAKE:
		return make(yard, links, order, fds);
	case YARD_KILL:
		/* Its YARD_ENDED may be on its way already. */
		if (run_is_on(&yard->run))
			run_kill(&yard->run, YARD_END_ORDER);
		return true;
	case YARD_VERB_END:
	case YARD_LISTED:
	case YARD_ENDED:
		break;
	}
	return false;
}

static void
hear_core(struct yard *yard, struct links *links)
{
	struct yard_order order;
	int fds[PACKET_FDS];
	int r = packet_receive(links->core, &order, sizeof(order), fds);

	if (r == -EAGAIN)
		return;
	if (r != PACKET_GOT ||
	    yard_order_decode(&order, packet_count_fds(fds)) < 0 ||
	    !obey_core(yard, links, &order, fds))
		drop_core(yard, links);
	packet_close_fds(fds);
}

/* A word that its capability does not have is none. */
static void
check_word(struct yard_answer *answer)
{
	uint32_t words = capability_at(answer->capability)->errors;

	if (answer->verdict == 0 || (words & 1u << answer->verdict) != 0)
		return;
	answer->end = YARD_END_SILENT;
	answer->verdict = 0;
}

static void
tell_end(struct yard *yard, struct links *links)
{
	struct yard_answer answer = { .capability = yard->order.capability };

	run_tell(&yard->run, &answer);
	check_word(&answer);
	yard_answer_encode(&answer, YARD_ENDED, &yard->order);
	answer_core(yard, links, &answer);
}

/* The core is heard first: an order that came before the one to stop is
 * still carried out. */
static void
work(struct yard *yard, struct links *links)
{
	struct pollfd polls[2 + RUN_POLLS] = {
		{ links->core, POLLIN, 0 },
		{ links->super, POLLIN, 0 },
	};
	int timeout_ms = run_polls(&yard->run, polls + 2);

	if (poll(polls, 2 + RUN_POLLS, timeout_ms) < 0)
		return;
	if (run_step(&yard->run, polls + 2))
		tell_end(yard, links);
	if (polls[0].revents != 0)
		hear_core(yard, links);
	if (polls[1].revents != 0)
		hear_super(yard, links);
}

int
main(void)
{
	static struct yard yard;
	struct links links = { SPAWN_FIRST_FD, -1 };
	struct fault fault = { 0 };

	log_open("sandcastle-yard");
	if (getuid() == 0 || geteuid() == 0) {
		log_error("the yard does not run as root: a box would map it; "
			  "run sandcastle as a user, or let `make install` "
			  "make the user sandcastle-yard");
		return 1;
	}
	if (fcntl(links.super, F_SETFD, FD_CLOEXEC) < 0) {
		log_error("the yard is started by sandcastle, not by hand");
		return 1;
	}
	if (nest_enter(&yard.made, &yard.error, &fault) < 0)
		log_error("%s", fault.text);
	while (run_is_on(&yard.run) || (links.super >= 0 && !yard.is_stopping))
		work(&yard, &links);
	return 0;
}
