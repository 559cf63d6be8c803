/* SPDX-License-Identifier: ISC
 *
 * A strict streaming JSON scanner: RFC 8259 with strict UTF-8, no NUL (raw or
 * escaped), no lone surrogate, bounded depth and number tokens. No tree, no
 * allocation; bytes may come in pieces of any size. Numbers are never
 * converted. It tells what it sees through one function; whether keys repeat
 * is the reader's business.
 */
#ifndef CONTRACT_SCAN_H
#define CONTRACT_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "contract/number.h"

enum scan_event {
	SCAN_OBJECT_BEGIN,
	SCAN_OBJECT_END,
	SCAN_ARRAY_BEGIN,
	SCAN_ARRAY_END,
	SCAN_KEY, /* bytes: the whole key, unescaped; is_whole false
		     when longer than LIMIT_JSON_KEY_BYTES (then bytes
		     is its beginning, of whole characters) */
	SCAN_STRING_BEGIN,
	SCAN_STRING_BYTES, /* a piece of an unescaped string: whole characters,
			      at least one */
	SCAN_STRING_END,
	SCAN_NUMBER, /* bytes: the whole token as written */
	SCAN_TRUE,
	SCAN_FALSE,
	SCAN_NULL,
};

struct scan_piece {
	enum scan_event event;
	unsigned int depth; /* of the value: 0 at the top level; a key and its
			       value have the depth of the object's inside, so
			       members of the top object have 1. BEGIN and END
			       of one container have the same depth. */
	const char *bytes; /* not terminated; valid during the call */
	size_t n;
	bool is_whole; /* SCAN_KEY only */
	uint64_t position; /* offset of the first byte of the value or key; for
			      END events the offset just behind its last */
};

/* Gives 0, or a negative value that stops the scan (scan_feed gives
 * SCAN_STOPPED). */
typedef int scan_function(void *context, const struct scan_piece *piece);

enum scan_result {
	SCAN_OK = 0,
	SCAN_BAD_SYNTAX = -1,
	SCAN_BAD_UTF8 = -2, /* in a string: bytes, NUL or lone surrogate */
	SCAN_TOO_DEEP = -3,
	SCAN_TOO_LONG = -4, /* a number token */
	SCAN_INCOMPLETE = -5, /* the text ended too early (scan_finish) */
	SCAN_STOPPED = -6, /* the function asked for it */
};

struct scan {
	scan_function *function;
	void *context;
	unsigned int max_depth;
	enum scan_result result;
	uint64_t position; /* bytes taken so far; after a failure: where */
	/* private from here */
	uint32_t state;
	unsigned int depth; /* open containers */
	uint32_t is_object; /* a bit per open container, the outermost in 0 */
	enum number_place place; /* in a number */
	uint32_t literal; /* true, false or null, in progress */
	uint32_t code_point; /* \u escape in progress */
	uint32_t surrogate; /* the first half of a pair, or 0 */
	uint32_t count; /* digits of \u, bytes of a character so far */
	bool is_key; /* the string being read is a key */
	bool key_is_cut;
	uint64_t start; /* position of the value or key being read */
	unsigned char character[4];
	size_t used; /* bytes of token, or letters of the literal */
	char token[LIMIT_JSON_NUMBER_BYTES];
};

/* max_depth at most LIMIT_JSON_DEPTH. */
void scan_init(struct scan *scan, unsigned int max_depth,
    scan_function *function, void *context);

/* Takes n more bytes. SCAN_OK, or the result that ended the scan; after that
 * every further call gives the same. */
enum scan_result scan_feed(struct scan *scan, const char *bytes, size_t n);

/* Says that nothing follows: SCAN_OK only when exactly one value, with
 * nothing but white space around it, has been seen. */
enum scan_result scan_finish(struct scan *scan);

/* "bad syntax", … for a message to people. */
const char *scan_result_text(enum scan_result result);

#endif
