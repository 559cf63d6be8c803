/* SPDX-License-Identifier: ISC
 *
 * The claim: what a source's answer is worth, and that the input's bytes go
 * through untouched.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "contract/capability.h"
#include "contract/claim.h"

#include "pieces.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define TIMES_8(t)  t t t t t t t t
#define TIMES_32(t) TIMES_8(t) TIMES_8(t) TIMES_8(t) TIMES_8(t)
#define ID_128	    TIMES_32("id-9")

#define REST "\"capability\":\"image.text\",\"input\":{}"

struct got {
	char input[4096];
	size_t n;
	size_t room; /* the sink fails beyond it */
};

static int
got_bytes(void *context, const char *bytes, size_t n)
{
	struct got *got = context;

	assert_true(n > 0);
	if (n > got->room - got->n)
		return -1;
	memcpy(got->input + got->n, bytes, n);
	got->n += n;
	return 0;
}

static enum claim_fate
read_claim(struct claim *claim, const char *text, size_t n, enum cut cut,
    struct got *got)
{
	size_t at = 0;
	int result = 0;

	got->n = 0;
	got->room = sizeof(got->input);
	claim_init(claim, got_bytes, got);
	while (at < n && result == 0) {
		size_t length = pieces_next(cut, n - at);
		char *piece = pieces_copy(text + at, length);

		result = claim_feed(claim, piece, length);
		free(piece);
		at += length;
	}
	return claim_finish(claim);
}

struct claim_case {
	const char *text;
	size_t n;
	enum claim_fate fate;
	const char *id;
	const char *input; /* CLAIM_JOB only */
	const char *wrong; /* stands in it */
};

#define TEXT(text) text, sizeof(text) - 1
#define JOB(text, id, input)                         \
	{                                            \
		TEXT(text), CLAIM_JOB, id, input, "" \
	}
#define BAD(text, id, wrong)                             \
	{                                                \
		TEXT(text), CLAIM_BAD_JOB, id, "", wrong \
	}
#define NOT(text, wrong)                                        \
	{                                                       \
		TEXT(text), CLAIM_NOT_CONTRACT, NULL, "", wrong \
	}
#define ID(value) "{\"id\":" value "," REST "}"

static const struct claim_case cases[] = {
	JOB("{\"id\":\"a\"," REST "}", "a", "{}"),
	JOB("{" REST ",\"id\":\"a\"}", "a", "{}"),
	JOB(" {\n\"id\" : \"a\" ,\"capability\":\"image.text\",\"input\" : { "
	    "\"x\" :\t1 } }\r\n",
	    "a", "{ \"x\" :\t1 }"),
	JOB("{\"input\":{\"data\":\"}{\\\"\\u007d\"},\"id\":\"a\","
	    "\"capability\":\"image.text\"}",
	    "a", "{\"data\":\"}{\\\"\\u007d\"}"),
	JOB("{\"id\":\"a\",\"capability\":\"image.text\",\"input\":"
	    "{\"id\":\"b\",\"id\":1,\"input\":{},\"lease\":[]}}",
	    "a", "{\"id\":\"b\",\"id\":1,\"input\":{},\"lease\":[]}"),
	JOB("{\"\\u0069\\u0064\":\"\\u0061\\/b\","
	    "\"c\\u0061pability\":\"image\\u002etext\",\"i\\u006eput\":{}}",
	    "a/b", "{}"),
	JOB(ID("\"" ID_128 "\""), ID_128, "{}"),
	JOB(ID("\"AZaz09._~:@+/=-\""), "AZaz09._~:@+/=-", "{}"),
	/* what is not of the contract is skipped */
	JOB("{\"id\":\"a\"," REST ",\"url\":\"https://x\",\"model\":null,"
	    "\"args\":[\"-rf\"],\"timeout\":1e9,\"token\":{\"id\":\"b\"}}",
	    "a", "{}"),
	JOB("{\"url\":1,\"url\":2,\"Id\":3,\"ID\":4,\"id\":\"a\"," REST "}",
	    "a", "{}"),
	JOB("{\"" ID_128 "\":{\"capability\":1},\"id\":\"a\"," REST "}", "a",
	    "{}"),
	JOB("{\"id\":\"a\"," REST ",\"\":[[[]]]}", "a", "{}"),
	/* two of a kind */
	NOT("{\"id\":\"a\",\"id\":\"b\"," REST "}", "id: is there twice"),
	NOT("{\"id\":\"a\"," REST ",\"id\":\"a\"}", "id: is there twice"),
	NOT("{\"id\":\"a\"," REST ",\"i\\u0064\":\"b\"}", "id: is there"),
	NOT("{\"id\":1,\"id\":\"a\"," REST "}", "id: is not a string"),
	NOT("{" REST ",\"input\":{},\"id\":\"a\",\"id\":\"b\"}", "twice"),
	BAD("{\"id\":\"a\"," REST ",\"capability\":\"image.text\"}", "a",
	    "capability: is there twice"),
	BAD("{" REST ",\"capability\":\"image.text\",\"id\":\"a\"}", "a",
	    "capability: is there twice"),
	BAD("{\"id\":\"a\"," REST ",\"input\":{}}", "a", "input: is there"),
	BAD("{\"id\":\"a\"," REST ",\"inp\\u0075t\":{\"x\":1}}", "a",
	    "input: is there twice"),
	BAD("{\"id\":\"a\"," REST ",\"lease\":\"x\",\"lease\":\"x\"}", "a",
	    "lease: is there twice"),
	BAD("{\"more\":true,\"id\":\"a\"," REST ",\"more\":true}", "a",
	    "more: is there twice"),
	/* ids */
	NOT(ID("7"), "id: is not a string"),
	NOT(ID("null"), "id: is not a string"),
	NOT(ID("true"), "id: is not a string"),
	NOT(ID("[\"a\"]"), "id: is not a string"),
	NOT(ID("{\"id\":\"a\"}"), "id: is not a string"),
	NOT(ID("\"\""), "id: is not 1 to 128"),
	NOT(ID("\"" ID_128 "x\""), "id: is not 1 to 128"),
	NOT(ID("\"" ID_128 ID_128 ID_128 "\""), "id: is not 1 to 128"),
	NOT(ID("\"a b\""), "id: is not 1 to 128"),
	NOT(ID("\"../x\\\\\""), "id: is not 1 to 128"),
	NOT(ID("\"a\\n\""), "id: is not 1 to 128"),
	NOT(ID("\"a\n\""), "not JSON"),
	NOT(ID("\"\\u001b[31m\""), "id: is not 1 to 128"),
	NOT(ID("\"\x1b[31m\""), "not JSON"),
	NOT(ID("\"%n\""), "id: is not 1 to 128"),
	NOT(ID("\"'; drop\""), "id: is not 1 to 128"),
	NOT(ID("\"a\\u0000\""), "not JSON"),
	NOT(ID("\"a\0\""), "not JSON"),
	NOT(ID("\"\xC3\xA9\""), "id: is not 1 to 128"),
	NOT(ID("\"\xEF\xBC\xA1\""), "id: is not 1 to 128"),
	JOB(ID("\"../x\""), "../x", "{}"),
	NOT("{" REST "}", "id: is missing"),
	NOT("{}", "id: is missing"),
	NOT("{\"Id\":\"a\"," REST "}", "id: is missing"),
	NOT("{\"id \":\"a\"," REST "}", "id: is missing"),
	/* the others */
	BAD("{\"id\":\"a\",\"capability\":\"image.text\"}", "a",
	    "input: is missing"),
	BAD("{\"id\":\"a\",\"input\":{}}", "a", "capability: is missing"),
	BAD("{\"capability\":7,\"input\":{},\"id\":\"a\"}", "a",
	    "capability: is not a string"),
	BAD("{\"capability\":[\"image.text\"],\"input\":{},\"id\":\"a\"}", "a",
	    "capability: is not a string"),
	BAD("{\"capability\":null,\"input\":{},\"id\":\"a\"}", "a",
	    "capability: is not a string"),
	BAD("{\"id\":\"a\",\"capability\":\"image.text\",\"input\":[]}", "a",
	    "input: is not an object"),
	BAD("{\"id\":\"a\",\"capability\":\"image.text\",\"input\":[{}]}", "a",
	    "input: is not an object"),
	BAD("{\"capability\":\"image.text\",\"input\":\"{}\",\"id\":\"a\"}",
	    "a", "input: is not an object"),
	BAD("{\"capability\":\"image.text\",\"input\":null,\"id\":\"a\"}", "a",
	    "input: is not an object"),
	BAD("{\"lease\":\"\",\"id\":\"a\"," REST "}", "a", "lease: is not"),
	BAD("{\"lease\":null,\"id\":\"a\"," REST "}", "a", "lease: is not"),
	BAD("{\"lease\":1,\"id\":\"a\"," REST "}", "a", "lease: is not"),
	BAD("{\"lease\":\"a b\",\"id\":\"a\"," REST "}", "a", "lease: is not"),
	BAD("{\"lease\":\"" ID_128 "x\",\"id\":\"a\"," REST "}", "a",
	    "lease: is not"),
	BAD("{\"lease\":{\"lease\":\"x\"},\"id\":\"a\"," REST "}", "a",
	    "lease: is not"),
	BAD("{\"more\":1,\"id\":\"a\"," REST "}", "a", "more: is not"),
	BAD("{\"more\":\"true\",\"id\":\"a\"," REST "}", "a", "more: is not"),
	BAD("{\"more\":null,\"id\":\"a\"," REST "}", "a", "more: is not"),
	/* not JSON, before and behind the id */
	NOT("", "incomplete"),
	NOT(" ", "incomplete"),
	NOT("{", "incomplete"),
	NOT("{\"id\":\"a\"," REST, "incomplete"),
	NOT("{\"id\":\"a", "incomplete"),
	NOT("{\"id\":\"a\",\"capability\":\"image.text\",\"input\":{", "incom"),
	NOT("\xEF\xBB\xBF{\"id\":\"a\"," REST "}", "bad syntax at byte 0"),
	NOT("null", "not an object"),
	NOT("true", "not an object"),
	NOT("7 ", "not an object"),
	NOT("\"id\"", "not an object"),
	NOT("[]", "not an object"),
	NOT("[{\"id\":\"a\"," REST "},{\"id\":\"b\"," REST "}]",
	    "not an object"),
	NOT("<html>", "bad syntax"),
	NOT("{\"id\":\"a" TIMES_32("\\ud800") "\"," REST "}", "Unicode"),
	NOT("{\"x\":\"\xC0\x80\",\"id\":\"a\"," REST "}", "Unicode"),
	BAD("{\"id\":\"a\"," REST "}{}", "a", "bad syntax"),
	BAD("{\"id\":\"a\"," REST "}{\"id\":\"b\"}", "a", "bad syntax"),
	BAD("{\"id\":\"a\"," REST "},", "a", "bad syntax"),
	BAD("{\"id\":\"a\"," REST ",}", "a", "bad syntax"),
	BAD("{\"id\":\"a\"," REST "}\0", "a", "bad syntax"),
	BAD("{\"id\":\"a\",\"x\":\"\\ud800\"," REST "}", "a", "Unicode"),
	BAD("{\"id\":\"a\",\"x\":\"\xC0\x80\"," REST "}", "a", "Unicode"),
	BAD("{\"id\":\"a\",\"x\":\"\\u0000\"," REST "}", "a", "Unicode"),
	BAD("{\"id\":\"a\",\"x\":01," REST "}", "a", "bad syntax"),
	BAD("{\"id\":\"a\",\"x\":NaN," REST "}", "a", "bad syntax"),
	BAD("{\"id\":\"a\",\"x\":" TIMES_32("1234567890123") "," REST "}", "a",
	    "too long"),
	BAD("{\"id\":\"a\",\"x\":" TIMES_32("[") "1" TIMES_32("]") "," REST "}",
	    "a", "too deep"),
	JOB("{\"id\":\"a\",\"x\":1e999999,\"y\":-1e-999999," REST "}", "a",
	    "{}"),
};

static void
check_case(const struct claim_case *c, enum cut cut)
{
	struct claim claim;
	struct got got;
	enum claim_fate fate = read_claim(&claim, c->text, c->n, cut, &got);

	if (fate != c->fate)
		print_error(
		    "# %.*s: %u, not %u\n", (int)c->n, c->text, fate, c->fate);
	assert_int_equal(fate, c->fate);
	assert_non_null(strstr(claim.wrong, c->wrong));
	if (c->id != NULL)
		assert_string_equal(claim.id, c->id);
	if (fate != CLAIM_JOB) {
		assert_true(claim.wrong[0] != '\0');
		return;
	}
	assert_string_equal(claim.wrong, "");
	assert_int_equal(claim.capability, CAPABILITY_IMAGE_TEXT);
	assert_int_equal(got.n, strlen(c->input));
	assert_memory_equal(got.input, c->input, got.n);
}

static void
test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		check_case(&cases[i], CUT_WHOLE);
		check_case(&cases[i], CUT_BYTES);
		for (int k = 0; k < 8; k++)
			check_case(&cases[i], CUT_RANDOM);
	}
}

static enum claim_fate
read_text(struct claim *claim, const char *text)
{
	struct got got;

	return read_claim(claim, text, strlen(text), CUT_RANDOM, &got);
}

static void
test_values(void **state)
{
	struct claim claim;

	(void)state;
	assert_int_equal(read_text(&claim,
			     "{\"more\":true,\"lease\":\"" ID_128
			     "\",\"id\":\"i\"," REST "}"),
	    CLAIM_JOB);
	assert_true(claim.more);
	assert_string_equal(claim.lease, ID_128);
	assert_int_equal(
	    read_text(&claim, "{\"more\":false,\"id\":\"i\"," REST "}"),
	    CLAIM_JOB);
	assert_false(claim.more);
	assert_string_equal(claim.lease, "");
}

/* A name we do not know is a job all the same: it is answered not_asked. */
static void
test_unknown_capability(void **state)
{
	static const char *const names[] = { "", "image.texts", "Image.Text",
		"image.tex", "IMAGE.TEXT", "image.text ", "../image.text",
		"image.text\\n", "code.run", "\\u0001", ID_128 ID_128 ID_128,
		"\xC3\xA9" };
	struct claim claim;
	char text[1024];

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		(void)snprintf(text, sizeof(text),
		    "{\"id\":\"a\",\"capability\":\"%s\",\"input\":{}}",
		    names[i]);
		assert_int_equal(read_text(&claim, text), CLAIM_JOB);
		assert_int_equal(claim.capability, CAPABILITY_NONE);
	}
	for (uint32_t i = 0; i < CAPABILITY_COUNT; i++) {
		(void)snprintf(text, sizeof(text),
		    "{\"id\":\"a\",\"capability\":\"%s\",\"input\":{}}",
		    capability_at(i)->name);
		assert_int_equal(read_text(&claim, text), CLAIM_JOB);
		assert_int_equal(claim.capability, i);
	}
}

/* Nothing a source wrote is in what is said about it. */
static void
test_wrong_is_ours(void **state)
{
	struct claim claim;
	struct got got;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		(void)read_claim(
		    &claim, cases[i].text, cases[i].n, CUT_WHOLE, &got);
		for (const char *p = claim.wrong; *p != '\0'; p++)
			assert_true(*p >= 0x20 && *p < 0x7F);
		assert_null(strstr(claim.wrong, "drop"));
		assert_null(strstr(claim.wrong, "[31m"));
		assert_null(strstr(claim.wrong, "%n"));
	}
}

static void
test_too_many_members(void **state)
{
	enum {
		MEMBERS = LIMIT_JSON_KEYS - 3
	};
	struct claim claim;
	struct got got;
	char *text = calloc(1, 32 * (MEMBERS + 2));
	size_t n;

	(void)state;
	strcpy(text, "{");
	for (int i = 0; i < MEMBERS; i++)
		strcat(text, "\"\":0,");
	n = strlen(text);
	strcpy(text + n, "\"id\":\"a\"," REST "}");
	assert_int_equal(
	    read_claim(&claim, text, strlen(text), CUT_RANDOM, &got),
	    CLAIM_JOB);
	strcpy(text + n, "\"x\":0,\"id\":\"a\"," REST "}");
	assert_int_equal(
	    read_claim(&claim, text, strlen(text), CUT_RANDOM, &got),
	    CLAIM_BAD_JOB);
	assert_non_null(strstr(claim.wrong, "too many members"));
	free(text);
}

/* Depth without end is refused where it begins, whatever would follow. */
static void
test_depth(void **state)
{
	enum {
		N = 100000
	};
	char *text = malloc(N);
	struct claim claim;

	(void)state;
	memset(text, '[', N);
	memcpy(text, "{\"x\":", 5);
	claim_init(&claim, NULL, NULL);
	assert_int_equal(claim_feed(&claim, text, N), -1);
	assert_true(claim.scan.position < 64);
	assert_int_equal(claim_finish(&claim), CLAIM_NOT_CONTRACT);
	free(text);
}

static void
test_sink_fails(void **state)
{
	static const char head[] =
	    "{\"id\":\"a\",\"capability\":\"image.text\","
	    "\"input\":{\"x\":\"";
	struct got got = { .room = 10 };
	struct claim claim;

	(void)state;
	claim_init(&claim, got_bytes, &got);
	assert_int_equal(claim_feed(&claim, head, sizeof(head) - 1), 0);
	assert_int_equal(claim_feed(&claim, "0123456789", 10), -1);
	assert_int_equal(claim_feed(&claim, "\"}}", 3), -1);
	assert_int_equal(claim_finish(&claim), CLAIM_BAD_JOB);
	assert_string_equal(claim.wrong, "input: could not be stored");
	assert_int_equal(got.n, 6);
}

static int
feed_text(struct claim *claim, const char *text, struct got *got)
{
	got->n = 0;
	got->room = sizeof(got->input);
	claim_init(claim, got_bytes, got);
	return claim_feed(claim, text, strlen(text));
}

/* Where nobody can be answered any more, reading stops. */
static void
test_stops_early(void **state)
{
	static const char *const hopeless[] = { "[", "1 ", "\"", "null",
		"{\"id\":1,", "{\"id\":{", "{\"id\":\"\"", "{\"id\":\"a b\"",
		"{\"id\":\"a\",\"id\":", "{]" };
	static const char *const hopeful[] = { "{\"lease\":1,", "{\"more\":7,",
		"{\"input\":[", "{\"capability\":{",
		"{\"lease\":\"a\",\"lease\":" };
	struct claim claim;
	struct got got;

	(void)state;
	for (size_t i = 0; i < COUNT(hopeless); i++) {
		assert_int_equal(feed_text(&claim, hopeless[i], &got), -1);
		assert_int_equal(claim_feed(&claim, "}", 1), -1);
		assert_int_equal(claim_finish(&claim), CLAIM_NOT_CONTRACT);
	}
	for (size_t i = 0; i < COUNT(hopeful); i++)
		assert_int_equal(feed_text(&claim, hopeful[i], &got), 0);
}

/* What is known to be no job is not stored, and has no capability. */
static void
test_bad_job_stores_nothing(void **state)
{
	struct claim claim;
	struct got got;

	(void)state;
	assert_int_equal(
	    feed_text(
		&claim, "{\"id\":\"a\",\"more\":1,\"input\":{\"x\":1}}", &got),
	    0);
	assert_int_equal(claim_finish(&claim), CLAIM_BAD_JOB);
	assert_int_equal(got.n, 0);
	assert_int_equal(claim.capability, CAPABILITY_NONE);
}

static void
test_no_sink(void **state)
{
	static const char text[] = "{\"id\":\"a\"," REST "}";
	struct claim claim;

	(void)state;
	claim_init(&claim, NULL, NULL);
	assert_int_equal(claim_feed(&claim, text, sizeof(text) - 1), 0);
	assert_int_equal(claim_finish(&claim), CLAIM_JOB);
}

/* Random members around a random input: the sink gets that slice exactly. */
static size_t
put_random_value(char *to, size_t room, int depth)
{
	static const char *const plain[] = { "1", "-0.5e+3", "true", "null",
		"\"\"", "\"}\"", "\"\\\"{\"", "\"\\u007B\xE2\x82\xAC\"",
		"\"AAAA\"", "[]", "{}", "[{\"input\":{}},[1 , 2]]" };
	static const char *const keys[] = { "id", "input", "", "x\\n",
		"capability" };
	const char *text = plain[pieces_random() % COUNT(plain)];
	size_t n = 0;

	if (depth == 0 || room < 600)
		return (size_t)snprintf(to, room, "%s", text);
	to[n++] = '{';
	for (uint64_t i = pieces_random() % 4; i > 0; i--) {
		n += (size_t)snprintf(to + n, room - n,
		    " \"%s\"\t: ", keys[pieces_random() % COUNT(keys)]);
		n += put_random_value(to + n, (room - n) / 2, depth - 1);
		if (i > 1)
			to[n++] = ',';
	}
	n += (size_t)snprintf(to + n, room - n, "\n}");
	return n;
}

static void
test_input_is_a_slice(void **state)
{
	struct claim claim;
	struct got got;
	char input[2048];
	char text[4096];
	size_t n;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		n = put_random_value(input, sizeof(input), 3);
		n = (size_t)snprintf(text, sizeof(text),
		    pieces_random() % 2 == 0
			? "{\"id\":\"a\",\"input\": %.*s ,\"x\":{},"
			  "\"capability\":\"image.text\"}"
			: "{\"x\":[],\"capability\":\"image.text\","
			  "\"input\":%.*s,\"id\":\"a\"}",
		    (int)n, input);
		assert_int_equal(
		    read_claim(&claim, text, n, CUT_RANDOM, &got), CLAIM_JOB);
		assert_int_equal(got.n, strlen(input));
		assert_memory_equal(got.input, input, got.n);
	}
}

static void
test_write(void **state)
{
	char text[CLAIM_REQUEST_BYTES];
	size_t n;

	(void)state;
	n = claim_write(text, "0123456789abcdef0123456789abcdef",
	    1u << CAPABILITY_IMAGE_TEXT | 1u << CAPABILITY_IMAGE_PREVIEW, 180);
	assert_string_equal(text,
	    "{\"claim_id\":\"0123456789abcdef0123456789abcdef\","
	    "\"capabilities\":[\"image.preview\",\"image.text\"],"
	    "\"max_job_seconds\":180}");
	assert_int_equal(n, strlen(text));
	n = claim_write(text, "x", CAPABILITY_ALL, UINT32_MAX);
	assert_int_equal(n, strlen(text));
	assert_non_null(strstr(text, "\"max_job_seconds\":4294967295}"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_unknown_capability),
		cmocka_unit_test(test_wrong_is_ours),
		cmocka_unit_test(test_too_many_members),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_sink_fails),
		cmocka_unit_test(test_stops_early),
		cmocka_unit_test(test_bad_job_stores_nothing),
		cmocka_unit_test(test_no_sink),
		cmocka_unit_test(test_input_is_a_slice),
		cmocka_unit_test(test_write),
	};

	pieces_start();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
