/* SPDX-License-Identifier: ISC
 *
 * Resolving and connecting, in the dialer. getaddrinfo may block for long and
 * runs whatever the machine's name service loads: that is why this is a
 * process of its own that can be killed. The policy looks at the very address
 * that is then connected to, so a name that changes its mind gains nothing.
 */
#include "dialer/reach.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "dialer/address.h"

static void
cleanup_addresses_at(struct addrinfo **list)
{
	if (*list != NULL)
		freeaddrinfo(*list);
}

#define cleanup_addresses cleanup_with(cleanup_addresses_at)

/* AI_ADDRCONFIG stays away: it hides ::1 from a machine whose network is
 * IPv4 only, and connect tells at once what has no route. */
static enum dial_result
resolve(const struct dial_order *order, struct addrinfo **ret_list)
{
	const struct addrinfo hints = { .ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM,
		.ai_protocol = IPPROTO_TCP,
		.ai_flags = AI_NUMERICSERV };
	char port[8];
	int r;

	(void)snprintf(port, sizeof(port), "%u", (unsigned)order->port);
	r = getaddrinfo(order->host, port, &hints, ret_list);
	if (r == 0)
		return DIAL_RESULT_OK;
	*ret_list = NULL;
	return r == EAI_MEMORY || r == EAI_SYSTEM ? DIAL_RESULT_FAILED
						  : DIAL_RESULT_NO_NAME;
}

static enum dial_result
result_of(int error)
{
	switch (error) {
	case 0:
		return DIAL_RESULT_OK;
	case ECONNREFUSED:
	case ECONNRESET:
		return DIAL_RESULT_REFUSED;
	case ETIMEDOUT:
		return DIAL_RESULT_TIMEOUT;
	case ENETUNREACH:
	case EHOSTUNREACH:
	case ENETDOWN:
	case EHOSTDOWN:
	case EADDRNOTAVAIL:
	case EACCES: /* a firewall of this machine, a broadcast address */
	case EPERM:
	case EINVAL: /* link-local without its link */
		return DIAL_RESULT_UNREACHABLE;
	default:
		return DIAL_RESULT_FAILED;
	}
}

/* A connect to a port of this machine that nobody listens on can, by chance,
 * get that very port as its own and so meet itself. */
static bool
is_self(int fd)
{
	struct sockaddr_storage here, there;
	socklen_t n_here = sizeof(here), n_there = sizeof(there);

	memset(&here, 0, sizeof(here));
	memset(&there, 0, sizeof(there));
	return getsockname(fd, (struct sockaddr *)&here, &n_here) == 0 &&
	    getpeername(fd, (struct sockaddr *)&there, &n_there) == 0 &&
	    n_here == n_there && memcmp(&here, &there, n_here) == 0;
}

/*
 * The second connect() turns the socket's state into "connected"; after
 * poll() alone it stays "connecting", and the courier could not ask for its
 * peer's failure.
 */
static int
connect_within(int fd, const struct addrinfo *to, int timeout_ms)
{
	struct pollfd p = { fd, POLLOUT, 0 };
	int r = connect(fd, to->ai_addr, to->ai_addrlen);

	if (r < 0 && errno == EINPROGRESS) {
		do
			r = poll(&p, 1, timeout_ms);
		while (r < 0 && errno == EINTR);
		if (r == 0)
			return ETIMEDOUT;
		r = connect(fd, to->ai_addr, to->ai_addrlen);
	}
	if (r < 0)
		return errno;
	return is_self(fd) ? ECONNREFUSED : 0;
}

static enum dial_result
try_address(const struct addrinfo *to, int timeout_ms, int *ret_socket)
{
	int type = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
	cleanup_fd int fd = socket(to->ai_family, type, IPPROTO_TCP);
	int error;

	if (fd < 0)
		return errno == EAFNOSUPPORT ? DIAL_RESULT_UNREACHABLE
					     : DIAL_RESULT_FAILED;
	error = connect_within(fd, to, timeout_ms);
	if (error != 0)
		return result_of(error);
	(void)setsockopt(
	    fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
	*ret_socket = take_fd(&fd);
	return DIAL_RESULT_OK;
}

/* Of several failures the one that says most about the source. */
static enum dial_result
more_telling(enum dial_result a, enum dial_result b)
{
	static const int rank[DIAL_RESULT_COUNT] = {
		[DIAL_RESULT_REFUSED] = 5,
		[DIAL_RESULT_TIMEOUT] = 4,
		[DIAL_RESULT_UNREACHABLE] = 3,
		[DIAL_RESULT_FAILED] = 2,
		[DIAL_RESULT_FORBIDDEN] = 1,
	};

	return rank[a] >= rank[b] ? a : b;
}

static int
time_left(uint64_t deadline_ms)
{
	uint64_t now = clock_boot_ms();
	uint64_t left = now < deadline_ms ? deadline_ms - now : 0;

	return (int)(left < LIMIT_CONNECT_MS ? left : LIMIT_CONNECT_MS);
}

/* Tries one resolved address after asking the policy. */
static enum dial_result
consider(const struct dial_order *order, const struct addrinfo *to,
    int timeout_ms, struct dialed *dialed, int *ret_socket)
{
	struct dial_address address;

	if (address_from(to->ai_addr, &address) < 0)
		return DIAL_RESULT_UNREACHABLE;
	if (!address_is_allowed(&address, order)) {
		dialed->refused[dialed->n_refused++] = address;
		return DIAL_RESULT_FORBIDDEN;
	}
	return try_address(to, timeout_ms, ret_socket);
}

int
reach(const struct dial_order *order, struct dialed *dialed)
{
	/* The keep's own deadline is the same: leave room to answer first. */
	uint64_t deadline_ms = clock_boot_ms() + LIMIT_DIAL_MS - 500;
	cleanup_addresses struct addrinfo *list = NULL;
	enum dial_result result = resolve(order, &list);
	int socket = -1;
	unsigned int n = 0;

	if (result == DIAL_RESULT_OK)
		result = DIAL_RESULT_FORBIDDEN;
	for (const struct addrinfo *to = list;
	     to != NULL && n < LIMIT_DIAL_ADDRESSES; to = to->ai_next, n++) {
		int left = time_left(deadline_ms);
		enum dial_result one = left == 0
		    ? DIAL_RESULT_TIMEOUT
		    : consider(order, to, left, dialed, &socket);

		if (one == DIAL_RESULT_OK) {
			dialed->result = DIAL_RESULT_OK;
			return socket;
		}
		result = more_telling(one, result);
	}
	dialed->result = result;
	return -1;
}
