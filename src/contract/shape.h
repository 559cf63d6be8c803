/* SPDX-License-Identifier: ISC
 *
 * Checks one JSON object against a list of fields of the capability table
 * while its bytes stream by, and keeps the few small values a reader needs.
 * Exactly the listed fields, each at most once, required ones present, types
 * and limits held; anything else is refused. Used by the driver on a job's
 * input and by the courier (and `try`) on a box's output.
 */
#ifndef CONTRACT_SHAPE_H
#define CONTRACT_SHAPE_H

#include "contract/base64.h"
#include "contract/capability.h"
#include "contract/scan.h"

/* The most fields one list has. */
#define SHAPE_FIELDS 12

enum shape_result {
	SHAPE_OK = 0,
	SHAPE_NOT_JSON = -1, /* the scanner refused the bytes */
	SHAPE_WRONG = -2, /* JSON, but not of this shape */
	SHAPE_TOO_LARGE = -3, /* a base64 field is above its max */
	SHAPE_SINK_FAILED = -4,
};

/* Gets the decoded bytes of a FIELD_BASE64 field in order. 0, or negative to
 * stop (SHAPE_SINK_FAILED). */
typedef int shape_sink(void *context, const unsigned char *bytes, size_t n);

struct shape_value {
	bool is_set; /* present in the text and not null, or filled from
			the fallback */
	int64_t number; /* integer, boolean, index of a choice */
	char languages[FIELD_LANGUAGES_N][16]; /* FIELD_LANGUAGES only */
	uint32_t n_languages;
};

struct shape {
	const struct field *fields;
	struct shape_value values[SHAPE_FIELDS];
	char wrong[128]; /* what was wrong, for people: field and reason; no
			    byte of the text itself */
	/* private from here */
	struct scan scan;
	shape_sink *sink;
	void *sink_context;
	enum shape_result result;
	uint64_t max_data; /* lowers the max of every FIELD_BASE64; 0: not */
	uint32_t seen; /* a bit per field that was there */
	int current; /* index of the field whose value is being read */
	uint64_t count; /* bytes of its text so far */
	uint32_t items; /* items of its list so far */
	size_t used;
	char token[64]; /* a choice or a language; longer is neither */
	struct base64 base64;
};

/*
 * A struct of some 7 KiB. fields ends with FIELD_END and has at most
 * SHAPE_FIELDS entries. sink may be NULL (base64 is checked and dropped).
 * max_data of 0 means the table's.
 */
void shape_init(struct shape *shape, const struct field *fields,
    shape_sink *sink, void *sink_context, uint64_t max_data);

enum shape_result shape_feed(struct shape *shape, const char *bytes, size_t n);

/* Ends the text; fills absent optional fields from their fallback. */
enum shape_result shape_finish(struct shape *shape);

/* The value of a field by name; must exist in the list. */
const struct shape_value *shape_value(
    const struct shape *shape, const char *name);

#endif
