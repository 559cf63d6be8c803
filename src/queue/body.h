/* SPDX-License-Identifier: ISC
 *
 * The bodies of the three calls that have one, read while they stream by.
 * Strings of the contract are kept; `input`, `output` and `error` are only
 * located, so that they can be passed on byte for byte.
 */
#ifndef QUEUE_BODY_H
#define QUEUE_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "contract/scan.h"
#include "queue/spool.h"

enum body_call {
	BODY_CLAIM,
	BODY_RESULT,
	BODY_SUBMIT,
};

typedef char body_id[LIMIT_ID_BYTES + 1];
typedef char body_name[LIMIT_QUEUE_CAPABILITY_BYTES + 1];

struct body_key;

struct body {
	/* claim */
	body_id claim_id;
	body_name capabilities[LIMIT_QUEUE_CAPABILITIES];
	uint32_t n_capabilities;
	uint32_t max_job_seconds;
	/* result */
	body_id id;
	body_id lease;
	uint32_t outcome; /* enum outcome */
	struct span output;
	struct span error;
	uint32_t retry_after_s; /* at most LIMIT_RETRY_AFTER_S */
	/* submit */
	body_name capability;
	struct span input;

	char wrong[160]; /* what was wrong and where; none of its bytes */
	/* private from here */
	const struct body_key *keys;
	enum body_call call;
	struct scan scan;
	uint32_t seen;
	const struct body_key *current;
	uint32_t n_keys;
	size_t used;
	bool is_code;
	bool has_code;
	char token[LIMIT_ID_BYTES + 1];
};

void body_init(struct body *body, enum body_call call);

/* Takes n more bytes. 0, or -1: refused, see wrong. */
int body_feed(struct body *body, const char *bytes, size_t n);

/* Says that nothing follows. 0: all fields of the call are set. */
int body_finish(struct body *body);

/* word.word of a-z: what a capability's name looks like. */
bool body_is_capability(const char *name);

#endif
