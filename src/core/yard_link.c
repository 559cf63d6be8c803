/* SPDX-License-Identifier: ISC
 *
 * The core's side of the yard. Runs in the core. The yard gets an input it can
 * only read and an output letter to write; when the box is gone the output is
 * sealed and its size looked at, no more. After a reload two yards may be
 * there: the older one until the box it has is gone.
 */
#include <errno.h>

#include "core/links.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "base/must.h"
#include "contract/outcome.h"

static void
lose(struct core *core, int at)
{
	watch_free(core->yards[at].watch);
	core->yards[at] = (struct yard_link){ 0 };
}

static void
ended(struct core *core, const struct yard_answer *answer)
{
	uint32_t at = core->schedule.running;
	struct slot *slot = at == SLOT_NONE ? NULL : &core->slots[at];
	struct event event = { .kind = EVENT_ENDED,
		.value = answer->end,
		.verdict = answer->verdict };
	ssize_t n;

	core->running_yard = -1;
	if (slot == NULL)
		return;
	slot->run_ms = answer->wall_ms;
	if (answer->end == YARD_END_VERDICT && answer->verdict == 0) {
		n = letter_seal(slot->output);
		if (n == 0)
			n = letter_size(slot->output, LIMIT_OUTPUT_BYTES);
		if (n == -EFBIG)
			event.verdict = ERROR_OUTPUT_TOO_LARGE;
		else if (n < 0)
			event.value = YARD_END_SILENT;
		else
			event.number = (uint64_t)n + LETTER_TICKET_BYTES;
	}
	cleanup_fd_at(&slot->input);
	if (event.number == 0)
		cleanup_fd_at(&slot->output);
	core_event(core, &event);
}

static void
lost(struct core *core, int at)
{
	struct yard_answer foreign = { .end = YARD_END_FOREIGN };
	bool has_box = core->running_yard == at;

	log_warning("the link to the yard is gone");
	lose(core, at);
	core_hold(core);
	if (at == 0)
		core_event_slot(core, EVENT_YARD_DOWN, 0, 0);
	if (has_box)
		ended(core, &foreign);
	core_go(core);
}

static void
listed(struct core *core, int at, const struct yard_answer *answer)
{
	uint32_t usable = 0;

	for (uint32_t i = 0; i < CAPABILITY_COUNT; i++) {
		if (answer->usable[i] == YARD_USABLE)
			usable |= 1u << i;
	}
	core->yards[at].listed = *answer;
	core->yards[at].is_listed = true;
	core_event_slot(core, EVENT_LISTED, 0, usable);
}

static void
on_yard(void *context, uint32_t tag)
{
	struct core *core = context;
	int at = (int)tag;
	struct yard_link *yard = &core->yards[at];
	struct yard_answer answer;
	int fds[PACKET_FDS];
	int r = packet_receive(yard->watch->fd, &answer, sizeof(answer), fds);
	bool is_good = r == PACKET_GOT &&
	    yard_answer_decode(&answer, packet_count_fds(fds)) == 0;

	if (r == -EAGAIN)
		return;
	packet_close_fds(fds);
	if (is_good && answer.head.verb == YARD_LISTED && at == 0) {
		listed(core, at, &answer);
	} else if (is_good && answer.head.verb == YARD_ENDED &&
	    core->running_yard == at &&
	    answer.head.sequence == yard->sequence) {
		ended(core, &answer);
		if (at == 1)
			lose(core, 1);
	} else {
		lost(core, at);
	}
}

void
yard_link_set(struct core *core, int fd, uint32_t generation)
{
	struct yard_link *yard = &core->yards[0];
	struct yard_order order;

	if (yard->watch != NULL && core->running_yard == 0) {
		must(core->yards[1].watch == NULL);
		core->yards[1] = *yard;
		core->yards[1].watch->tag = 1;
		core->running_yard = 1;
	} else if (yard->watch != NULL) {
		lose(core, 0);
	}
	*yard = (struct yard_link){ .generation = generation };
	yard->watch = watch_new(&core->loop, fd, on_yard, core, 0);
	yard_order_encode(&order, YARD_LIST, ++core->sequence, generation, 0);
	core_event_slot(core, EVENT_YARD_DOWN, 0, 0);
	if (packet_send(fd, &order, sizeof(order), NULL, 0) < 0)
		lost(core, 0);
}

void
yard_link_make(struct core *core, uint32_t at, uint32_t capability)
{
	struct slot *slot = &core->slots[at];
	struct yard_link *yard = &core->yards[0];
	struct yard_answer unmade = { .end = YARD_END_UNMADE };
	cleanup_fd int readable = -1;
	struct yard_order order;
	int fds[2];

	slot->output = letter_new("output");
	readable = file_reopen_readonly(slot->input);
	if (slot->output < 0 || readable < 0 || yard->watch == NULL) {
		ended(core, &unmade);
		return;
	}
	yard->sequence = ++core->sequence;
	yard_order_encode(
	    &order, YARD_MAKE, yard->sequence, yard->generation, capability);
	fds[0] = readable;
	fds[1] = slot->output;
	core->running_yard = 0;
	if (packet_send(yard->watch->fd, &order, sizeof(order), fds, 2) < 0)
		lost(core, 0);
}

void
yard_link_kill(struct core *core)
{
	struct yard_link *yard;
	struct yard_order order;

	if (core->running_yard < 0)
		return;
	yard = &core->yards[core->running_yard];
	yard_order_encode(
	    &order, YARD_KILL, ++core->sequence, yard->generation, 0);
	if (packet_send(yard->watch->fd, &order, sizeof(order), NULL, 0) < 0)
		lost(core, core->running_yard);
}
