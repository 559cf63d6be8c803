/* SPDX-License-Identifier: ISC
 *
 * Bringing a result, in the courier. The output is a box's and so is checked
 * against the capability table before a byte of it is sent; the ticket says
 * that the core brings it to the job, and the source, that it was made for.
 */
#include <errno.h>

#include "contract/capability.h"
#include "contract/outcome.h"
#include "contract/result.h"
#include "contract/shape.h"
#include "courier/exchange.h"

enum verdict {
	VERDICT_GOOD, /* may be sent as it is */
	VERDICT_BAD, /* not what the capability gives */
	VERDICT_MISMATCH, /* not of this job */
	VERDICT_LOST, /* cannot be read */
};

static enum verdict
check_shape(int letter, uint64_t n, const struct field *fields)
{
	struct shape shape;

	shape_init(&shape, fields, NULL, NULL, 0);
	if (letter_feed(letter, n, &shape) < 0)
		return VERDICT_LOST;
	return shape_finish(&shape) == SHAPE_OK ? VERDICT_GOOD : VERDICT_BAD;
}

/* Looks at a letter of a job that succeeded. */
static enum verdict
check_letter(struct courier *courier, const struct courier_order *order,
    int letter, uint64_t *ret_n)
{
	unsigned char ticket[LETTER_TICKET_BYTES];
	ssize_t n = letter_size(letter, LIMIT_OUTPUT_BYTES);

	if (n == -EBADMSG)
		return VERDICT_MISMATCH;
	if (n < 0 && n != -EFBIG)
		return VERDICT_LOST;
	if (letter_get_ticket(letter, ticket) < 0)
		return VERDICT_LOST;
	if (!ticket_is_of(&courier->tickets, order->id, ticket))
		return VERDICT_MISMATCH;
	if (n == -EFBIG)
		return VERDICT_BAD;
	*ret_n = (uint64_t)n;
	return check_shape(
	    letter, (uint64_t)n, capability_at(order->capability)->output);
}

static bool
is_stored_status(uint32_t status)
{
	return status == 200 || status == 201 || status == 202 || status == 204;
}

/*
 * "Stored" counts when it was said after all was sent, and by something that
 * speaks the contract: not by a portal's page.
 */
static void
settle_stored(const struct http_reply *reply, uint64_t n_sent,
    struct courier_answer *answer)
{
	if (reply->trouble != COURIER_TROUBLE_NONE)
		exchange_set_trouble(answer, reply->trouble);
	else if (reply->uploaded != n_sent)
		exchange_set_trouble(answer, COURIER_CLOSED);
	else if (reply->n_body > 0 && !reply->header.is_json)
		exchange_set_trouble(answer, COURIER_MEDIA_TYPE);
	else
		answer->status = COURIER_STORED;
}

static void
settle(const struct http_reply *reply, uint64_t n_sent,
    struct courier_answer *answer)
{
	uint32_t status = reply->header.status;

	answer->http_status = status;
	if (!exchange_has_status(reply))
		exchange_set_trouble(answer, reply->trouble);
	else if (is_stored_status(status))
		settle_stored(reply, n_sent, answer);
	else if (status == 409 || status == 410)
		answer->status = COURIER_GONE;
	else
		exchange_set_status(answer, reply);
}

static void
send_result(struct courier *courier, const struct courier_order *order,
    const struct http_body *letter, struct courier_answer *answer)
{
	bool is_replaced = answer->error == ERROR_BAD_OUTPUT;
	const struct result result = { .id = order->id,
		.lease = order->lease,
		.outcome = is_replaced ? OUTCOME_FAILED : order->outcome,
		.error = is_replaced ? ERROR_BAD_OUTPUT : order->error,
		.reason = order->reason,
		.retry_after_s = order->retry_after_s };
	struct http_call call = { .path = "/v1/result", .body = *letter };
	struct result_frame frame;
	struct http_reply reply;

	result_frame(&frame, &result);
	call.body.head = frame.head;
	call.body.n_head = frame.n_head;
	call.body.tail = frame.tail;
	call.body.n_tail = frame.n_tail;
	exchange_post(courier, order, &call, &reply);
	settle(&reply, frame.n_head + letter->n_letter + frame.n_tail, answer);
}

void
result_run(struct courier *courier, const struct courier_order *order,
    int letter, struct courier_answer *answer)
{
	struct http_body body = { .letter = -1 };
	enum verdict verdict = VERDICT_GOOD;

	if (!ticket_is_of(&courier->tickets, order->id, order->ticket)) {
		answer->status = COURIER_MISMATCH;
		return;
	}
	if (order->outcome == OUTCOME_SUCCEEDED)
		verdict = check_letter(courier, order, letter, &body.n_letter);
	switch (verdict) {
	case VERDICT_MISMATCH:
		answer->status = COURIER_MISMATCH;
		return;
	case VERDICT_LOST:
		exchange_set_trouble(answer, COURIER_LOCAL);
		return;
	case VERDICT_BAD:
		answer->error = ERROR_BAD_OUTPUT;
		body.n_letter = 0;
		break;
	case VERDICT_GOOD:
		body.letter = letter;
		break;
	}
	send_result(courier, order, &body, answer);
}
