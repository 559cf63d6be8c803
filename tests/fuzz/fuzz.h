/* SPDX-License-Identifier: ISC
 *
 * What the targets share. Each is the one function that libFuzzer calls; with
 * replay.c instead of libFuzzer it runs over its corpus in every test. A
 * broken promise aborts (must). The input is a copy of exactly its size, so
 * that reading beyond it is seen.
 */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/pieces.h"
#include "base/cleanup.h"
#include "base/memory.h"
#include "base/must.h"
#include "base/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* Takes the first byte off the input, 0 from an empty one. */
static inline uint8_t
fuzz_byte(const uint8_t **bytes, size_t *n)
{
	if (*n == 0)
		return 0;
	(*n)--;
	return *(*bytes)++;
}

/* The input as a string, to be freed: what stands before its first NUL. */
static inline char *
fuzz_text(const uint8_t *bytes, size_t n)
{
	size_t used = strnlen((const char *)bytes, n);
	char *text = memory_new(used + 1, 1);

	memcpy(text, bytes, used);
	return text;
}

/* Whether a terminated line can be shown as it is. A backslash is how
 * text_printable writes what cannot. */
static inline bool
fuzz_is_printable(const char *line)
{
	char shown[8];

	for (size_t n = strlen(line); n > 0;) {
		size_t length =
		    text_utf8_length((const unsigned char *)line, n);

		if (length == 0)
			return false;
		text_printable(shown, sizeof(shown), line, length);
		if (*line != '\\' && memcmp(shown, line, length) != 0)
			return false;
		line += length;
		n -= length;
	}
	return true;
}

/* Bytes gathered from callbacks; zeroed is empty. */
struct fuzz_log {
	char *bytes;
	size_t n;
	size_t size;
};

static inline void
fuzz_log_put(struct fuzz_log *log, const void *bytes, size_t n)
{
	if (log->n + n > log->size) {
		log->size = 2 * (log->n + n);
		log->bytes = memory_resize(log->bytes, log->size, 1);
	}
	if (n > 0)
		memcpy(log->bytes + log->n, bytes, n);
	log->n += n;
}

static inline bool
fuzz_log_is_same(const struct fuzz_log *a, const struct fuzz_log *b)
{
	return a->n == b->n &&
	    (a->n == 0 || memcmp(a->bytes, b->bytes, a->n) == 0);
}

static inline void
fuzz_log_done(struct fuzz_log *log)
{
	free(log->bytes);
}

#define cleanup_fuzz_log cleanup_with(fuzz_log_done)

#endif
