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
 *
 * Landlock: the machine's name service reads below /etc, /usr and /run, and
 * loads libraries; TCP is left alone, that is the trade of this process.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/spawn.h"
#include "confine/landlock.h"
#include "confine/process.h"
#include "dialer/reach.h"

static int
enter_landlock(void)
{
	static const char *const paths[] = { "/etc", "/usr", "/lib", "/lib64",
		"/run" };
	struct landlock_room rooms[sizeof(paths) / sizeof(paths[0])];
	size_t n = 0;
	int r;

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		int fd = open(paths[i], O_PATH | O_CLOEXEC);

		if (fd >= 0)
			rooms[n++] =
			    (struct landlock_room){ fd, LANDLOCK_READ };
	}
	r = landlock_enter(rooms, n, true);
	for (size_t i = 0; i < n; i++)
		(void)close(rooms[i].fd);
	/* A kernel without it: the keep has asked the operator already. */
	return r == -EOPNOTSUPP ? 0 : r;
}

static int
confine(void)
{
	int r = process_undumpable();

	if (r == 0)
		r = process_die_with_parent(getppid());
	if (r == 0)
		r = process_no_new_privileges();
	if (r == 0)
		r = process_limit(RLIMIT_FSIZE, 0);
	if (r == 0)
		r = process_limit(RLIMIT_NPROC, 0);
	if (r == 0)
		r = process_limit(RLIMIT_NOFILE, LIMIT_DIALER_FILES);
	if (r == 0)
		r = process_limit(RLIMIT_CPU, LIMIT_DIALER_CPU_S);
	return r == 0 ? enter_landlock() : r;
}

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
	if (confine() < 0 || receive_order(link, &order) < 0)
		return 1;
	memset(&dialed, 0, sizeof(dialed));
	socket = reach(&order, &dialed);
	dialed_encode(&dialed, 0);
	return packet_send(link, &dialed, sizeof(dialed), &socket,
		   socket >= 0 ? 1 : 0) < 0
	    ? 1
	    : 0;
}
