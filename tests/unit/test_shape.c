/* SPDX-License-Identifier: ISC
 *
 * Shapes: objects made from the capability table itself, good ones and ones
 * with one mistake, for every field of every list; then what only words can
 * say.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "contract/shape.h"

#include "objects.h"
#include "pieces.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* -- one run ------------------------------------------------------------ */

static struct shape shape;

static enum shape_result
read_shape(const struct field *fields, const struct text *text, enum cut cut)
{
	size_t at = 0;

	shape_init(&shape, fields, NULL, NULL, 0);
	while (at < text->n) {
		size_t length = pieces_next(cut, text->n - at);
		char *piece = pieces_copy(text->bytes + at, length);
		enum shape_result result = shape_feed(&shape, piece, length);

		free(piece);
		at += length;
		if (result != SHAPE_OK)
			break;
	}
	return shape_finish(&shape);
}

static void
expect(const struct field *fields, const struct text *text,
    enum shape_result expected, const char *wrong)
{
	for (int cut = CUT_WHOLE; cut <= CUT_RANDOM; cut++) {
		enum shape_result result;

		if (cut == CUT_BYTES && text->n > 4096)
			continue;
		result = read_shape(fields, text, (enum cut)cut);
		if (result != expected || strstr(shape.wrong, wrong) == NULL)
			print_error("# %.*s: %d, not %d; '%s', not '%s'\n",
			    (int)(text->n < 300 ? text->n : 300), text->bytes,
			    result, expected, shape.wrong, wrong);
		assert_int_equal(result, expected);
		assert_non_null(strstr(shape.wrong, wrong));
		if (expected == SHAPE_OK)
			assert_string_equal(shape.wrong, "");
	}
}

static void
expect_text(const struct field *fields, const char *json,
    enum shape_result expected, const char *wrong)
{
	struct text text = { 0 };

	text_add(&text, json);
	expect(fields, &text, expected, wrong);
	text_clear(&text);
}

static void
for_each_list(void (*check)(const struct field *fields))
{
	for (uint32_t i = 0; i < CAPABILITY_COUNT; i++) {
		check(capability_at(i)->input);
		check(capability_at(i)->output);
	}
}

/* Whether the value that was kept is the one at that edge. */
static void
check_kept(const struct field *field, enum edge edge)
{
	const struct shape_value *value = shape_value(&shape, field->name);
	bool is_most = edge == AT_MOST;

	assert_true(value->is_set);
	if (field->type == FIELD_INTEGER || field->type == FIELD_NUMBER)
		assert_true(
		    value->number == (is_most ? field->max : field->min));
	if (field->type == FIELD_BOOLEAN)
		assert_int_equal(value->number, is_most);
	if (field->type == FIELD_CHOICE && !is_most)
		assert_int_equal(value->number, 0);
	if (field->type == FIELD_CHOICE && is_most)
		assert_null(field->choices[value->number + 1]);
	if (field->type != FIELD_LANGUAGES)
		return;
	assert_int_equal(value->n_languages, is_most ? 4 : 1);
	assert_string_equal(value->languages[0], "eng");
	if (is_most)
		assert_string_equal(value->languages[2], "aze_cyrillic");
}

static void
check_good(const struct field *fields)
{
	struct text text = { 0 };

	for (int i = 0; i < count_fields(fields); i++) {
		for (int edge = AT_LEAST; edge <= AT_MOST; edge++) {
			begin_object(&text, fields, i);
			add_member(&text, &fields[i], (enum edge)edge);
			text_add(&text, "} ");
			expect(fields, &text, SHAPE_OK, "");
			check_kept(&fields[i], (enum edge)edge);
		}
	}
	text_clear(&text);
}

static void
test_good(void **state)
{
	(void)state;
	for_each_list(check_good);
}

static bool
has_fallback(const struct field *field)
{
	return field->type == FIELD_INTEGER || field->type == FIELD_BOOLEAN ||
	    field->type == FIELD_CHOICE;
}

static void
check_missing(const struct field *fields)
{
	struct text text = { 0 };
	char wrong[64];

	for (int i = 0; i < count_fields(fields); i++) {
		begin_object(&text, fields, i);
		text_add(&text, "}");
		(void)snprintf(
		    wrong, sizeof(wrong), "%s: is missing", fields[i].name);
		if (fields[i].is_required) {
			expect(fields, &text, SHAPE_WRONG, wrong);
			continue;
		}
		expect(fields, &text, SHAPE_OK, "");
		assert_int_equal(shape_value(&shape, fields[i].name)->is_set,
		    has_fallback(&fields[i]));
		assert_true(shape_value(&shape, fields[i].name)->number ==
		    fields[i].fallback);
	}
	text_clear(&text);
}

static void
test_missing(void **state)
{
	(void)state;
	for_each_list(check_missing);
}

static void
check_twice_and_unknown(const struct field *fields)
{
	static const char *const unknown[] = { "\"\":0", "\"x\":0",
		"\"Data\":\"AAAA\"", "\"data\\u0020\":\"AAAA\"",
		"\"url\":\"https://x\"", "\"args\":[]",
		"\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		"aaaaaaaaaaaaa\":{}" };
	struct text text = { 0 };
	char wrong[64];

	for (int i = 0; i < count_fields(fields); i++) {
		begin_object(&text, fields, -1);
		add_member(&text, &fields[i], AT_MOST);
		text_add(&text, "}");
		(void)snprintf(
		    wrong, sizeof(wrong), "%s: is there twice", fields[i].name);
		expect(fields, &text, SHAPE_WRONG, wrong);
	}
	for (size_t i = 0; i < COUNT(unknown); i++) {
		begin_object(&text, fields, -1);
		text_add(&text, ",");
		text_add(&text, unknown[i]);
		text_add(&text, "}");
		expect(fields, &text, SHAPE_WRONG, "not of the list");
	}
	text_clear(&text);
}

static void
test_twice_and_unknown(void **state)
{
	(void)state;
	for_each_list(check_twice_and_unknown);
}

/* -- one wrong value ---------------------------------------------------- */

#define IS(type) (1u << (type))

struct any_value {
	const char *json;
	uint32_t right_for; /* may be right for these types */
};

static const struct any_value any_values[] = {
	{ "true", IS(FIELD_BOOLEAN) },
	{ "1", IS(FIELD_INTEGER) | IS(FIELD_NUMBER) },
	{ "1.0", IS(FIELD_NUMBER) },
	{ "1e1", IS(FIELD_NUMBER) },
	{ "\"\"", IS(FIELD_TEXT) },
	{ "\"x!\"", IS(FIELD_TEXT) },
	{ "\"1\"", IS(FIELD_TEXT) },
	{ "\"true\"", IS(FIELD_TEXT) | IS(FIELD_BASE64) },
	{ "{}", 0 },
	{ "{\"data\":\"AAAA\"}", 0 },
	{ "[]", IS(FIELD_TEXT_LIST) | IS(FIELD_INTEGER_LIST) },
	{ "[1]", IS(FIELD_INTEGER_LIST) },
	{ "[1.0]", 0 },
	{ "[\"x\"]", IS(FIELD_TEXT_LIST) },
	{ "[\"x\",1]", 0 },
	{ "[1,\"x\"]", 0 },
	{ "[null]", 0 },
	{ "[true]", 0 },
	{ "[[]]", 0 },
	{ "[{}]", 0 },
	{ "[[1]]", 0 },
	{ "[[\"eng\"]]", 0 },
	{ "[{\"data\":1}]", 0 },
};

static void
expect_wrong_value(
    const struct field *fields, int at, const char *json, const char *why)
{
	struct text text = { 0 };
	char wrong[96];

	begin_object(&text, fields, at);
	add_name(&text, &fields[at]);
	text_add(&text, json);
	text_add(&text, "}");
	(void)snprintf(wrong, sizeof(wrong), "%s: %s", fields[at].name, why);
	expect(fields, &text, SHAPE_WRONG, wrong);
	text_clear(&text);
}

static void
check_type(const struct field *fields)
{
	for (int i = 0; i < count_fields(fields); i++) {
		for (size_t k = 0; k < COUNT(any_values); k++) {
			if ((any_values[k].right_for & IS(fields[i].type)) == 0)
				expect_wrong_value(
				    fields, i, any_values[k].json, "");
		}
		if (!fields[i].may_be_null)
			expect_wrong_value(fields, i, "null", "is not");
	}
}

static void
test_type(void **state)
{
	(void)state;
	for_each_list(check_type);
}

static void
check_null(const struct field *fields)
{
	struct text text = { 0 };

	for (int i = 0; i < count_fields(fields); i++) {
		if (!fields[i].may_be_null)
			continue;
		begin_object(&text, fields, i);
		add_name(&text, &fields[i]);
		text_add(&text, "null}");
		expect(fields, &text, SHAPE_OK, "");
		assert_false(shape_value(&shape, fields[i].name)->is_set);
	}
	text_clear(&text);
}

static void
test_null(void **state)
{
	(void)state;
	for_each_list(check_null);
}

static void
check_number_range(const struct field *fields, int at)
{
	static const char *const far[] = { "-9223372036854775808",
		"9223372036854775808", "18446744073709551617",
		"99999999999999999999999999999999999999" };
	char json[64];

	(void)snprintf(json, sizeof(json), "%" PRId64, fields[at].max + 1);
	expect_wrong_value(fields, at, json, "is out of range");
	(void)snprintf(json, sizeof(json), "%" PRId64, fields[at].min - 1);
	expect_wrong_value(fields, at, json, "is out of range");
	for (size_t i = 0; i < COUNT(far); i++)
		expect_wrong_value(fields, at, far[i], "is ");
}

static void
check_languages(const struct field *fields, int at)
{
	static const char *const bad[] = { "[\"\"]", "[\"en\"]", "[\"ENG\"]",
		"[\"engl\"]", "[\"eng_\"]", "[\"eng_a\"]",
		"[\"eng_abcdefghi\"]", "[\"eng_lat1\"]", "[\"eng+deu\"]",
		"[\"../e\"]", "[\"eng \"]", "[\"eng\\n\"]", "[\"-l\"]",
		"[\"eng\",\"\"]", "[\"eng_abcdefgh_x\"]",
		"[\"engengengengengengengengengengengengengengengengengengengeng"
		"engengengeng\"]" };

	for (size_t i = 0; i < COUNT(bad); i++)
		expect_wrong_value(
		    fields, at, bad[i], "has an item that is no language");
	expect_wrong_value(fields, at, "[]", "is empty");
	expect_wrong_value(fields, at,
	    "[\"eng\",\"deu\",\"fra\",\"spa\",\"ita\"]", "has too many items");
}

static void
check_choice(const struct field *fields, int at)
{
	static const char *const bad[] = { "\"\"", "\" \"", "\"0\"", "\"jpe\"",
		"\"jpegg\"", "\"JPEG\"", "\"jpeg \"", "\"../pdf\"",
		"\"pdf\\n\"",
		"\"pngpngpngpngpngpngpngpngpngpngpngpngpngpngpngpngpngpngpngpng"
		"pngpngpngpngpng\"" };

	for (size_t i = 0; i < COUNT(bad); i++)
		expect_wrong_value(
		    fields, at, bad[i], "is none of its choices");
}

static void
check_too_many(const struct field *fields, int at)
{
	struct text json = { 0 };
	bool is_text = fields[at].type == FIELD_TEXT_LIST;

	text_add(&json, "[");
	for (uint32_t i = 0; i <= fields[at].max_items; i++) {
		text_add(&json, i == 0 ? "" : ",");
		text_add(&json, is_text ? "\"\"" : "1");
	}
	text_add(&json, "]");
	expect_wrong_value(fields, at, json.bytes, "has too many items");
	text_clear(&json);
}

static void
check_too_long(const struct field *fields, int at)
{
	bool is_list = fields[at].type == FIELD_TEXT_LIST;
	struct text json = { 0 };

	text_add(&json, is_list ? "[\"y\",\"" : "\"y");
	text_add_times(&json, "x", (uint64_t)fields[at].max);
	text_add(&json, is_list ? "\"]" : "\"");
	expect_wrong_value(fields, at, json.bytes, "is too long");
	text_clear(&json);
}

static void
check_limits(const struct field *fields)
{
	for (int i = 0; i < count_fields(fields); i++) {
		enum field_type type = fields[i].type;

		if (type == FIELD_INTEGER || type == FIELD_NUMBER)
			check_number_range(fields, i);
		if (type == FIELD_LANGUAGES)
			check_languages(fields, i);
		if (type == FIELD_CHOICE)
			check_choice(fields, i);
		if (type == FIELD_TEXT_LIST || type == FIELD_INTEGER_LIST)
			check_too_many(fields, i);
		if (type == FIELD_TEXT_LIST || type == FIELD_TEXT)
			check_too_long(fields, i);
		if (type == FIELD_BASE64)
			expect_wrong_value(fields, i, "\"\"", "is too short");
	}
}

static void
test_limits(void **state)
{
	(void)state;
	for_each_list(check_limits);
}

/* -- words -------------------------------------------------------------- */

static const struct field sample[] = {
	{ .name = "data", .type = FIELD_BASE64, .min = 2, .max = 5 },
	{ .name = "list",
	    .type = FIELD_INTEGER_LIST,
	    .min = -2,
	    .max = 2,
	    .max_items = 3 },
	{ .name = "number", .type = FIELD_NUMBER, .min = -1, .max = 1 },
	{ .name = "text", .type = FIELD_TEXT, .min = 2, .max = 4 },
	{ .name = "texts", .type = FIELD_TEXT_LIST, .max = 4, .max_items = 2 },
	{ .type = FIELD_END },
};

struct word_case {
	const char *json;
	enum shape_result result;
	const char *wrong;
};

static void
test_words(void **state)
{
	static const struct word_case cases[] = {
		{ "{}", SHAPE_OK, "" },
		{ " { } ", SHAPE_OK, "" },
		{ "", SHAPE_NOT_JSON, "not JSON at byte 0: incomplete" },
		{ "{", SHAPE_NOT_JSON, "incomplete" },
		{ "{}{}", SHAPE_NOT_JSON, "not JSON at byte 2" },
		{ "{},", SHAPE_NOT_JSON, "bad syntax" },
		{ "{\"data\":\"AAAA\\u0000\"}", SHAPE_NOT_JSON, "Unicode" },
		{ "\xEF\xBB\xBF{}", SHAPE_NOT_JSON, "byte 0" },
		{ "{\"text\":\"\xC0\x80\"}", SHAPE_NOT_JSON, "Unicode" },
		{ "{\"number\":01}", SHAPE_NOT_JSON, "bad syntax" },
		{ "[]", SHAPE_WRONG, "is not an object" },
		{ "null", SHAPE_WRONG, "is not an object" },
		{ "1 ", SHAPE_WRONG, "is not an object" },
		{ "1", SHAPE_WRONG, "is not an object" },
		{ "\"{}\"", SHAPE_WRONG, "is not an object" },
		{ "[{}]", SHAPE_WRONG, "is not an object" },
		{ "{\"data\":\"AAE=\"}", SHAPE_OK, "" },
		{ "{\"d\\u0061ta\":\"\\u0041AE\\u003d\"}", SHAPE_OK, "" },
		{ "{\"data\":\"AAECAwQ=\"}", SHAPE_OK, "" },
		{ "{\"data\":\"AAECAwQF\"}", SHAPE_TOO_LARGE, "too large" },
		{ "{\"data\":\"AAECAwQFBg==\"}", SHAPE_TOO_LARGE, "data: " },
		{ "{\"data\":\"AA==\"}", SHAPE_WRONG, "data: is too short" },
		{ "{\"data\":\"AAE\"}", SHAPE_WRONG, "not valid base64" },
		{ "{\"data\":\"AAF=\"}", SHAPE_WRONG, "not valid base64" },
		{ "{\"data\":\"AAE= \"}", SHAPE_WRONG, "not valid base64" },
		{ "{\"data\":\"AA\\nEC\"}", SHAPE_WRONG, "not valid base64" },
		{ "{\"data\":\"AA_-\"}", SHAPE_WRONG, "not valid base64" },
		{ "{\"data\":\"=AAA\"}", SHAPE_WRONG, "not valid base64" },
		{ "{\"data\":\"AAE=AAE=\"}", SHAPE_WRONG, "valid base64" },
		{ "{\"list\":[-2,0,2]}", SHAPE_OK, "" },
		{ "{\"list\":[-3]}", SHAPE_WRONG, "list: is out of range" },
		{ "{\"list\":[3]}", SHAPE_WRONG, "list: is out of range" },
		{ "{\"list\":[0,0,0,0]}", SHAPE_WRONG, "too many items" },
		{ "{\"number\":-1.0}", SHAPE_OK, "" },
		{ "{\"number\":1e0}", SHAPE_OK, "" },
		{ "{\"number\":0.999e-99}", SHAPE_OK, "" },
		{ "{\"number\":1.0001}", SHAPE_WRONG, "out of range" },
		{ "{\"number\":1e999999}", SHAPE_WRONG, "out of range" },
		{ "{\"number\":-1e1}", SHAPE_WRONG, "out of range" },
		{ "{\"number\":NaN}", SHAPE_NOT_JSON, "bad syntax" },
		{ "{\"text\":\"ab\"}", SHAPE_OK, "" },
		{ "{\"text\":\"\\u20acx\"}", SHAPE_OK, "" },
		{ "{\"text\":\"\\ud83d\\ude00\"}", SHAPE_OK, "" },
		{ "{\"text\":\"\\n\\n\\n\\n\"}", SHAPE_OK, "" },
		{ "{\"text\":\"a\"}", SHAPE_WRONG, "text: is too short" },
		{ "{\"text\":\"abcde\"}", SHAPE_WRONG, "text: is too long" },
		{ "{\"text\":\"\\u20acxy\"}", SHAPE_WRONG, "is too long" },
		{ "{\"text\":\"ab\",\"t\\u0065xt\":\"ab\"}", SHAPE_WRONG,
		    "text: is there twice" },
		{ "{\"texts\":[\"abc\",\"d\"],\"text\":\"abcd\","
		  "\"list\":[0,0,0]}",
		    SHAPE_OK, "" },
		{ "{\"list\":[0,0,0],\"text\":\"abcd\","
		  "\"texts\":[\"abc\",\"d\"]}",
		    SHAPE_OK, "" },
		{ "{\"texts\":[\"abc\",\"de\"]}", SHAPE_WRONG, "too long" },
		{ "{\"evil\\n\":1}", SHAPE_WRONG,
		    "a field that is not of the list" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		expect_text(
		    sample, cases[i].json, cases[i].result, cases[i].wrong);
	/* no field is named where none is at fault */
	expect_text(sample, "[]", SHAPE_WRONG, "is not an object");
	assert_string_equal(shape.wrong, "is not an object");
}

struct got {
	unsigned char bytes[64];
	size_t n;
	int result;
};

static int
got_bytes(void *context, const unsigned char *bytes, size_t n)
{
	struct got *got = context;

	assert_true(n > 0 && n <= sizeof(got->bytes) - got->n);
	memcpy(got->bytes + got->n, bytes, n);
	got->n += n;
	return got->result;
}

static void
test_sink(void **state)
{
	static const char json[] = "{\"data\":\"AAECAwQ=\"}";
	struct got got = { 0 };

	(void)state;
	shape_init(&shape, sample, got_bytes, &got, 0);
	for (size_t i = 0; i < sizeof(json) - 1; i++)
		assert_int_equal(shape_feed(&shape, json + i, 1), SHAPE_OK);
	assert_int_equal(shape_finish(&shape), SHAPE_OK);
	assert_int_equal(got.n, 5);
	assert_memory_equal(got.bytes, "\0\1\2\3\4", 5);
	got.n = 0;
	got.result = -1;
	shape_init(&shape, sample, got_bytes, &got, 0);
	assert_int_equal(
	    shape_feed(&shape, json, sizeof(json) - 1), SHAPE_SINK_FAILED);
	assert_int_equal(shape_finish(&shape), SHAPE_SINK_FAILED);
}

static enum shape_result
read_with_max(const char *json, uint64_t max_data)
{
	shape_init(&shape, sample, NULL, NULL, max_data);
	(void)shape_feed(&shape, json, strlen(json));
	return shape_finish(&shape);
}

/* The operator's max lowers the table's, and raises nothing. */
static void
test_max_data(void **state)
{
	(void)state;
	assert_int_equal(read_with_max("{\"data\":\"AAEC\"}", 3), SHAPE_OK);
	assert_int_equal(
	    read_with_max("{\"data\":\"AAEC\"}", 2), SHAPE_TOO_LARGE);
	assert_int_equal(
	    read_with_max("{\"data\":\"AAECAwQF\"}", 100), SHAPE_TOO_LARGE);
	assert_int_equal(
	    read_with_max("{\"data\":\"AAECAwQ=\"}", 100), SHAPE_OK);
}

struct count {
	uint64_t n;
	uint64_t sum;
};

static int
count_bytes(void *context, const unsigned char *bytes, size_t n)
{
	struct count *count = context;

	count->n += n;
	for (size_t i = 0; i < n; i++)
		count->sum += bytes[i];
	return 0;
}

/* The largest job of the table, and one byte more. */
static void
test_largest(void **state)
{
	const struct field *fields =
	    capability_at(CAPABILITY_DOCUMENT_TEXT)->input;
	uint64_t max = capability_at(CAPABILITY_DOCUMENT_TEXT)->max_input;
	struct text text = { 0 };
	struct count count = { 0 };

	(void)state;
	text_add(&text, "{\"type\":\"pdf\",\"data\":\"");
	text_add_times(&text, "AQEB", max / 3);
	text_add(&text, max % 3 == 2 ? "AQE=" : max % 3 == 1 ? "AQ==" : "");
	text_add(&text, "\"}");
	shape_init(&shape, fields, count_bytes, &count, 0);
	(void)shape_feed(&shape, text.bytes, text.n);
	assert_int_equal(shape_finish(&shape), SHAPE_OK);
	assert_true(count.n == max && count.sum == max);
	shape_init(&shape, fields, NULL, NULL, max - 1);
	(void)shape_feed(&shape, text.bytes, text.n);
	assert_int_equal(shape_finish(&shape), SHAPE_TOO_LARGE);
	text_clear(&text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_twice_and_unknown),
		cmocka_unit_test(test_type),
		cmocka_unit_test(test_null),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_sink),
		cmocka_unit_test(test_max_data),
		cmocka_unit_test(test_largest),
	};

	pieces_start();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
