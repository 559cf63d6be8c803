/* SPDX-License-Identifier: ISC
 *
 * The core's side of the keep: asks for couriers by a source's index, never by
 * an address, and hands over one end of a pair. Runs in the core. The keep is
 * trusted with tokens, and believed only in numbers that are in range.
 */
#include <errno.h>
#include <poll.h>

#include "core/links.h"

#include "base/cleanup.h"
#include "base/log.h"

static uint32_t
find_slot(const struct core *core, const struct keep_answer *answer)
{
	for (uint32_t i = 0; i < SCHEDULE_SLOTS; i++) {
		const struct courier_link *link = &core->slots[i].link;

		if (link->sequence != 0 && link->watch == NULL &&
		    link->sequence == answer->head.sequence &&
		    link->generation == answer->head.generation &&
		    link->index == answer->source)
			return i;
	}
	return SLOT_NONE;
}

static void
on_keep(void *context, uint32_t tag)
{
	struct core *core = context;
	struct keep_answer answer;
	int fds[PACKET_FDS];
	uint32_t slot;
	int r = packet_receive(core->keep->fd, &answer, sizeof(answer), fds);

	(void)tag;
	if (r == -EAGAIN)
		return;
	if (r != PACKET_GOT ||
	    keep_answer_decode(&answer, packet_count_fds(fds)) < 0) {
		packet_close_fds(fds);
		keep_link_lose(core);
		return;
	}
	slot = find_slot(core, &answer);
	/* The answer to an order that was dropped meanwhile. */
	if (slot == SLOT_NONE)
		return;
	if (answer.result == KEEP_RESULT_OK)
		courier_link_watch(core, slot);
	else
		courier_link_close(&core->slots[slot]);
	core_event_slot(core, EVENT_OPENED, slot, answer.result);
}

void
keep_link_set(struct core *core, int fd)
{
	if (core->keep != NULL)
		keep_link_lose(core);
	core->keep = watch_new(&core->loop, fd, on_keep, core, 0);
	core_event_slot(core, EVENT_KEEP_UP, 0, 0);
}

void
keep_link_lose(struct core *core)
{
	if (core->keep == NULL)
		return;
	log_warning("the link to the keep is gone");
	watch_free(core->keep);
	core->keep = NULL;
	core_event_slot(core, EVENT_KEEP_DOWN, 0, 0);
}

bool
keep_link_is_gone(struct core *core)
{
	struct pollfd p = { -1, POLLIN, 0 };

	if (core->keep == NULL)
		return true;
	p.fd = core->keep->fd;
	return poll(&p, 1, 0) == 1 && (p.revents & (POLLHUP | POLLERR)) != 0;
}

void
keep_link_open(struct core *core, uint32_t slot)
{
	struct courier_link *link = &core->slots[slot].link;
	struct keep_order order;
	int ends[2];
	cleanup_fd int theirs = -1;

	courier_link_close(&core->slots[slot]);
	if (core->keep == NULL || packet_pair(ends) < 0) {
		core_event_slot(core, EVENT_OPENED, slot, KEEP_RESULT_FAILED);
		return;
	}
	link->end = ends[0];
	theirs = ends[1];
	link->sequence = ++core->sequence;
	link->generation = core->generation;
	link->index = core->slots[slot].index;
	keep_order_encode(
	    &order, KEEP_OPEN, link->sequence, link->generation, link->index);
	if (packet_send(core->keep->fd, &order, sizeof(order), &theirs, 1) == 0)
		return;
	courier_link_close(&core->slots[slot]);
	core_event_slot(core, EVENT_OPENED, slot, KEEP_RESULT_FAILED);
}

/* Until the next try, which may be days away, an output that stands in the
 * journal need not be in memory as well. */
static void
forget_output(struct slot *slot)
{
	if (slot->committed_row != 0 && slot->row.row == slot->committed_row)
		cleanup_fd_at(&slot->output);
}

void
keep_link_drop(struct core *core, uint32_t slot)
{
	struct courier_link *link = &core->slots[slot].link;
	struct keep_order order;

	if (core->keep != NULL && link->sequence != 0) {
		keep_order_encode(&order, KEEP_DROP, ++core->sequence,
		    link->generation, link->index);
		(void)packet_send(
		    core->keep->fd, &order, sizeof(order), NULL, 0);
	}
	courier_link_close(&core->slots[slot]);
	forget_output(&core->slots[slot]);
}
