/* SPDX-License-Identifier: ISC
 *
 * What the handlers of events share. Runs in the core; pure.
 */
#include "core/step.h"

#include "base/must.h"
#include "contract/outcome.h"
#include "core/round.h"

void
step_act(
    struct step *step, enum action_kind kind, uint32_t slot, uint32_t value)
{
	action_add(step->out, kind, slot, value);
}

void
step_note(struct step *step, uint32_t slot, enum note what)
{
	step_act(step, ACTION_NOTE, slot, what);
}

void
step_commit(struct step *step, uint32_t slot, uint32_t ops)
{
	step->schedule->sources[slot].committing |= ops;
	step_act(step, ACTION_JOURNAL, slot, ops);
}

void
step_note_trouble(struct step *step, uint32_t slot, struct trouble before)
{
	const struct trouble *now = &step->schedule->sources[slot].trouble;

	if (now->kind == before.kind && now->what == before.what)
		return;
	step_note(step, slot, now->kind ? NOTE_TROUBLE : NOTE_WELL);
}

/* The job of the slot has its outcome: into the outbox, then to the source.
 */
void
step_record(struct step *step, uint32_t slot, uint32_t more_ops)
{
	struct source *source = &step->schedule->sources[slot];
	struct job *job = &source->job;

	must(job->state == JOB_FINISHED);
	source->counts[job->outcome]++;
	source->due_ms = step->now_ms;
	step_note(step, slot, NOTE_OUTCOME);
	step_commit(step, slot, OP_OUTCOME | more_ops);
}

void
step_gone(struct step *step, uint32_t slot)
{
	struct source *source = &step->schedule->sources[slot];

	source->job.state = JOB_GONE;
	/* What could not be written down need not be any more. */
	source->pending &= ~(uint32_t)(OP_OUTCOME | OP_TRIED);
	step_commit(step, slot, OP_GONE);
}

void
step_release(struct step *step, uint32_t slot, enum release_reason reason)
{
	job_finish(&step->schedule->sources[slot].job, OUTCOME_RELEASED, reason,
	    step->now_ms);
	step_record(step, slot, 0);
}

uint32_t
step_rest_seconds(const struct step *step, uint32_t capability)
{
	uint64_t until = step->schedule->rests[capability].until_ms;

	if (until <= step->now_ms)
		return 0;
	if (until - step->now_ms > LIMIT_RETRY_AFTER_S * 1000u)
		return LIMIT_RETRY_AFTER_S;
	return (uint32_t)((until - step->now_ms + 999) / 1000);
}

void
step_end_exchange(struct step *step, uint32_t slot)
{
	if (step->schedule->sources[slot].exchange == EXCHANGE_NONE)
		return;
	step_act(step, ACTION_DROP, slot, 0);
	round_exchange_over(step->schedule, slot, step->now_ms);
}

bool
step_can_start(const struct step *step, uint32_t capability)
{
	const struct schedule *schedule = step->schedule;

	return schedule->running == SLOT_NONE && schedule->yard_is_up &&
	    schedule->drain == DRAIN_NOT &&
	    (schedule->usable & 1u << capability) != 0 &&
	    schedule->rests[capability].until_ms <= step->now_ms;
}

void
step_start(struct step *step, uint32_t slot, uint32_t more_ops)
{
	struct source *source = &step->schedule->sources[slot];

	must(step->schedule->running == SLOT_NONE);
	step->schedule->running = slot;
	step->schedule->kill_ms = 0;
	source->job.state = JOB_STARTING;
	step_commit(step, slot, OP_START | more_ops);
}
