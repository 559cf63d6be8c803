/* SPDX-License-Identifier: ISC
 *
 * Asking for a job, in the courier. The body that comes is the source's: its
 * bytes go through a strict scanner, and those of the input from there into
 * the letter; nothing of it is kept here.
 */
#include <string.h>

#include "base/file.h"
#include "contract/capability.h"
#include "contract/claim.h"
#include "contract/outcome.h"
#include "courier/exchange.h"

struct asking {
	struct claim claim;
	int letter;
	uint64_t n_input; /* bytes of it in the letter */
	uint64_t n_body;
	uint64_t max_body;
	bool is_too_large;
	bool is_letter_lost;
};

static int
to_letter(void *context, const char *bytes, size_t n)
{
	struct asking *asking = context;
	off_t at = LETTER_TICKET_BYTES + (off_t)asking->n_input;

	if (file_pwrite_all(asking->letter, bytes, n, at) < 0) {
		asking->is_letter_lost = true;
		return -1;
	}
	asking->n_input += n;
	return 0;
}

/*
 * Above the cap there is nothing to gain but the id, so that the source can
 * be told; when that is known, an announced length ends it at once.
 */
static int
to_claim(
    void *context, const struct header *header, const char *bytes, size_t n)
{
	struct asking *asking = context;
	uint64_t room = asking->max_body - asking->n_body;
	size_t step = n < room ? n : (size_t)room;

	asking->n_body += step;
	if (claim_feed(&asking->claim, bytes, step) < 0)
		return -1;
	asking->is_too_large = n > room ||
	    (header->length > asking->max_body && asking->claim.id[0] != '\0');
	return asking->is_too_large ? -1 : 0;
}

/* A body without a length that ends too early was cut, by whomever. */
static bool
was_cut(const struct asking *asking, const struct header *header)
{
	return !header->has_length && !header->is_chunked &&
	    asking->claim.scan.result == SCAN_INCOMPLETE;
}

/* Stopped means: by the claim itself, at something it does not allow. */
static enum courier_trouble
trouble_of(const struct claim *claim)
{
	return claim->scan.result == SCAN_OK ||
		claim->scan.result == SCAN_STOPPED
	    ? COURIER_CONTRACT
	    : COURIER_JSON;
}

static void
set_job(struct courier *courier, const struct asking *asking,
    enum claim_fate fate, struct courier_answer *answer)
{
	const struct claim *claim = &asking->claim;
	unsigned char *ticket = answer->ticket;

	if (ticket_make(&courier->tickets, claim->id, ticket) < 0 ||
	    (fate == CLAIM_JOB &&
		letter_put_ticket(asking->letter, ticket) < 0)) {
		exchange_set_trouble(answer, COURIER_LOCAL);
		return;
	}
	memcpy(answer->id, claim->id, sizeof(claim->id));
	memcpy(answer->lease, claim->lease, sizeof(claim->lease));
	answer->more = claim->more;
	answer->capability = CAPABILITY_NONE;
	answer->status = fate == CLAIM_JOB ? COURIER_JOB : COURIER_BAD_JOB;
	if (fate == CLAIM_JOB) {
		answer->capability = claim->capability;
		answer->input_bytes = asking->n_input;
	} else {
		answer->error =
		    asking->is_too_large ? ERROR_TOO_LARGE : ERROR_BAD_JOB;
	}
}

static void
settle_body(struct courier *courier, struct asking *asking,
    const struct header *header, struct courier_answer *answer)
{
	enum claim_fate fate = claim_finish(&asking->claim);

	if (asking->is_too_large)
		fate = asking->claim.id[0] != '\0' ? CLAIM_BAD_JOB
						   : CLAIM_NOT_CONTRACT;
	if (asking->is_letter_lost)
		exchange_set_trouble(answer, COURIER_LOCAL);
	else if (fate != CLAIM_NOT_CONTRACT)
		set_job(courier, asking, fate, answer);
	else if (asking->is_too_large)
		exchange_set_trouble(answer, COURIER_TOO_LARGE);
	else if (was_cut(asking, header))
		exchange_set_trouble(answer, COURIER_CLOSED);
	else
		exchange_set_trouble(answer, trouble_of(&asking->claim));
}

static void
settle(struct courier *courier, struct asking *asking,
    const struct http_reply *reply, struct courier_answer *answer)
{
	const struct header *header = &reply->header;

	answer->http_status = header->status;
	/* More on the wire than any body below the cap needs. */
	if (reply->trouble == COURIER_TOO_LARGE)
		asking->is_too_large = true;
	if (!exchange_has_status(reply))
		exchange_set_trouble(answer, reply->trouble);
	else if (header->status == 204)
		answer->status = COURIER_NOTHING;
	else if (header->status != 200)
		exchange_set_status(answer, reply);
	else if (!header->is_json)
		exchange_set_trouble(answer, COURIER_MEDIA_TYPE);
	else if (reply->trouble != COURIER_TROUBLE_NONE &&
	    !asking->is_too_large)
		exchange_set_trouble(answer, reply->trouble);
	else
		settle_body(courier, asking, header, answer);
}

void
claim_run(struct courier *courier, const struct courier_order *order,
    int letter, struct courier_answer *answer)
{
	struct asking asking = { .letter = letter,
		.max_body = courier->place.max_body };
	char request[CLAIM_REQUEST_BYTES];
	struct http_call call = { .path = "/v1/claim",
		.body = { .head = request, .letter = -1 },
		.max_body = asking.max_body,
		.sink = to_claim,
		.sink_context = &asking };
	struct http_reply reply;

	claim_init(&asking.claim, to_letter, &asking);
	call.body.n_head = claim_write(request, order->claim_id,
	    order->capabilities, order->max_job_seconds);
	exchange_post(courier, order, &call, &reply);
	settle(courier, &asking, &reply, answer);
}
