/* SPDX-License-Identifier: ISC
 *
 * Into the box and out of it: encode and decode side by side. box_answer is
 * the only thing that comes out of a box besides its output letter.
 */
#include "wire/box_msg.h"

#include <string.h>

#include "contract/outcome.h"

_Static_assert(
    sizeof(struct box_order) == 16 + 8 + 16 + 8 + 16 * LIMIT_LANGUAGES,
    "no padding");
_Static_assert(sizeof(struct box_answer) == 24, "no padding");

void
box_order_encode(struct box_order *order, enum box_verb verb)
{
	order->head = (struct packet_head){ PACKET_MAGIC, verb, 0, 0 };
}

int
box_order_decode(const struct box_order *order, size_t n_fds)
{
	if (order->head.verb == BOX_TEST)
		return n_fds == 0 ? 0 : -1;
	if (order->head.verb != BOX_JOB || n_fds != 2 ||
	    order->capability >= CAPABILITY_COUNT ||
	    order->tools >= 1u << LIMIT_TOOLS ||
	    order->n_languages > LIMIT_LANGUAGES)
		return -1;
	for (uint32_t i = 0; i < order->n_languages; i++) {
		if (!packet_is_text(
			order->languages[i], sizeof(order->languages[i])))
			return -1;
	}
	return 0;
}

void
box_answer_encode(struct box_answer *to, enum box_verb verb, uint32_t value)
{
	memset(to, 0, sizeof(*to));
	to->head = (struct packet_head){ PACKET_MAGIC, verb, 0, 0 };
	if (verb == BOX_VERDICT)
		to->verdict = value;
	else
		to->walls = value;
}

int
box_answer_decode(const struct box_answer *answer, size_t n_fds)
{
	if (n_fds != 0)
		return -1;
	if (answer->head.verb == BOX_VERDICT)
		return answer->verdict < ERROR_NOT_ASKED && answer->walls == 0
		    ? 0
		    : -1;
	if (answer->head.verb == BOX_WALLS)
		return (answer->walls & ~WALL_ALL) == 0 && answer->verdict == 0
		    ? 0
		    : -1;
	return -1;
}
