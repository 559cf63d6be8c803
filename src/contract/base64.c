/* SPDX-License-Identifier: ISC
 *
 * Base64 to bytes, in the driver on a job's input and in the courier and `try`
 * on a box's output; and back. The fast path takes only whole, valid quanta
 * that fit; everything else, each error included, is the slow path's, so the
 * answer does not depend on how the text was cut into pieces.
 */
#include "contract/base64.h"

#include <stdbool.h>

#include "base/must.h"

#define VALID 0x40
#define ROW4(c, v)                                          \
	[(c)] = VALID | (v), [(c) + 1] = VALID | ((v) + 1), \
	[(c) + 2] = VALID | ((v) + 2), [(c) + 3] = VALID | ((v) + 3)
#define ROW8(c, v) ROW4(c, v), ROW4((c) + 4, (v) + 4)
#define ROW26(c, v)                                                   \
	ROW8(c, v), ROW8((c) + 8, (v) + 8), ROW8((c) + 16, (v) + 16), \
	    [(c) + 24] = VALID | ((v) + 24), [(c) + 25] = VALID | ((v) + 25)

/* 0: not of the alphabet; else VALID and the six bits. */
static const unsigned char alphabet[256] = {
	ROW26('A', 0),
	ROW26('a', 26),
	ROW8('0', 52),
	['8'] = VALID | 60,
	['9'] = VALID | 61,
	['+'] = VALID | 62,
	['/'] = VALID | 63,
};

void
base64_init(struct base64 *base64, uint64_t max)
{
	base64->max = max;
	base64->count = 0;
	base64->used = 0;
	base64->quantum = 0;
	base64->n = 0;
	base64->padding = 0;
}

static uint64_t
smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Decodes whole quanta as long as they are plain and fit. */
static const char *
decode_quanta(struct base64 *base64, const char *at, const char *end)
{
	const unsigned char *from = (const unsigned char *)at;
	unsigned char *to = base64->bytes + base64->used;
	uint64_t quanta = smaller((uint64_t)(end - at) / 4,
	    (sizeof(base64->bytes) - base64->used) / 3);
	uint64_t done = 0;

	quanta = smaller(quanta, (base64->max - base64->count) / 3);
	for (; done < quanta; done++, from += 4, to += 3) {
		uint32_t a = alphabet[from[0]];
		uint32_t b = alphabet[from[1]];
		uint32_t c = alphabet[from[2]];
		uint32_t d = alphabet[from[3]];

		if ((a & b & c & d & VALID) == 0)
			break;
		a = (a & 63) << 18 | (b & 63) << 12 | (c & 63) << 6 | (d & 63);
		to[0] = (unsigned char)(a >> 16);
		to[1] = (unsigned char)(a >> 8);
		to[2] = (unsigned char)a;
	}
	base64->used += done * 3;
	base64->count += done * 3;
	return at + done * 4;
}

static enum base64_result
end_quantum(struct base64 *base64)
{
	uint32_t n = 3 - base64->padding;
	uint32_t unused = (UINT32_C(1) << (8 * base64->padding)) - 1;

	if ((base64->quantum & unused) != 0)
		return BASE64_BAD;
	if (n > base64->max - base64->count)
		return BASE64_TOO_LARGE;
	for (uint32_t i = 0; i < n; i++)
		base64->bytes[base64->used++] =
		    (unsigned char)(base64->quantum >> (16 - 8 * i));
	base64->count += n;
	base64->quantum = 0;
	base64->n = 0;
	return BASE64_OK;
}

/* After the last quantum padding stays set, so that nothing may follow it. */
static enum base64_result
decode_one(struct base64 *base64, unsigned char c)
{
	if (c == '=') {
		if (base64->n < 2)
			return BASE64_BAD;
		base64->padding++;
	} else if (base64->padding > 0 || alphabet[c] == 0) {
		return BASE64_BAD;
	}
	base64->quantum = base64->quantum << 6 | (alphabet[c] & 63);
	return ++base64->n == 4 ? end_quantum(base64) : BASE64_OK;
}

enum base64_result
base64_feed(struct base64 *base64, const char **at, const char *end)
{
	enum base64_result result = BASE64_OK;

	must(base64->used <= sizeof(base64->bytes));
	while (result == BASE64_OK && *at < end) {
		if (base64->n == 0 && base64->padding == 0)
			*at = decode_quanta(base64, *at, end);
		if (sizeof(base64->bytes) - base64->used < 3)
			return BASE64_FULL;
		if (*at < end)
			result = decode_one(base64, (unsigned char)*(*at)++);
	}
	return result;
}

enum base64_result
base64_finish(const struct base64 *base64)
{
	return base64->n == 0 ? BASE64_OK : BASE64_BAD;
}

size_t
base64_encode(char *to, const unsigned char *from, size_t n)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz"
				     "0123456789+/";
	size_t used = 0;

	for (size_t i = 0; i < n; i += 3) {
		size_t have = n - i < 3 ? n - i : 3;
		uint32_t group = (uint32_t)from[i] << 16;

		if (have > 1)
			group |= (uint32_t)from[i + 1] << 8;
		if (have > 2)
			group |= from[i + 2];
		to[used++] = digits[group >> 18];
		to[used++] = digits[group >> 12 & 63];
		to[used++] = have > 1 ? digits[group >> 6 & 63] : '=';
		to[used++] = have > 2 ? digits[group & 63] : '=';
	}
	return used;
}
