/* SPDX-License-Identifier: ISC
 *
 * The table of capabilities: that its entries make sense, fit the limits and
 * say only what a box may say.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ctype.h>
#include <string.h>

#include "contract/capability.h"
#include "contract/outcome.h"
#include "contract/shape.h"

#define MIB (UINT64_C(1024) * 1024)

static void
for_each(void (*check)(const struct capability *capability))
{
	for (uint32_t i = 0; i < CAPABILITY_COUNT; i++)
		check(capability_at(i));
}

static void
for_each_field(void (*check)(const struct field *field))
{
	for (uint32_t i = 0; i < CAPABILITY_COUNT; i++) {
		const struct field *f = capability_at(i)->input;

		for (; f->type != FIELD_END; f++)
			check(f);
		f = capability_at(i)->output;
		for (; f->type != FIELD_END; f++)
			check(f);
	}
}

static void
check_name(const struct capability *capability)
{
	const char *dot = strchr(capability->name, '.');
	uint32_t index;

	assert_non_null(dot);
	assert_int_equal(
	    strspn(capability->name, "abcdefghijklmnopqrstuvwxyz."),
	    strlen(capability->name));
	assert_null(strchr(dot + 1, '.'));
	assert_false(capability_is_planned(capability->name));
	index = capability_find(capability->name, strlen(capability->name));
	assert_ptr_equal(capability_at(index), capability);
	assert_true(strlen(capability->about) > 10);
}

static void
test_names(void **state)
{
	(void)state;
	for_each(check_name);
	assert_int_equal(capability_find("", 0), CAPABILITY_NONE);
	assert_int_equal(capability_find("image", 5), CAPABILITY_NONE);
	assert_int_equal(capability_find("Image.preview", 13), CAPABILITY_NONE);
	assert_int_equal(
	    capability_find("image.preview\0", 14), CAPABILITY_NONE);
	assert_int_equal(
	    capability_find("image.previews", 13), CAPABILITY_IMAGE_PREVIEW);
	assert_int_equal(capability_find("audio.text", 10), CAPABILITY_NONE);
	assert_true(capability_is_planned("audio.text"));
	assert_false(capability_is_planned("audio.speech"));
	assert_false(capability_is_planned(""));
}

static void
check_list(const struct field *fields)
{
	int n = 0;

	for (; fields[n].type != FIELD_END; n++) {
		assert_true(strlen(fields[n].name) <= LIMIT_JSON_KEY_BYTES);
		for (int i = 0; i < n; i++)
			assert_string_not_equal(fields[i].name, fields[n].name);
		assert_ptr_equal(
		    capability_field(fields, fields[n].name), &fields[n]);
	}
	assert_in_range(n, 1, SHAPE_FIELDS);
}

static void
check_lists(const struct capability *capability)
{
	check_list(capability->input);
	check_list(capability->output);
}

static void
check_choices(const struct field *field)
{
	int n = 0;

	for (; field->choices[n] != NULL; n++) {
		/* shape keeps so much of one */
		assert_in_range(strlen(field->choices[n]), 1, 63);
		for (int i = 0; i < n; i++)
			assert_string_not_equal(
			    field->choices[i], field->choices[n]);
	}
	if (field->type != FIELD_CHOICE) {
		assert_int_equal(n, 0);
		return;
	}
	assert_in_range(n, 1, FIELD_CHOICES);
	assert_in_range(field->fallback, 0, n - 1);
}

static void
check_range(const struct field *field)
{
	bool has_items =
	    field->type == FIELD_TEXT_LIST || field->type == FIELD_INTEGER_LIST;

	assert_true(field->min <= field->max);
	assert_int_equal(field->max_items > 0, has_items);
	if (field->type == FIELD_BASE64 || field->type == FIELD_TEXT ||
	    field->type == FIELD_TEXT_LIST)
		assert_true(field->min >= 0 && field->max > 0);
	if (field->type == FIELD_INTEGER && !field->is_required)
		assert_true(field->fallback >= field->min &&
		    field->fallback <= field->max);
	if (field->type == FIELD_BOOLEAN)
		assert_in_range(field->fallback, 0, 1);
	if (field->is_required)
		assert_int_equal(field->fallback, 0);
}

static void
check_about(const struct field *field)
{
	assert_non_null(field->about);
	assert_true(strlen(field->about) > 3);
	assert_null(strchr(field->about, '\n'));
}

static void
check_output_field(const struct capability *capability)
{
	const struct field *f = capability->input;

	for (; f->type != FIELD_END; f++)
		assert_false(f->may_be_null);
	for (f = capability->output; f->type != FIELD_END; f++)
		assert_true(f->is_required);
}

static void
test_fields(void **state)
{
	(void)state;
	for_each(check_lists);
	for_each(check_output_field);
	for_each_field(check_choices);
	for_each_field(check_range);
	for_each_field(check_about);
}

/* The most JSON that a list can be: text all of \u00xx, every limit full. */
static uint64_t
most_bytes(const struct field *f)
{
	uint64_t n = 2;

	for (; f->type != FIELD_END; f++) {
		n += strlen(f->name) + 128;
		if (f->type == FIELD_BASE64)
			n += ((uint64_t)f->max + 2) / 3 * 4;
		else if (f->type == FIELD_TEXT)
			n += (uint64_t)f->max * 6;
		else if (f->type == FIELD_TEXT_LIST)
			n += (uint64_t)f->max * 6 + 3 * f->max_items;
		else if (f->type == FIELD_INTEGER_LIST)
			n += UINT64_C(21) * f->max_items;
	}
	return n;
}

static void
check_sizes(const struct capability *capability)
{
	const struct field *f = capability->input;

	assert_true(most_bytes(capability->output) <= LIMIT_OUTPUT_BYTES);
	assert_true(most_bytes(capability->input) + 4096 <= LIMIT_BODY_BYTES);
	for (; f->type != FIELD_END; f++) {
		if (f->type == FIELD_BASE64)
			assert_int_equal(capability->max_input, f->max);
	}
}

static void
check_limits(const struct capability *capability)
{
	assert_in_range(capability->time_limit_ms, 1000, 600000);
	assert_in_range(capability->memory_limit, 64 * MIB, 4096 * MIB);
	assert_in_range(capability->tmp_limit, MIB, 1024 * MIB);
}

static void
test_limits(void **state)
{
	(void)state;
	for_each(check_sizes);
	for_each(check_limits);
}

static void
check_tools(const struct capability *capability)
{
	int n = 0;

	for (; capability->tools[n].name != NULL; n++) {
		const struct tool *tool = &capability->tools[n];

		assert_int_equal(tool->path[0], '/');
		assert_true(strlen(tool->package) > 0);
		for (int i = 0; i < n; i++)
			assert_string_not_equal(
			    capability->tools[i].name, tool->name);
	}
	assert_in_range(n, 1, LIMIT_TOOLS);
}

static void
check_views(const struct capability *capability)
{
	int n = 0;

	for (; capability->views[n].path != NULL; n++) {
		const char *path = capability->views[n].path;

		assert_int_equal(path[0], '/');
		assert_null(strstr(path, ".."));
		assert_true(path[strlen(path) - 1] != '/');
		assert_true(strcmp(path, "/etc") != 0);
		assert_true(strncmp(path, "/home", 5) != 0);
		assert_true(strncmp(path, "/var/lib", 8) != 0);
		assert_true(strncmp(path, "/proc", 5) != 0);
	}
	assert_in_range(n, 0, CAPABILITY_VIEWS);
}

static void
check_languages(const struct capability *capability)
{
	const struct field *f = capability->input;
	bool has_languages = false;

	for (; f->type != FIELD_END; f++)
		has_languages |= f->type == FIELD_LANGUAGES;
	assert_int_equal(capability->has_languages, has_languages);
	assert_int_equal(capability->errors >> ERROR_UNSUPPORTED_LANGUAGE & 1,
	    has_languages);
}

/* A box says what a box may say: never what only its outside can know. */
static void
check_errors(const struct capability *capability)
{
	static const uint32_t outside[] = { ERROR_NONE, ERROR_NOT_ASKED,
		ERROR_BAD_JOB, ERROR_BAD_OUTPUT, ERROR_CRASHED_WORKER };

	assert_int_equal(capability->errors >> ERROR_COUNT, 0);
	for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++)
		assert_int_equal(capability->errors >> outside[i] & 1, 0);
	assert_int_equal(capability->errors >> ERROR_BAD_INPUT & 1, 1);
	assert_int_equal(capability->errors >> ERROR_TOO_LARGE & 1, 1);
}

static void
test_box(void **state)
{
	(void)state;
	for_each(check_tools);
	for_each(check_views);
	for_each(check_languages);
	for_each(check_errors);
}

static void
assert_word(const char *word)
{
	assert_non_null(word);
	assert_true(word[0] != '\0');
	assert_int_equal(
	    strspn(word, "abcdefghijklmnopqrstuvwxyz_"), strlen(word));
}

/* What needs no escape in JSON, and fits its place. */
static void
assert_sentence(const char *text)
{
	assert_non_null(text);
	assert_in_range(strlen(text), 10, LIMIT_MESSAGE_BYTES);
	for (const char *p = text; *p != '\0'; p++)
		assert_true(
		    isprint((unsigned char)*p) && *p != '"' && *p != '\\');
}

static void
test_words(void **state)
{
	(void)state;
	for (uint32_t i = OUTCOME_SUCCEEDED; i < OUTCOME_COUNT; i++)
		assert_word(outcome_name(i));
	for (uint32_t i = RELEASE_NONE + 1; i < RELEASE_COUNT; i++)
		assert_word(release_name(i));
	for (uint32_t i = ERROR_NONE + 1; i < ERROR_COUNT; i++) {
		assert_word(error_name(i));
		assert_sentence(error_message(i));
		for (uint32_t k = ERROR_NONE + 1; k < i; k++)
			assert_string_not_equal(error_name(i), error_name(k));
	}
	assert_null(outcome_name(0));
	assert_null(outcome_name(OUTCOME_COUNT));
	assert_null(outcome_name(UINT32_MAX));
	assert_null(error_name(ERROR_NONE));
	assert_null(error_name(ERROR_COUNT));
	assert_null(error_message(UINT32_MAX));
	assert_null(release_name(RELEASE_NONE));
	assert_null(release_name(RELEASE_COUNT));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_box),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
