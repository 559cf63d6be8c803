/* SPDX-License-Identifier: ISC
 *
 * The base64 decoder: what it accepts is the one text of its bytes.
 * Input: a seed for the cuts, the max, the text.
 */
#include "contract/base64.h"
#include "fuzz.h"

static enum base64_result
decode(struct fuzz_log *to, uint64_t max, const uint8_t *bytes, size_t n,
    enum cut cut)
{
	struct base64 base64;

	base64_init(&base64, max);
	for (size_t at = 0; at < n;) {
		size_t step = pieces_next(cut, n - at);
		cleanup_free char *piece =
		    pieces_copy((const char *)bytes + at, step);
		const char *p = piece;
		enum base64_result r;

		while ((r = base64_feed(&base64, &p, piece + step)) ==
		    BASE64_FULL) {
			fuzz_log_put(to, base64.bytes, base64.used);
			base64.used = 0;
		}
		if (r != BASE64_OK)
			return r;
		must(p == piece + step);
		at += step;
	}
	fuzz_log_put(to, base64.bytes, base64.used);
	return base64_finish(&base64);
}

static void
encode(struct fuzz_log *to, const struct fuzz_log *from)
{
	static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				       "abcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *b = (const unsigned char *)from->bytes;

	for (size_t i = 0; i < from->n; i += 3) {
		size_t left = from->n - i;
		uint32_t three = (uint32_t)b[i] << 16 |
		    (left > 1 ? (uint32_t)b[i + 1] << 8 : 0) |
		    (left > 2 ? b[i + 2] : 0u);
		char four[4] = { alphabet[three >> 18],
			alphabet[three >> 12 & 63],
			left > 1 ? alphabet[three >> 6 & 63] : '=',
			left > 2 ? alphabet[three & 63] : '=' };

		fuzz_log_put(to, four, sizeof(four));
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	cleanup_fuzz_log struct fuzz_log whole = { 0 };
	cleanup_fuzz_log struct fuzz_log cut = { 0 };
	cleanup_fuzz_log struct fuzz_log again = { 0 };

	pieces_seed = fuzz_byte(&bytes, &n);

	uint64_t max = (uint64_t)64 * fuzz_byte(&bytes, &n);
	enum base64_result r = decode(&whole, max, bytes, n, CUT_WHOLE);

	must(decode(&cut, max, bytes, n, CUT_RANDOM) == r);
	if (r != BASE64_OK)
		return 0;
	must(whole.n <= max && fuzz_log_is_same(&whole, &cut));
	encode(&again, &whole);
	must(again.n == n && (n == 0 || memcmp(again.bytes, bytes, n) == 0));
	return 0;
}
