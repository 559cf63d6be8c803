/* SPDX-License-Identifier: ISC
 *
 * supervisor ↔ keep, yard, core. Orders go down, one at a time on each link;
 * each but SUPER_LINK and SUPER_STOP is answered.
 *
 *   SUPER_CONFIG  + sealed memfd of config.yaml  → OK | REFUSED (where, what)
 *   SUPER_COMMIT  the generation is in force     → OK
 *   SUPER_LINK    + one end of a packet pair to the peer (keep: to the core;
 *                 yard: to the core; core: to keep or yard, see peer)
 *   SUPER_STOP    is_urgent 0: finish and end; 1: end now
 */
#ifndef WIRE_SUPER_MSG_H
#define WIRE_SUPER_MSG_H

#include "wire/packet.h"

enum super_verb {
	SUPER_CONFIG = 1,
	SUPER_COMMIT,
	SUPER_LINK,
	SUPER_STOP,
	SUPER_VERB_END,
	SUPER_OK = 100,
	SUPER_REFUSED,
	SUPER_ANSWER_END,
};

enum super_peer {
	SUPER_PEER_NONE = 0,
	SUPER_PEER_CORE,
	SUPER_PEER_KEEP,
	SUPER_PEER_YARD,
	SUPER_PEER_END,
};

struct super_order {
	struct packet_head head;
	uint32_t peer; /* SUPER_LINK */
	uint32_t is_urgent; /* SUPER_STOP */
	uint32_t has_crashed; /* SUPER_CONFIG to a core: the one before it was
				 ended by a signal or a failure of its own */
	uint32_t reserved;
};

struct super_answer {
	struct packet_head head;
	char text[512]; /* REFUSED: one printable line; else empty */
};

/* Fills *to. 0. The decoders: 0, or -1 when a field is out of range or the
 * fds do not fit the verb. */
void super_order_encode(struct super_order *to, enum super_verb verb,
    uint32_t sequence, uint32_t generation);
int super_order_decode(const struct super_order *order, size_t n_fds);
void super_answer_encode(struct super_answer *to,
    const struct super_order *order, const char *refusal);
int super_answer_decode(const struct super_answer *answer, size_t n_fds);

#endif
