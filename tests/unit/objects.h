/* SPDX-License-Identifier: ISC
 *
 * JSON objects made from a list of fields of the capability table: good
 * values at either edge of what is allowed, in an order that changes.
 */
#ifndef TESTS_OBJECTS_H
#define TESTS_OBJECTS_H

#include <cmocka.h>
#include <inttypes.h>
#include <string.h>

#include "contract/capability.h"

#include "pieces.h"

/* -- texts that grow ---------------------------------------------------- */

struct text {
	char *bytes;
	size_t n;
	size_t size;
};

static void
text_add_n(struct text *to, const char *from, size_t n)
{
	if (to->n + n + 1 > to->size) {
		to->size = (to->n + n + 1) * 2;
		to->bytes = realloc(to->bytes, to->size);
	}
	memcpy(to->bytes + to->n, from, n);
	to->n += n;
	to->bytes[to->n] = '\0';
}

static void
text_add(struct text *to, const char *from)
{
	text_add_n(to, from, strlen(from));
}

static void
text_add_integer(struct text *to, int64_t value)
{
	char digits[32];

	(void)snprintf(digits, sizeof(digits), "%" PRId64, value);
	text_add(to, digits);
}

static void
text_add_times(struct text *to, const char *from, uint64_t times)
{
	while (times-- > 0)
		text_add(to, from);
}

static void
text_clear(struct text *text)
{
	free(text->bytes);
	memset(text, 0, sizeof(*text));
}

/* -- objects made from the table ---------------------------------------- */

enum edge {
	AT_LEAST,
	AT_MOST
};

static void
add_text_list(struct text *to, const struct field *field, enum edge edge)
{
	uint64_t each = (uint64_t)field->max / field->max_items;

	text_add(to, "[");
	for (uint32_t i = 0; edge == AT_MOST && i < field->max_items; i++) {
		text_add(to, i == 0 ? "\"" : ",\"");
		text_add_times(to, "x", i == 0 ? each : each / 2);
		text_add(to, "\"");
	}
	text_add(to, "]");
}

static void
add_integer_list(struct text *to, const struct field *field, enum edge edge)
{
	text_add(to, "[");
	for (uint32_t i = 0; edge == AT_MOST && i < field->max_items; i++) {
		text_add(to, i == 0 ? "" : ",");
		text_add_integer(to, i % 2 == 0 ? field->min : field->max);
	}
	text_add(to, "]");
}

static void
add_choice(struct text *to, const struct field *field, enum edge edge)
{
	int last = 0;

	while (field->choices[last + 1] != NULL)
		last++;
	text_add(to, "\"");
	text_add(to, field->choices[edge == AT_MOST ? last : 0]);
	text_add(to, "\"");
}

/* A value that is right, at one edge of what is. */
static void
add_good(struct text *to, const struct field *field, enum edge edge)
{
	bool is_most = edge == AT_MOST;

	switch (field->type) {
	case FIELD_BASE64:
		text_add(to, is_most ? "\"AAECAwQ\\/\"" : "\"AA==\"");
		break;
	case FIELD_TEXT:
		text_add(to, "\"");
		text_add_times(to, "\\u0041",
		    (uint64_t)(is_most ? field->max : field->min));
		text_add(to, "\"");
		break;
	case FIELD_CHOICE:
		add_choice(to, field, edge);
		break;
	case FIELD_INTEGER:
	case FIELD_NUMBER:
		text_add_integer(to, is_most ? field->max : field->min);
		break;
	case FIELD_BOOLEAN:
		text_add(to, is_most ? "true" : "false");
		break;
	case FIELD_LANGUAGES:
		text_add(to,
		    is_most ? "[\"eng\",\"chi_si\",\"aze_cyrillic\",\"eng\"]"
			    : "[\"eng\"]");
		break;
	case FIELD_TEXT_LIST:
		add_text_list(to, field, edge);
		break;
	case FIELD_INTEGER_LIST:
		add_integer_list(to, field, edge);
		break;
	case FIELD_END:
		fail();
	}
}

static void
add_name(struct text *to, const struct field *field)
{
	text_add(to, to->n > 1 ? "," : "");
	text_add(to, "\"");
	text_add(to, field->name);
	text_add(to, "\" : ");
}

static void
add_member(struct text *to, const struct field *field, enum edge edge)
{
	add_name(to, field);
	add_good(to, field, edge);
}

static int
count_fields(const struct field *fields)
{
	int n = 0;

	while (fields[n].type != FIELD_END)
		n++;
	return n;
}

/* An object of good values without its last brace; one field left out. */
static void
begin_object(struct text *to, const struct field *fields, int without)
{
	int n = count_fields(fields);
	int first = (int)(pieces_random() % (uint64_t)n);

	text_clear(to);
	text_add(to, "{");
	for (int i = 0; i < n; i++) {
		int at = (first + i) % n;

		if (at != without)
			add_member(to, &fields[at], AT_LEAST);
	}
}

#endif
