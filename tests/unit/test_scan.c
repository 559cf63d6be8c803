/* SPDX-License-Identifier: ISC
 *
 * The scanner: what it takes and refuses, what it tells, and that neither
 * depends on how the text was cut.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "contract/scan.h"

#include "pieces.h"
#include "scan_cases.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* What a scan told, as text; pieces of one string joined. */
struct story {
	char text[8192];
	size_t used;
	uint64_t string_at;
	int stop_after; /* events until it says stop; 0: never */
};

static void
story_add(struct story *story, const char *bytes, size_t n)
{
	assert_true(n <= sizeof(story->text) - story->used);
	if (n > 0)
		memcpy(story->text + story->used, bytes, n);
	story->used += n;
}

static void
story_head(struct story *story, const struct scan_piece *piece)
{
	static const char signs[] = "{}[]k<.>#tfn";
	char head[64];
	int n =
	    snprintf(head, sizeof(head), "\n%c%u@%llu%s ", signs[piece->event],
		piece->depth, (unsigned long long)piece->position,
		piece->event == SCAN_KEY && !piece->is_whole ? "~" : "");

	story_add(story, head, (size_t)n);
}

static int
story_piece(void *context, const struct scan_piece *piece)
{
	struct story *story = context;

	if (story->stop_after > 0 && --story->stop_after == 0)
		return -1;
	if (piece->event == SCAN_STRING_BYTES) {
		assert_true(piece->n > 0);
		assert_true(text_is_utf8(piece->bytes, piece->n));
		assert_true(piece->position == story->string_at);
	} else {
		story_head(story, piece);
	}
	if (piece->event == SCAN_STRING_BEGIN)
		story->string_at = piece->position;
	story_add(story, piece->bytes, piece->n);
	return 0;
}

static enum scan_result
scan_cut(struct scan *scan, const char *text, size_t n, enum cut cut)
{
	size_t at = 0;

	while (at < n) {
		size_t length = pieces_next(cut, n - at);
		char *piece = pieces_copy(text + at, length);

		(void)scan_feed(scan, piece, length);
		free(piece);
		at += length;
	}
	return scan_finish(scan);
}

struct run {
	struct story story;
	enum scan_result result;
	uint64_t position;
};

static void
run_scan(struct run *run, const char *text, size_t n, enum cut cut)
{
	struct scan scan;

	memset(run, 0, sizeof(*run));
	scan_init(&scan, LIMIT_JSON_DEPTH, story_piece, &run->story);
	run->result = scan_cut(&scan, text, n, cut);
	run->position = scan.position;
	assert_int_equal(scan_finish(&scan), run->result);
	assert_true(run->position <= n);
}

static void
assert_same(const struct run *a, const struct run *b)
{
	assert_int_equal(a->result, b->result);
	assert_true(a->position == b->position);
	assert_int_equal(a->story.used, b->story.used);
	assert_memory_equal(a->story.text, b->story.text, a->story.used);
}

static void
assert_cut_is_no_matter(const char *text, size_t n, struct run *whole)
{
	struct run other;

	run_scan(whole, text, n, CUT_WHOLE);
	run_scan(&other, text, n, CUT_BYTES);
	assert_same(whole, &other);
	for (int i = 0; i < 8; i++) {
		run_scan(&other, text, n, CUT_RANDOM);
		assert_same(whole, &other);
	}
}

static void
test_cases(void **state)
{
	struct run run;

	(void)state;
	assert_true(COUNT(scan_cases) >= 200);
	for (size_t i = 0; i < COUNT(scan_cases); i++) {
		const struct scan_case *c = &scan_cases[i];

		assert_cut_is_no_matter(c->text, c->n, &run);
		if (run.result != c->result)
			print_error("# %.*s: %s, not %s\n", (int)c->n, c->text,
			    scan_result_text(run.result),
			    scan_result_text(c->result));
		assert_int_equal(run.result, c->result);
	}
}

/* Every beginning of a valid text is incomplete, and none is refused. */
static void
test_beginnings(void **state)
{
	struct run run;

	(void)state;
	for (size_t i = 0; i < COUNT(scan_cases); i++) {
		const struct scan_case *c = &scan_cases[i];
		bool is_container = c->text[0] == '{' || c->text[0] == '[';

		if (c->result != SCAN_OK || !is_container)
			continue;
		for (size_t n = 0; n < c->n; n++) {
			run_scan(&run, c->text, n, CUT_RANDOM);
			if (run.result == SCAN_OK)
				assert_int_equal(
				    strspn(c->text + n, " \t\r\n"), c->n - n);
			else
				assert_int_equal(run.result, SCAN_INCOMPLETE);
		}
	}
}

/* Damaged texts: whatever the answer is, the cut does not change it. */
static void
test_damage(void **state)
{
	char text[1024];
	struct run run;

	(void)state;
	for (int round = 0; round < 4000; round++) {
		const struct scan_case *c =
		    &scan_cases[pieces_random() % COUNT(scan_cases)];
		size_t n = c->n < sizeof(text) ? c->n : sizeof(text);

		memcpy(text, c->text, n);
		for (int k = 0; n > 0 && k < 3; k++)
			text[pieces_random() % n] = (char)pieces_random();
		assert_cut_is_no_matter(text, n, &run);
	}
}

static void
test_story(void **state)
{
	static const char text[] =
	    " {\"i\\u0064\" : \"a\\n\xC3\xA9\\ud83d\\ude00\", \"b\":[1,-2.5e3,"
	    "true,{}],\"\":null,\"c\":false,\"d\":\"\"}  ";
	static const char expected[] = "\n{0@1 "
				       "\nk1@2 id"
				       "\n<1@14 a\n\xC3\xA9\xF0\x9F\x98\x80"
				       "\n>1@33 "
				       "\nk1@35 b"
				       "\n[1@39 "
				       "\n#2@40 1"
				       "\n#2@42 -2.5e3"
				       "\nt2@49 "
				       "\n{2@54 "
				       "\n}2@56 "
				       "\n]1@57 "
				       "\nk1@58 "
				       "\nn1@61 "
				       "\nk1@66 c"
				       "\nf1@70 "
				       "\nk1@76 d"
				       "\n<1@80 "
				       "\n>1@82 "
				       "\n}0@83 ";
	struct run run;

	(void)state;
	assert_cut_is_no_matter(text, sizeof(text) - 1, &run);
	assert_int_equal(run.result, SCAN_OK);
	run.story.text[run.story.used] = '\0';
	assert_string_equal(run.story.text, expected);
	assert_true(run.position == sizeof(text) - 1);
}

static void
test_long_key(void **state)
{
	struct run run;

	(void)state;
	assert_cut_is_no_matter(TEXT("{\"" TIMES_32("ab") "\":1}"), &run);
	run.story.text[run.story.used] = '\0';
	assert_string_equal(run.story.text,
	    "\n{0@0 \nk1@1 " TIMES_32("ab") "\n#1@68 1\n}0@70 ");
	assert_cut_is_no_matter(TEXT("{\"" TIMES_32("ab") "c\":1}"), &run);
	run.story.text[run.story.used] = '\0';
	assert_string_equal(run.story.text,
	    "\n{0@0 \nk1@1~ " TIMES_32("ab") "\n#1@69 1\n}0@71 ");
	/* Never inside a character, and nothing from behind the cut. */
	assert_cut_is_no_matter(
	    TEXT("{\"a" TIMES_32("\xC3\xA4") "b\\u00e4\":1}"), &run);
	run.story.text[run.story.used] = '\0';
	assert_string_equal(run.story.text,
	    "\n{0@0 \nk1@1~ a" TIMES_8("\xC3\xA4") TIMES_8("\xC3\xA4") TIMES_8(
		"\xC3\xA4") "\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4"
			    "\n#1@76 1\n}0@78 ");
}

/* Where a refusal points: the first byte that could not be taken. */
static void
test_position(void **state)
{
	static const struct {
		const char *text;
		uint64_t position;
	} cases[] = {
		{ "{\"a\":1,}", 7 },
		{ "[01]", 2 },
		{ "[1.x]", 3 },
		{ "[nulx]", 4 },
		{ "[\"ab\ncd\"]", 4 },
		{ "[\"abcdefghijkl\x01\"]", 14 },
		{ "{} x", 3 },
		{ "[\"\\q\"]", 3 },
		{ "[\"\\u12x4\"]", 6 },
		{ "[1", 2 },
	};
	struct run run;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_cut_is_no_matter(
		    cases[i].text, strlen(cases[i].text), &run);
		assert_int_not_equal(run.result, SCAN_OK);
		assert_int_equal(run.position, cases[i].position);
	}
}

static void
test_stop(void **state)
{
	static const char text[] = "{\"a\":[1,\"b\",true],\"c\":{}}";

	(void)state;
	for (int n = 1; n <= 12; n++) {
		struct story story = { .stop_after = n };
		struct scan scan;

		scan_init(&scan, LIMIT_JSON_DEPTH, story_piece, &story);
		assert_int_equal(
		    scan_feed(&scan, text, sizeof(text) - 1), SCAN_STOPPED);
		assert_int_equal(scan_feed(&scan, "x", 1), SCAN_STOPPED);
		assert_int_equal(scan_finish(&scan), SCAN_STOPPED);
		assert_int_equal(story.stop_after, 0);
	}
}

static void
test_stop_at_last_number(void **state)
{
	struct story story = { .stop_after = 1 };
	struct scan scan;

	(void)state;
	scan_init(&scan, LIMIT_JSON_DEPTH, story_piece, &story);
	assert_int_equal(scan_feed(&scan, "12", 2), SCAN_OK);
	assert_int_equal(scan_finish(&scan), SCAN_STOPPED);
}

static void
test_lower_depth(void **state)
{
	struct story story = { 0 };
	struct scan scan;

	(void)state;
	scan_init(&scan, 2, story_piece, &story);
	assert_int_equal(scan_feed(&scan, "[[1,[", 5), SCAN_TOO_DEEP);
	scan_init(&scan, 0, story_piece, &story);
	assert_int_equal(scan_feed(&scan, "1 ", 2), SCAN_OK);
	assert_int_equal(scan_finish(&scan), SCAN_OK);
	scan_init(&scan, 0, story_piece, &story);
	assert_int_equal(scan_feed(&scan, "{", 1), SCAN_TOO_DEEP);
}

static void
test_failure_stays(void **state)
{
	struct story story = { 0 };
	struct scan scan;

	(void)state;
	scan_init(&scan, LIMIT_JSON_DEPTH, story_piece, &story);
	assert_int_equal(scan_feed(&scan, "{", 1), SCAN_OK);
	assert_int_equal(scan_feed(&scan, "", 0), SCAN_OK);
	assert_int_equal(scan_feed(&scan, "?", 1), SCAN_BAD_SYNTAX);
	assert_int_equal(scan_feed(&scan, "}", 1), SCAN_BAD_SYNTAX);
	assert_int_equal(scan_finish(&scan), SCAN_BAD_SYNTAX);
	assert_true(scan.position == 1);
}

/* One byte of each value at each place of the 8 that are looked at at once. */
static void
test_every_byte_in_a_string(void **state)
{
	struct run run;

	(void)state;
	for (int byte = 0; byte < 256; byte++) {
		for (size_t at = 1; at <= 17; at++) {
			char text[] = "\"0123456789abcdefg\"";
			bool is_plain = byte >= 0x20 && byte < 0x80 &&
			    byte != '\\' && byte != '"';

			text[at] = (char)byte;
			run_scan(&run, text, sizeof(text) - 1, CUT_WHOLE);
			/* \b, \f and \" spoil nothing */
			if (byte == '\\' && strchr("bf\"", text[at + 1]))
				continue;
			assert_int_equal(run.result == SCAN_OK, is_plain);
		}
	}
}

static size_t
put_escape(char *to, size_t size, uint32_t c)
{
	if (c < 0x10000)
		return (size_t)snprintf(to, size, "\"\\u%04x\"", c);
	c -= 0x10000;
	return (size_t)snprintf(to, size, "\"\\u%04X\\u%04X\"",
	    0xD800 + (c >> 10), 0xDC00 + (c & 0x3FF));
}

/* Every character by number: what is told is its UTF-8. */
static void
test_every_escape(void **state)
{
	char text[16];
	struct run run;

	(void)state;
	for (uint32_t c = 1; c <= 0x10FFFF; c += c < 0x3000 ? 1 : 37) {
		size_t n = put_escape(text, sizeof(text), c);
		const unsigned char *told;
		uint32_t back;

		if (c >= 0xD800 && c <= 0xDFFF)
			continue;
		run_scan(&run, text, n, CUT_WHOLE);
		assert_int_equal(run.result, SCAN_OK);
		told = (unsigned char *)strchr(run.story.text, ' ') + 1;
		back = told[0] < 0x80 ? told[0]
		    : told[0] < 0xE0  ? told[0] & 0x1Fu
		    : told[0] < 0xF0  ? told[0] & 0x0Fu
				      : told[0] & 0x07u;
		while ((*++told & 0xC0) == 0x80)
			back = back << 6 | (*told & 0x3Fu);
		assert_int_equal(*told, '\n');
		assert_true(c == '\n' || back == c);
	}
}

static void
test_result_texts(void **state)
{
	(void)state;
	for (int r = SCAN_STOPPED; r <= SCAN_OK; r++)
		assert_true(strlen(scan_result_text((enum scan_result)r)) > 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_beginnings),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_story),
		cmocka_unit_test(test_long_key),
		cmocka_unit_test(test_position),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_stop_at_last_number),
		cmocka_unit_test(test_lower_depth),
		cmocka_unit_test(test_failure_stays),
		cmocka_unit_test(test_every_byte_in_a_string),
		cmocka_unit_test(test_every_escape),
		cmocka_unit_test(test_result_texts),
	};

	pieces_start();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
