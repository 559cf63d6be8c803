/* SPDX-License-Identifier: ISC
 *
 * The supervisor's messages: encode and decode side by side.
 */
#include "wire/super_msg.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(struct super_order) == 32, "no padding");
_Static_assert(sizeof(struct super_answer) == 528, "no padding");

void
super_order_encode(struct super_order *to, enum super_verb verb,
    uint32_t sequence, uint32_t generation)
{
	memset(to, 0, sizeof(*to));
	to->head =
	    (struct packet_head){ PACKET_MAGIC, verb, sequence, generation };
}

int
super_order_decode(const struct super_order *order, size_t n_fds)
{
	uint32_t verb = order->head.verb;
	bool wants_fd = verb == SUPER_CONFIG || verb == SUPER_LINK;

	if (verb < SUPER_CONFIG || verb >= SUPER_VERB_END)
		return -1;
	if (n_fds != (wants_fd ? 1u : 0u))
		return -1;
	if (order->is_urgent > 1 || order->has_crashed > 1 ||
	    order->reserved != 0)
		return -1;
	if (verb == SUPER_LINK)
		return order->peer > SUPER_PEER_NONE &&
			order->peer < SUPER_PEER_END
		    ? 0
		    : -1;
	return order->peer == SUPER_PEER_NONE ? 0 : -1;
}

void
super_answer_encode(struct super_answer *to, const struct super_order *order,
    const char *refusal)
{
	memset(to, 0, sizeof(*to));
	to->head = order->head;
	to->head.verb = refusal == NULL ? SUPER_OK : SUPER_REFUSED;
	if (refusal != NULL)
		(void)snprintf(to->text, sizeof(to->text), "%s", refusal);
}

int
super_answer_decode(const struct super_answer *answer, size_t n_fds)
{
	uint32_t verb = answer->head.verb;

	if (verb != SUPER_OK && verb != SUPER_REFUSED)
		return -1;
	return n_fds == 0 && packet_is_text(answer->text, sizeof(answer->text))
	    ? 0
	    : -1;
}
