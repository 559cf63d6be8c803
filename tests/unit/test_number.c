/* SPDX-License-Identifier: ISC
 *
 * Number tokens: integers, and ranges decided on the digits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "contract/number.h"

#include "pieces.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct number_case {
	const char *token;
	int64_t min;
	int64_t max;
	int result;
	int64_t value;
};

static void
test_integer(void **state)
{
	static const struct number_case cases[] = {
		{ "0", 0, 0, 0, 0 },
		{ "-0", 0, 0, 0, 0 },
		{ "1", 0, 0, 0, 1 },
		{ "-42", 0, 0, 0, -42 },
		{ "9223372036854775807", 0, 0, 0, INT64_MAX },
		{ "-9223372036854775808", 0, 0, 0, INT64_MIN },
		{ "9223372036854775808", 0, 0, -1, 0 },
		{ "-9223372036854775809", 0, 0, -1, 0 },
		{ "18446744073709551616", 0, 0, -1, 0 },
		{ "18446744073709551617", 0, 0, -1, 0 },
		{ "99999999999999999999999999", 0, 0, -1, 0 },
		{ "1.0", 0, 0, -1, 0 },
		{ "1e0", 0, 0, -1, 0 },
		{ "1E2", 0, 0, -1, 0 },
		{ "0.0", 0, 0, -1, 0 },
		{ "-0e5", 0, 0, -1, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		int64_t value = 77;

		assert_int_equal(number_integer(cases[i].token,
				     strlen(cases[i].token), &value),
		    cases[i].result);
		assert_true(
		    value == (cases[i].result == 0 ? cases[i].value : 77));
	}
}

static void
test_within(void **state)
{
	static const struct number_case cases[] = {
		{ "0", 0, 100, 0, 0 },
		{ "-0", 0, 100, 0, 0 },
		{ "-0.0e9", 0, 100, 0, 0 },
		{ "100", 0, 100, 0, 100 },
		{ "100.0", 0, 100, 0, 100 },
		{ "1e2", 0, 100, 0, 100 },
		{ "10.0E+1", 0, 100, 0, 100 },
		{ "0.1e3", 0, 100, 0, 100 },
		{ "10000e-2", 0, 100, 0, 100 },
		{ "99.999", 0, 100, 0, 99 },
		{ "87.5", 0, 100, 0, 87 },
		{ "0.00000000000000000000000000000000000001", 0, 100, 0, 0 },
		{ "1e-999999", 0, 100, 0, 0 },
		{ "0e999999", 0, 100, 0, 0 },
		{ "0.0e999999999999999999999", 0, 100, 0, 0 },
		{ "100.00000000000000000000000000000000000001", 0, 100, -1, 0 },
		{ "100.1", 0, 100, -1, 0 },
		{ "101", 0, 100, -1, 0 },
		{ "1e3", 0, 100, -1, 0 },
		{ "1e999999", 0, 100, -1, 0 },
		{ "1e99999999999999999999", 0, 100, -1, 0 },
		{ "-1", 0, 100, -1, 0 },
		{ "-0.1", 0, 100, -1, 0 },
		{ "-1e-999999", 0, 100, -1, 0 },
		{ "-1e999999", 0, 100, -1, 0 },
		{ "0.0000001e8", 0, 100, 0, 10 },
		{ "-5.5", -6, -5, 0, -5 },
		{ "-6.5", -6, -5, -1, 0 },
		{ "-4.9", -6, -5, -1, 0 },
		{ "-6", -6, -5, 0, -6 },
		{ "4.9", 5, 6, -1, 0 },
		{ "5.0", 5, 6, 0, 5 },
		{ "9223372036854775807", INT64_MIN, INT64_MAX, 0, INT64_MAX },
		{ "9223372036854775807.1", INT64_MIN, INT64_MAX, -1, 0 },
		{ "9223372036854775808", INT64_MIN, INT64_MAX, -1, 0 },
		{ "-9223372036854775808", INT64_MIN, INT64_MAX, 0, INT64_MIN },
		{ "-9223372036854775808.5", INT64_MIN, INT64_MAX, -1, 0 },
		{ "18446744073709551616", INT64_MIN, INT64_MAX, -1, 0 },
		{ "99999999999999999999", INT64_MIN, INT64_MAX, -1, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const int64_t range[2] = { cases[i].min, cases[i].max };
		int64_t value = 77;
		int result = number_within(
		    cases[i].token, strlen(cases[i].token), range, &value);

		if (result != cases[i].result)
			print_error("# %s\n", cases[i].token);
		assert_int_equal(result, cases[i].result);
		assert_true(value == (result == 0 ? cases[i].value : 77));
	}
}

/* A value of thousandths, written in some way, against whole bounds. */
static void
test_within_random(void **state)
{
	(void)state;
	for (int round = 0; round < 20000; round++) {
		int64_t milli = (int64_t)(pieces_random() % 20001) - 10000;
		int shift = (int)(pieces_random() % 12) - 3;
		int64_t range[2] = { (int64_t)(pieces_random() % 11) - 5, 0 };
		int64_t whole = 77;
		char token[64];
		int n;
		bool is_in;

		range[1] = range[0] + (int64_t)(pieces_random() % 6);
		is_in = milli >= range[0] * 1000 && milli <= range[1] * 1000;
		if (shift < 0)
			n = snprintf(token, sizeof(token), "%" PRId64 "000e-%d",
			    milli, 6);
		else
			n = snprintf(token, sizeof(token),
			    "%s0.%0*" PRIu64 "e%d", milli < 0 ? "-" : "",
			    shift + 5, (uint64_t)(milli < 0 ? -milli : milli),
			    shift + 2);
		assert_int_equal(number_within(token, (size_t)n, range, &whole),
		    is_in ? 0 : -1);
		assert_true(whole == (is_in ? milli / 1000 : 77));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_integer),
		cmocka_unit_test(test_within),
		cmocka_unit_test(test_within_random),
	};

	pieces_start();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
