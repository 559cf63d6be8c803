/* SPDX-License-Identifier: ISC
 *
 * Events of exchanges: what the keep, a courier and its source brought about.
 * Runs in the core; pure. A source's answer moves its own job and its own
 * next ask, nothing else.
 */
#include "core/step.h"

#include "contract/outcome.h"
#include "core/round.h"

void
exchange_opened(struct step *step)
{
	uint32_t slot = step->event->slot;
	struct source *source = &step->schedule->sources[slot];
	struct trouble before = source->trouble;
	uint32_t result = step->event->value;

	if (source->exchange != EXCHANGE_OPENING)
		return;
	if (result != KEEP_RESULT_OK) {
		round_exchange_over(step->schedule, slot, step->now_ms);
		if (result == KEEP_RESULT_BUSY || result == KEEP_RESULT_STALE)
			source_retry_soon(source, step->now_ms);
		else
			source_skip(source,
			    (struct trouble){ TROUBLE_KEEP, result },
			    step->now_ms);
		step_note_trouble(step, slot, before);
		return;
	}
	if (source->job.state == JOB_FINISHED) {
		uint32_t ms = job_deadline_ms(&source->job);

		source->exchange = EXCHANGE_RESULT;
		source->deadline_ms = step->now_ms + ms;
		step_act(step, ACTION_DELIVER, slot, ms);
		return;
	}
	source->asked = schedule_askable(step->schedule, source, step->now_ms);
	if (source->asked == 0 || step->schedule->drain != DRAIN_NOT ||
	    !step->schedule->is_open) {
		step_end_exchange(step, slot);
		source->due_ms = step->now_ms;
		return;
	}
	source->exchange = EXCHANGE_CLAIM;
	source->claimed_ms = step->now_ms;
	source->deadline_ms = step->now_ms + LIMIT_CLAIM_MS;
	step_act(step, ACTION_CLAIM, slot, source->asked);
}

/* A claim brought a job, or what was meant as one. */
static void
take(struct step *step, uint32_t slot)
{
	struct schedule *schedule = step->schedule;
	struct source *source = &schedule->sources[slot];
	struct job *job = &source->job;

	job_take(job, step->event->answer, source->rule.capabilities,
	    source->asked, step->now_ms);
	if (job->reason == RELEASE_CAPABILITY_RESTING)
		job->retry_after_s = step_rest_seconds(step, job->capability);
	job->suspicions = step->event->value;
	job->crashes = (uint32_t)step->event->number;
	schedule->turn = slot + 1;
	if (job->state == JOB_FINISHED) {
		step_record(step, slot, OP_CLAIM_ID);
		return;
	}
	step_note(step, slot, NOTE_TAKEN);
	if (schedule->drain != DRAIN_NOT || schedule->journal_is_full ||
	    round_letter_bytes(schedule) > LIMIT_LETTERS_BYTES) {
		step_release(step, slot,
		    schedule->drain ? RELEASE_STOPPING : RELEASE_BUSY);
		step_commit(step, slot, OP_CLAIM_ID);
		return;
	}
	hour_add(&schedule->hours[slot], 0, step->now_ms);
	if (!schedule->is_busy && step_can_start(step, job->capability))
		step_start(step, slot, OP_TAKEN | OP_CLAIM_ID);
	else
		step_commit(step, slot, OP_TAKEN | OP_CLAIM_ID);
}

static struct trouble
trouble_of(const struct courier_answer *answer)
{
	if (answer->status == COURIER_ANSWERED)
		return (struct trouble){ TROUBLE_HTTP, answer->http_status };
	if (answer->trouble == COURIER_TROUBLE_NONE)
		return (struct trouble){ TROUBLE_COURIER, COURIER_CONTRACT };
	return (struct trouble){ TROUBLE_COURIER, answer->trouble };
}

static void
on_claim_answered(struct step *step, uint32_t slot)
{
	struct source *source = &step->schedule->sources[slot];
	const struct courier_answer *answer = step->event->answer;
	bool is_whole_200 = answer->status == COURIER_NOT_CONTRACT &&
	    answer->http_status == 200 && answer->trouble != COURIER_CLOSED;

	switch (answer->status) {
	case COURIER_JOB:
	case COURIER_BAD_JOB:
		source_well(source, answer->retry_after_s, step->now_ms);
		take(step, slot);
		break;
	case COURIER_NOTHING:
		source_well(source, answer->retry_after_s, step->now_ms);
		break;
	default:
		source_fail(source, trouble_of(answer), answer->retry_after_s,
		    step->event->random, step->now_ms);
		if (is_whole_200)
			step_commit(step, slot, OP_CLAIM_ID);
		break;
	}
}

static void
park(struct step *step, uint32_t slot)
{
	struct source *source = &step->schedule->sources[slot];
	bool is_mismatch = step->event->answer->status == COURIER_MISMATCH;

	source->parked++;
	source->parked_bytes += source->job.body_bytes;
	source->job.state = JOB_GONE;
	step_note(step, slot, is_mismatch ? NOTE_MISMATCH : NOTE_PARKED);
	step_commit(step, slot, OP_PARKED);
}

static void
on_result_answered(struct step *step, uint32_t slot)
{
	struct source *source = &step->schedule->sources[slot];
	const struct courier_answer *answer = step->event->answer;
	uint32_t outcome = source->job.outcome;
	enum job_fate fate = job_answer(&source->job, answer, step->now_ms);

	if (fate == FATE_KEPT) {
		source_fail(source, trouble_of(answer), answer->retry_after_s,
		    step->event->random, step->now_ms);
		if (!(source->pending & OP_OUTCOME))
			step_commit(step, slot, OP_TRIED);
		return;
	}
	source_well(source, answer->retry_after_s, step->now_ms);
	if (source->job.outcome != outcome) {
		source->counts[outcome]--;
		source->counts[source->job.outcome]++;
		step_note(step, slot, NOTE_OUTCOME);
	}
	if (fate == FATE_AMENDED) {
		source->due_ms = step->now_ms;
		step_commit(step, slot, OP_OUTCOME);
	} else if (fate == FATE_PARKED) {
		park(step, slot);
	} else {
		step_gone(step, slot);
	}
}

void
exchange_answered(struct step *step)
{
	uint32_t slot = step->event->slot;
	struct source *source = &step->schedule->sources[slot];
	struct trouble before = source->trouble;
	enum exchange exchange = source->exchange;

	if (exchange != EXCHANGE_CLAIM && exchange != EXCHANGE_RESULT)
		return;
	round_exchange_over(step->schedule, slot, step->now_ms);
	if (exchange == EXCHANGE_CLAIM)
		on_claim_answered(step, slot);
	else
		on_result_answered(step, slot);
	step_note_trouble(step, slot, before);
}

void
exchange_lost(struct step *step)
{
	uint32_t slot = step->event->slot;
	struct source *source = &step->schedule->sources[slot];
	struct trouble before = source->trouble;

	if (source->exchange == EXCHANGE_NONE)
		return;
	round_exchange_over(step->schedule, slot, step->now_ms);
	source_fail(source, (struct trouble){ TROUBLE_LOST, 0 }, 0,
	    step->event->random, step->now_ms);
	step_note_trouble(step, slot, before);
}

void
exchange_keep_down(struct step *step)
{
	struct schedule *schedule = step->schedule;

	schedule->keep_is_up = false;
	for (uint32_t i = 0; i < schedule->n_slots; i++) {
		struct source *source = &schedule->sources[i];
		struct trouble before = source->trouble;

		if (source->exchange == EXCHANGE_NONE)
			continue;
		step_end_exchange(step, i);
		source_skip(source, (struct trouble){ TROUBLE_KEEP_DOWN, 0 },
		    step->now_ms);
		step_note_trouble(step, i, before);
	}
}
