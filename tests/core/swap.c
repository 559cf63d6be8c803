/* SPDX-License-Identifier: ISC
 *
 * A core that mixes up jobs, for the tests of tickets: it is the real core,
 * but each input (or each output) is sent in place of the one that follows
 * it, together with the ticket that it bears. Linked with
 * --wrap=packet_send; never installed.
 */
#include <fcntl.h>
#include <unistd.h>

#include "base/must.h"
#include "contract/outcome.h"
#include "wire/courier_msg.h"
#include "wire/yard_msg.h"

int __real_packet_send(
    int link, const void *packet, size_t size, const int *fds, size_t n_fds);
int __wrap_packet_send(
    int link, const void *packet, size_t size, const int *fds, size_t n_fds);

/* dup() is beyond the core's walls. */
static int
copy(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

/* The letter before; keeps this one for the next time. */
static int
exchange(int letter)
{
	static int before = -1;
	int given = before;

	before = copy(letter);
	must(before >= 0);
	return given >= 0 ? given : copy(letter);
}

#ifdef SWAP_INPUT
int
__wrap_packet_send(
    int link, const void *packet, size_t size, const int *fds, size_t n_fds)
{
	const struct yard_order *order = packet;
	int other[2];
	int r;

	if (size != sizeof(*order) || n_fds != 2)
		return __real_packet_send(link, packet, size, fds, n_fds);
	other[0] = exchange(fds[0]);
	other[1] = fds[1];
	r = __real_packet_send(link, packet, size, other, 2);
	(void)close(other[0]);
	return r;
}
#else
int
__wrap_packet_send(
    int link, const void *packet, size_t size, const int *fds, size_t n_fds)
{
	struct courier_order order;
	int other;
	int r;

	if (size != sizeof(order) || n_fds != 1)
		return __real_packet_send(link, packet, size, fds, n_fds);
	order = *(const struct courier_order *)packet;
	if (order.head.verb != COURIER_RESULT)
		return __real_packet_send(link, packet, size, fds, n_fds);
	other = exchange(fds[0]);
	must(letter_get_ticket(other, order.ticket) == 0);
	r = __real_packet_send(link, &order, size, &other, 1);
	(void)close(other);
	return r;
}
#endif
