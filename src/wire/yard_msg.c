/* SPDX-License-Identifier: ISC
 *
 * The core's orders to the yard: encode and decode side by side.
 */
#include "wire/yard_msg.h"

#include <stdbool.h>
#include <string.h>

#include "contract/outcome.h"

_Static_assert(sizeof(struct yard_order) == 24, "no padding");
_Static_assert(sizeof(struct yard_answer) == 16 + 8 + 64 + 32, "no padding");
_Static_assert(CAPABILITY_COUNT <= 8, "the arrays of yard_answer hold 8");

void
yard_order_encode(struct yard_order *to, enum yard_verb verb, uint32_t sequence,
    uint32_t generation, uint32_t capability)
{
	memset(to, 0, sizeof(*to));
	to->head =
	    (struct packet_head){ PACKET_MAGIC, verb, sequence, generation };
	to->capability = capability;
}

int
yard_order_decode(const struct yard_order *order, size_t n_fds)
{
	uint32_t verb = order->head.verb;

	if (verb < YARD_LIST || verb >= YARD_VERB_END || order->reserved != 0)
		return -1;
	if (verb == YARD_MAKE)
		return n_fds == 2 && order->capability < CAPABILITY_COUNT ? 0
									  : -1;
	return n_fds == 0 && order->capability == 0 ? 0 : -1;
}

void
yard_answer_encode(struct yard_answer *answer, enum yard_verb verb,
    const struct yard_order *order)
{
	answer->head = order->head;
	answer->head.verb = verb;
}

static bool
is_listed(const struct yard_answer *a)
{
	if ((a->walls & ~WALL_ALL) != 0 || a->end != 0 || a->verdict != 0)
		return false;
	for (size_t i = 0; i < CAPABILITY_COUNT; i++) {
		if (a->usable[i] >= YARD_UNUSABLE_COUNT ||
		    a->missing[i] >= 1u << LIMIT_TOOLS)
			return false;
	}
	return true;
}

static bool
is_ended(const struct yard_answer *a)
{
	if (a->capability >= CAPABILITY_COUNT || a->end == 0 ||
	    a->end >= YARD_END_COUNT || a->signal > 64)
		return false;
	if (a->verdict != 0)
		return a->end == YARD_END_VERDICT &&
		    a->verdict < ERROR_NOT_ASKED;
	return true;
}

int
yard_answer_decode(const struct yard_answer *answer, size_t n_fds)
{
	if (n_fds != 0)
		return -1;
	if (answer->head.verb == YARD_LISTED)
		return is_listed(answer) ? 0 : -1;
	if (answer->head.verb == YARD_ENDED)
		return is_ended(answer) ? 0 : -1;
	return -1;
}

uint32_t
yard_end_error(uint32_t end, uint32_t verdict)
{
	static const uint32_t errors[YARD_END_COUNT] = {
		[YARD_END_SILENT] = ERROR_CRASHED,
		[YARD_END_TIME] = ERROR_TIMEOUT,
		[YARD_END_MEMORY] = ERROR_TOO_HEAVY,
	};

	if (end == YARD_END_VERDICT)
		return verdict;
	return end < YARD_END_COUNT ? errors[end] : ERROR_NONE;
}

const char *
yard_wall_text(uint32_t wall)
{
	static const char *const texts[WALL_COUNT] = {
		[WALL_USER_NAMESPACE] = "user namespace",
		[WALL_MOUNT_NAMESPACE] = "mount namespace",
		[WALL_PID_NAMESPACE] = "pid namespace",
		[WALL_NETWORK_NAMESPACE] = "network namespace",
		[WALL_IPC_NAMESPACE] = "ipc namespace",
		[WALL_UTS_NAMESPACE] = "uts namespace",
		[WALL_CGROUP_NAMESPACE] = "cgroup namespace",
		[WALL_TIME_NAMESPACE] = "time namespace",
		[WALL_ROOT] = "read-only root of its own",
		[WALL_SCRATCH] = "private scratch space",
		[WALL_FILTER] = "system call filter",
		[WALL_LANDLOCK] = "Landlock",
		[WALL_PRIVILEGES] = "no privileges",
		[WALL_LIMITS] = "resource limits",
		[WALL_DESCRIPTORS] = "no inherited descriptors",
	};

	return wall < WALL_COUNT ? texts[wall] : "unknown wall";
}

const char *
yard_end_text(uint32_t end)
{
	static const char *const texts[YARD_END_COUNT] = {
		[0] = "not ended",
		[YARD_END_VERDICT] = "ended by itself",
		[YARD_END_SILENT] = "ended without a verdict",
		[YARD_END_TIME] = "killed at its time limit",
		[YARD_END_MEMORY] = "killed at its memory limit",
		[YARD_END_ORDER] = "killed by order",
		[YARD_END_FOREIGN] = "killed from outside",
		[YARD_END_UNMADE] = "could not be made",
		[YARD_END_MISSING] = "a program is missing",
	};

	return end < YARD_END_COUNT ? texts[end] : "unknown end";
}
