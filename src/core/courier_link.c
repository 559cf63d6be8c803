/* SPDX-License-Identifier: ISC
 *
 * One exchange with a courier. Runs in the core. A courier is what its source
 * makes of it: its answer is numbers in range and strings of an alphabet, its
 * letter is sealed before anything is believed about it, and nobody here
 * reads what stands in it.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "core/links.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "contract/outcome.h"

void
courier_link_close(struct slot *slot)
{
	struct courier_link *link = &slot->link;

	watch_free(link->watch);
	cleanup_fd_at(&link->end);
	cleanup_fd_at(&link->letter);
	*link = (struct courier_link){ .end = -1, .letter = -1 };
}

/* Whether the answer is one to the order that was given. */
static bool
is_fit(const struct courier_link *link, const struct courier_answer *answer)
{
	if (answer->head.sequence != link->sequence ||
	    answer->head.generation != link->generation)
		return false;
	switch (answer->status) {
	case COURIER_JOB:
	case COURIER_NOTHING:
	case COURIER_BAD_JOB:
		return link->is_claim;
	case COURIER_STORED:
	case COURIER_GONE:
	case COURIER_MISMATCH:
		return !link->is_claim;
	default:
		return true;
	}
}

/* Takes the job out of a claim's answer; -1: its letter cannot be believed.
 */
static int
take_job(struct slot *slot, const struct courier_answer *answer)
{
	struct courier_link *link = &slot->link;
	struct journal_row row = { .bad_ms = -1,
		.capability = answer->capability };

	if (answer->status == COURIER_JOB) {
		/* -EBUSY: somebody can still write into it. */
		if (letter_seal(link->letter) < 0 ||
		    letter_size(link->letter, LIMIT_BODY_BYTES) !=
			(ssize_t)answer->input_bytes)
			return -1;
		cleanup_fd_at(&slot->input);
		slot->input = take_fd(&link->letter);
	}
	memcpy(row.id, answer->id, sizeof(row.id));
	memcpy(row.lease, answer->lease, sizeof(row.lease));
	memcpy(row.ticket, answer->ticket, sizeof(row.ticket));
	slot->row = row;
	return 0;
}

static void
answered(struct core *core, uint32_t at, struct courier_answer *answer)
{
	struct slot *slot = &core->slots[at];
	struct journal_key key = { slot->name, slot->origin };
	struct event event = {
		.kind = EVENT_ANSWERED, .slot = at, .answer = answer
	};
	bool has_job =
	    answer->status == COURIER_JOB || answer->status == COURIER_BAD_JOB;
	uint32_t suspect[2] = { 0, 0 };

	if (has_job && take_job(slot, answer) < 0) {
		*answer = (struct courier_answer){ .head = answer->head,
			.status = COURIER_NOT_CONTRACT,
			.trouble = COURIER_LOCAL };
		has_job = false;
	}
	if (has_job)
		(void)journal_get_suspect(
		    core->journal, &key, slot->row.id, suspect);
	event.value = suspect[0];
	event.number = suspect[1];
	/* It has said all it had to say. */
	keep_link_drop(core, at);
	core_event(core, &event);
}

static void
on_courier(void *context, uint32_t tag)
{
	struct core *core = context;
	struct slot *slot = &core->slots[tag];
	struct courier_answer answer;
	int fds[PACKET_FDS];
	int r =
	    packet_receive(slot->link.watch->fd, &answer, sizeof(answer), fds);
	bool is_good = r == PACKET_GOT &&
	    courier_answer_decode(&answer, packet_count_fds(fds)) == 0 &&
	    is_fit(&slot->link, &answer);

	if (r == -EAGAIN)
		return;
	packet_close_fds(fds);
	if (is_good) {
		answered(core, tag, &answer);
		return;
	}
	/* When a keep ends, its couriers do: that is the keep's trouble. */
	if (keep_link_is_gone(core)) {
		keep_link_lose(core);
		return;
	}
	keep_link_drop(core, tag);
	core_event_slot(core, EVENT_LOST, tag, 0);
}

void
courier_link_watch(struct core *core, uint32_t slot)
{
	struct courier_link *link = &core->slots[slot].link;

	link->watch =
	    watch_new(&core->loop, take_fd(&link->end), on_courier, core, slot);
}

static void
send_order(struct core *core, uint32_t at, struct courier_order *order,
    enum courier_verb verb, int letter)
{
	struct slot *slot = &core->slots[at];

	courier_order_encode(
	    order, verb, slot->link.sequence, slot->link.generation);
	if (packet_send(slot->link.watch->fd, order, sizeof(*order), &letter,
		letter >= 0 ? 1 : 0) == 0)
		return;
	keep_link_drop(core, at);
	core_event_slot(core, EVENT_LOST, at, 0);
}

void
courier_link_claim(struct core *core, uint32_t at, uint32_t capabilities)
{
	struct slot *slot = &core->slots[at];
	struct courier_order order = { .capabilities = capabilities,
		.max_job_seconds =
		    config_max_job_seconds(core->config, capabilities),
		.deadline_ms = LIMIT_CLAIM_MS };

	slot->link.is_claim = true;
	slot->link.letter = letter_new("input");
	if (slot->link.letter < 0) {
		keep_link_drop(core, at);
		core_event_slot(core, EVENT_LOST, at, 0);
		return;
	}
	(void)text_copy(order.claim_id, sizeof(order.claim_id), slot->claim_id);
	send_order(core, at, &order, COURIER_CLAIM, slot->link.letter);
}

void
courier_link_deliver(struct core *core, uint32_t at, uint32_t deadline_ms)
{
	struct slot *slot = &core->slots[at];
	const struct job *job = &core->schedule.sources[at].job;
	struct courier_order order = { .outcome = job->outcome,
		.error = job->error,
		.reason = job->reason,
		.retry_after_s = job->retry_after_s,
		.deadline_ms = deadline_ms };
	bool has_output = job->outcome == OUTCOME_SUCCEEDED;

	if (has_output) {
		order.capability = job->capability;
		if (slot->output < 0)
			slot->output =
			    journal_get_body(core->journal, &slot->row);
	}
	if (has_output && slot->output < 0) {
		slot->output = -1;
		keep_link_drop(core, at);
		core_event_slot(core, EVENT_LOST, at, 0);
		return;
	}
	slot->link.is_claim = false;
	memcpy(order.id, slot->row.id, sizeof(order.id));
	memcpy(order.lease, slot->row.lease, sizeof(order.lease));
	memcpy(order.ticket, slot->row.ticket, sizeof(order.ticket));
	send_order(
	    core, at, &order, COURIER_RESULT, has_output ? slot->output : -1);
}

void
courier_link_measure(struct core *core)
{
	for (uint32_t i = 0; i < SCHEDULE_SLOTS; i++) {
		struct event event = { .kind = EVENT_LETTER, .slot = i };
		struct stat st;

		if (core->slots[i].link.letter < 0 ||
		    fstat(core->slots[i].link.letter, &st) < 0)
			continue;
		event.number = (uint64_t)st.st_size;
		core_event(core, &event);
	}
}
