/* SPDX-License-Identifier: ISC
 *
 * core ↔ courier, over a pair the core made. One order, one answer.
 *
 *   COURIER_CLAIM  + an empty letter     → COURIER_ANSWER; a job's input
 *                                          stands in the letter
 *   COURIER_RESULT [+ sealed output]     → COURIER_ANSWER
 *
 * The answer holds numbers and strings of the contract's alphabet: never text
 * that a source wrote.
 */
#ifndef WIRE_COURIER_MSG_H
#define WIRE_COURIER_MSG_H

#include "base/limits.h"
#include "wire/letter.h"
#include "wire/packet.h"

#define COURIER_ID_BYTES (LIMIT_ID_BYTES + 4) /* terminator, whole words */

enum courier_verb {
	COURIER_CLAIM = 1,
	COURIER_RESULT,
	COURIER_VERB_END,
	COURIER_ANSWER = 100,
};

enum courier_status {
	/* of a claim */
	COURIER_JOB = 1, /* id, lease, ticket, capability, more; letter */
	COURIER_NOTHING, /* 204 */
	COURIER_BAD_JOB, /* 200, no valid job, but id and ticket are set */
	/* of a result */
	COURIER_STORED, /* 2xx that counts */
	COURIER_GONE, /* 409 or 410 */
	COURIER_MISMATCH, /* a ticket is not that of the id: nothing sent */
	/* of both */
	COURIER_ANSWERED, /* another HTTP status: http_status */
	COURIER_NOT_CONTRACT, /* an answer that is not the contract: trouble */
	COURIER_UNREACHABLE, /* no answer: trouble */
	COURIER_STATUS_END,
};

/* What went wrong on the way, for status and log. */
enum courier_trouble {
	COURIER_TROUBLE_NONE = 0,
	COURIER_NAME, /* does not resolve */
	COURIER_FORBIDDEN, /* resolves only to special addresses */
	COURIER_REFUSED, /* connection refused */
	COURIER_NO_ROUTE,
	COURIER_TIMEOUT,
	COURIER_TLS, /* handshake failed */
	COURIER_CERTIFICATE, /* not valid for this name or chain */
	COURIER_CERTIFICATE_TIME, /* not yet valid, or expired: the clock? */
	COURIER_CLOSED, /* connection cut */
	COURIER_PROTOCOL, /* not HTTP/1.x, or a forbidden header */
	COURIER_HEADERS, /* too many or too long */
	COURIER_TOO_LARGE, /* body or wire above its cap */
	COURIER_MEDIA_TYPE, /* a 2xx body that is not application/json */
	COURIER_JSON, /* not JSON, or not complete */
	COURIER_CONTRACT, /* JSON, but no answer of the contract */
	COURIER_LOCAL, /* our side: memory, letter, a bug */
	COURIER_TROUBLE_COUNT,
};

struct courier_order {
	struct packet_head head;
	/* COURIER_CLAIM */
	char claim_id[LIMIT_CLAIM_ID_BYTES + 4];
	uint32_t capabilities; /* bits */
	uint32_t max_job_seconds; /* 1 … 86400 */
	/* COURIER_RESULT */
	char id[COURIER_ID_BYTES];
	char lease[COURIER_ID_BYTES]; /* "" or of the alphabet */
	uint32_t outcome; /* enum outcome */
	uint32_t error; /* enum error_code; failed only */
	uint32_t reason; /* enum release_reason; released only */
	uint32_t retry_after_s;
	uint32_t capability; /* whose output: succeeded only */
	unsigned char ticket[LETTER_TICKET_BYTES];
	/* both: milliseconds for the exchange */
	uint32_t deadline_ms;
};

struct courier_answer {
	struct packet_head head;
	uint32_t status; /* enum courier_status */
	uint32_t trouble; /* enum courier_trouble */
	uint32_t http_status; /* 0, or 200 … 599 */
	uint32_t retry_after_s; /* 0, or 1 … LIMIT_RETRY_AFTER_S */
	uint32_t capability; /* COURIER_JOB: index or CAPABILITY_NONE;
				COURIER_BAD_JOB: CAPABILITY_NONE */
	uint32_t more;
	uint32_t error; /* COURIER_BAD_JOB: BAD_JOB or TOO_LARGE;
			   a result: BAD_OUTPUT when that was sent instead */
	uint32_t reserved;
	char id[COURIER_ID_BYTES];
	char lease[COURIER_ID_BYTES];
	unsigned char ticket[LETTER_TICKET_BYTES];
	uint64_t input_bytes; /* COURIER_JOB: contents of the letter */
};

/* Sets the head; the rest of the struct is the caller's, zeroed first. */
void courier_order_encode(struct courier_order *order, enum courier_verb verb,
    uint32_t sequence, uint32_t generation);
/* 0, or -1: a field out of range, or fds that do not fit. */
int courier_order_decode(const struct courier_order *order, size_t n_fds);
void courier_answer_encode(
    struct courier_answer *answer, const struct courier_order *order);
int courier_answer_decode(const struct courier_answer *answer, size_t n_fds);

/* "the certificate is not valid", … for status and log. */
const char *courier_trouble_text(uint32_t trouble);

#endif
