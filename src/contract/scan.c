/* SPDX-License-Identifier: ISC
 *
 * The JSON scanner: one state, one function per state, no memory of its own
 * beyond one short token. Runs in the courier, the driver and `try`, on bytes
 * of sources and boxes, and believes none of them. How the bytes are cut into
 * pieces changes nothing that it tells: every state can be left after any
 * byte, and the fast path through strings only ever skips what the slow one
 * would have passed.
 */
#include "contract/scan.h"

#include <string.h>

#include "base/must.h"
#include "base/text.h"
#include "contract/unicode.h"

enum state {
	/* between tokens, where white space may stand */
	STATE_VALUE,
	STATE_FIRST_ITEM,
	STATE_FIRST_KEY,
	STATE_KEY,
	STATE_COLON,
	STATE_NEXT,
	STATE_DONE,
	/* inside a token */
	STATE_STRING,
	STATE_CHARACTER,
	STATE_ESCAPE,
	STATE_HEX,
	STATE_PAIR, /* the \ of the second half of a surrogate pair */
	STATE_PAIR_U, /* and its u */
	STATE_LITERAL,
	STATE_NUMBER,
};

_Static_assert(
    LIMIT_JSON_KEY_BYTES <= LIMIT_JSON_NUMBER_BYTES, "a token holds a key too");

struct cursor {
	const unsigned char *begin;
	const unsigned char *at;
	const unsigned char *end;
};

struct literal {
	const char *text;
	enum scan_event event;
};

typedef enum scan_result step_function(struct scan *, struct cursor *);

static const struct literal literals[] = {
	{ "true", SCAN_TRUE },
	{ "false", SCAN_FALSE },
	{ "null", SCAN_NULL },
};

static uint64_t
position(const struct scan *scan, const struct cursor *c)
{
	return scan->position + (uint64_t)(c->at - c->begin);
}

static enum scan_result
tell(struct scan *scan, const struct scan_piece *piece)
{
	return scan->function(scan->context, piece) < 0 ? SCAN_STOPPED
							: SCAN_OK;
}

static enum scan_result
tell_event(struct scan *scan, enum scan_event event, uint64_t where)
{
	const struct scan_piece piece = {
		.event = event,
		.depth = scan->depth,
		.position = where,
	};

	return tell(scan, &piece);
}

static enum scan_result
tell_bytes(
    struct scan *scan, enum scan_event event, const char *bytes, size_t n)
{
	const struct scan_piece piece = {
		.event = event,
		.depth = scan->depth,
		.bytes = bytes,
		.n = n,
		.is_whole = event == SCAN_KEY && !scan->key_is_cut,
		.position = scan->start,
	};

	return tell(scan, &piece);
}

static void
end_value(struct scan *scan)
{
	scan->state = scan->depth == 0 ? STATE_DONE : STATE_NEXT;
}

static bool
is_in_object(const struct scan *scan)
{
	return scan->depth > 0 && (scan->is_object >> (scan->depth - 1) & 1);
}

/* -- containers --------------------------------------------------------- */

static enum scan_result
begin_container(struct scan *scan, struct cursor *c, bool is_object)
{
	enum scan_result result;

	if (scan->depth == scan->max_depth)
		return SCAN_TOO_DEEP;
	result =
	    tell_event(scan, is_object ? SCAN_OBJECT_BEGIN : SCAN_ARRAY_BEGIN,
		position(scan, c));
	c->at++;
	scan->is_object &= ~(UINT32_C(1) << scan->depth);
	scan->is_object |= (uint32_t)is_object << scan->depth;
	scan->depth++;
	scan->state = is_object ? STATE_FIRST_KEY : STATE_FIRST_ITEM;
	return result;
}

static enum scan_result
end_container(struct scan *scan, struct cursor *c)
{
	bool is_object = is_in_object(scan);

	c->at++;
	scan->depth--;
	end_value(scan);
	return tell_event(scan, is_object ? SCAN_OBJECT_END : SCAN_ARRAY_END,
	    position(scan, c));
}

/* -- strings and keys --------------------------------------------------- */

static enum scan_result
begin_string(struct scan *scan, struct cursor *c, bool is_key)
{
	scan->start = position(scan, c);
	scan->is_key = is_key;
	scan->key_is_cut = false;
	scan->used = 0;
	scan->state = STATE_STRING;
	c->at++;
	return is_key ? SCAN_OK
		      : tell_event(scan, SCAN_STRING_BEGIN, scan->start);
}

static enum scan_result
end_string(struct scan *scan, struct cursor *c)
{
	c->at++;
	if (scan->is_key) {
		scan->state = STATE_COLON;
		return tell_bytes(scan, SCAN_KEY, scan->token, scan->used);
	}
	end_value(scan);
	return tell_event(scan, SCAN_STRING_END, position(scan, c));
}

static enum scan_result
put_text(struct scan *scan, const unsigned char *bytes, size_t n)
{
	size_t room = LIMIT_JSON_KEY_BYTES - scan->used;

	if (!scan->is_key)
		return tell_bytes(
		    scan, SCAN_STRING_BYTES, (const char *)bytes, n);
	if (scan->key_is_cut)
		return SCAN_OK;
	if (n > room) {
		scan->key_is_cut = true;
		n = room;
		while (n > 0 && (bytes[n] & 0xC0) == 0x80)
			n--;
	}
	memcpy(scan->token + scan->used, bytes, n);
	scan->used += n;
	return SCAN_OK;
}

static enum scan_result
put_code_point(struct scan *scan, uint32_t code_point)
{
	unsigned char bytes[4];
	size_t n = unicode_put(bytes, code_point);

	scan->state = STATE_STRING;
	return put_text(scan, bytes, n);
}

static enum scan_result
step_string(struct scan *scan, struct cursor *c)
{
	const unsigned char *run = c->at;
	enum scan_result result = SCAN_OK;

	c->at = unicode_run(run, c->end);
	if (c->at > run)
		result = put_text(scan, run, (size_t)(c->at - run));
	if (result != SCAN_OK || c->at == c->end)
		return result;
	if (*c->at == '"')
		return end_string(scan, c);
	if (*c->at < 0x20)
		return *c->at == 0 ? SCAN_BAD_UTF8 : SCAN_BAD_SYNTAX;
	if (*c->at == '\\') {
		c->at++;
		scan->state = STATE_ESCAPE;
		return SCAN_OK;
	}
	scan->count = 0;
	scan->state = STATE_CHARACTER;
	return SCAN_OK;
}

/* A character above U+007F whose bytes may come one by one. */
static enum scan_result
step_character(struct scan *scan, struct cursor *c)
{
	unsigned char byte = *c->at;
	uint32_t need;

	if (scan->count > 0 && (byte & 0xC0) != 0x80)
		return SCAN_BAD_UTF8;
	scan->character[scan->count++] = byte;
	byte = scan->character[0];
	need = byte < 0xC2 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
	if (scan->count == need &&
	    text_utf8_length(scan->character, need) != need)
		return SCAN_BAD_UTF8;
	c->at++;
	if (scan->count < need)
		return SCAN_OK;
	scan->state = STATE_STRING;
	return put_text(scan, scan->character, need);
}

static enum scan_result
step_escape(struct scan *scan, struct cursor *c)
{
	static const char from[] = "\"\\/bfnrt";
	static const char to[] = "\"\\/\b\f\n\r\t";
	const char *at;

	if (*c->at == 'u') {
		c->at++;
		scan->code_point = 0;
		scan->count = 0;
		scan->surrogate = 0;
		scan->state = STATE_HEX;
		return SCAN_OK;
	}
	at = memchr(from, *c->at, sizeof(from) - 1);
	if (at == NULL)
		return SCAN_BAD_SYNTAX;
	c->at++;
	return put_code_point(scan, (unsigned char)to[at - from]);
}

static int
hex_value(unsigned char byte)
{
	if (byte >= '0' && byte <= '9')
		return byte - '0';
	byte |= 0x20;
	return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

static enum scan_result
end_hex(struct scan *scan)
{
	uint32_t c = scan->code_point;
	bool is_low = c >= 0xDC00 && c <= 0xDFFF;

	if (c == 0 || is_low != (scan->surrogate != 0))
		return SCAN_BAD_UTF8;
	if (is_low) {
		c = 0x10000 + ((scan->surrogate - 0xD800) << 10) + (c - 0xDC00);
	} else if (c >= 0xD800 && c < 0xDC00) {
		scan->surrogate = c;
		scan->state = STATE_PAIR;
		return SCAN_OK;
	}
	return put_code_point(scan, c);
}

static enum scan_result
step_hex(struct scan *scan, struct cursor *c)
{
	int digit = hex_value(*c->at);

	if (digit < 0)
		return SCAN_BAD_SYNTAX;
	c->at++;
	scan->code_point = scan->code_point << 4 | (uint32_t)digit;
	return ++scan->count == 4 ? end_hex(scan) : SCAN_OK;
}

static enum scan_result
step_pair(struct scan *scan, struct cursor *c)
{
	if (*c->at != '\\')
		return SCAN_BAD_UTF8;
	c->at++;
	scan->state = STATE_PAIR_U;
	return SCAN_OK;
}

static enum scan_result
step_pair_u(struct scan *scan, struct cursor *c)
{
	if (*c->at != 'u')
		return SCAN_BAD_UTF8;
	c->at++;
	scan->code_point = 0;
	scan->count = 0;
	scan->state = STATE_HEX;
	return SCAN_OK;
}

/* -- literals and numbers ----------------------------------------------- */

static enum scan_result
begin_literal(struct scan *scan, struct cursor *c, uint32_t literal)
{
	scan->start = position(scan, c);
	scan->literal = literal;
	scan->used = 1;
	scan->state = STATE_LITERAL;
	c->at++;
	return SCAN_OK;
}

static enum scan_result
step_literal(struct scan *scan, struct cursor *c)
{
	const struct literal *literal = &literals[scan->literal];

	if (*c->at != (unsigned char)literal->text[scan->used])
		return SCAN_BAD_SYNTAX;
	c->at++;
	if (literal->text[++scan->used] != '\0')
		return SCAN_OK;
	end_value(scan);
	return tell_event(scan, literal->event, scan->start);
}

static enum scan_result
end_number(struct scan *scan)
{
	end_value(scan);
	return tell_bytes(scan, SCAN_NUMBER, scan->token, scan->used);
}

static enum scan_result
step_number(struct scan *scan, struct cursor *c)
{
	for (; c->at < c->end; c->at++) {
		enum number_place next = number_next(scan->place, *c->at);

		if (next == NUMBER_BAD)
			return SCAN_BAD_SYNTAX;
		if (next == NUMBER_ENDED)
			return end_number(scan);
		if (scan->used == LIMIT_JSON_NUMBER_BYTES)
			return SCAN_TOO_LONG;
		scan->token[scan->used++] = (char)*c->at;
		scan->place = next;
	}
	return SCAN_OK;
}

static enum scan_result
begin_number(struct scan *scan, struct cursor *c)
{
	scan->start = position(scan, c);
	scan->used = 0;
	scan->place = NUMBER_BEGIN;
	scan->state = STATE_NUMBER;
	return step_number(scan, c);
}

/* -- between tokens ----------------------------------------------------- */

static enum scan_result
step_value(struct scan *scan, struct cursor *c)
{
	switch (*c->at) {
	case '{':
		return begin_container(scan, c, true);
	case '[':
		return begin_container(scan, c, false);
	case '"':
		return begin_string(scan, c, false);
	case 't':
		return begin_literal(scan, c, 0);
	case 'f':
		return begin_literal(scan, c, 1);
	case 'n':
		return begin_literal(scan, c, 2);
	default:
		return begin_number(scan, c);
	}
}

static enum scan_result
step_first_item(struct scan *scan, struct cursor *c)
{
	return *c->at == ']' ? end_container(scan, c) : step_value(scan, c);
}

static enum scan_result
step_key(struct scan *scan, struct cursor *c)
{
	return *c->at == '"' ? begin_string(scan, c, true) : SCAN_BAD_SYNTAX;
}

static enum scan_result
step_first_key(struct scan *scan, struct cursor *c)
{
	return *c->at == '}' ? end_container(scan, c) : step_key(scan, c);
}

static enum scan_result
step_colon(struct scan *scan, struct cursor *c)
{
	if (*c->at != ':')
		return SCAN_BAD_SYNTAX;
	c->at++;
	scan->state = STATE_VALUE;
	return SCAN_OK;
}

static enum scan_result
step_next(struct scan *scan, struct cursor *c)
{
	bool is_object = is_in_object(scan);

	if (*c->at == (is_object ? '}' : ']'))
		return end_container(scan, c);
	if (*c->at != ',')
		return SCAN_BAD_SYNTAX;
	c->at++;
	scan->state = is_object ? STATE_KEY : STATE_VALUE;
	return SCAN_OK;
}

static enum scan_result
step_done(struct scan *scan, struct cursor *c)
{
	(void)scan;
	(void)c;
	return SCAN_BAD_SYNTAX;
}

static step_function *const steps[] = {
	[STATE_VALUE] = step_value,
	[STATE_FIRST_ITEM] = step_first_item,
	[STATE_FIRST_KEY] = step_first_key,
	[STATE_KEY] = step_key,
	[STATE_COLON] = step_colon,
	[STATE_NEXT] = step_next,
	[STATE_DONE] = step_done,
	[STATE_STRING] = step_string,
	[STATE_CHARACTER] = step_character,
	[STATE_ESCAPE] = step_escape,
	[STATE_HEX] = step_hex,
	[STATE_PAIR] = step_pair,
	[STATE_PAIR_U] = step_pair_u,
	[STATE_LITERAL] = step_literal,
	[STATE_NUMBER] = step_number,
};

static void
skip_space(struct cursor *c)
{
	while (c->at < c->end &&
	    (*c->at == ' ' || *c->at == '\t' || *c->at == '\n' ||
		*c->at == '\r'))
		c->at++;
}

void
scan_init(struct scan *scan, unsigned int max_depth, scan_function *function,
    void *context)
{
	must(max_depth <= LIMIT_JSON_DEPTH);
	memset(scan, 0, sizeof(*scan));
	scan->function = function;
	scan->context = context;
	scan->max_depth = max_depth;
	scan->state = STATE_VALUE;
}

enum scan_result
scan_feed(struct scan *scan, const char *bytes, size_t n)
{
	const unsigned char *begin = (const unsigned char *)bytes;
	struct cursor c = { begin, begin, begin + n };

	while (scan->result == SCAN_OK && c.at < c.end) {
		if (scan->state <= STATE_DONE)
			skip_space(&c);
		if (c.at < c.end)
			scan->result = steps[scan->state](scan, &c);
	}
	scan->position += (uint64_t)(c.at - c.begin);
	return scan->result;
}

enum scan_result
scan_finish(struct scan *scan)
{
	if (scan->result == SCAN_OK && scan->depth == 0 &&
	    scan->state == STATE_NUMBER && number_may_end(scan->place))
		scan->result = end_number(scan);
	if (scan->result == SCAN_OK && scan->state != STATE_DONE)
		scan->result = SCAN_INCOMPLETE;
	return scan->result;
}

const char *
scan_result_text(enum scan_result result)
{
	switch (result) {
	case SCAN_OK:
		return "valid";
	case SCAN_BAD_SYNTAX:
		return "bad syntax";
	case SCAN_BAD_UTF8:
		return "a string that is not valid Unicode text";
	case SCAN_TOO_DEEP:
		return "nested too deeply";
	case SCAN_TOO_LONG:
		return "a number that is too long";
	case SCAN_INCOMPLETE:
		return "incomplete";
	case SCAN_STOPPED:
		return "not read to its end";
	}
	return "unknown";
}
