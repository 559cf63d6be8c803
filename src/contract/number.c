/* SPDX-License-Identifier: ISC
 *
 * Number tokens, in the driver, the courier and `try`. The scanner has checked
 * the grammar and the length; the values are still anybody's: 1e999999,
 * 0.000…1e70, -0.
 */
#include "contract/number.h"

#include <stdbool.h>
#include <string.h>

#include "base/limits.h"
#include "base/must.h"

/* Beyond this an exponent decides alone: no token has so many digits. */
#define EXPONENT_MAX 10000

/* value = ± 0.DIGITS × 10^point, the first digit not 0 */
struct decimal {
	bool is_negative;
	char digits[LIMIT_JSON_NUMBER_BYTES];
	int n;
	int point;
};

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool
number_may_end(enum number_place place)
{
	return place == NUMBER_ZERO || place == NUMBER_INTEGER ||
	    place == NUMBER_FRACTION || place == NUMBER_EXPONENT;
}

/* Where a digit leads. */
static enum number_place
next_digit(enum number_place place, bool is_zero)
{
	switch (place) {
	case NUMBER_BEGIN:
	case NUMBER_MINUS:
		return is_zero ? NUMBER_ZERO : NUMBER_INTEGER;
	case NUMBER_INTEGER:
		return NUMBER_INTEGER;
	case NUMBER_POINT:
	case NUMBER_FRACTION:
		return NUMBER_FRACTION;
	case NUMBER_E:
	case NUMBER_E_SIGN:
	case NUMBER_EXPONENT:
		return NUMBER_EXPONENT;
	case NUMBER_ZERO:
	case NUMBER_ENDED:
	case NUMBER_BAD:
		break;
	}
	return NUMBER_BAD;
}

enum number_place
number_next(enum number_place place, unsigned char byte)
{
	bool is_whole = place == NUMBER_ZERO || place == NUMBER_INTEGER;

	if (is_digit((char)byte))
		return next_digit(place, byte == '0');
	if (byte == '-' && place == NUMBER_BEGIN)
		return NUMBER_MINUS;
	if (byte == '.' && is_whole)
		return NUMBER_POINT;
	if ((byte == 'e' || byte == 'E') &&
	    (is_whole || place == NUMBER_FRACTION))
		return NUMBER_E;
	if ((byte == '+' || byte == '-') && place == NUMBER_E)
		return NUMBER_E_SIGN;
	return number_may_end(place) ? NUMBER_ENDED : NUMBER_BAD;
}

/* Gives the magnitude with its sign, or -1 when int64_t does not hold it. */
static int
with_sign(uint64_t magnitude, bool is_negative, int64_t *ret_value)
{
	if (magnitude > (uint64_t)INT64_MAX + (is_negative ? 1 : 0))
		return -1;
	*ret_value =
	    (int64_t)(is_negative ? UINT64_C(0) - magnitude : magnitude);
	return 0;
}

static int
add_digit(uint64_t *value, char digit)
{
	if (__builtin_mul_overflow(*value, UINT64_C(10), value) ||
	    __builtin_add_overflow(*value, (uint64_t)(digit - '0'), value))
		return -1;
	return 0;
}

int
number_integer(const char *token, size_t n, int64_t *ret_value)
{
	bool is_negative = n > 0 && token[0] == '-';
	uint64_t magnitude = 0;

	for (size_t i = is_negative ? 1 : 0; i < n; i++) {
		if (!is_digit(token[i]) || add_digit(&magnitude, token[i]) < 0)
			return -1;
	}
	return with_sign(magnitude, is_negative, ret_value);
}

static int
read_exponent(const char *at, const char *end)
{
	bool is_negative = at < end && *at == '-';
	int value = 0;

	if (at < end && !is_digit(*at))
		at++;
	for (; at < end && value < EXPONENT_MAX; at++)
		value = value * 10 + (*at - '0');
	return is_negative ? -value : value;
}

static void
read_decimal(struct decimal *to, const char *token, size_t n)
{
	const char *end = token + n;
	bool is_fraction = false;

	memset(to, 0, sizeof(*to));
	to->is_negative = n > 0 && *token == '-';
	for (token += to->is_negative; token < end; token++) {
		if (*token == '.') {
			is_fraction = true;
			continue;
		}
		if (!is_digit(*token))
			break;
		if (to->n == 0 && *token == '0') {
			to->point -= is_fraction;
			continue;
		}
		to->digits[to->n++] = *token;
		to->point += !is_fraction;
	}
	if (token < end)
		to->point += read_exponent(token + 1, end);
}

/* Splits |value| into its integer part and whether anything is behind it. */
static int
split(const struct decimal *decimal, uint64_t *ret_whole, bool *ret_is_more)
{
	uint64_t whole = 0;
	bool is_more = false;

	/* No bound has more than 19 digits. */
	if (decimal->n > 0 && decimal->point > 20)
		return -1;
	for (int i = 0; decimal->n > 0 && i < decimal->point; i++) {
		char digit = i < decimal->n ? decimal->digits[i] : '0';

		if (add_digit(&whole, digit) < 0)
			return -1;
	}
	for (int i = 0; i < decimal->n; i++)
		is_more |= i >= decimal->point && decimal->digits[i] != '0';
	*ret_whole = whole;
	*ret_is_more = is_more;
	return 0;
}

int
number_within(
    const char *token, size_t n, const int64_t range[2], int64_t *ret_whole)
{
	struct decimal decimal;
	uint64_t magnitude;
	bool is_more;
	int64_t whole;

	must(n <= LIMIT_JSON_NUMBER_BYTES);
	read_decimal(&decimal, token, n);
	if (split(&decimal, &magnitude, &is_more) < 0 ||
	    with_sign(magnitude, decimal.is_negative, &whole) < 0)
		return -1;
	if (whole < range[0] || whole > range[1])
		return -1;
	/* What stands behind the point leads away from zero. */
	if (is_more && whole == range[decimal.is_negative ? 0 : 1])
		return -1;
	*ret_whole = whole;
	return 0;
}
