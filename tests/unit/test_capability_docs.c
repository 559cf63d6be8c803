/* SPDX-License-Identifier: ISC
 *
 * docs/capabilities.md against the capability table: every field, limit,
 * default, error code and program stands there exactly so, and no other row.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "contract/capability.h"
#include "contract/outcome.h"

#define MARKDOWN SANDCASTLE_SOURCE "/docs/capabilities.md"

struct line {
	char text[512];
};

static void __attribute__((format(printf, 2, 3)))
put(struct line *line, const char *format, ...)
{
	size_t used = strlen(line->text);
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(
	    line->text + used, sizeof(line->text) - used, format, arguments);
	va_end(arguments);
}

static void
put_size(struct line *line, int64_t bytes)
{
	char size[32];

	text_put_size(size, sizeof(size), (uint64_t)bytes);
	if (strspn(size, "0123456789") == strlen(size))
		put(line, "%s bytes", size);
	else
		put(line, "%.*s %s", (int)strspn(size, "0123456789"), size,
		    size + strspn(size, "0123456789"));
}

static void
put_type(struct line *line, const struct field *f)
{
	static const char *const types[] = {
		[FIELD_BASE64] = "base64",
		[FIELD_TEXT] = "string",
		[FIELD_CHOICE] = "string",
		[FIELD_INTEGER] = "integer",
		[FIELD_NUMBER] = "number",
		[FIELD_BOOLEAN] = "boolean",
		[FIELD_LANGUAGES] = "list of strings",
		[FIELD_TEXT_LIST] = "list of strings",
		[FIELD_INTEGER_LIST] = "list of integers",
	};

	put(line, "%s%s", types[f->type], f->may_be_null ? " or null" : "");
}

static void
put_choices(struct line *line, const struct field *f)
{
	for (size_t i = 0; f->choices[i] != NULL; i++)
		put(line, "%s`%s`", i == 0 ? "" : ", ", f->choices[i]);
}

static void
put_range(struct line *line, const struct field *f)
{
	switch (f->type) {
	case FIELD_BASE64:
		put(line, "%" PRId64 " byte to ", f->min);
		put_size(line, f->max);
		break;
	case FIELD_TEXT:
		put(line, "at most ");
		put_size(line, f->max);
		break;
	case FIELD_CHOICE:
		put_choices(line, f);
		break;
	case FIELD_INTEGER:
	case FIELD_NUMBER:
		put(line, "%" PRId64 " to %" PRId64, f->min, f->max);
		break;
	case FIELD_LANGUAGES:
		put(line, "1 to %d like `eng`, `chi_sim`", FIELD_LANGUAGES_N);
		break;
	case FIELD_TEXT_LIST:
		put(line, "at most %u, together ", f->max_items);
		put_size(line, f->max);
		break;
	case FIELD_INTEGER_LIST:
		put(line, "at most %u, each %" PRId64 " to %" PRId64,
		    f->max_items, f->min, f->max);
		break;
	case FIELD_BOOLEAN:
	case FIELD_END:
		break;
	}
}

static void
put_default(struct line *line, const struct field *f)
{
	if (f->is_required)
		put(line, "required");
	else if (f->type == FIELD_CHOICE)
		put(line, "`%s`", f->choices[f->fallback]);
	else if (f->type == FIELD_BOOLEAN)
		put(line, "`%s`", f->fallback != 0 ? "true" : "false");
	else if (f->type == FIELD_LANGUAGES)
		put(line, "`[\"eng\"]`");
	else
		put(line, "`%" PRId64 "`", f->fallback);
}

static struct line
row_of(const struct field *f, bool is_input)
{
	struct line line = { "" };

	put(&line, "| `%s` | ", f->name);
	put_type(&line, f);
	put(&line, " | ");
	put_range(&line, f);
	put(&line, " | ");
	if (is_input) {
		put_default(&line, f);
		put(&line, " | ");
	}
	put(&line, "%s |", f->about);
	return line;
}

static struct line
errors_of(const struct capability *c)
{
	struct line line = { "Fails with " };
	const char *comma = "";

	for (uint32_t code = 1; code < ERROR_COUNT; code++) {
		if ((c->errors >> code & 1) == 0)
			continue;
		put(&line, "%s`%s`", comma, error_name(code));
		comma = ", ";
	}
	put(&line, ".");
	return line;
}

static struct line
tools_of(const struct capability *c)
{
	struct line line = { "Runs " };

	for (size_t i = 0; c->tools[i].name != NULL; i++)
		put(&line, "%s`%s` (%s)", i == 0 ? "" : ", ", c->tools[i].name,
		    c->tools[i].package);
	put(&line, ".");
	return line;
}

static char *
read_docs(void)
{
	char *bytes = NULL;
	size_t n;
	int r = file_slurp(AT_FDCWD, MARKDOWN, 256 * 1024, &bytes, &n);

	if (r < 0)
		fail_msg("%s: %s", MARKDOWN, strerror(-r));
	return bytes;
}

/* From the capability's heading to the next. */
static char *
section_of(const char *docs, const char *name)
{
	char heading[64];
	const char *begin;
	const char *end;
	char *section;

	(void)snprintf(heading, sizeof(heading), "\n## %s\n", name);
	begin = strstr(docs, heading);
	if (begin == NULL)
		fail_msg("no section %s", name);
	end = strstr(begin + 4, "\n## ");
	section = memory_text(begin);
	if (end != NULL)
		section[end - begin] = '\0';
	return section;
}

/* A paragraph may be broken anywhere between its words. */
static void
fold(char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '\n')
			*text = ' ';
	}
}

static void
need(const char *section, const struct line *line, const char *name)
{
	if (strstr(section, line->text) == NULL)
		fail_msg("%s: not there: %s", name, line->text);
}

static size_t
count_rows(const char *section)
{
	size_t n = 0;

	for (const char *p = section; (p = strstr(p, "\n| `")) != NULL; p++)
		n++;
	return n;
}

static size_t
check_fields(const char *section, const struct field *fields, bool is_input,
    const char *name)
{
	size_t n = 0;

	for (; fields[n].type != FIELD_END; n++) {
		struct line row = row_of(&fields[n], is_input);

		need(section, &row, name);
	}
	return n;
}

static void
test_fields(void **state)
{
	char *docs = read_docs();

	(void)state;
	for (uint32_t i = 0; i < CAPABILITY_COUNT; i++) {
		const struct capability *c = capability_at(i);
		char *section = section_of(docs, c->name);
		size_t n = check_fields(section, c->input, true, c->name);

		n += check_fields(section, c->output, false, c->name);
		assert_int_equal(count_rows(section), n);
		free(section);
	}
	free(docs);
}

static void
test_errors_and_tools(void **state)
{
	char *docs = read_docs();

	(void)state;
	for (uint32_t i = 0; i < CAPABILITY_COUNT; i++) {
		const struct capability *c = capability_at(i);
		char *section = section_of(docs, c->name);
		struct line errors = errors_of(c);
		struct line tools = tools_of(c);

		fold(section);
		need(section, &errors, c->name);
		need(section, &tools, c->name);
		free(section);
	}
	free(docs);
}

static void
test_limits(void **state)
{
	char *docs = read_docs();

	(void)state;
	for (uint32_t i = 0; i < CAPABILITY_COUNT; i++) {
		const struct capability *c = capability_at(i);
		char *section = section_of(docs, c->name);
		struct line line = { "" };

		put(&line, "At most %u s, ", c->time_limit_ms / 1000);
		put_size(&line, (int64_t)c->memory_limit);
		put(&line, " of memory for each process, ");
		put_size(&line, (int64_t)c->tmp_limit);
		put(&line, " of scratch space.");
		fold(section);
		need(section, &line, c->name);
		free(section);
	}
	free(docs);
}

/* Every code that a job can fail with is explained, with its message; from
 * "gave_up" on, they are said from outside the box. */
static void
test_codes(void **state)
{
	char *docs = read_docs();

	(void)state;
	for (uint32_t code = 1; code < ERROR_COUNT; code++) {
		struct line line = { "" };
		uint32_t users = 0;

		for (uint32_t i = 0; i < CAPABILITY_COUNT; i++)
			users |= capability_at(i)->errors >> code & 1;
		put(&line, "\n| `%s` | %s |", error_name(code),
		    error_message(code));
		if (users != 0 || code >= ERROR_GAVE_UP)
			need(docs, &line, "errors");
		else
			assert_null(strstr(docs, line.text));
	}
	free(docs);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_errors_and_tools),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_codes),
	};

	return cmocka_run_group_tests_name(
	    "capability_docs", tests, NULL, NULL);
}
