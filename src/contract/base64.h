/* SPDX-License-Identifier: ISC
 *
 * Base64 both ways. A strict streaming base64 decoder (RFC 4648 section 4): the
 * standard alphabet, padding required, nothing else between, the unused bits of
 * the last character zero. So every byte string has exactly one text.
 */
#ifndef CONTRACT_BASE64_H
#define CONTRACT_BASE64_H

#include <stddef.h>
#include <stdint.h>

/* Whole quanta; a few pages, so that a sink that writes is called rarely. */
#define BASE64_BUFFER_BYTES (3 * 2048)

enum base64_result {
	BASE64_OK = 0, /* all text was taken */
	BASE64_FULL = 1, /* take the bytes, set used to 0, go on */
	BASE64_BAD = -1, /* not base64 */
	BASE64_TOO_LARGE = -2, /* more than max bytes */
};

struct base64 {
	uint64_t max;
	uint64_t count; /* bytes decoded in all */
	size_t used; /* of them in bytes[] */
	unsigned char bytes[BASE64_BUFFER_BYTES];
	/* private from here */
	uint32_t quantum;
	uint32_t n; /* characters of the quantum so far */
	uint32_t padding;
};

void base64_init(struct base64 *base64, uint64_t max);

/* Decodes from *at, which moves, towards end. */
enum base64_result base64_feed(
    struct base64 *base64, const char **at, const char *end);

/*
 * Writes n bytes as 4 characters for each 3 begun, without a terminator; gives
 * their number. Of a longer text only the last piece may be no multiple of 3.
 */
size_t base64_encode(char *to, const unsigned char *from, size_t n);

/* BASE64_OK when the text may end here, else BASE64_BAD. */
enum base64_result base64_finish(const struct base64 *base64);

#endif
