/* SPDX-License-Identifier: ISC
 *
 * Readings and writings of text at their edges.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/text.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define TIMES_8(t)  t t t t t t t t
#define TIMES_64(t) TIMES_8(TIMES_8(t))

struct reading {
	const char *text;
	int result;
	uint64_t value;
};

static void
assert_readings(const struct reading *cases, size_t n,
    int (*read)(const char *text, uint64_t *ret))
{
	for (size_t i = 0; i < n; i++) {
		uint64_t value = 77;
		int result = read(cases[i].text, &value);

		if (result != cases[i].result)
			print_error("# '%s'\n", cases[i].text);
		assert_int_equal(result, cases[i].result);
		assert_true(value == (result == 0 ? cases[i].value : 77));
	}
}

static int
read_u64(const char *text, uint64_t *ret)
{
	return text_u64(text, UINT64_MAX, ret);
}

static int
read_to_100(const char *text, uint64_t *ret)
{
	return text_u64(text, 100, ret);
}

static int
read_to_5(const char *text, uint64_t *ret)
{
	return text_u64(text, 5, ret);
}

static void
test_u64(void **state)
{
	static const struct reading any[] = { { "0", 0, 0 }, { "7", 0, 7 },
		{ "10", 0, 10 }, { "18446744073709551615", 0, UINT64_MAX },
		{ "18446744073709551616", -1, 0 },
		{ "99999999999999999999", -1, 0 },
		{ "184467440737095516150", -1, 0 }, { "", -1, 0 },
		{ "00", -1, 0 }, { "01", -1, 0 }, { "+1", -1, 0 },
		{ "-1", -1, 0 }, { " 1", -1, 0 }, { "1 ", -1, 0 },
		{ "1\n", -1, 0 }, { "0x1", -1, 0 }, { "1.0", -1, 0 },
		{ "1e1", -1, 0 }, { "\xD9\xA1", -1, 0 } };
	static const struct reading to_100[] = { { "100", 0, 100 },
		{ "99", 0, 99 }, { "101", -1, 0 }, { "110", -1, 0 },
		{ "1000", -1, 0 } };
	static const struct reading to_5[] = { { "0", 0, 0 }, { "5", 0, 5 },
		{ "6", -1, 0 }, { "9", -1, 0 }, { "10", -1, 0 } };

	(void)state;
	assert_readings(any, COUNT(any), read_u64);
	assert_readings(to_100, COUNT(to_100), read_to_100);
	assert_readings(to_5, COUNT(to_5), read_to_5);
}

static void
test_duration(void **state)
{
	static const struct reading cases[] = { { "250ms", 0, 250 },
		{ "0s", 0, 0 }, { "10s", 0, 10000 }, { "5m", 0, 300000 },
		{ "1h", 0, 3600000 }, { "7d", 0, 604800000 },
		{ "18446744073709551615ms", -1, 0 },
		{ "9223372036854775807ms", 0, INT64_MAX },
		{ "9999999999999999999d", -1, 0 }, { "10", -1, 0 },
		{ "s", -1, 0 }, { "", -1, 0 }, { "10 s", -1, 0 },
		{ "10S", -1, 0 }, { "1.5s", -1, 0 }, { "-1s", -1, 0 },
		{ "01s", -1, 0 }, { "1h30m", -1, 0 }, { "10sec", -1, 0 } };

	(void)state;
	assert_readings(cases, COUNT(cases), text_duration_ms);
}

static void
test_size(void **state)
{
	static const struct reading cases[] = { { "512", 0, 512 },
		{ "64KiB", 0, 65536 }, { "64MiB", 0, 67108864 },
		{ "1GiB", 0, 1073741824 }, { "0", 0, 0 }, { "1KB", -1, 0 },
		{ "1kib", -1, 0 }, { "1K", -1, 0 }, { "1 MiB", -1, 0 },
		{ "KiB", -1, 0 }, { "1TiB", -1, 0 },
		{ "9999999999999999999GiB", -1, 0 },
		{ "99999999999GiB", -1, 0 } };

	(void)state;
	assert_readings(cases, COUNT(cases), text_size);
}

static void
test_put(void **state)
{
	static const uint64_t ms[] = { 0, 1, 250, 1000, 1500, 60000, 90000,
		3600000, 86400000, 604800000 };
	static const uint64_t bytes[] = { 0, 1, 1000, 1024, 1536, 1048576,
		67108864, 1073741824 };
	char text[32];
	uint64_t value;

	(void)state;
	for (size_t i = 0; i < COUNT(ms); i++) {
		text_put_duration(text, sizeof(text), ms[i]);
		assert_int_equal(text_duration_ms(text, &value), 0);
		assert_true(value == ms[i]);
	}
	for (size_t i = 0; i < COUNT(bytes); i++) {
		text_put_size(text, sizeof(text), bytes[i]);
		assert_int_equal(text_size(text, &value), 0);
		assert_true(value == bytes[i]);
	}
	text_put_duration(text, sizeof(text), 90000);
	assert_string_equal(text, "90s");
	text_put_size(text, sizeof(text), 67108864);
	assert_string_equal(text, "64MiB");
}

static void
test_copy(void **state)
{
	char to[4] = "xyz";

	(void)state;
	assert_int_equal(text_copy(to, sizeof(to), "abc"), 0);
	assert_string_equal(to, "abc");
	assert_int_equal(text_copy(to, sizeof(to), ""), 0);
	assert_string_equal(to, "");
	assert_int_equal(text_copy(to, sizeof(to), "abcd"), -1);
	assert_string_equal(to, "");
}

static size_t
encode(unsigned char *to, uint32_t c)
{
	if (c < 0x80) {
		to[0] = (unsigned char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (unsigned char)(0xC0 | c >> 6);
		to[1] = (unsigned char)(0x80 | (c & 63));
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (unsigned char)(0xE0 | c >> 12);
		to[1] = (unsigned char)(0x80 | (c >> 6 & 63));
		to[2] = (unsigned char)(0x80 | (c & 63));
		return 3;
	}
	to[0] = (unsigned char)(0xF0 | c >> 18);
	to[1] = (unsigned char)(0x80 | (c >> 12 & 63));
	to[2] = (unsigned char)(0x80 | (c >> 6 & 63));
	to[3] = (unsigned char)(0x80 | (c & 63));
	return 4;
}

/* Every number that four bytes can say: a character, or not, and never cut. */
static void
test_utf8_characters(void **state)
{
	(void)state;
	for (uint32_t c = 0; c < 0x200000; c++) {
		unsigned char bytes[4];
		size_t n = encode(bytes, c);
		bool is_character = c <= 0x10FFFF && (c < 0xD800 || c > 0xDFFF);

		if (text_utf8_length(bytes, n) != (is_character ? n : 0) ||
		    (n > 1 && text_utf8_length(bytes, n - 1) != 0))
			fail_msg("U+%04X", c);
	}
}

static void
test_utf8_texts(void **state)
{
	static const char *const good[] = { "", "abc", "\xC3\xA9",
		"a\xE2\x82\xAC z", "\xF0\x9F\x98\x80" };
	static const char *const bad[] = { "\x80", "\xC3", "\xC0\x80",
		"\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
		"\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "a\xC3z",
		"\xE2\x82", "\xE2\x28\x82", "\xE2\x82\x28", "\xF0\x9F\x98",
		"\xF0\x28\x98\x80", "\xF0\x9F\x28\x80", "\xF0\x9F\x98\x28" };

	(void)state;
	for (size_t i = 0; i < COUNT(good); i++)
		assert_true(text_is_utf8(good[i], strlen(good[i])));
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_false(text_is_utf8(bad[i], strlen(bad[i])));
	assert_true(text_is_utf8("a\0b", 3));
	assert_int_equal(text_utf8_length((const unsigned char *)"a", 0), 0);
}

static void
assert_printable(const char *bytes, size_t n, const char *expected)
{
	char to[64];

	text_printable(to, sizeof(to), bytes, n);
	assert_string_equal(to, expected);
}

static void
test_printable(void **state)
{
	char to[8];

	(void)state;
	assert_printable("plain ~", 7, "plain ~");
	assert_printable("a\nb\tc", 5, "a\\x0ab\\x09c");
	assert_printable("a\0b", 3, "a\\x00b");
	assert_printable("\x1b[31m", 5, "\\x1b[31m");
	assert_printable("\x7f\\", 2, "\\x7f\\x5c");
	assert_printable("\xC3\xA9\xE2\x82\xAC", 5, "\xC3\xA9\xE2\x82\xAC");
	assert_printable("\xC2\x9B", 2, "\\xc2\\x9b");
	assert_printable("\xE2\x80\xAE", 3, "\\xe2\\x80\\xae");
	assert_printable("\xEF\xBB\xBF", 3, "\\xef\\xbb\\xbf");
	assert_printable("\xFF\xC3", 2, "\\xff\\xc3");
	text_printable(to, sizeof(to), "abcdefghij", 10);
	assert_string_equal(to, "abcdefg");
	text_printable(to, sizeof(to), "abcd\n", 5);
	assert_string_equal(to, "abcd");
	text_printable(to, sizeof(to), "abcdef\xC3\xA9", 8);
	assert_string_equal(to, "abcdef");
}

static void
test_id(void **state)
{
	static const char *const bad[] = { "", " ", "a b", "a\n", "\"", "\\",
		"%n", "'", ";", "<", "a,b", "\xC3\xA9", "\x7f", "{", "#", "?",
		"&", "!", "*", "$" };
	char id[130];

	(void)state;
	assert_true(text_is_id("AZaz09._~:@+/=-"));
	assert_true(text_is_id(".."));
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_false(text_is_id(bad[i]));
	memset(id, 'x', sizeof(id));
	id[128] = '\0';
	assert_true(text_is_id(id));
	id[128] = 'x';
	id[129] = '\0';
	assert_false(text_is_id(id));
}

static void
test_name(void **state)
{
	static const char *const bad[] = { "", "-a", "_a", "A", "a.b", "a b",
		"a/b", "..", "\xC3\xA9", "a\n", TIMES_64("x") "x" };
	static const char *const good[] = { "a", "0", "a-b_c", TIMES_64("x") };

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_false(text_is_name(bad[i]));
	for (size_t i = 0; i < COUNT(good); i++)
		assert_true(text_is_name(good[i]));
}

static void
test_hex(void **state)
{
	static const unsigned char bytes[] = { 0x00, 0x0f, 0xa5, 0xff };
	char to[9];

	(void)state;
	text_hex(to, bytes, sizeof(bytes));
	assert_string_equal(to, "000fa5ff");
	text_hex(to, bytes, 0);
	assert_string_equal(to, "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_u64),
		cmocka_unit_test(test_duration),
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_put),
		cmocka_unit_test(test_copy),
		cmocka_unit_test(test_utf8_characters),
		cmocka_unit_test(test_utf8_texts),
		cmocka_unit_test(test_printable),
		cmocka_unit_test(test_id),
		cmocka_unit_test(test_name),
		cmocka_unit_test(test_hex),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
