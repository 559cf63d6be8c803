/* SPDX-License-Identifier: ISC
 *
 * Couriers as the keep's main process sees them. It distrusts a courier, which
 * meets what its source sends: all it can ask is DIAL, and the place it is
 * dialed to was fixed by the config before it began. The token passes from
 * opener to courier through a pipe whose ends this process hands out and
 * closes unread.
 */
#include "keep/courier_link.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/must.h"
#include "base/text.h"
#include "keep/start.h"
#include "wire/packet.h"

/* Where Debian keeps the certificates that the system trusts. */
#define SYSTEM_CA_FILE "/etc/ssl/certs/ca-certificates.crt"

void
courier_link_init(struct courier_link *link)
{
	memset(link, 0, sizeof(*link));
	link->child = (struct child){ -1, -1 };
	link->core_end = -1;
	link->token = -1;
	link->ca = -1;
	link->link = -1;
	dialer_link_init(&link->dialer);
}

static void
read_place(const struct source_config *source, struct dial_order *to)
{
	memset(to, 0, sizeof(*to));
	must(text_copy(to->url, sizeof(to->url), source->url) == 0);
	must(text_copy(to->host, sizeof(to->host), source->host) == 0);
	to->port = source->port;
	to->is_tls = source->is_tls;
	to->may_be_special = source->host_may_be_special;
	to->n_addresses = source->n_addresses;
	memcpy(to->addresses, source->addresses,
	    source->n_addresses * sizeof(to->addresses[0]));
	to->max_body = source->max_input;
	dial_order_encode(to, 0);
}

static const char *
ca_path(const struct source_config *source)
{
	if (!source->is_tls)
		return "/dev/null";
	return source->ca_file[0] != '\0' ? source->ca_file : SYSTEM_CA_FILE;
}

/* What a courier is handed must be a file: it will read it blindly. */
static int
open_ca(const struct source_config *source)
{
	cleanup_fd int fd =
	    open(ca_path(source), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -1;
	if (source->is_tls &&
	    (!S_ISREG(st.st_mode) || st.st_size == 0 ||
		st.st_size > LIMIT_CA_BYTES))
		return -1;
	return take_fd(&fd);
}

/* Starts the opener on the write end of a new pipe; link->token becomes the
 * read end. */
static int
start_opener(struct courier_link *link, const char *origin, const char *state)
{
	const char *arguments[] = { "sandcastle-keep", "open", link->secret,
		origin, link->name, "--state", state, NULL };
	int ends[2];
	int r;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	r = start_child(arguments, &ends[1], 1, &link->child);
	(void)close(ends[1]);
	if (r < 0)
		(void)close(ends[0]);
	else
		link->token = ends[0];
	return r;
}

static void
close_handed(struct courier_link *link)
{
	cleanup_fd_at(&link->core_end);
	cleanup_fd_at(&link->token);
	cleanup_fd_at(&link->ca);
}

enum keep_result
courier_link_open(struct courier_link *link, const struct source_config *source,
    const struct keep_order *order, int core_end, const char *state)
{
	enum keep_result result = KEEP_RESULT_OK;

	courier_link_init(link);
	link->core_end = core_end;
	link->source = order->source;
	link->order = *order;
	read_place(source, &link->place);
	must(text_copy(link->name, sizeof(link->name), source->name) == 0);
	must(
	    text_copy(link->secret, sizeof(link->secret), source->secret) == 0);
	must(text_copy(link->ca_file, sizeof(link->ca_file), source->ca_file) ==
	    0);
	link->ca = open_ca(source);
	if (link->ca < 0)
		result = KEEP_RESULT_NO_CA;
	else if (start_opener(link, source->origin, state) < 0)
		result = KEEP_RESULT_FAILED;
	if (result != KEEP_RESULT_OK) {
		close_handed(link);
		return result;
	}
	link->stage = STAGE_OPENING;
	link->deadline_ms = clock_boot_ms() + LIMIT_OPENER_MS;
	return KEEP_RESULT_OK;
}

void
courier_link_watch(
    const struct courier_link *link, struct pollfd to[COURIER_LINK_FDS])
{
	const int fds[COURIER_LINK_FDS] = { link->child.pidfd, link->link,
		link->dialer.link };

	for (size_t i = 0; i < COURIER_LINK_FDS; i++)
		to[i] = (struct pollfd){ fds[i], POLLIN, 0 };
}

uint64_t
courier_link_deadline(const struct courier_link *link)
{
	uint64_t deadline = UINT64_MAX;

	if (link->stage != STAGE_NONE)
		deadline = link->deadline_ms;
	if (dialer_link_is_busy(&link->dialer) &&
	    link->dialer.deadline_ms < deadline)
		deadline = link->dialer.deadline_ms;
	return deadline;
}

static bool
is_readable(int fd)
{
	struct pollfd p = { fd, POLLIN, 0 };

	return fd >= 0 && poll(&p, 1, 0) == 1;
}

/* The reason in an opener's exit status; it may say no other. */
static enum keep_result
result_of_opener(int status)
{
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;

	if (code == KEEP_RESULT_OK ||
	    (code >= KEEP_RESULT_MISSING && code < KEEP_RESULT_COUNT))
		return (enum keep_result)code;
	return KEEP_RESULT_FAILED;
}

static int
start_courier(struct courier_link *link)
{
	static const char *const arguments[] = { "sandcastle-courier", NULL };
	struct dial_order place = link->place;
	int fds[] = { link->core_end, -1, link->token, link->ca };
	int ends[2];
	int r = packet_pair(ends);

	if (r < 0)
		return r;
	fds[1] = ends[1];
	dial_order_encode(&place, link->order.head.generation);
	r = packet_send(ends[0], &place, sizeof(place), NULL, 0);
	if (r == 0)
		r = start_child(
		    arguments, fds, sizeof(fds) / sizeof(fds[0]), &link->child);
	(void)close(ends[1]);
	if (r < 0)
		(void)close(ends[0]);
	else
		link->link = ends[0];
	return r;
}

static enum courier_news
opened(struct courier_link *link, enum keep_result result, struct grave *grave)
{
	if (result == KEEP_RESULT_OK && start_courier(link) < 0)
		result = KEEP_RESULT_FAILED;
	close_handed(link);
	link->result = result;
	if (result != KEEP_RESULT_OK) {
		courier_link_close(link, grave);
		return NEWS_OPENED;
	}
	link->stage = STAGE_SERVING;
	link->deadline_ms = clock_boot_ms() + LIMIT_COURIER_LIFE_MS;
	return NEWS_OPENED;
}

/* Passes a dialer's answer on; a courier that does not take it is closed. */
static enum courier_news
dialed(struct courier_link *link, int socket, struct grave *grave)
{
	struct dialed dialed = link->dialed;
	int r;

	/* Names of addresses are for our log, not for the courier. */
	dialed.n_refused = 0;
	memset(dialed.refused, 0, sizeof(dialed.refused));
	dialed_encode(&dialed, link->dial_sequence);
	r = packet_send(
	    link->link, &dialed, sizeof(dialed), &socket, socket >= 0 ? 1 : 0);
	if (socket >= 0)
		(void)close(socket);
	if (r < 0)
		courier_link_close(link, grave);
	return NEWS_DIALED;
}

enum request {
	REQUEST_NONE = 0,
	REQUEST_DIAL,
	REQUEST_HUNG_UP,
	REQUEST_NONSENSE,
};

static enum request
receive_request(struct courier_link *link)
{
	struct pollfd p = { link->link, POLLIN, 0 };
	int fds[PACKET_FDS];
	struct dial dial;
	int r;

	if (poll(&p, 1, 0) <= 0)
		return REQUEST_NONE;
	r = packet_receive(link->link, &dial, sizeof(dial), fds);
	if (r == -EAGAIN)
		return REQUEST_NONE;
	if (r != PACKET_GOT)
		return (p.revents & POLLHUP) != 0 ? REQUEST_HUNG_UP
						  : REQUEST_NONSENSE;
	if (dial_decode(&dial, packet_count_fds(fds)) < 0 ||
	    dialer_link_is_busy(&link->dialer) ||
	    link->n_dials++ == LIMIT_COURIER_DIALS) {
		packet_close_fds(fds);
		return REQUEST_NONSENSE;
	}
	link->dial_sequence = dial.head.sequence;
	return REQUEST_DIAL;
}

static enum courier_news
answer_request(struct courier_link *link, uint64_t now_ms, struct grave *grave)
{
	switch (receive_request(link)) {
	case REQUEST_NONE:
		break;
	case REQUEST_DIAL:
		if (dialer_link_start(&link->dialer, &link->place, now_ms) == 0)
			break;
		link->dialed = (struct dialed){ .result = DIAL_RESULT_FAILED };
		return dialed(link, -1, grave);
	case REQUEST_HUNG_UP:
		/* It may still finish what it has with the core. */
		cleanup_fd_at(&link->link);
		dialer_link_close(&link->dialer, grave);
		break;
	case REQUEST_NONSENSE:
		courier_link_close(link, grave);
		break;
	}
	return NEWS_NONE;
}

static enum courier_news
attend_courier(struct courier_link *link, uint64_t now_ms, struct grave *grave)
{
	int socket = -1;

	if (now_ms >= link->deadline_ms || is_readable(link->child.pidfd)) {
		courier_link_close(link, grave);
		return NEWS_NONE;
	}
	if (link->link < 0)
		return NEWS_NONE;
	if (dialer_link_attend(
		&link->dialer, now_ms, grave, &link->dialed, &socket))
		return dialed(link, socket, grave);
	return answer_request(link, now_ms, grave);
}

enum courier_news
courier_link_attend(
    struct courier_link *link, uint64_t now_ms, struct grave *grave)
{
	if (link->stage == STAGE_SERVING)
		return attend_courier(link, now_ms, grave);
	if (link->stage == STAGE_NONE)
		return NEWS_NONE;
	if (is_readable(link->child.pidfd))
		return opened(
		    link, result_of_opener(spawn_reap(&link->child)), grave);
	if (now_ms >= link->deadline_ms)
		return opened(link, KEEP_RESULT_FAILED, grave);
	return NEWS_NONE;
}

bool
courier_link_has_left(const struct courier_link *link)
{
	struct pollfd p = { link->link, 0, 0 };

	if (link->stage != STAGE_SERVING)
		return false;
	return link->link < 0 || is_readable(link->child.pidfd) ||
	    (poll(&p, 1, 0) == 1 && (p.revents & POLLHUP) != 0);
}

bool
courier_link_fits(
    const struct courier_link *link, const struct source_config *source)
{
	struct dial_order place;

	read_place(source, &place);
	return memcmp(&place, &link->place, sizeof(place)) == 0 &&
	    strcmp(source->secret, link->secret) == 0 &&
	    strcmp(source->ca_file, link->ca_file) == 0;
}

void
courier_link_close(struct courier_link *link, struct grave *grave)
{
	close_handed(link);
	cleanup_fd_at(&link->link);
	dialer_link_close(&link->dialer, grave);
	grave_bury(grave, &link->child);
	link->stage = STAGE_NONE;
}
