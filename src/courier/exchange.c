/* SPDX-License-Identifier: ISC
 *
 * What the two calls share, in the courier: the way to the source within the
 * deadline, and the words for what went wrong.
 */
#include "courier/exchange.h"

#include "base/clock.h"
#include "base/must.h"
#include "courier/dialing.h"

void
exchange_run(struct courier *courier, const struct courier_order *order,
    int letter, struct courier_answer *ret_answer)
{
	*ret_answer = (struct courier_answer){ 0 };
	courier_answer_encode(ret_answer, order);
	if (order->head.verb == COURIER_CLAIM)
		claim_run(courier, order, letter, ret_answer);
	else
		result_run(courier, order, letter, ret_answer);
	must(courier_answer_decode(ret_answer, 0) == 0);
}

void
exchange_post(struct courier *courier, const struct courier_order *order,
    struct http_call *call, struct http_reply *ret_reply)
{
	const struct http_place place = { .url = courier->place.url,
		.host = courier->place.host,
		.port = courier->place.port,
		.is_tls = courier->place.is_tls == 1,
		.trust = courier->trust,
		.token = courier->token.token };
	uint64_t deadline_ms = clock_boot_ms() + order->deadline_ms;
	uint64_t now_ms;
	enum courier_trouble trouble;

	*ret_reply = (struct http_reply){ 0 };
	deadline_ms -= order->deadline_ms > LIMIT_COURIER_MARGIN_MS
	    ? LIMIT_COURIER_MARGIN_MS
	    : order->deadline_ms;
	trouble = dialing_ask(
	    COURIER_FD_KEEP, place.port, deadline_ms, &call->socket);
	now_ms = clock_boot_ms();
	/* A time-out of 0 would be none at all. */
	if (trouble == COURIER_TROUBLE_NONE && now_ms >= deadline_ms)
		trouble = COURIER_TIMEOUT;
	ret_reply->trouble = trouble;
	if (trouble != COURIER_TROUBLE_NONE)
		return;
	call->timeout_ms = (uint32_t)(deadline_ms - now_ms);
	http_post(&place, call, ret_reply);
}

bool
exchange_has_status(const struct http_reply *reply)
{
	return reply->header.part == HEADER_END &&
	    reply->header.result == HEADER_OK;
}

static bool
source_is_to_blame(enum courier_trouble trouble)
{
	return trouble >= COURIER_PROTOCOL && trouble <= COURIER_CONTRACT;
}

void
exchange_set_trouble(
    struct courier_answer *answer, enum courier_trouble trouble)
{
	answer->trouble = trouble;
	answer->status = source_is_to_blame(trouble) ? COURIER_NOT_CONTRACT
						     : COURIER_UNREACHABLE;
}

void
exchange_set_status(
    struct courier_answer *answer, const struct http_reply *reply)
{
	answer->status = COURIER_ANSWERED;
	answer->retry_after_s = reply->header.retry_after_s;
}
