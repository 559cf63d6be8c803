/* SPDX-License-Identifier: ISC
 *
 * The claim: our request, and a reader of the answer that keeps five values
 * and passes the input's own bytes on. Runs in the courier, on bytes that the
 * source made up. The input is found by its position: what the sink gets is a
 * slice of what came in, never a copy that was taken apart and put together.
 */
#include "contract/claim.h"

#include <stdio.h>
#include <string.h>

#include "base/must.h"
#include "base/text.h"
#include "contract/capability.h"

struct key {
	const char *name;
	bool is_required;
	int (*read)(struct claim *, const struct scan_piece *);
};

enum key_index {
	KEY_ID,
	KEY_CAPABILITY,
	KEY_INPUT,
	KEY_LEASE,
	KEY_MORE
};

#define KEY_OTHER (-1)

static int read_id(struct claim *claim, const struct scan_piece *piece);
static int read_capability(struct claim *claim, const struct scan_piece *piece);
static int read_input(struct claim *claim, const struct scan_piece *piece);
static int read_lease(struct claim *claim, const struct scan_piece *piece);
static int read_more(struct claim *claim, const struct scan_piece *piece);

static const struct key keys[] = {
	[KEY_ID] = { "id", true, read_id },
	[KEY_CAPABILITY] = { "capability", true, read_capability },
	[KEY_INPUT] = { "input", true, read_input },
	[KEY_LEASE] = { "lease", false, read_lease },
	[KEY_MORE] = { "more", false, read_more },
};

#define KEYS ((int)(sizeof(keys) / sizeof(keys[0])))

/* -- the request -------------------------------------------------------- */

static size_t
put(char to[CLAIM_REQUEST_BYTES], size_t used, const char *text)
{
	size_t n = strlen(text);

	must(n < CLAIM_REQUEST_BYTES - used);
	memcpy(to + used, text, n + 1);
	return used + n;
}

size_t
claim_write(char to[CLAIM_REQUEST_BYTES], const char *claim_id,
    uint32_t capabilities, uint32_t max_job_seconds)
{
	char number[sizeof("4294967295")];
	const char *comma = "";
	size_t n = 0;

	must(text_is_id(claim_id));
	must((capabilities & ~CAPABILITY_ALL) == 0);
	n = put(to, n, "{\"claim_id\":\"");
	n = put(to, n, claim_id);
	n = put(to, n, "\",\"capabilities\":[");
	for (uint32_t i = 0; i < CAPABILITY_COUNT; i++) {
		if ((capabilities >> i & 1) == 0)
			continue;
		n = put(to, n, comma);
		n = put(to, n, "\"");
		n = put(to, n, capability_at(i)->name);
		n = put(to, n, "\"");
		comma = ",";
	}
	(void)snprintf(number, sizeof(number), "%u", max_job_seconds);
	n = put(to, n, "],\"max_job_seconds\":");
	n = put(to, n, number);
	return put(to, n, "}");
}

/* -- the answer --------------------------------------------------------- */

/* Notes the first mistake, for people. */
static void
note(struct claim *claim, const char *name, const char *why)
{
	if (!claim->is_wrong)
		(void)snprintf(claim->wrong, sizeof(claim->wrong), "%s%s%s",
		    name, name[0] == '\0' ? "" : ": ", why);
	claim->is_wrong = true;
}

/*
 * The value of the current key is not of the contract: the rest of it is
 * skipped. Without one certain id there is nobody to answer to, and reading
 * on is pointless.
 */
static int
mistake(struct claim *claim, const char *why)
{
	bool is_id = claim->current == KEY_ID;

	note(claim, keys[claim->current].name, why);
	claim->current = KEY_OTHER;
	if (!is_id)
		return 0;
	claim->id[0] = '\0';
	return -1;
}

/*
 * Gathers a string in token, cut to one byte more than an id may have. 1 when
 * it is complete, 0 when not yet, 2 when the value is no string.
 */
static int
gather(struct claim *claim, const struct scan_piece *piece)
{
	size_t room = sizeof(claim->token) - 1;
	size_t n = piece->n;

	if (piece->event == SCAN_STRING_BEGIN) {
		claim->used = 0;
	} else if (piece->event == SCAN_STRING_BYTES) {
		if (n > room - claim->used)
			n = room - claim->used;
		memcpy(claim->token + claim->used, piece->bytes, n);
		claim->used += n;
	} else if (piece->event == SCAN_STRING_END) {
		claim->token[claim->used] = '\0';
		return 1;
	} else {
		return 2;
	}
	return 0;
}

static int
read_word(struct claim *claim, const struct scan_piece *piece,
    char to[LIMIT_ID_BYTES + 1])
{
	int done = gather(claim, piece);

	if (done == 0)
		return 0;
	if (done == 2)
		return mistake(claim, "is not a string");
	if (!text_is_id(claim->token))
		return mistake(
		    claim, "is not 1 to 128 characters of A-Za-z0-9._~:@+/=-");
	return text_copy(to, LIMIT_ID_BYTES + 1, claim->token);
}

static int
read_id(struct claim *claim, const struct scan_piece *piece)
{
	return read_word(claim, piece, claim->id);
}

static int
read_lease(struct claim *claim, const struct scan_piece *piece)
{
	return read_word(claim, piece, claim->lease);
}

static int
read_capability(struct claim *claim, const struct scan_piece *piece)
{
	int done = gather(claim, piece);

	if (done == 2)
		return mistake(claim, "is not a string");
	if (done == 1)
		claim->capability = capability_find(claim->token, claim->used);
	return 0;
}

static int
read_input(struct claim *claim, const struct scan_piece *piece)
{
	if (piece->event == SCAN_OBJECT_BEGIN)
		claim->input_begin = piece->position;
	else if (piece->event == SCAN_OBJECT_END)
		claim->input_end = piece->position;
	else
		return mistake(claim, "is not an object");
	return 0;
}

static int
read_more(struct claim *claim, const struct scan_piece *piece)
{
	if (piece->event != SCAN_TRUE && piece->event != SCAN_FALSE)
		return mistake(claim, "is not true or false");
	claim->more = piece->event == SCAN_TRUE;
	return 0;
}

static int
find_key(const struct scan_piece *piece)
{
	for (int i = 0; piece->is_whole && i < KEYS; i++) {
		if (strlen(keys[i].name) == piece->n &&
		    memcmp(keys[i].name, piece->bytes, piece->n) == 0)
			return i;
	}
	return KEY_OTHER;
}

static int
begin_member(struct claim *claim, const struct scan_piece *piece)
{
	if (++claim->n_keys > LIMIT_JSON_KEYS)
		note(claim, "", "the body has too many members");
	claim->current = find_key(piece);
	if (claim->current == KEY_OTHER)
		return 0;
	if (claim->seen >> claim->current & 1)
		return mistake(claim, "is there twice");
	claim->seen |= UINT32_C(1) << claim->current;
	return 0;
}

static int
take_piece(void *context, const struct scan_piece *piece)
{
	struct claim *claim = context;

	if (piece->depth == 0) {
		if (piece->event == SCAN_OBJECT_BEGIN ||
		    piece->event == SCAN_OBJECT_END)
			return 0;
		note(claim, "", "the body is not an object");
		return -1;
	}
	if (piece->depth > 1)
		return 0;
	if (piece->event == SCAN_KEY)
		return begin_member(claim, piece);
	if (claim->current == KEY_OTHER)
		return 0;
	return keys[claim->current].read(claim, piece);
}

void
claim_init(struct claim *claim, claim_sink *sink, void *sink_context)
{
	memset(claim, 0, sizeof(*claim));
	claim->capability = CAPABILITY_NONE;
	claim->sink = sink;
	claim->sink_context = sink_context;
	claim->current = KEY_OTHER;
	claim->is_stored = true;
	claim->input_begin = UINT64_MAX;
	claim->input_end = UINT64_MAX;
	scan_init(&claim->scan, LIMIT_JSON_DEPTH, take_piece, claim);
}

/* Passes on what of n bytes, the first at position base, is the input's. */
static int
pass_input(struct claim *claim, const char *bytes, size_t n, uint64_t base)
{
	uint64_t begin = claim->input_begin;
	uint64_t end = claim->input_end;

	if (begin < base)
		begin = base;
	if (end > base + n)
		end = base + n;
	if (begin >= end || claim->is_wrong || claim->sink == NULL)
		return 0;
	if (claim->sink(claim->sink_context, bytes + (begin - base),
		(size_t)(end - begin)) >= 0)
		return 0;
	claim->is_stored = false;
	note(claim, "input", "could not be stored");
	return -1;
}

int
claim_feed(struct claim *claim, const char *bytes, size_t n)
{
	uint64_t base = claim->scan.position;

	if (!claim->is_stored || scan_feed(&claim->scan, bytes, n) != SCAN_OK)
		return -1;
	return pass_input(claim, bytes, n, base);
}

static void
check_whole(struct claim *claim)
{
	for (int i = 0; i < KEYS; i++) {
		if (keys[i].is_required && (claim->seen >> i & 1) == 0)
			note(claim, keys[i].name, "is missing");
	}
}

static void
note_grammar(struct claim *claim, enum scan_result result)
{
	char why[64];

	(void)snprintf(why, sizeof(why), "%s at byte %llu",
	    scan_result_text(result), (unsigned long long)claim->scan.position);
	note(claim, "the body is not JSON", why);
}

enum claim_fate
claim_finish(struct claim *claim)
{
	enum scan_result result =
	    claim->is_stored ? scan_finish(&claim->scan) : SCAN_STOPPED;

	if (result == SCAN_OK)
		check_whole(claim);
	else if (result != SCAN_STOPPED)
		note_grammar(claim, result);
	if (result == SCAN_INCOMPLETE || claim->id[0] == '\0')
		return CLAIM_NOT_CONTRACT;
	return claim->is_wrong ? CLAIM_BAD_JOB : CLAIM_JOB;
}
