/* SPDX-License-Identifier: ISC
 *
 * The core's orders to the keep: encode and decode side by side.
 */
#include "wire/keep_msg.h"

#include <string.h>

#include "base/limits.h"

_Static_assert(sizeof(struct keep_order) == 24, "no padding");
_Static_assert(sizeof(struct keep_answer) == 24, "no padding");

void
keep_order_encode(struct keep_order *to, enum keep_verb verb, uint32_t sequence,
    uint32_t generation, uint32_t source)
{
	memset(to, 0, sizeof(*to));
	to->head =
	    (struct packet_head){ PACKET_MAGIC, verb, sequence, generation };
	to->source = source;
}

int
keep_order_decode(const struct keep_order *order, size_t n_fds)
{
	uint32_t verb = order->head.verb;

	if (verb < KEEP_OPEN || verb >= KEEP_VERB_END)
		return -1;
	if (n_fds != (verb == KEEP_OPEN ? 1u : 0u))
		return -1;
	return order->source < LIMIT_SOURCES && order->reserved == 0 ? 0 : -1;
}

void
keep_answer_encode(struct keep_answer *to, const struct keep_order *order,
    enum keep_result result)
{
	memset(to, 0, sizeof(*to));
	to->head = order->head;
	to->head.verb = KEEP_OPENED;
	to->source = order->source;
	to->result = result;
}

int
keep_answer_decode(const struct keep_answer *answer, size_t n_fds)
{
	if (answer->head.verb != KEEP_OPENED || n_fds != 0)
		return -1;
	return answer->source < LIMIT_SOURCES &&
		answer->result < KEEP_RESULT_COUNT
	    ? 0
	    : -1;
}

const char *
keep_result_text(uint32_t result)
{
	static const char *const texts[KEEP_RESULT_COUNT] = {
		[KEEP_RESULT_OK] = "usable",
		[KEEP_RESULT_STALE] = "the configuration has changed",
		[KEEP_RESULT_BUSY] = "a courier is still there",
		[KEEP_RESULT_FAILED] = "the keep could not start a process",
		[KEEP_RESULT_NO_CA] = "the CA certificates cannot be read",
		[KEEP_RESULT_MISSING] = "it is not set",
		[KEEP_RESULT_NO_KEY] = "the key file is missing",
		[KEEP_RESULT_NOT_FILE] = "it is not a plain file of its own",
		[KEEP_RESULT_OWNER] = "its file belongs to another user",
		[KEEP_RESULT_MODE] = "its file or directory is open to others",
		[KEEP_RESULT_SIZE] = "its file is empty or too long",
		[KEEP_RESULT_CORRUPT] =
		    "it does not open: wrong key or changed file",
		[KEEP_RESULT_ORIGIN] = "it was set for another origin",
		[KEEP_RESULT_ALPHABET] = "it holds a byte no header may have",
	};

	return result < KEEP_RESULT_COUNT ? texts[result] : "unknown reason";
}
