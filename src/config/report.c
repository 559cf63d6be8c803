/* SPDX-License-Identifier: ISC
 *
 * Lines about what is wrong with config.yaml, in every process that reads it.
 * The file may hold anything, so its bytes come into a line only printable
 * and cut; a line always begins with file:line:column.
 */
#include "config/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* A step for each level that a file may have, so that no path is cut. */
#define KEY_PATH_BYTES ((LIMIT_CONFIG_DEPTH + 2) * REPORT_QUOTE_BYTES)

void
report_init(
    struct report *report, const char *file, struct config_errors *errors)
{
	memset(errors, 0, sizeof(*errors));
	memset(report, 0, sizeof(*report));
	report->file = file;
	report->errors = errors;
}

static bool
is_before(struct report_place a, struct report_place b)
{
	return a.line < b.line || (a.line == b.line && a.column < b.column);
}

/* Gives the line to write; NULL when it would be behind the last kept. */
static char *
make_room(struct report *report, struct report_place place)
{
	struct config_errors *e = report->errors;
	size_t last = e->n_lines;

	e->n++;
	if (e->n_lines < CONFIG_ERROR_LINES)
		e->n_lines++;
	else if (!is_before(place, report->places[--last]))
		return NULL;
	while (last > 0 && is_before(place, report->places[last - 1])) {
		memcpy(e->lines[last], e->lines[last - 1], sizeof(e->lines[0]));
		report->places[last] = report->places[last - 1];
		last--;
	}
	report->places[last] = place;
	return e->lines[last];
}

static void __attribute__((format(printf, 4, 0)))
put_line(struct report *report, struct report_place place, const char *key,
    const char *format, va_list arguments)
{
	char *line = make_room(report, place);
	size_t size = sizeof(report->errors->lines[0]);
	int n;

	if (line == NULL)
		return;
	n = snprintf(line, size, "%.120s:%u:%u: %s%s", report->file, place.line,
	    place.column, key, key[0] != '\0' ? ": " : "");
	if (n > 0 && (size_t)n < size)
		(void)vsnprintf(line + n, size - (size_t)n, format, arguments);
	/* A line that was cut may end in the middle of a character. */
	for (size_t end = strlen(line); end > 0 && !text_is_utf8(line, end);)
		line[--end] = '\0';
}

void
report_text(struct report *report, unsigned int line, unsigned int column,
    const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	put_line(report, (struct report_place){ line, column }, "", format,
	    arguments);
	va_end(arguments);
}

/* Puts one step in front of the path. */
static void
put_step(char path[KEY_PATH_BYTES], const char *step)
{
	char whole[KEY_PATH_BYTES + REPORT_QUOTE_BYTES];
	const char *dot = path[0] == '\0' || path[0] == '[' ? "" : ".";

	(void)snprintf(whole, sizeof(whole), "%s%s%s", step, dot, path);
	(void)snprintf(path, KEY_PATH_BYTES, "%.*s", KEY_PATH_BYTES - 1, whole);
}

static void
put_path(char path[KEY_PATH_BYTES], const struct node *node)
{
	for (; node != NULL && node->parent != NULL; node = node->parent) {
		char step[REPORT_QUOTE_BYTES];

		if (node->key != NULL)
			text_printable(step, sizeof(step), node->key,
			    strnlen(node->key, sizeof(step)));
		else
			(void)snprintf(
			    step, sizeof(step), "[%zu]", node->index + 1);
		put_step(path, step);
	}
}

void
report_value(
    struct report *report, const struct node *node, const char *format, ...)
{
	char path[KEY_PATH_BYTES] = "";
	va_list arguments;

	put_path(path, node);
	va_start(arguments, format);
	put_line(report, (struct report_place){ node->line, node->column },
	    path, format, arguments);
	va_end(arguments);
}

void
report_key(
    struct report *report, const struct node *node, const char *format, ...)
{
	struct report_place place = { node->key_line, node->key_column };
	char path[KEY_PATH_BYTES] = "";
	va_list arguments;

	put_path(path, node);
	va_start(arguments, format);
	put_line(report, place, path, format, arguments);
	va_end(arguments);
}

void
report_member(struct report *report, const struct node *map, const char *key,
    struct report_place place, const char *format, ...)
{
	char path[KEY_PATH_BYTES] = "";
	char step[REPORT_QUOTE_BYTES];
	va_list arguments;

	text_printable(step, sizeof(step), key, strnlen(key, sizeof(step)));
	put_step(path, step);
	put_path(path, map);
	va_start(arguments, format);
	put_line(report, place, path, format, arguments);
	va_end(arguments);
}

const char *
report_quote(char to[REPORT_QUOTE_BYTES], const char *text)
{
	char safe[REPORT_QUOTE_BYTES - 5];
	size_t n = strlen(text);
	bool is_cut;

	text_printable(safe, sizeof(safe), text, n);
	is_cut = n > sizeof(safe) - 1;
	(void)snprintf(
	    to, REPORT_QUOTE_BYTES, "\"%s%s\"", safe, is_cut ? "..." : "");
	return to;
}
