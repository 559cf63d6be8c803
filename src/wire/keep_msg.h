/* SPDX-License-Identifier: ISC
 *
 * core ↔ keep. The keep takes verbs and an index of the config in force,
 * never an address.
 *
 *   KEEP_OPEN source + the courier's end of a pair the core made
 *                     → KEEP_OPENED result
 *   KEEP_DROP source  kill that source's courier, if any; not answered
 *
 * One courier per source: a second KEEP_OPEN is answered BUSY. Another
 * generation than the one in force is answered STALE.
 */
#ifndef WIRE_KEEP_MSG_H
#define WIRE_KEEP_MSG_H

#include "wire/packet.h"

enum keep_verb {
	KEEP_OPEN = 1,
	KEEP_DROP,
	KEEP_VERB_END,
	KEEP_OPENED = 100,
};

/* Why a source's secret cannot be used; KEEP_RESULT_OK: a courier has it. */
enum keep_result {
	KEEP_RESULT_OK = 0,
	KEEP_RESULT_STALE, /* another generation */
	KEEP_RESULT_BUSY, /* a courier of it is there, or too many are */
	KEEP_RESULT_FAILED, /* the machine: fork, pipe, a dead opener */
	KEEP_RESULT_NO_CA, /* its ca_file, or the system's, unreadable */
	/* secrets */
	KEEP_RESULT_MISSING, /* no such secret */
	KEEP_RESULT_NO_KEY, /* no key file: no secret was ever set */
	KEEP_RESULT_NOT_FILE, /* symlink, hard link, or no regular file */
	KEEP_RESULT_OWNER, /* of another user */
	KEEP_RESULT_MODE, /* readable or writable by others */
	KEEP_RESULT_SIZE, /* empty or too long */
	KEEP_RESULT_CORRUPT, /* does not open: wrong key or changed file */
	KEEP_RESULT_ORIGIN, /* was set for another origin */
	KEEP_RESULT_ALPHABET, /* holds a byte a header must not have */
	KEEP_RESULT_COUNT,
};

struct keep_order {
	struct packet_head head;
	uint32_t source; /* index in the config of that generation */
	uint32_t reserved;
};

struct keep_answer {
	struct packet_head head;
	uint32_t source;
	uint32_t result; /* enum keep_result */
};

void keep_order_encode(struct keep_order *to, enum keep_verb verb,
    uint32_t sequence, uint32_t generation, uint32_t source);
int keep_order_decode(const struct keep_order *order, size_t n_fds);
void keep_answer_encode(struct keep_answer *to, const struct keep_order *order,
    enum keep_result result);
int keep_answer_decode(const struct keep_answer *answer, size_t n_fds);

/* A short reason for people: "its mode lets others read it". */
const char *keep_result_text(uint32_t result);

#endif
