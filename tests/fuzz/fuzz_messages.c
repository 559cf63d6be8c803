/* SPDX-License-Identifier: ISC
 *
 * The decoders of src/wire: of a struct that one accepts, every field that its
 * reader uses as an index, a string or a bit set must be what it may be.
 * Input: which decoder, how many fds, the struct (zeroes where it is short).
 */
#include <arpa/inet.h>

#include "contract/outcome.h"
#include "fuzz.h"
#include "wire/box_msg.h"
#include "wire/courier_msg.h"
#include "wire/dial_msg.h"
#include "wire/keep_msg.h"
#include "wire/super_msg.h"
#include "wire/token_msg.h"

#define IS_TEXT(array) (strnlen(array, sizeof(array)) < sizeof(array))

static void
check_super_order(const uint8_t *bytes, size_t n_fds)
{
	const struct super_order *o = (const void *)bytes;

	if (super_order_decode(o, n_fds) < 0)
		return;
	must(o->head.verb >= 1 && o->head.verb < SUPER_VERB_END);
	must(o->peer < SUPER_PEER_END && o->is_urgent <= 1 &&
	    o->has_crashed <= 1);
	must(n_fds ==
	    (o->head.verb == SUPER_CONFIG || o->head.verb == SUPER_LINK));
	must((o->peer != 0) == (o->head.verb == SUPER_LINK));
}

static void
check_super_answer(const uint8_t *bytes, size_t n_fds)
{
	const struct super_answer *a = (const void *)bytes;

	if (super_answer_decode(a, n_fds) < 0)
		return;
	must(a->head.verb == SUPER_OK || a->head.verb == SUPER_REFUSED);
	must(n_fds == 0 && IS_TEXT(a->text));
}

static void
check_keep(const uint8_t *bytes, size_t n_fds)
{
	const struct keep_order *o = (const void *)bytes;
	const struct keep_answer *a = (const void *)bytes;

	if (keep_order_decode(o, n_fds) == 0)
		must(o->source < LIMIT_SOURCES &&
		    n_fds == (o->head.verb == KEEP_OPEN) &&
		    (o->head.verb == KEEP_OPEN || o->head.verb == KEEP_DROP));
	if (keep_answer_decode(a, n_fds) == 0)
		must(a->source < LIMIT_SOURCES && n_fds == 0 &&
		    a->head.verb == KEEP_OPENED &&
		    strcmp(keep_result_text(a->result), "unknown reason") != 0);
}

static void
check_yard_order(const uint8_t *bytes, size_t n_fds)
{
	const struct yard_order *o = (const void *)bytes;

	if (yard_order_decode(o, n_fds) < 0)
		return;
	must(o->head.verb >= YARD_LIST && o->head.verb <= YARD_KILL);
	must(o->capability < CAPABILITY_COUNT);
	must(n_fds == (o->head.verb == YARD_MAKE ? 2u : 0u));
}

static void
check_yard_answer(const uint8_t *bytes, size_t n_fds)
{
	const struct yard_answer *a = (const void *)bytes;

	if (yard_answer_decode(a, n_fds) < 0)
		return;
	must(n_fds == 0);
	if (a->head.verb == YARD_ENDED) {
		must(a->capability < CAPABILITY_COUNT && a->signal <= 64);
		must(a->end >= YARD_END_VERDICT && a->end < YARD_END_COUNT);
		must(a->verdict == 0 || error_name(a->verdict) != NULL);
		return;
	}
	must(a->head.verb == YARD_LISTED && (a->walls & ~WALL_ALL) == 0);
	for (size_t i = 0; i < CAPABILITY_COUNT; i++)
		must(a->usable[i] < YARD_UNUSABLE_COUNT &&
		    a->missing[i] < 1u << LIMIT_TOOLS);
}

static void
check_box_order(const uint8_t *bytes, size_t n_fds)
{
	const struct box_order *o = (const void *)bytes;

	if (box_order_decode(o, n_fds) < 0 || o->head.verb == BOX_TEST)
		return;
	must(o->head.verb == BOX_JOB && n_fds == 2);
	must(o->capability < CAPABILITY_COUNT && o->tools < 1u << LIMIT_TOOLS &&
	    o->n_languages <= LIMIT_LANGUAGES);
	for (size_t i = 0; i < o->n_languages; i++)
		must(IS_TEXT(o->languages[i]));
}

static void
check_box_answer(const uint8_t *bytes, size_t n_fds)
{
	const struct box_answer *a = (const void *)bytes;

	if (box_answer_decode(a, n_fds) < 0)
		return;
	must(n_fds == 0 && (a->walls & ~WALL_ALL) == 0);
	must(a->verdict == 0 ||
	    (a->verdict <= ERROR_GAVE_UP && error_name(a->verdict) != NULL));
	must(a->head.verb == BOX_VERDICT || a->head.verb == BOX_WALLS);
}

static void
check_courier_order(const uint8_t *bytes, size_t n_fds)
{
	const struct courier_order *o = (const void *)bytes;

	if (courier_order_decode(o, n_fds) < 0)
		return;
	must(o->deadline_ms > 0 && o->deadline_ms <= LIMIT_RESULT_MAX_MS);
	if (o->head.verb == COURIER_CLAIM) {
		must(IS_TEXT(o->claim_id) && text_is_id(o->claim_id));
		must((o->capabilities & ~CAPABILITY_ALL) == 0 && n_fds == 1);
		return;
	}
	must(o->head.verb == COURIER_RESULT);
	must(IS_TEXT(o->id) && text_is_id(o->id) && IS_TEXT(o->lease));
	must(o->lease[0] == '\0' || text_is_id(o->lease));
	must(outcome_name(o->outcome) != NULL);
	must(n_fds == (o->outcome == OUTCOME_SUCCEEDED));
	must(o->outcome != OUTCOME_FAILED || error_message(o->error) != NULL);
	must(o->outcome != OUTCOME_RELEASED || release_name(o->reason) != NULL);
	must(o->outcome != OUTCOME_SUCCEEDED ||
	    o->capability < CAPABILITY_COUNT);
}

static void
check_courier_answer(const uint8_t *bytes, size_t n_fds)
{
	const struct courier_answer *a = (const void *)bytes;
	bool has_job = a->status == COURIER_JOB || a->status == COURIER_BAD_JOB;

	if (courier_answer_decode(a, n_fds) < 0)
		return;
	must(n_fds == 0 && a->status > 0 && a->status < COURIER_STATUS_END);
	must(a->trouble < COURIER_TROUBLE_COUNT && a->http_status < 600 &&
	    a->retry_after_s <= LIMIT_RETRY_AFTER_S);
	must(IS_TEXT(a->id) && IS_TEXT(a->lease) && a->more <= 1);
	must(has_job ? text_is_id(a->id) : a->id[0] == '\0');
	must(a->lease[0] == '\0' || (has_job && text_is_id(a->lease)));
	must(a->error == 0 || error_name(a->error) != NULL);
	must(a->input_bytes <= LIMIT_BODY_BYTES);
	must(a->status != COURIER_JOB || a->capability < CAPABILITY_COUNT ||
	    a->capability == CAPABILITY_NONE);
}

static void
check_addresses(const struct dial_address *addresses, uint32_t n)
{
	char text[INET6_ADDRSTRLEN];

	must(n <= 8);
	for (uint32_t i = 0; i < n; i++)
		must(inet_ntop((int)addresses[i].family, addresses[i].bytes,
			 text, sizeof(text)) != NULL);
}

static void
check_dial_order(const uint8_t *bytes, size_t n_fds)
{
	const struct dial_order *o = (const void *)bytes;

	if (dial_order_decode(o, n_fds) < 0)
		return;
	must(n_fds == 0 && IS_TEXT(o->url) && IS_TEXT(o->host));
	must(o->port >= 1 && o->port <= 65535 && o->is_tls <= 1 &&
	    o->may_be_special <= 1 && o->max_body <= LIMIT_BODY_BYTES);
	check_addresses(o->addresses, o->n_addresses);
}

static void
check_dialed(const uint8_t *bytes, size_t n_fds)
{
	const struct dialed *d = (const void *)bytes;
	const struct dial *dial = (const void *)bytes;

	if (dial_decode(dial, n_fds) == 0)
		must(dial->head.verb == DIAL && n_fds == 0);
	if (dialed_decode(d, n_fds) < 0)
		return;
	must(d->result < DIAL_RESULT_COUNT && n_fds == (d->result == 0));
	check_addresses(d->refused, d->n_refused);
}

/* The token comes through a pipe and has no fds. */
static void
check_token(const uint8_t *bytes, size_t n_fds)
{
	const struct token_msg *m = (const void *)bytes;

	(void)n_fds;
	if (token_msg_decode(m) < 0)
		return;
	must(m->n >= 1 && m->n <= LIMIT_TOKEN_BYTES && IS_TEXT(m->token));
	must(strlen(m->token) == m->n);
	for (size_t i = 0; i < m->n; i++)
		must(m->token[i] > ' ' && m->token[i] < 0x7F);
}

static const struct decoder {
	void (*check)(const uint8_t *bytes, size_t n_fds);
	size_t size;
} decoders[] = {
	{ check_super_order, sizeof(struct super_order) },
	{ check_super_answer, sizeof(struct super_answer) },
	{ check_keep, sizeof(struct keep_order) },
	{ check_yard_order, sizeof(struct yard_order) },
	{ check_yard_answer, sizeof(struct yard_answer) },
	{ check_box_order, sizeof(struct box_order) },
	{ check_box_answer, sizeof(struct box_answer) },
	{ check_courier_order, sizeof(struct courier_order) },
	{ check_courier_answer, sizeof(struct courier_answer) },
	{ check_dial_order, sizeof(struct dial_order) },
	{ check_dialed, sizeof(struct dialed) },
	{ check_token, sizeof(struct token_msg) },
};

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const struct decoder *decoder = &decoders[fuzz_byte(&bytes, &n) %
	    (sizeof(decoders) / sizeof(decoders[0]))];
	size_t n_fds = fuzz_byte(&bytes, &n) % (PACKET_FDS + 1u);
	cleanup_free uint8_t *packet = memory_new(decoder->size, 1);

	memcpy(packet, bytes, n < decoder->size ? n : decoder->size);
	decoder->check(packet, n_fds);
	return 0;
}
