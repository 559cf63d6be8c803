/* SPDX-License-Identifier: ISC
 *
 * THE table of capabilities: what each takes and gives, its errors, programs,
 * file view and limits. The driver's check of the input, the courier's check
 * of the output, the settings in config.yaml and the documentation are made
 * from it. The index of a capability is its number on the wire.
 */
#ifndef CONTRACT_CAPABILITY_H
#define CONTRACT_CAPABILITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"

enum capability_index {
	CAPABILITY_IMAGE_PREVIEW = 0,
	CAPABILITY_DOCUMENT_TEXT,
	CAPABILITY_IMAGE_TEXT,
	CAPABILITY_DOCUMENT_PREVIEW,
	CAPABILITY_COUNT,
};

#define CAPABILITY_NONE UINT32_MAX
#define CAPABILITY_ALL	((1u << CAPABILITY_COUNT) - 1)

enum field_type {
	FIELD_END = 0, /* closes a list of fields */
	FIELD_BASE64, /* max: decoded bytes, min: at least */
	FIELD_TEXT, /* UTF-8 string; max: bytes */
	FIELD_CHOICE, /* a string, one of choices */
	FIELD_INTEGER, /* min..max, no fraction, no exponent */
	FIELD_NUMBER, /* min..max */
	FIELD_BOOLEAN,
	FIELD_LANGUAGES, /* 1..4 strings ^[a-z]{3}(_[a-z]{2,8})?$ */
	FIELD_TEXT_LIST, /* list of strings; max: bytes of all together,
			    max_items: how many */
	FIELD_INTEGER_LIST, /* each min..max; max_items: how many */
};

/* The most choices, and languages of one job. */
#define FIELD_CHOICES	  8
#define FIELD_LANGUAGES_N 4

struct field {
	const char *name;
	enum field_type type;
	bool is_required;
	bool may_be_null; /* output only */
	int64_t min;
	int64_t max;
	uint32_t max_items;
	int64_t fallback; /* FIELD_INTEGER, FIELD_BOOLEAN; FIELD_CHOICE:
			     index of the choice */
	const char *choices[FIELD_CHOICES + 1]; /* NULL-terminated */
	const char *about; /* one line for the documentation */
};

/* A program that a capability needs, and what it must see. */
struct tool {
	const char *name; /* as in config: program: { NAME: PATH } */
	const char *path; /* where Debian puts it */
	const char *package; /* what to install */
	bool is_optional; /* without it the capability can do less */
};

/* A directory or file of the host shown read-only in the box. */
struct view {
	const char *path;
	bool is_optional; /* left out when the host lacks it */
};

#define CAPABILITY_VIEWS 12

struct capability {
	const char *name;
	const char *about;
	const struct field *input; /* ends with FIELD_END */
	const struct field *output; /* ends with FIELD_END */
	uint32_t errors; /* bit per error_code that its box may say */
	struct tool tools[LIMIT_TOOLS + 1]; /* name NULL ends */
	struct view views[CAPABILITY_VIEWS + 1]; /* path NULL ends */
	bool has_event_loop; /* a tool's runtime waits by epoll(7) */
	bool has_languages; /* the operator may list `languages` */
	uint32_t max_input; /* decoded bytes of `data` */
	uint32_t time_limit_ms;
	uint64_t memory_limit; /* address space of each process */
	uint64_t tmp_limit; /* scratch tmpfs */
};

/* The entry; must be called with an index below CAPABILITY_COUNT. */
const struct capability *capability_at(uint32_t index);

/* Bit per tool that it cannot do without. */
uint32_t capability_needs(const struct capability *capability);

/* The index of the capability of that name (n bytes), or CAPABILITY_NONE. */
uint32_t capability_find(const char *name, size_t n);

/* The field of that name in a list; must be there. */
const struct field *capability_field(
    const struct field *fields, const char *name);

/*
 * Whether this is a name of the catalogue that a later version will have: a
 * config that names it is told so instead of "unknown".
 */
bool capability_is_planned(const char *name);

#endif
