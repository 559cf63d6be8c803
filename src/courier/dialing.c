/* SPDX-License-Identifier: ISC
 *
 * Asking for a connection, in the courier. The keep is trusted to aim right;
 * that what comes is a connected TCP socket is looked at all the same.
 */
#include "courier/dialing.h"

#include <errno.h>
#include <poll.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "wire/dial_msg.h"

int
dialing_wait(int link, uint64_t deadline_ms)
{
	for (;;) {
		struct pollfd ready = { .fd = link, .events = POLLIN };
		uint64_t now = clock_boot_ms();
		uint64_t left = deadline_ms > now ? deadline_ms - now : 0;
		int r = poll(&ready, 1, left > 60000 ? 60000 : (int)left);

		if (r > 0)
			return 0;
		if (r < 0 && errno != EINTR)
			return -errno;
		if (left == 0)
			return -ETIMEDOUT;
	}
}

static enum courier_trouble
trouble_of(uint32_t result)
{
	static const enum courier_trouble troubles[DIAL_RESULT_COUNT] = {
		[DIAL_RESULT_OK] = COURIER_TROUBLE_NONE,
		[DIAL_RESULT_NO_NAME] = COURIER_NAME,
		[DIAL_RESULT_FORBIDDEN] = COURIER_FORBIDDEN,
		[DIAL_RESULT_REFUSED] = COURIER_REFUSED,
		[DIAL_RESULT_UNREACHABLE] = COURIER_NO_ROUTE,
		[DIAL_RESULT_TIMEOUT] = COURIER_TIMEOUT,
		[DIAL_RESULT_FAILED] = COURIER_LOCAL,
	};

	return troubles[result];
}

static enum courier_trouble
take_answer(int keep, uint32_t port, int *ret_socket)
{
	struct dialed dialed;
	int fds[PACKET_FDS];
	enum courier_trouble trouble;

	if (packet_receive(keep, &dialed, sizeof(dialed), fds) != PACKET_GOT)
		return COURIER_LOCAL;
	if (dialed_decode(&dialed, packet_count_fds(fds)) < 0) {
		packet_close_fds(fds);
		return COURIER_LOCAL;
	}
	trouble = trouble_of(dialed.result);
	if (trouble == COURIER_TROUBLE_NONE &&
	    dial_socket_check(fds[0], port) < 0)
		trouble = COURIER_CLOSED;
	if (trouble == COURIER_TROUBLE_NONE)
		*ret_socket = take_fd(&fds[0]);
	packet_close_fds(fds);
	return trouble;
}

enum courier_trouble
dialing_ask(int keep, uint32_t port, uint64_t deadline_ms, int *ret_socket)
{
	uint64_t latest = clock_boot_ms() + LIMIT_DIAL_MS;
	struct dial dial;
	int r;

	if (latest > deadline_ms)
		latest = deadline_ms;
	dial_encode(&dial, 1);
	if (packet_write(keep, &dial, sizeof(dial)) < 0)
		return COURIER_LOCAL;
	r = dialing_wait(keep, latest);
	if (r < 0)
		return r == -ETIMEDOUT ? COURIER_TIMEOUT : COURIER_LOCAL;
	return take_answer(keep, port, ret_socket);
}
