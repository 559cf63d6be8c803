/* SPDX-License-Identifier: ISC
 *
 * Reading status.json, in the command. The core wrote it, but a file may be
 * anybody's by the time it is read: it goes through the strict scanner, every
 * field has its place and size in the tables here, and nothing else is kept.
 */
#include "cli/status_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "contract/number.h"
#include "contract/scan.h"

/* Objects of status.json nest: top, list, item, counts. */
#define PATH_DEPTH 4
#define KEY_BYTES  24

enum place {
	PLACE_TOP = 0,
	PLACE_JOB,
	PLACE_CAPABILITY,
	PLACE_SOURCE,
	PLACE_JOBS, /* of a source */
	PLACE_NONE,
};

enum kind {
	KIND_NUMBER,
	KIND_TEXT,
	KIND_BOOLEAN,
};

struct member {
	enum place place;
	const char *key;
	enum kind kind;
	size_t at;
	size_t size; /* KIND_TEXT */
};

#define NUMBER(place, type, key, member)                                  \
	{                                                                 \
		place, key, KIND_NUMBER, offsetof(struct type, member), 0 \
	}
#define TEXT(place, type, key, member)                                \
	{                                                             \
		place, key, KIND_TEXT, offsetof(struct type, member), \
		    sizeof(((struct type *)0)->member)                \
	}

static const struct member members[] = {
	NUMBER(PLACE_TOP, status_file, "version", version),
	NUMBER(PLACE_TOP, status_file, "pid", pid),
	NUMBER(PLACE_TOP, status_file, "written_at", written_at),
	NUMBER(PLACE_TOP, status_file, "generation", generation),
	TEXT(PLACE_TOP, status_file, "state", state),
	TEXT(PLACE_TOP, status_file, "keep", keep),
	TEXT(PLACE_TOP, status_file, "yard", yard),
	TEXT(PLACE_TOP, status_file, "journal", journal),
	TEXT(PLACE_JOB, status_file, "source", job_source),
	TEXT(PLACE_JOB, status_file, "id", job_id),
	TEXT(PLACE_JOB, status_file, "capability", job_capability),
	NUMBER(PLACE_JOB, status_file, "since", job_since),
	TEXT(PLACE_CAPABILITY, capability_status, "name", name),
	TEXT(PLACE_CAPABILITY, capability_status, "reason", reason),
	NUMBER(
	    PLACE_CAPABILITY, capability_status, "resting_for", resting_for_s),
	{ PLACE_CAPABILITY, "usable", KIND_BOOLEAN,
	    offsetof(struct capability_status, is_usable), 0 },
	TEXT(PLACE_SOURCE, source_status, "name", name),
	TEXT(PLACE_SOURCE, source_status, "state", state),
	TEXT(PLACE_SOURCE, source_status, "trouble", trouble),
	NUMBER(PLACE_SOURCE, source_status, "last_ok", last_ok),
	NUMBER(PLACE_SOURCE, source_status, "next_ask_in_ms", next_ask_in_ms),
	NUMBER(PLACE_SOURCE, source_status, "hour_used", hour_used),
	NUMBER(PLACE_SOURCE, source_status, "hour_cap", hour_cap),
	NUMBER(PLACE_SOURCE, source_status, "backoff_ms", backoff_ms),
	NUMBER(PLACE_SOURCE, source_status, "outbox", outbox),
	NUMBER(PLACE_SOURCE, source_status, "parked", parked),
	NUMBER(PLACE_JOBS, source_status, "succeeded", succeeded),
	NUMBER(PLACE_JOBS, source_status, "failed", failed),
	NUMBER(PLACE_JOBS, source_status, "released", released),
};

struct reader {
	struct status_file *status;
	char path[PATH_DEPTH + 1][KEY_BYTES]; /* by depth; "" in a list */
	char text[STATUS_TEXT_BYTES];
	size_t used;
};

static bool
is_in(const struct reader *r, unsigned int depth, const char *key)
{
	return strcmp(r->path[depth], key) == 0;
}

/* The object whose members have this depth. */
static enum place
place_at(const struct reader *r, unsigned int depth)
{
	if (depth == 1)
		return PLACE_TOP;
	if (depth == 2 && is_in(r, 1, "job"))
		return PLACE_JOB;
	if (depth == 3 && is_in(r, 1, "capabilities"))
		return PLACE_CAPABILITY;
	if (depth == 3 && is_in(r, 1, "sources"))
		return PLACE_SOURCE;
	if (depth == 4 && is_in(r, 1, "sources") && is_in(r, 3, "jobs"))
		return PLACE_JOBS;
	return PLACE_NONE;
}

static void *
base_of(struct reader *r, enum place place)
{
	struct status_file *s = r->status;

	switch (place) {
	case PLACE_TOP:
	case PLACE_JOB:
		return s;
	case PLACE_CAPABILITY:
		return s->n_capabilities == 0
		    ? NULL
		    : &s->capabilities[s->n_capabilities - 1];
	case PLACE_SOURCE:
	case PLACE_JOBS:
		return s->n_sources == 0 ? NULL : &s->sources[s->n_sources - 1];
	case PLACE_NONE:
		break;
	}
	return NULL;
}

/* Where the value with this depth goes; NULL: nowhere. */
static void *
find_slot(struct reader *r, unsigned int depth, enum kind kind,
    const struct member **ret_member)
{
	enum place place =
	    depth <= PATH_DEPTH ? place_at(r, depth) : PLACE_NONE;
	char *base = base_of(r, place);

	if (base == NULL)
		return NULL;
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		const struct member *m = &members[i];

		if (m->place != place || m->kind != kind ||
		    !is_in(r, depth, m->key))
			continue;
		*ret_member = m;
		return base + m->at;
	}
	return NULL;
}

/* A new row, or too many of them. */
static int
begin_object(struct reader *r, unsigned int depth)
{
	struct status_file *s = r->status;

	if (depth == 1 && is_in(r, 1, "job"))
		s->has_job = true;
	if (depth != 2)
		return 0;
	if (is_in(r, 1, "capabilities")) {
		if (s->n_capabilities ==
		    sizeof(s->capabilities) / sizeof(s->capabilities[0]))
			return -1;
		s->n_capabilities++;
	} else if (is_in(r, 1, "sources")) {
		if (s->n_sources == LIMIT_SOURCES)
			return -1;
		s->n_sources++;
	}
	return 0;
}

static void
take_key(struct reader *r, const struct scan_piece *piece)
{
	size_t n = piece->n < KEY_BYTES ? piece->n : 0;

	if (piece->depth > PATH_DEPTH)
		return;
	memcpy(r->path[piece->depth], piece->bytes, n);
	r->path[piece->depth][n] = '\0';
}

static void
take_text(struct reader *r, unsigned int depth)
{
	const struct member *member;
	char *slot = find_slot(r, depth, KIND_TEXT, &member);

	if (slot != NULL)
		text_printable(slot, member->size, r->text, r->used);
}

static void
take_number(struct reader *r, const struct scan_piece *piece)
{
	const struct member *member;
	void *slot = find_slot(r, piece->depth, KIND_NUMBER, &member);
	int64_t value;

	if (slot != NULL && number_integer(piece->bytes, piece->n, &value) == 0)
		memcpy(slot, &value, sizeof(value));
}

static int
take_piece(void *context, const struct scan_piece *piece)
{
	struct reader *r = context;
	const struct member *member;
	bool *flag;
	size_t n;

	switch (piece->event) {
	case SCAN_OBJECT_BEGIN:
		return begin_object(r, piece->depth);
	case SCAN_ARRAY_BEGIN:
		if (piece->depth + 1 <= PATH_DEPTH)
			r->path[piece->depth + 1][0] = '\0';
		break;
	case SCAN_KEY:
		take_key(r, piece);
		break;
	case SCAN_STRING_BEGIN:
		r->used = 0;
		break;
	case SCAN_STRING_BYTES:
		n = sizeof(r->text) - r->used;
		n = piece->n < n ? piece->n : n;
		memcpy(r->text + r->used, piece->bytes, n);
		r->used += n;
		break;
	case SCAN_STRING_END:
		take_text(r, piece->depth);
		break;
	case SCAN_NUMBER:
		take_number(r, piece);
		break;
	case SCAN_TRUE:
		flag = find_slot(r, piece->depth, KIND_BOOLEAN, &member);
		if (flag != NULL)
			*flag = true;
		break;
	case SCAN_OBJECT_END:
	case SCAN_ARRAY_END:
	case SCAN_FALSE:
	case SCAN_NULL:
		break;
	}
	return 0;
}

int
status_file_parse(const char *bytes, size_t n, struct status_file *ret_status,
    struct fault *fault)
{
	struct status_file status = { 0 };
	struct reader reader = { .status = &status };
	struct scan scan;
	enum scan_result r;

	status.sources = memory_new(LIMIT_SOURCES, sizeof(status.sources[0]));
	scan_init(&scan, PATH_DEPTH + 1, take_piece, &reader);
	r = scan_feed(&scan, bytes, n);
	if (r == SCAN_OK)
		r = scan_finish(&scan);
	if (r == SCAN_OK && status.version == 1) {
		*ret_status = status;
		return 0;
	}
	status_file_done(&status);
	if (r == SCAN_OK)
		return fault_set(fault, FAULT_PEER,
		    "it has version %lld, and only 1 is known here",
		    (long long)status.version);
	return fault_set(fault, FAULT_PEER, "it is not what a core writes: %s",
	    scan_result_text(r));
}

void
status_file_done(struct status_file *status)
{
	free(status->sources);
	status->sources = NULL;
	status->n_sources = 0;
}
