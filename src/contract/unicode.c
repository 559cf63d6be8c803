/* SPDX-License-Identifier: ISC
 *
 * The fast half of the scanner, wherever that runs and on the same foreign
 * bytes: most of a job is one string of base64, and most of the time goes by
 * in unicode_run(). It decides nothing alone: where it stops, the scanner
 * looks why.
 */
#include "contract/unicode.h"

#include <stdbool.h>
#include <string.h>

#include "base/text.h"

/*
 * Whether none of 8 bytes ends a run of plain ASCII: a quote, a backslash, a
 * control or a byte above 0x7F. The subtractions borrow into the next byte
 * only from one that is already a hit, so a word without hits has none.
 */
static bool
is_plain_word(const unsigned char *at)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return ((word | (word - ones * 0x20) | ((word ^ ones * '"') - ones) |
		    ((word ^ ones * '\\') - ones)) &
		   (ones * 0x80)) == 0;
}

const unsigned char *
unicode_run(const unsigned char *at, const unsigned char *end)
{
	size_t length;

	while (at < end) {
		while (end - at >= 8 && is_plain_word(at))
			at += 8;
		if (at == end || *at < 0x20 || *at == '"' || *at == '\\')
			break;
		length = text_utf8_length(at, (size_t)(end - at));
		if (length == 0)
			break;
		at += length;
	}
	return at;
}

size_t
unicode_put(unsigned char to[4], uint32_t code_point)
{
	static const unsigned char leads[] = { 0, 0, 0xC0, 0xE0, 0xF0 };
	size_t n = code_point < 0x80 ? 1
	    : code_point < 0x800     ? 2
	    : code_point < 0x10000   ? 3
				     : 4;

	for (size_t i = n - 1; i > 0; i--) {
		to[i] = (unsigned char)(0x80 | (code_point & 0x3F));
		code_point >>= 6;
	}
	to[0] = (unsigned char)(leads[n] | code_point);
	return n;
}
