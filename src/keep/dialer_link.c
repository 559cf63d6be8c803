/* SPDX-License-Identifier: ISC
 *
 * The keep's side of a dialer. A dialer met whatever answers for a name, so
 * nothing it says is believed: the struct is checked, the socket must be a
 * connected TCP stream to the port that was asked for, and a dialer that is
 * late is killed and answered for.
 */
#include "keep/dialer_link.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "keep/start.h"
#include "wire/packet.h"

void
dialer_link_init(struct dialer_link *dialer)
{
	*dialer = (struct dialer_link){ .child = { -1, -1 }, .link = -1 };
}

bool
dialer_link_is_busy(const struct dialer_link *dialer)
{
	return dialer->child.pidfd >= 0;
}

static int
start(struct dialer_link *dialer)
{
	static const char *const arguments[] = { "sandcastle-dialer", NULL };
	int ends[2];
	int r = packet_pair(ends);

	if (r < 0)
		return r;
	r = start_child(arguments, &ends[1], 1, &dialer->child);
	(void)close(ends[1]);
	if (r < 0)
		(void)close(ends[0]);
	else
		dialer->link = ends[0];
	return r;
}

int
dialer_link_start(
    struct dialer_link *dialer, const struct dial_order *place, uint64_t now_ms)
{
	struct dial_order order = *place;
	int r = start(dialer);

	if (r < 0)
		return r;
	/* It needs no path of the source. */
	memset(order.url, 0, sizeof(order.url));
	dial_order_encode(&order, 0);
	dialer->port = order.port;
	dialer->deadline_ms = now_ms + LIMIT_DIAL_MS;
	/* A failure shows as a dialer that ends without a word. */
	(void)packet_send(dialer->link, &order, sizeof(order), NULL, 0);
	return 0;
}

/* 1: an answer; 0: not yet; -1: nothing that can be believed. */
static int
receive(struct dialer_link *dialer, struct dialed *ret, int *ret_socket)
{
	int fds[PACKET_FDS];
	int r = packet_receive(dialer->link, ret, sizeof(*ret), fds);

	if (r != PACKET_GOT)
		return r == -EAGAIN ? 0 : -1;
	if (dialed_decode(ret, packet_count_fds(fds)) < 0 ||
	    (fds[0] >= 0 && dial_socket_check(fds[0], dialer->port) < 0)) {
		packet_close_fds(fds);
		return -1;
	}
	*ret_socket = fds[0];
	return 1;
}

bool
dialer_link_attend(struct dialer_link *dialer, uint64_t now_ms,
    struct grave *grave, struct dialed *ret_dialed, int *ret_socket)
{
	struct dialed dialed = { 0 };
	int socket = -1;
	int r;

	if (!dialer_link_is_busy(dialer))
		return false;
	r = receive(dialer, &dialed, &socket);
	if (r == 0 && now_ms < dialer->deadline_ms)
		return false;
	if (r != 1)
		dialed =
		    (struct dialed){ .result = r == 0 ? DIAL_RESULT_TIMEOUT
						      : DIAL_RESULT_FAILED };
	dialer_link_close(dialer, grave);
	*ret_dialed = dialed;
	*ret_socket = socket;
	return true;
}

void
dialer_link_close(struct dialer_link *dialer, struct grave *grave)
{
	if (dialer->link >= 0)
		(void)close(dialer->link);
	grave_bury(grave, &dialer->child);
	dialer_link_init(dialer);
}
