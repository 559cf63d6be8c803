/* SPDX-License-Identifier: ISC
 *
 * The first call of the contract: the request for a job, and what a 200
 * brought. Runs in the courier, on bytes that the source made.
 */
#ifndef CONTRACT_CLAIM_H
#define CONTRACT_CLAIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "contract/scan.h"

/* The longest request that claim_write makes. */
#define CLAIM_REQUEST_BYTES 1024

/*
 * Writes the body of POST /v1/claim. capabilities is a set of bits by
 * capability index. Gives its length.
 */
size_t claim_write(char to[CLAIM_REQUEST_BYTES], const char *claim_id,
    uint32_t capabilities, uint32_t max_job_seconds);

enum claim_fate {
	CLAIM_JOB = 1, /* a valid job */
	CLAIM_BAD_JOB, /* not the contract, but its id could be read */
	CLAIM_NOT_CONTRACT, /* not even an id */
};

/* Gets the bytes of `input` exactly as they were sent, in order. 0, or
 * negative to stop. */
typedef int claim_sink(void *context, const char *bytes, size_t n);

struct claim {
	char id[LIMIT_ID_BYTES + 1]; /* "" until read whole and valid */
	char lease[LIMIT_ID_BYTES + 1]; /* "" when absent */
	uint32_t capability; /* index, or CAPABILITY_NONE: a name we do not
				know */
	bool more;
	char wrong[128]; /* what was wrong, for people; none of its bytes */
	/* private from here */
	struct scan scan;
	claim_sink *sink;
	void *sink_context;
	uint32_t seen; /* bit per key of the contract */
	uint32_t n_keys; /* members of the body so far */
	int current; /* key whose value is being read, or -1: not ours */
	bool is_wrong;
	bool is_stored; /* false once the sink has failed */
	uint64_t input_begin; /* UINT64_MAX until known, both */
	uint64_t input_end;
	size_t used;
	char token[LIMIT_ID_BYTES + 2]; /* one byte longer than valid */
};

/* sink may be NULL: the input is checked and dropped. */
void claim_init(struct claim *claim, claim_sink *sink, void *sink_context);

/*
 * Takes n more bytes of the body. 0 while more may come; -1 when the body is
 * refused and reading on is pointless (claim_finish then says what it was).
 * After a mistake that is not one of JSON's grammar the rest is still read, so
 * that an id that follows can be answered.
 */
int claim_feed(struct claim *claim, const char *bytes, size_t n);

/*
 * Says that the body has ended. A body that breaks off is CLAIM_NOT_CONTRACT
 * whatever stood in it; so is one with two ids. Unless it is CLAIM_JOB, what
 * the sink got is to be thrown away. A sink that failed leaves CLAIM_BAD_JOB
 * at best: the caller knows why it failed.
 */
enum claim_fate claim_finish(struct claim *claim);

#endif
