/* SPDX-License-Identifier: ISC
 *
 * Number tokens: decided on digits as a longer way of reckoning decides.
 * Input: two bounds of four bytes each, the token.
 */
#include "contract/number.h"
#include "fuzz.h"

static bool
is_token(const char *token, size_t n)
{
	enum number_place place = NUMBER_BEGIN;

	for (size_t i = 0; i < n; i++) {
		place = number_next(place, (unsigned char)token[i]);
		if (place == NUMBER_ENDED || place == NUMBER_BAD)
			return false;
	}
	return number_may_end(place);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	int64_t range[2] = { 0, 0 };
	int64_t whole = 0;
	int64_t value = 0;

	for (size_t i = 0; i < 8; i++)
		range[i / 4] = range[i / 4] << 8 | fuzz_byte(&bytes, &n);
	range[0] = (int32_t)range[0];
	if (range[0] > range[1] || n > 60)
		return 0;

	cleanup_free char *token = memory_new(n + 1, 1);

	memcpy(token, bytes, n);
	if (strlen(token) != n || !is_token(token, n))
		return 0;

	char *end;
	bool is_within = number_within(token, n, range, &whole) == 0;
	bool is_integer = number_integer(token, n, &value) == 0;
	long double about = strtold(token, &end);

	must(end == token + n);
	if (is_within)
		must(whole >= range[0] && whole <= range[1]);
	/* Rounded, it may stand on the border where the digits do not. */
	if (about < (long double)range[0] || about > (long double)range[1])
		must(!is_within);
	if (about > (long double)range[0] && about < (long double)range[1])
		must(is_within && whole == (int64_t)about);
	if (is_integer)
		must(strpbrk(token, ".eE") == NULL &&
		    (long double)value == about &&
		    is_within == (value >= range[0] && value <= range[1]));
	return 0;
}
