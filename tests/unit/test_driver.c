/* SPDX-License-Identifier: ISC
 *
 * The driver's parts: cleaned text, tables of words, what poppler prints, the
 * input's check, the output's JSON.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "driver/input.h"
#include "driver/magic.h"
#include "driver/ocr.h"
#include "driver/output.h"
#include "driver/pages.h"
#include "driver/prose.h"
#include "driver/table.h"
#include "wire/letter.h"

/* -- text --------------------------------------------------------------- */

static void
test_prose(void **state)
{
	static const struct {
		const char *from;
		const char *to;
	} cases[] = {
		{ "plain\tand\nlines", "plain\tand\nlines" },
		{ "a\rb\x01\x1b[31mc\x7f", "ab[31mc\x7f" },
		{ "M\xC3\xBCller \xE2\x82\xAC", "M\xC3\xBCller \xE2\x82\xAC" },
		{ "\xFF\xC3", "\xEF\xBF\xBD\xEF\xBF\xBD" },
		{ "\xED\xA0\x80"
		  "x",
		    "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDx" },
		{ "\xF0\x9F\x98\x80", "\xF0\x9F\x98\x80" },
		{ "", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct prose prose = { 0 };

		assert_true(prose_add(
		    &prose, cases[i].from, strlen(cases[i].from), 100));
		assert_int_equal(prose.n, strlen(cases[i].to));
		if (prose.n > 0)
			assert_memory_equal(prose.text, cases[i].to, prose.n);
		prose_done(&prose);
	}
}

static void
test_prose_is_cut_between_characters(void **state)
{
	struct prose prose = { 0 };

	(void)state;
	assert_false(prose_add(&prose, "ab\xE2\x82\xAC", 5, 4));
	assert_int_equal(prose.n, 2);
	assert_true(prose_add(&prose, "cd", 2, 4));
	assert_false(prose_add(&prose, "e", 1, 4));
	assert_memory_equal(prose.text, "abcd", 4);
	prose_done(&prose);
	assert_true(prose_add(&prose, "x \t\n\n", 5, 99));
	prose_trim(&prose);
	assert_int_equal(prose.n, 1);
	prose_done(&prose);
}

static void
test_letters(void **state)
{
	(void)state;
	assert_int_equal(prose_letters("", 0), 0);
	assert_int_equal(prose_letters("ab 1.\n-", 7), 3);
	assert_int_equal(prose_letters("\xC3\xBC\xD0\x96\xE6\x97\xA5", 7), 3);
	/* dash, euro, private use, replacement, no-break space, emoji */
	assert_int_equal(prose_letters("\xE2\x80\x94\xE2\x82\xAC"
				       "\xEE\x80\x80\xEF\xBF\xBD\xC2\xA0"
				       "\xF0\x9F\x98\x80",
			     18),
	    0);
}

static void
test_table(void **state)
{
	static const char tsv[] =
	    "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\t"
	    "top\twidth\theight\tconf\ttext\n"
	    "1\t1\t0\t0\t0\t0\t0\t0\t9\t9\t-1\t\n"
	    "5\t1\t1\t1\t1\t1\t0\t0\t9\t9\t90.5\tThe\n"
	    "5\t1\t1\t1\t1\t2\t0\t0\t9\t9\t80\tbarge\n"
	    "5\t1\t1\t1\t2\t1\t0\t0\t9\t9\t70.25\tcame\n"
	    "5\t1\t1\t1\t2\t2\t0\t0\t9\t9\t95\t \n"
	    "5\t1\t1\t2\t1\t1\t0\t0\t9\t9\t60.0\tM\xFFr\n"
	    "5\t1\tx\t2\t1\t1\t0\t0\t9\t9\t60.0\tbad\n"
	    "5\t1\t1\t2\t1\n"
	    "5\t1\t2\t1\t1\t1\t0\t0\t9\t9\t-1\tlast";
	static const char text[] = "The barge\ncame\n\nM\xEF\xBF\xBDr\n\nlast";
	struct table table;

	(void)state;
	table_read(tsv, 1000, &table);
	assert_true(table.is_whole);
	assert_int_equal(table.words, 5);
	assert_int_equal(table.text.n, strlen(text));
	assert_memory_equal(table.text.text, text, strlen(text));
	assert_int_equal(table_confidence(&table), (905 + 800 + 702 + 600) / 5);
	table_done(&table);
	table_read(tsv, 6, &table);
	assert_false(table.is_whole);
	table_done(&table);
	table_read("", 6, &table);
	assert_true(table.is_whole);
	assert_int_equal(table_confidence(&table), 0);
	table_done(&table);
}

static void
check_document(const char *info, int result, int64_t pages, const char *title)
{
	struct document document;

	assert_int_equal(document_read(info, strlen(info), &document), result);
	if (result == 0)
		assert_int_equal(document.pages, pages);
	assert_int_equal(document.title.n, strlen(title));
	if (title[0] != '\0')
		assert_memory_equal(document.title.text, title, strlen(title));
	document_done(&document);
}

static void
test_document(void **state)
{
	(void)state;
	check_document(
	    "Title:          A letter \nPages:          2\n", 0, 2, "A letter");
	check_document("Pages:          3", 0, 3, "");
	check_document("Title: x\nPages: 9\nPages: 4\n", 0, 4, "x");
	check_document("Title: x\nTitle: y\nPages: 4\n", 0, 4, "x");
	check_document("Title: a\x1b[2Jb\nPages: 4\n", 0, 4, "a[2Jb");
	check_document("", -1, 0, "");
	check_document("Pages: \n", -1, 0, "");
	check_document("Pages: -4\n", -1, 0, "");
	check_document("Pages: 10000001\n", -1, 0, "");
	check_document("Pages: 99999999999999999999999\n", -1, 0, "");
	check_document(" Pages: 4\n", -1, 0, "");
}

static void
test_title_is_cut(void **state)
{
	struct document document;
	char info[2048] = "Title:  ";
	size_t used = strlen(info);

	(void)state;
	for (int i = 0; i < 301; i++, used += 3)
		memcpy(info + used, "\xE2\x82\xAC", 3);
	memcpy(info + used, "\nPages: 1\n", 11);
	assert_int_equal(document_read(info, strlen(info), &document), 0);
	assert_int_equal(document.title.n, 300 * 3);
	document_done(&document);
}

static void
test_pages(void **state)
{
	static const char text[] = "one\n\n\fM\xFFr\f\fextra\f";
	struct prose other = { 0 };
	struct pages pages;

	(void)state;
	pages_split(text, sizeof(text) - 1, 3, 100, &pages);
	assert_int_equal(pages.n, 3);
	assert_true(pages.is_whole);
	assert_int_equal(pages.list[0].n, 3);
	assert_memory_equal(pages.list[1].text, "M\xEF\xBF\xBDr", 5);
	assert_int_equal(pages.list[2].n, 0);
	assert_int_equal(pages.bytes, 8);
	assert_true(prose_add(&other, "new text", 8, 100));
	pages_replace(&pages, 1, &other);
	assert_int_equal(pages.bytes, 11);
	assert_true(pages.is_whole);
	pages.max_bytes = 7;
	pages_replace(&pages, 1, &other);
	assert_int_equal(pages.list[1].n, 4);
	assert_false(pages.is_whole);
	prose_done(&other);
	pages_done(&pages);
	pages_split("", 0, 3, 100, &pages);
	assert_int_equal(pages.n, 0);
	pages_done(&pages);
	pages_split("abc\fdef\f", 8, 9, 4, &pages);
	assert_int_equal(pages.n, 2);
	assert_int_equal(pages.bytes, 4);
	assert_false(pages.is_whole);
	pages_done(&pages);
}

/* -- output ------------------------------------------------------------- */

static void
expect_prose(const struct prose *prose, const char *text)
{
	assert_int_equal(prose->n, strlen(text));
	if (prose->n > 0)
		assert_memory_equal(prose->text, text, prose->n);
}

static void
test_document_split(void **state)
{
	static const struct {
		const char *text;
		const char *title;
		const char *page;
		bool is_whole;
	} cases[] = {
		{ "A title\n\f\n\none\n\ntwo\n", "A title", "one\n\ntwo",
		    true },
		{ "\n\fone\ftwo", "", "onetwo", true },
		{ "no feed", "", "no feed", true },
		{ "\f", "", "", true },
		{ "", "", "", true },
		{ "x\f123456789012345", "x", "12345678901234", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct document document;
		struct pages pages;

		document_split(cases[i].text, strlen(cases[i].text), 14,
		    &document, &pages);
		assert_int_equal(document.pages, 1);
		assert_int_equal(pages.n, 1);
		assert_int_equal(pages.is_whole, cases[i].is_whole);
		expect_prose(&document.title, cases[i].title);
		expect_prose(&pages.list[0], cases[i].page);
		document_done(&document);
		pages_done(&pages);
	}
}

static void
test_output(void **state)
{
	static const char json[] =
	    "{\"pages\":[\"a\\\"b\\\\c\\nd\\t\",\"\"],\"n\":-3,"
	    "\"c\":96.4,\"d\":0.0,\"t\":true,\"x\":null,\"e\":[]}";
	char got[256] = "";
	struct output output;
	int letter = letter_new("test");

	(void)state;
	output_init(&output, letter, 1000);
	output_open(&output, '{');
	output_name(&output, "pages");
	output_open(&output, '[');
	output_text(&output, "a\"b\\c\nd\t", 8);
	output_text(&output, NULL, 0);
	output_close(&output, ']');
	output_name(&output, "n");
	output_integer(&output, -3);
	output_name(&output, "c");
	output_tenths(&output, 964);
	output_name(&output, "d");
	output_tenths(&output, 0);
	output_name(&output, "t");
	output_boolean(&output, true);
	output_name(&output, "x");
	output_null(&output);
	output_name(&output, "e");
	output_open(&output, '[');
	output_close(&output, ']');
	output_close(&output, '}');
	assert_int_equal(output_finish(&output), ERROR_NONE);
	assert_int_equal(
	    letter_read(letter, got, sizeof(got) - 1, 0), strlen(json));
	assert_string_equal(got, json);
	close(letter);
}

struct copy {
	unsigned char *bytes;
	size_t n;
};

static int
copy_bytes(void *context, const unsigned char *bytes, size_t n)
{
	struct copy *copy = context;

	memcpy(copy->bytes + copy->n, bytes, n);
	copy->n += n;
	return 0;
}

/* Through the writer and back through the strict reader. */
static void
check_base64(size_t n)
{
	static const struct field fields[] = {
		{ .name = "data", .type = FIELD_BASE64, .max = 1 << 20 },
		{ .type = FIELD_END },
	};
	unsigned char *bytes = malloc(n + 1);
	unsigned char *back = malloc(n + 1);
	char *json = malloc(2 * n + 64);
	struct copy copy = { back, 0 };
	static struct output output;
	static struct shape shape;
	ssize_t length;
	int file = memfd_create("file", 0);
	int letter = letter_new("test");

	for (size_t i = 0; i < n; i++)
		bytes[i] = (unsigned char)(i * 7 + i / 256);
	assert_int_equal(file_pwrite_all(file, bytes, n, 0), 0);
	output_init(&output, letter, 2 * n + 64);
	output_open(&output, '{');
	output_name(&output, "data");
	output_base64(&output, file);
	output_close(&output, '}');
	assert_int_equal(output_finish(&output), ERROR_NONE);
	length = letter_read(letter, json, 2 * n + 64, 0);
	assert_int_equal(length, 11 + (n + 2) / 3 * 4);
	shape_init(&shape, fields, copy_bytes, &copy, 0);
	assert_int_equal(shape_feed(&shape, json, (size_t)length), SHAPE_OK);
	assert_int_equal(shape_finish(&shape), SHAPE_OK);
	assert_int_equal(copy.n, n);
	if (n > 0)
		assert_memory_equal(back, bytes, n);
	close(file);
	close(letter);
	free(bytes);
	free(back);
	free(json);
}

static void
test_base64(void **state)
{
	(void)state;
	for (size_t n = 0; n < 12; n++)
		check_base64(n);
	for (size_t n = 6142; n < 6147; n++)
		check_base64(n);
	check_base64(100000);
}

/* Exactly the cap fits; one byte more does not. */
static void
test_output_cap(void **state)
{
	static char text[40000];
	struct output output;
	int letter = letter_new("test");

	(void)state;
	memset(text, 'a', sizeof(text));
	output_init(&output, letter, sizeof(text) + 2);
	output_text(&output, text, sizeof(text));
	assert_int_equal(output_finish(&output), ERROR_NONE);
	output_init(&output, letter, sizeof(text) + 1);
	output_text(&output, text, sizeof(text));
	assert_int_equal(output_finish(&output), ERROR_OUTPUT_TOO_LARGE);
	assert_true(output.at <= LETTER_TICKET_BYTES + sizeof(text) + 1);
	close(letter);
}

/* -- input -------------------------------------------------------------- */

static enum error_code
read_input(struct job *job, const char *json, const char *path)
{
	enum error_code error;

	job->input = letter_new("input");
	assert_int_equal(file_pwrite_all(job->input,
			     "0123456789abcdef0123456789abcdef", 32, 0),
	    0);
	assert_int_equal(
	    file_pwrite_all(job->input, json, strlen(json), 32), 0);
	assert_int_equal(letter_seal(job->input), 0);
	error = input_read(job, path);
	close(job->input);
	return error;
}

static void
test_input(void **state)
{
	static const struct {
		const char *json;
		enum error_code error;
	} cases[] = {
		{ "{\"data\":\"AAEC\"}", ERROR_NONE },
		{ "{\"size\":16,\"data\":\"AAEC\"}", ERROR_NONE },
		{ "", ERROR_BAD_INPUT },
		{ "{}", ERROR_BAD_INPUT },
		{ "{\"data\":\"AAEC\"", ERROR_BAD_INPUT },
		{ "{\"data\":\"AAEC\"}x", ERROR_BAD_INPUT },
		{ "{\"data\":\"AAE\"}", ERROR_BAD_INPUT },
		{ "{\"data\":\"AAEC\",\"data\":\"AAEC\"}", ERROR_BAD_INPUT },
		{ "{\"data\":\"AAEC\",\"path\":\"/etc\"}", ERROR_BAD_INPUT },
		{ "{\"data\":\"AAEC\",\"size\":5}", ERROR_BAD_INPUT },
		{ "{\"data\":\"AAECAwQFBgcI\"}", ERROR_TOO_LARGE },
	};
	char path[] = "/tmp/test_driver.XXXXXX";
	struct box_order order = { .max_input = 8 };
	struct job job = { .order = &order,
		.capability = capability_at(CAPABILITY_IMAGE_PREVIEW) };

	(void)state;
	assert_non_null(mkdtemp(path));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char file[64];
		unsigned char bytes[16];

		(void)snprintf(file, sizeof(file), "%s/in", path);
		if (read_input(&job, cases[i].json, file) != cases[i].error)
			fail_msg("case %zu: %s", i, cases[i].json);
		if (cases[i].error == ERROR_NONE) {
			assert_int_equal(
			    magic_read(file, bytes, sizeof(bytes)), 3);
			assert_memory_equal(bytes, "\0\1\2", 3);
			/* Never onto something that is there. */
			assert_int_equal(read_input(&job, cases[i].json, file),
			    ERROR_CRASHED);
		}
		unlink(file);
	}
	rmdir(path);
}

static void
test_input_must_be_sealed(void **state)
{
	struct box_order order = { 0 };
	struct job job = { .order = &order,
		.capability = capability_at(CAPABILITY_IMAGE_PREVIEW),
		.input = letter_new("input") };

	(void)state;
	assert_int_equal(file_pwrite_all(job.input,
			     "0123456789abcdef0123456789abcdef{}", 34, 0),
	    0);
	assert_int_equal(input_read(&job, "/nonexistent/in"), ERROR_CRASHED);
	close(job.input);
}

static void
test_languages(void **state)
{
	static const char json[] =
	    "{\"data\":\"AAEC\",\"languages\":[\"eng\",\"xyz\"]}";
	struct box_order order = { 0 };
	struct job job = { .order = &order };
	struct shape *shape = &job.shape;
	struct ocr ocr = { 0 };

	(void)state;
	shape_init(
	    shape, capability_at(CAPABILITY_IMAGE_TEXT)->input, NULL, NULL, 0);
	assert_int_equal(shape_feed(shape, json, strlen(json)), SHAPE_OK);
	assert_int_equal(shape_finish(shape), SHAPE_OK);
	assert_int_equal(
	    ocr_choose_languages(&job, &ocr), ERROR_UNSUPPORTED_LANGUAGE);
	/* Allowed, but there is no such language. */
	order.n_languages = 2;
	strcpy(order.languages[0], "eng");
	strcpy(order.languages[1], "xyz");
	assert_int_equal(
	    ocr_choose_languages(&job, &ocr), ERROR_UNSUPPORTED_LANGUAGE);
	order.n_languages = 1;
	strcpy(order.languages[0], "deu");
	assert_int_equal(
	    ocr_choose_languages(&job, &ocr), ERROR_UNSUPPORTED_LANGUAGE);
}

/* The indices of tools in each capability's file are those of the table. */
static void
test_order_of_tools(void **state)
{
	static const char *const tools[CAPABILITY_COUNT][LIMIT_TOOLS + 1] = {
		[CAPABILITY_IMAGE_PREVIEW] = { "vips", "vipsheader" },
		[CAPABILITY_DOCUMENT_TEXT] = { "pdftotext", "pdfinfo",
		    "pdftoppm", "tesseract", "pandoc" },
		[CAPABILITY_IMAGE_TEXT] = { "vips", "tesseract" },
		[CAPABILITY_DOCUMENT_PREVIEW] = { "pdfinfo", "pdftoppm" },
	};
	static const char *const formats[] = { "jpeg", "webp", "png" };
	static const char *const drawn[] = { "jpeg", "png" };

	(void)state;
	for (uint32_t c = 0; c < CAPABILITY_COUNT; c++) {
		const struct tool *tool = capability_at(c)->tools;

		for (size_t i = 0; i <= LIMIT_TOOLS; i++) {
			if (tools[c][i] == NULL)
				assert_null(tool[i].name);
			else
				assert_string_equal(tool[i].name, tools[c][i]);
			if (tools[c][i] == NULL)
				break;
		}
	}
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(
		    capability_field(
			capability_at(CAPABILITY_IMAGE_PREVIEW)->input,
			"format")
			->choices[i],
		    formats[i]);
	for (size_t i = 0; i < 2; i++)
		assert_string_equal(
		    capability_field(
			capability_at(CAPABILITY_DOCUMENT_PREVIEW)->input,
			"format")
			->choices[i],
		    drawn[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prose),
		cmocka_unit_test(test_prose_is_cut_between_characters),
		cmocka_unit_test(test_letters),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_document),
		cmocka_unit_test(test_title_is_cut),
		cmocka_unit_test(test_pages),
		cmocka_unit_test(test_document_split),
		cmocka_unit_test(test_output),
		cmocka_unit_test(test_base64),
		cmocka_unit_test(test_output_cap),
		cmocka_unit_test(test_input),
		cmocka_unit_test(test_input_must_be_sealed),
		cmocka_unit_test(test_languages),
		cmocka_unit_test(test_order_of_tools),
	};

	return cmocka_run_group_tests_name("driver", tests, NULL, NULL);
}
