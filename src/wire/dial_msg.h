/* SPDX-License-Identifier: ISC
 *
 * courier ↔ keep and keep ↔ dialer: how a courier without socket() or
 * connect() comes by a connected socket.
 *
 * The keep tells a new courier first, as one DIAL_ORDER, where its source is
 * (all of it from the config). The courier says DIAL; the keep starts a
 * dialer, hands it the same host, port and policy, takes the dialer's answer
 * and passes it on as DIALED, with the socket.
 */
#ifndef WIRE_DIAL_MSG_H
#define WIRE_DIAL_MSG_H

#include "base/limits.h"
#include "wire/packet.h"

enum dial_verb {
	DIAL_ORDER = 1, /* keep → courier, once; keep → dialer, once */
	DIAL, /* courier → keep */
	DIALED, /* dialer → keep, keep → courier */
};

enum dial_result {
	DIAL_RESULT_OK = 0, /* one connected socket comes along */
	DIAL_RESULT_NO_NAME, /* the name does not resolve */
	DIAL_RESULT_FORBIDDEN, /* every address of it is special */
	DIAL_RESULT_REFUSED, /* connection refused */
	DIAL_RESULT_UNREACHABLE,
	DIAL_RESULT_TIMEOUT,
	DIAL_RESULT_FAILED, /* the machine */
	DIAL_RESULT_COUNT,
};

struct dial_address {
	uint32_t family; /* AF_INET or AF_INET6; 0 where unused */
	unsigned char bytes[16]; /* network order; 4 used for AF_INET */
};

struct dial_order {
	struct packet_head head;
	char url[512]; /* "https://host[:port][/prefix]", no slash at its end;
			  for the courier; empty for the dialer */
	char host[256]; /* a name or a literal without brackets */
	uint32_t port;
	uint32_t is_tls;
	uint32_t may_be_special; /* the URL's host is itself a literal or
				    "localhost": any address will do */
	uint32_t n_addresses; /* special addresses that are allowed */
	struct dial_address addresses[LIMIT_ADDRESSES];
	uint64_t max_body; /* cap of a body, for the courier */
};

struct dial {
	struct packet_head head;
};

struct dialed {
	struct packet_head head;
	uint32_t result; /* enum dial_result */
	uint32_t n_refused; /* addresses left out by the policy */
	struct dial_address refused[LIMIT_DIAL_ADDRESSES];
};

/* Sets the head; the rest of *order is the caller's to fill beforehand. */
void dial_order_encode(struct dial_order *order, uint32_t generation);
int dial_order_decode(const struct dial_order *order, size_t n_fds);
void dial_encode(struct dial *to, uint32_t sequence);
int dial_decode(const struct dial *dial, size_t n_fds);
/* Sets the head; result and refused are the caller's to fill beforehand. */
void dialed_encode(struct dialed *dialed, uint32_t sequence);
int dialed_decode(const struct dialed *dialed, size_t n_fds);

/*
 * Whether fd is what a DIALED promises: a connected TCP stream over IPv4 or
 * IPv6 to that port. 0 or -1.
 */
int dial_socket_check(int fd, uint32_t port);

#endif
