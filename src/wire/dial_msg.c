/* SPDX-License-Identifier: ISC
 *
 * Dialing: encode and decode side by side, and the check of a socket that
 * both the keep and the courier make.
 */
#include "wire/dial_msg.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

_Static_assert(sizeof(struct dial_address) == 20, "no padding");
_Static_assert(
    sizeof(struct dial_order) == 16 + 512 + 256 + 16 + 20 * LIMIT_ADDRESSES + 8,
    "no padding");
_Static_assert(
    sizeof(struct dialed) == 24 + 20 * LIMIT_DIAL_ADDRESSES, "no padding");

static int
addresses_are_valid(const struct dial_address *a, uint32_t n, uint32_t max)
{
	if (n > max)
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		if (a[i].family != AF_INET && a[i].family != AF_INET6)
			return 0;
	}
	return 1;
}

void
dial_order_encode(struct dial_order *order, uint32_t generation)
{
	order->head =
	    (struct packet_head){ PACKET_MAGIC, DIAL_ORDER, 0, generation };
}

int
dial_order_decode(const struct dial_order *order, size_t n_fds)
{
	if (order->head.verb != DIAL_ORDER || n_fds != 0)
		return -1;
	if (!packet_is_text(order->url, sizeof(order->url)) ||
	    !packet_is_text(order->host, sizeof(order->host)))
		return -1;
	if (order->port == 0 || order->port > 65535 || order->is_tls > 1 ||
	    order->may_be_special > 1 || order->max_body > LIMIT_BODY_BYTES)
		return -1;
	return addresses_are_valid(
		   order->addresses, order->n_addresses, LIMIT_ADDRESSES)
	    ? 0
	    : -1;
}

void
dial_encode(struct dial *to, uint32_t sequence)
{
	to->head = (struct packet_head){ PACKET_MAGIC, DIAL, sequence, 0 };
}

int
dial_decode(const struct dial *dial, size_t n_fds)
{
	return dial->head.verb == DIAL && n_fds == 0 ? 0 : -1;
}

void
dialed_encode(struct dialed *dialed, uint32_t sequence)
{
	dialed->head =
	    (struct packet_head){ PACKET_MAGIC, DIALED, sequence, 0 };
}

int
dialed_decode(const struct dialed *dialed, size_t n_fds)
{
	if (dialed->head.verb != DIALED || dialed->result >= DIAL_RESULT_COUNT)
		return -1;
	if (n_fds != (dialed->result == DIAL_RESULT_OK ? 1u : 0u))
		return -1;
	return addresses_are_valid(
		   dialed->refused, dialed->n_refused, LIMIT_DIAL_ADDRESSES)
	    ? 0
	    : -1;
}

static int
has_option(int fd, int option, int wanted)
{
	int value;
	socklen_t n = sizeof(value);

	return getsockopt(fd, SOL_SOCKET, option, &value, &n) == 0 &&
	    value == wanted;
}

int
dial_socket_check(int fd, uint32_t port)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} peer;
	socklen_t n = sizeof(peer);

	if (!has_option(fd, SO_TYPE, SOCK_STREAM) ||
	    !has_option(fd, SO_PROTOCOL, IPPROTO_TCP))
		return -1;
	if (getpeername(fd, &peer.any, &n) < 0)
		return -1;
	if (peer.any.sa_family == AF_INET)
		return ntohs(peer.v4.sin_port) == port ? 0 : -1;
	if (peer.any.sa_family == AF_INET6)
		return ntohs(peer.v6.sin6_port) == port ? 0 : -1;
	return -1;
}
