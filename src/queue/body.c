/* SPDX-License-Identifier: ISC
 *
 * Reads the calls of workers and producers, in the queue. Both are strangers
 * until proved otherwise and get the same strictness: one object, strict
 * UTF-8, no key of ours twice, every length checked. Keys that are not ours
 * are skipped, as the contract says.
 */
#include "queue/body.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "contract/outcome.h"

/* The depth of a member of the body, and of what is inside of one. */
#define MEMBER 1
#define INSIDE 2

typedef int body_reader(struct body *body, const struct scan_piece *piece);

struct body_key {
	const char *name;
	body_reader *reader;
	bool is_required;
	size_t offset; /* of what it fills in struct body */
	size_t max;
};

static int refuse(struct body *body, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int
refuse(struct body *body, const char *format, ...)
{
	va_list arguments;

	if (body->wrong[0] != '\0')
		return -1;
	va_start(arguments, format);
	(void)vsnprintf(body->wrong, sizeof(body->wrong), format, arguments);
	va_end(arguments);
	return -1;
}

static int
refuse_value(
    struct body *body, const struct scan_piece *piece, const char *what)
{
	return refuse(body, "body: %s: %s (byte %llu)", body->current->name,
	    what, (unsigned long long)piece->position);
}

/*
 * Gathers a string into the token. 1 when it is whole, 0 while it is not,
 * -1 when refused.
 */
static int
gather(struct body *body, const struct scan_piece *piece, size_t max)
{
	if (piece->event == SCAN_STRING_BEGIN) {
		body->used = 0;
		return 0;
	}
	if (piece->event == SCAN_STRING_BYTES) {
		if (piece->n > max - body->used)
			return refuse_value(body, piece, "is too long");
		memcpy(body->token + body->used, piece->bytes, piece->n);
		body->used += piece->n;
		return 0;
	}
	if (piece->event != SCAN_STRING_END)
		return refuse_value(body, piece, "must be a string");
	body->token[body->used] = '\0';
	return 1;
}

static int
read_id(struct body *body, const struct scan_piece *piece)
{
	const struct body_key *key = body->current;
	int r = gather(body, piece, key->max);

	if (r <= 0)
		return r;
	if (!text_is_id(body->token))
		return refuse_value(body, piece,
		    "must be 1 to 128 of A-Z a-z 0-9 . _ ~ : @ + / = -");
	memcpy((char *)body + key->offset, body->token, body->used + 1);
	return 0;
}

bool
body_is_capability(const char *name)
{
	size_t first = strspn(name, "abcdefghijklmnopqrstuvwxyz");
	size_t second;

	if (first == 0 || name[first] != '.')
		return false;
	second = strspn(name + first + 1, "abcdefghijklmnopqrstuvwxyz");
	return second > 0 && name[first + 1 + second] == '\0';
}

static int
read_capability(struct body *body, const struct scan_piece *piece)
{
	int r = gather(body, piece, LIMIT_QUEUE_CAPABILITY_BYTES);

	if (r <= 0)
		return r;
	if (!body_is_capability(body->token))
		return refuse_value(
		    body, piece, "must be a name like image.text");
	memcpy(body->capability, body->token, body->used + 1);
	return 0;
}

static int
add_capability(struct body *body, const struct scan_piece *piece)
{
	uint32_t n = body->n_capabilities;
	int r = gather(body, piece, LIMIT_QUEUE_CAPABILITY_BYTES);

	if (r <= 0)
		return r;
	if (!body_is_capability(body->token))
		return refuse_value(
		    body, piece, "must be names like image.text");
	for (uint32_t i = 0; i < n; i++) {
		if (strcmp(body->capabilities[i], body->token) == 0)
			return 0;
	}
	if (n == LIMIT_QUEUE_CAPABILITIES)
		return refuse_value(body, piece, "has too many names");
	memcpy(body->capabilities[n], body->token, body->used + 1);
	body->n_capabilities = n + 1;
	return 0;
}

static int
read_capabilities(struct body *body, const struct scan_piece *piece)
{
	if (piece->depth != MEMBER)
		return add_capability(body, piece);
	if (piece->event == SCAN_ARRAY_BEGIN)
		return 0;
	if (piece->event != SCAN_ARRAY_END)
		return refuse_value(body, piece, "must be a list of strings");
	return body->n_capabilities > 0
	    ? 0
	    : refuse_value(body, piece, "must name at least one");
}

static int
read_seconds(struct body *body, const struct scan_piece *piece)
{
	char digits[LIMIT_JSON_NUMBER_BYTES + 1];
	uint64_t value;
	uint32_t whole;

	if (piece->event != SCAN_NUMBER || piece->n > LIMIT_JSON_NUMBER_BYTES)
		return refuse_value(body, piece, "must be a whole number");
	memcpy(digits, piece->bytes, piece->n);
	digits[piece->n] = '\0';
	if (text_u64(digits, body->current->max, &value) < 0)
		return refuse_value(body, piece,
		    "must be whole seconds without sign, at most a day");
	whole = (uint32_t)value;
	memcpy((char *)body + body->current->offset, &whole, sizeof(whole));
	return 0;
}

static int
read_outcome(struct body *body, const struct scan_piece *piece)
{
	int r = gather(body, piece, body->current->max);

	if (r <= 0)
		return r;
	for (uint32_t i = OUTCOME_SUCCEEDED; i < OUTCOME_COUNT; i++) {
		if (strcmp(body->token, outcome_name(i)) == 0)
			body->outcome = i;
	}
	return body->outcome != 0
	    ? 0
	    : refuse_value(
		  body, piece, "must be succeeded, failed or released");
}

static int
read_word(struct body *body, const struct scan_piece *piece)
{
	int r = gather(body, piece, body->current->max);

	if (r <= 0)
		return r;
	return text_is_name(body->token)
	    ? 0
	    : refuse_value(body, piece, "must be one word");
}

static int
read_object(struct body *body, const struct scan_piece *piece)
{
	struct span *span = (void *)((char *)body + body->current->offset);

	if (piece->depth != MEMBER)
		return 0;
	if (piece->event == SCAN_OBJECT_BEGIN) {
		span->begin = piece->position;
		return 0;
	}
	if (piece->event != SCAN_OBJECT_END)
		return refuse_value(body, piece, "must be an object");
	span->end = piece->position;
	return span->end - span->begin <= body->current->max
	    ? 0
	    : refuse_value(body, piece, "is too large");
}

static int
read_code(struct body *body, const struct scan_piece *piece)
{
	int r = gather(body, piece, 64);

	if (r <= 0)
		return r;
	body->is_code = false;
	body->has_code = true;
	return text_is_name(body->token)
	    ? 0
	    : refuse_value(body, piece, "code must be one word");
}

static int
read_error(struct body *body, const struct scan_piece *piece)
{
	if (piece->depth == INSIDE && piece->event == SCAN_KEY) {
		body->is_code =
		    piece->n == 4 && memcmp(piece->bytes, "code", 4) == 0;
		return body->is_code && body->has_code
		    ? refuse_value(body, piece, "code is there twice")
		    : 0;
	}
	if (piece->depth == INSIDE && body->is_code)
		return read_code(body, piece);
	if (piece->depth == MEMBER && piece->event == SCAN_OBJECT_END &&
	    !body->has_code)
		return refuse_value(body, piece, "code is missing");
	return read_object(body, piece);
}

#define AT(member) offsetof(struct body, member)

static const struct body_key claim_keys[] = {
	{ "claim_id", read_id, true, AT(claim_id), LIMIT_ID_BYTES },
	{ "capabilities", read_capabilities, true, 0, 0 },
	{ "max_job_seconds", read_seconds, true, AT(max_job_seconds), 86400 },
	{ 0 },
};

static const struct body_key result_keys[] = {
	{ "id", read_id, true, AT(id), LIMIT_ID_BYTES },
	{ "lease", read_id, true, AT(lease), LIMIT_ID_BYTES },
	{ "outcome", read_outcome, true, 0, 16 },
	{ "output", read_object, false, AT(output), LIMIT_BODY_BYTES },
	{ "error", read_error, false, AT(error), LIMIT_QUEUE_ERROR_BYTES },
	{ "reason", read_word, false, 0, 64 },
	{ "retry_after", read_seconds, false, AT(retry_after_s), 86400 },
	{ 0 },
};

static const struct body_key submit_keys[] = {
	{ "capability", read_capability, true, 0, 0 },
	{ "input", read_object, true, AT(input), LIMIT_BODY_BYTES },
	{ 0 },
};

static const struct body_key *const calls[] = {
	[BODY_CLAIM] = claim_keys,
	[BODY_RESULT] = result_keys,
	[BODY_SUBMIT] = submit_keys,
};

static int
read_key(struct body *body, const struct scan_piece *piece)
{
	body->current = NULL;
	if (++body->n_keys > LIMIT_JSON_KEYS)
		return refuse(body, "body: more than %d keys", LIMIT_JSON_KEYS);
	if (!piece->is_whole)
		return 0;
	for (const struct body_key *key = body->keys; key->name; key++) {
		uint32_t bit = 1u << (key - body->keys);

		if (strlen(key->name) != piece->n ||
		    memcmp(key->name, piece->bytes, piece->n) != 0)
			continue;
		body->current = key;
		if ((body->seen & bit) != 0)
			return refuse_value(body, piece, "is there twice");
		body->seen |= bit;
	}
	return 0;
}

static int
read_piece(void *context, const struct scan_piece *piece)
{
	struct body *body = context;

	if (piece->depth == 0)
		return piece->event == SCAN_OBJECT_BEGIN ||
			piece->event == SCAN_OBJECT_END
		    ? 0
		    : refuse(body, "body: must be one object");
	if (piece->depth == MEMBER && piece->event == SCAN_KEY)
		return read_key(body, piece);
	return body->current == NULL ? 0 : body->current->reader(body, piece);
}

void
body_init(struct body *body, enum body_call call)
{
	memset(body, 0, sizeof(*body));
	body->call = call;
	body->keys = calls[call];
	scan_init(&body->scan, LIMIT_JSON_DEPTH, read_piece, body);
}

static int
scanned(struct body *body, enum scan_result result)
{
	if (result == SCAN_OK)
		return 0;
	return refuse(body, "body: %s at byte %llu", scan_result_text(result),
	    (unsigned long long)body->scan.position);
}

int
body_feed(struct body *body, const char *bytes, size_t n)
{
	return scanned(body, scan_feed(&body->scan, bytes, n));
}

/* Each outcome has its own companion and no other's. */
static int
check_outcome(struct body *body)
{
	bool has_output = body->output.end > 0;
	bool has_error = body->error.end > 0;

	if (has_output != (body->outcome == OUTCOME_SUCCEEDED))
		return refuse(body,
		    "body: output: belongs to succeeded and "
		    "to nothing else");
	if (has_error != (body->outcome == OUTCOME_FAILED))
		return refuse(body,
		    "body: error: belongs to failed and to "
		    "nothing else");
	if (body->retry_after_s > LIMIT_RETRY_AFTER_S)
		body->retry_after_s = LIMIT_RETRY_AFTER_S;
	return 0;
}

int
body_finish(struct body *body)
{
	if (scanned(body, scan_finish(&body->scan)) < 0)
		return -1;
	for (const struct body_key *key = body->keys; key->name; key++) {
		uint32_t bit = 1u << (key - body->keys);

		if (key->is_required && (body->seen & bit) == 0)
			return refuse(body, "body: %s: is missing", key->name);
	}
	if (body->call == BODY_CLAIM && body->max_job_seconds == 0)
		return refuse(
		    body, "body: max_job_seconds: must be at least 1");
	return body->call == BODY_RESULT ? check_outcome(body) : 0;
}
