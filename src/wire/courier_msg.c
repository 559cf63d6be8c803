/* SPDX-License-Identifier: ISC
 *
 * The core's orders to a courier and its answers: encode and decode side by
 * side. The decoder of the answer is the core's whole defence against a
 * courier that its source has captured.
 */
#include "wire/courier_msg.h"

#include <stdbool.h>
#include <string.h>

#include "base/text.h"
#include "contract/capability.h"
#include "contract/outcome.h"

_Static_assert(sizeof(struct courier_order) ==
	16 + 36 + 8 + 2 * COURIER_ID_BYTES + 20 + 32 + 4,
    "no padding");
_Static_assert(
    sizeof(struct courier_answer) == 16 + 32 + 2 * COURIER_ID_BYTES + 32 + 8,
    "no padding");

static bool
is_id_array(const char array[COURIER_ID_BYTES])
{
	return packet_is_text(array, COURIER_ID_BYTES) && text_is_id(array);
}

static bool
is_empty_array(const char *array, size_t n)
{
	return packet_is_text(array, n) && array[0] == '\0';
}

static bool
is_lease_array(const char array[COURIER_ID_BYTES])
{
	return is_id_array(array) || is_empty_array(array, COURIER_ID_BYTES);
}

void
courier_order_encode(struct courier_order *order, enum courier_verb verb,
    uint32_t sequence, uint32_t generation)
{
	order->head =
	    (struct packet_head){ PACKET_MAGIC, verb, sequence, generation };
}

static bool
is_claim(const struct courier_order *order)
{
	return packet_is_text(order->claim_id, sizeof(order->claim_id)) &&
	    strspn(order->claim_id, "0123456789abcdef") ==
	    LIMIT_CLAIM_ID_BYTES &&
	    strlen(order->claim_id) == LIMIT_CLAIM_ID_BYTES &&
	    order->capabilities != 0 &&
	    (order->capabilities & ~CAPABILITY_ALL) == 0 &&
	    order->max_job_seconds >= 1 && order->max_job_seconds <= 86400;
}

static bool
is_result(const struct courier_order *order)
{
	if (!is_id_array(order->id) || !is_lease_array(order->lease))
		return false;
	switch (order->outcome) {
	case OUTCOME_SUCCEEDED:
		return order->error == 0 && order->reason == 0 &&
		    order->capability < CAPABILITY_COUNT;
	case OUTCOME_FAILED:
		return order->error > ERROR_NONE &&
		    order->error < ERROR_COUNT && order->reason == 0;
	case OUTCOME_RELEASED:
		return order->error == 0 && order->reason > RELEASE_NONE &&
		    order->reason < RELEASE_COUNT &&
		    order->retry_after_s <= LIMIT_RETRY_AFTER_S;
	default:
		return false;
	}
}

int
courier_order_decode(const struct courier_order *order, size_t n_fds)
{
	if (order->deadline_ms == 0 || order->deadline_ms > LIMIT_RESULT_MAX_MS)
		return -1;
	if (order->head.verb == COURIER_CLAIM)
		return n_fds == 1 && is_claim(order) ? 0 : -1;
	if (order->head.verb != COURIER_RESULT || !is_result(order))
		return -1;
	return n_fds == (order->outcome == OUTCOME_SUCCEEDED ? 1u : 0u) ? 0
									: -1;
}

void
courier_answer_encode(
    struct courier_answer *answer, const struct courier_order *order)
{
	answer->head = order->head;
	answer->head.verb = COURIER_ANSWER;
}

static bool
has_job_fields(const struct courier_answer *a)
{
	bool is_job = a->status == COURIER_JOB;
	bool is_known = a->capability < CAPABILITY_COUNT ||
	    a->capability == CAPABILITY_NONE;

	if (!is_id_array(a->id) || !is_lease_array(a->lease) || a->more > 1)
		return false;
	if (is_job)
		return is_known && a->error == 0 &&
		    a->input_bytes <= LIMIT_BODY_BYTES;
	return a->capability == CAPABILITY_NONE && a->input_bytes == 0 &&
	    (a->error == ERROR_BAD_JOB || a->error == ERROR_TOO_LARGE);
}

static bool
has_no_job_fields(const struct courier_answer *a)
{
	bool error_is_fit = a->error == 0 || a->error == ERROR_BAD_OUTPUT;

	return is_empty_array(a->id, sizeof(a->id)) &&
	    is_empty_array(a->lease, sizeof(a->lease)) && a->more == 0 &&
	    a->input_bytes == 0 && error_is_fit;
}

int
courier_answer_decode(const struct courier_answer *a, size_t n_fds)
{
	bool has_job = a->status == COURIER_JOB || a->status == COURIER_BAD_JOB;

	if (a->head.verb != COURIER_ANSWER || n_fds != 0)
		return -1;
	if (a->status == 0 || a->status >= COURIER_STATUS_END ||
	    a->trouble >= COURIER_TROUBLE_COUNT || a->reserved != 0)
		return -1;
	if (a->http_status != 0 &&
	    (a->http_status < 200 || a->http_status > 599))
		return -1;
	if (a->retry_after_s > LIMIT_RETRY_AFTER_S)
		return -1;
	return (has_job ? has_job_fields(a) : has_no_job_fields(a)) ? 0 : -1;
}

const char *
courier_trouble_text(uint32_t trouble)
{
	static const char *const texts[COURIER_TROUBLE_COUNT] = {
		[COURIER_TROUBLE_NONE] = "none",
		[COURIER_NAME] = "its name does not resolve",
		[COURIER_FORBIDDEN] =
		    "its name resolves only to special addresses",
		[COURIER_REFUSED] = "it refuses the connection",
		[COURIER_NO_ROUTE] = "there is no route to it",
		[COURIER_TIMEOUT] = "it did not answer in time",
		[COURIER_TLS] = "the TLS handshake failed",
		[COURIER_CERTIFICATE] =
		    "its certificate is not valid for this name and CA",
		[COURIER_CERTIFICATE_TIME] =
		    "its certificate is not valid now: check the clocks",
		[COURIER_CLOSED] = "it cut the connection",
		[COURIER_PROTOCOL] = "its answer breaks the rules of HTTP",
		[COURIER_HEADERS] = "its headers are too long",
		[COURIER_TOO_LARGE] = "its answer is too large",
		[COURIER_MEDIA_TYPE] = "its answer is not application/json",
		[COURIER_JSON] = "its answer is not complete, strict JSON",
		[COURIER_CONTRACT] = "its answer is not the contract's",
		[COURIER_LOCAL] = "the exchange failed on this side",
	};

	return trouble < COURIER_TROUBLE_COUNT ? texts[trouble]
					       : "unknown trouble";
}
