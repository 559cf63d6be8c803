/* SPDX-License-Identifier: ISC
 *
 * sandcastle-dialer
 *
 * Theory of operation. The keep starts one dialer for one connection, with
 * one fd: 3, a packet link. On it comes one DIAL_ORDER: host, port and what
 * the operator said about special addresses. The dialer shuts itself in,
 * resolves the host, asks the address policy about each address, connects,
 * hands the connected socket back in one DIALED and ends. It never holds a
 * token, reads and writes nothing on the socket, and can read no file of the
 * keep. Whoever answers for the name is distrusted; the worst a captured
 * dialer can do is connect about for some seconds and hand over a socket to
 * the wrong place, where TLS then finds the wrong certificate.
 */
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/spawn.h"
#include "dialer/reach.h"
#include "dialer/walls.h"

#ifdef __SANITIZE_ADDRESS__
/* Leaks are looked for by tracing, which this process forbids. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *
__asan_default_options(void)
{
	return "detect_leaks=0";
}
#endif

static int
receive_order(int link, struct dial_order *ret)
{
	struct pollfd p = { link, POLLIN, 0 };
	int fds[PACKET_FDS];

	if (poll(&p, 1, LIMIT_DIAL_MS) <= 0 ||
	    packet_receive(link, ret, sizeof(*ret), fds) != PACKET_GOT)
		return -1;
	if (dial_order_decode(ret, packet_count_fds(fds)) == 0)
		return 0;
	packet_close_fds(fds);
	return -1;
}

int
main(void)
{
	int link = SPAWN_FIRST_FD;
	struct dial_order order;
	struct dialed dialed;
	cleanup_fd int socket = -1;

	(void)signal(SIGPIPE, SIG_IGN);
	/* Should the keep be gone, or stuck. */
	(void)alarm(LIMIT_DIAL_MS / 1000 + 1);
	if (walls_enter() < 0 || receive_order(link, &order) < 0)
		return 1;
	memset(&dialed, 0, sizeof(dialed));
	socket = reach(&order, &dialed);
	dialed_encode(&dialed, 0);
	return packet_send(link, &dialed, sizeof(dialed), &socket,
		   socket >= 0 ? 1 : 0) < 0
	    ? 1
	    : 0;
}
