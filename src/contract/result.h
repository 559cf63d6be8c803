/* SPDX-License-Identifier: ISC
 *
 * The second call of the contract: the body of POST /v1/result, around an
 * output that is passed on byte for byte. Runs in the courier.
 */
#ifndef CONTRACT_RESULT_H
#define CONTRACT_RESULT_H

#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"

/* The longest text before or behind the output. */
#define RESULT_FRAME_BYTES 1024

struct result {
	const char *id;
	const char *lease; /* "": the source gave none */
	uint32_t outcome; /* enum outcome */
	uint32_t error; /* enum error_code; failed only */
	uint32_t reason; /* enum release_reason; released only */
	uint32_t retry_after_s; /* released only; 0: left out */
};

struct result_frame {
	char head[RESULT_FRAME_BYTES]; /* before the output */
	char tail[8]; /* behind it */
	size_t n_head;
	size_t n_tail;
};

/*
 * Writes the frame. succeeded: head + output + tail is the body; otherwise
 * head + tail alone is. All fields must be in range: they are our own.
 */
void result_frame(struct result_frame *to, const struct result *result);

#endif
