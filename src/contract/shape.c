/* SPDX-License-Identifier: ISC
 *
 * One JSON object against one list of fields. Runs in the driver on a job's
 * input, in the courier and `try` on a box's output, and believes neither. The
 * first mistake ends the reading; what is told of it names the field and the
 * rule, never a byte of the text. One reader per type of field: it gets every
 * event of its field's value, of a list's items too.
 */
#include "contract/shape.h"

#include <stdio.h>
#include <string.h>

#include "base/must.h"
#include "base/text.h"
#include "contract/number.h"

typedef int read_function(struct shape *, const struct scan_piece *);

struct reader {
	read_function *read;
	const char *expected; /* for people */
};

static int
refuse(struct shape *shape, enum shape_result result, const char *why)
{
	const char *name =
	    shape->current < 0 ? NULL : shape->fields[shape->current].name;

	shape->result = result;
	(void)snprintf(shape->wrong, sizeof(shape->wrong), "%s%s%s",
	    name == NULL ? "" : name, name == NULL ? "" : ": ", why);
	return -1;
}

static int
wrong(struct shape *shape, const char *why)
{
	return refuse(shape, SHAPE_WRONG, why);
}

static const struct field *
field_of(const struct shape *shape)
{
	return &shape->fields[shape->current];
}

static int mistyped(struct shape *shape);

static int
set_number(struct shape *shape, int64_t number)
{
	shape->values[shape->current].is_set = true;
	shape->values[shape->current].number = number;
	return 0;
}

/* -- single values ------------------------------------------------------ */

static int
flush(struct shape *shape)
{
	struct base64 *base64 = &shape->base64;
	size_t n = base64->used;

	base64->used = 0;
	if (n == 0 || shape->sink == NULL)
		return 0;
	if (shape->sink(shape->sink_context, base64->bytes, n) < 0)
		return refuse(shape, SHAPE_SINK_FAILED, "could not be stored");
	return 0;
}

static int
decode(struct shape *shape, const struct scan_piece *piece)
{
	const char *at = piece->bytes;
	enum base64_result result;

	do {
		result =
		    base64_feed(&shape->base64, &at, piece->bytes + piece->n);
		if (result == BASE64_FULL && flush(shape) < 0)
			return -1;
	} while (result == BASE64_FULL);
	if (result == BASE64_TOO_LARGE)
		return refuse(shape, SHAPE_TOO_LARGE, "is too large");
	return result == BASE64_OK ? 0 : wrong(shape, "is not valid base64");
}

static void
begin_base64(struct shape *shape)
{
	uint64_t max = (uint64_t)field_of(shape)->max;

	if (shape->max_data != 0 && shape->max_data < max)
		max = shape->max_data;
	base64_init(&shape->base64, max);
}

static int
end_base64(struct shape *shape)
{
	if (base64_finish(&shape->base64) != BASE64_OK)
		return wrong(shape, "is not valid base64");
	if (shape->base64.count < (uint64_t)field_of(shape)->min)
		return wrong(shape, "is too short");
	return flush(shape) < 0 ? -1 : set_number(shape, 0);
}

static int
read_base64(struct shape *shape, const struct scan_piece *piece)
{
	if (piece->event == SCAN_STRING_BYTES)
		return decode(shape, piece);
	if (piece->event == SCAN_STRING_END)
		return end_base64(shape);
	if (piece->event != SCAN_STRING_BEGIN)
		return mistyped(shape);
	begin_base64(shape);
	return 0;
}

static int
count_text(struct shape *shape, size_t n)
{
	shape->count += n;
	if (shape->count > (uint64_t)field_of(shape)->max)
		return wrong(shape, "is too long");
	return 0;
}

static int
read_text(struct shape *shape, const struct scan_piece *piece)
{
	if (piece->event == SCAN_STRING_BEGIN)
		return 0;
	if (piece->event == SCAN_STRING_BYTES)
		return count_text(shape, piece->n);
	if (piece->event != SCAN_STRING_END)
		return mistyped(shape);
	if (shape->count < (uint64_t)field_of(shape)->min)
		return wrong(shape, "is too short");
	return set_number(shape, 0);
}

/*
 * Gathers a short string in token. 1 when it is complete, 0 when not yet, -1
 * when it is no string. A longer one is complete too, but stands there empty:
 * nothing that is looked for is so long, and nothing is empty.
 */
static int
gather(struct shape *shape, const struct scan_piece *piece)
{
	size_t room = sizeof(shape->token) - 1;

	if (piece->event == SCAN_STRING_BEGIN) {
		shape->used = 0;
	} else if (piece->event == SCAN_STRING_BYTES) {
		if (piece->n > room || shape->used > room - piece->n) {
			shape->used = sizeof(shape->token);
			return 0;
		}
		memcpy(shape->token + shape->used, piece->bytes, piece->n);
		shape->used += piece->n;
	} else if (piece->event == SCAN_STRING_END) {
		shape->token[shape->used <= room ? shape->used : 0] = '\0';
		return 1;
	} else {
		return mistyped(shape);
	}
	return 0;
}

static int
read_choice(struct shape *shape, const struct scan_piece *piece)
{
	const char *const *choices = field_of(shape)->choices;
	int done = gather(shape, piece);

	if (done <= 0)
		return done;
	for (int i = 0; choices[i] != NULL; i++) {
		if (strcmp(choices[i], shape->token) == 0)
			return set_number(shape, i);
	}
	return wrong(shape, "is none of its choices");
}

static int
check_integer(
    struct shape *shape, const struct scan_piece *piece, int64_t *ret_value)
{
	int64_t value;

	if (piece->event != SCAN_NUMBER ||
	    number_integer(piece->bytes, piece->n, &value) < 0)
		return mistyped(shape);
	if (value < field_of(shape)->min || value > field_of(shape)->max)
		return wrong(shape, "is out of range");
	*ret_value = value;
	return 0;
}

static int
read_integer(struct shape *shape, const struct scan_piece *piece)
{
	int64_t value;

	if (check_integer(shape, piece, &value) < 0)
		return -1;
	return set_number(shape, value);
}

static int
read_number(struct shape *shape, const struct scan_piece *piece)
{
	const int64_t range[2] = { field_of(shape)->min, field_of(shape)->max };
	int64_t whole;

	if (piece->event != SCAN_NUMBER)
		return mistyped(shape);
	if (number_within(piece->bytes, piece->n, range, &whole) < 0)
		return wrong(shape, "is out of range");
	return set_number(shape, whole);
}

static int
read_boolean(struct shape *shape, const struct scan_piece *piece)
{
	if (piece->event != SCAN_TRUE && piece->event != SCAN_FALSE)
		return mistyped(shape);
	return set_number(shape, piece->event == SCAN_TRUE);
}

/* -- lists -------------------------------------------------------------- */

/*
 * Reads the brackets of a list: 1 when the event was one of them, 0 when it
 * belongs to an item, -1 when the value is no list or has a list inside.
 */
static int
read_bracket(struct shape *shape, const struct scan_piece *piece)
{
	bool is_bracket =
	    piece->event == SCAN_ARRAY_BEGIN || piece->event == SCAN_ARRAY_END;

	if (is_bracket != (piece->depth == 1))
		return mistyped(shape);
	if (piece->event == SCAN_ARRAY_END)
		(void)set_number(shape, 0);
	return is_bracket;
}

static int
count_item(struct shape *shape, uint32_t max)
{
	if (shape->items == max)
		return wrong(shape, "has too many items");
	shape->items++;
	return 0;
}

static int
add_language(struct shape *shape)
{
	struct shape_value *value = &shape->values[shape->current];

	if (!text_is_language(shape->token))
		return wrong(shape, "has an item that is no language code");
	if (count_item(shape, FIELD_LANGUAGES_N) < 0)
		return -1;
	memcpy(value->languages[value->n_languages++], shape->token,
	    strlen(shape->token) + 1);
	return 0;
}

static int
read_languages(struct shape *shape, const struct scan_piece *piece)
{
	int result = read_bracket(shape, piece);

	if (piece->event == SCAN_ARRAY_END && shape->items == 0)
		return wrong(shape, "is empty");
	if (result != 0)
		return result < 0 ? -1 : 0;
	result = gather(shape, piece);
	return result > 0 ? add_language(shape) : result;
}

static int
read_text_list(struct shape *shape, const struct scan_piece *piece)
{
	int result = read_bracket(shape, piece);

	if (result != 0)
		return result < 0 ? -1 : 0;
	if (piece->event == SCAN_STRING_BEGIN)
		return count_item(shape, field_of(shape)->max_items);
	if (piece->event == SCAN_STRING_BYTES)
		return count_text(shape, piece->n);
	return piece->event == SCAN_STRING_END ? 0 : mistyped(shape);
}

static int
read_integer_list(struct shape *shape, const struct scan_piece *piece)
{
	int result = read_bracket(shape, piece);
	int64_t value;

	if (result != 0)
		return result < 0 ? -1 : 0;
	if (check_integer(shape, piece, &value) < 0)
		return -1;
	return count_item(shape, field_of(shape)->max_items);
}

static const struct reader readers[] = {
	[FIELD_BASE64] = { read_base64, "is not a string" },
	[FIELD_TEXT] = { read_text, "is not a string" },
	[FIELD_CHOICE] = { read_choice, "is not a string" },
	[FIELD_INTEGER] = { read_integer, "is not an integer" },
	[FIELD_NUMBER] = { read_number, "is not a number" },
	[FIELD_BOOLEAN] = { read_boolean, "is not true or false" },
	[FIELD_LANGUAGES] = { read_languages, "is not a list of strings" },
	[FIELD_TEXT_LIST] = { read_text_list, "is not a list of strings" },
	[FIELD_INTEGER_LIST] = { read_integer_list,
	    "is not a list of integers" },
};

static int
mistyped(struct shape *shape)
{
	return wrong(shape, readers[field_of(shape)->type].expected);
}

/* -- the object --------------------------------------------------------- */

static int
find_field(const struct shape *shape, const struct scan_piece *key)
{
	const struct field *fields = shape->fields;

	for (int i = 0; key->is_whole && fields[i].type != FIELD_END; i++) {
		if (strlen(fields[i].name) == key->n &&
		    memcmp(fields[i].name, key->bytes, key->n) == 0)
			return i;
	}
	return -1;
}

static int
begin_field(struct shape *shape, const struct scan_piece *key)
{
	shape->current = find_field(shape, key);
	if (shape->current < 0)
		return wrong(shape, "a field that is not of the list");
	if (shape->seen >> shape->current & 1)
		return wrong(shape, "is there twice");
	shape->seen |= UINT32_C(1) << shape->current;
	shape->count = 0;
	shape->items = 0;
	return 0;
}

static int
take_piece(void *context, const struct scan_piece *piece)
{
	struct shape *shape = context;

	if (piece->depth == 0) {
		if (piece->event == SCAN_OBJECT_BEGIN ||
		    piece->event == SCAN_OBJECT_END)
			return 0;
		return wrong(shape, "is not an object");
	}
	if (piece->event == SCAN_KEY && piece->depth == 1)
		return begin_field(shape, piece);
	if (piece->event == SCAN_NULL && piece->depth == 1 &&
	    field_of(shape)->may_be_null)
		return 0;
	return readers[field_of(shape)->type].read(shape, piece);
}

void
shape_init(struct shape *shape, const struct field *fields, shape_sink *sink,
    void *sink_context, uint64_t max_data)
{
	int n = 0;

	while (fields[n].type != FIELD_END)
		n++;
	must(n <= SHAPE_FIELDS);
	memset(shape, 0, sizeof(*shape));
	shape->fields = fields;
	shape->sink = sink;
	shape->sink_context = sink_context;
	shape->max_data = max_data;
	shape->current = -1;
	scan_init(&shape->scan, LIMIT_JSON_DEPTH, take_piece, shape);
}

static enum shape_result
judge(struct shape *shape, enum scan_result result)
{
	if (result == SCAN_OK || shape->result != SHAPE_OK)
		return shape->result;
	shape->result = SHAPE_NOT_JSON;
	(void)snprintf(shape->wrong, sizeof(shape->wrong),
	    "not JSON at byte %llu: %s",
	    (unsigned long long)shape->scan.position, scan_result_text(result));
	return shape->result;
}

enum shape_result
shape_feed(struct shape *shape, const char *bytes, size_t n)
{
	return judge(shape, scan_feed(&shape->scan, bytes, n));
}

static int
complete(struct shape *shape)
{
	for (int i = 0; shape->fields[i].type != FIELD_END; i++) {
		const struct field *field = &shape->fields[i];

		shape->current = i;
		if (shape->seen >> i & 1)
			continue;
		if (field->is_required)
			return wrong(shape, "is missing");
		if (field->type == FIELD_INTEGER ||
		    field->type == FIELD_BOOLEAN || field->type == FIELD_CHOICE)
			(void)set_number(shape, field->fallback);
	}
	return 0;
}

enum shape_result
shape_finish(struct shape *shape)
{
	if (judge(shape, scan_finish(&shape->scan)) == SHAPE_OK)
		(void)complete(shape);
	return shape->result;
}

const struct shape_value *
shape_value(const struct shape *shape, const char *name)
{
	return &shape->values[capability_field(shape->fields, name) -
	    shape->fields];
}
