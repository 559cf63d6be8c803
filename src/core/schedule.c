/* SPDX-License-Identifier: ISC
 *
 * Events to actions. Runs in the core; pure. It holds the promises: one job
 * at a time, nothing run that was not asked for and counted, a result kept
 * until its source has it, nothing claimed that could not be journaled.
 */
#include "core/schedule.h"

#include "base/must.h"
#include "core/round.h"
#include "core/step.h"

/* A full disk is tried again after this. */
#define JOURNAL_RETRY_MS 10000
/* A box that the yard does not end at its limit is killed after this; a yard
 * that does not even do that is given up after the same again. */
#define KILL_SLACK_MS 10000

void
schedule_init(struct schedule *schedule)
{
	*schedule = (struct schedule){ .running = SLOT_NONE,
		.waiting = SLOT_NONE,
		.round = 1,
		.budget_ms = LIMIT_ROUND_MS,
		.limits.result_ttl_ms = 7ull * 24 * LIMIT_HOUR_MS };
}

static void
release_resting(struct step *step, uint32_t slot)
{
	struct job *job = &step->schedule->sources[slot].job;
	uint32_t seconds = step_rest_seconds(step, job->capability);

	job_finish(
	    job, OUTCOME_RELEASED, RELEASE_CAPABILITY_RESTING, step->now_ms);
	job->retry_after_s = seconds;
	step_record(step, slot, 0);
}

static void
rest(struct step *step, uint32_t capability, enum job_blame blame)
{
	struct rest *rest = &step->schedule->rests[capability];
	uint64_t ms = 2ull * LIMIT_REST_MS << rest->steps;

	if (blame == BLAME_MISSING) {
		rest->until_ms = TIME_NEVER;
		rest->is_missing = true;
	} else {
		rest->until_ms = step->now_ms +
		    (ms < LIMIT_REST_MAX_MS ? ms : LIMIT_REST_MAX_MS);
		rest->steps += rest->steps < 8;
	}
	step_note(step, capability, NOTE_RESTING);
}

/* -- configuration and recovery */

static void
on_source(struct step *step)
{
	struct schedule *schedule = step->schedule;
	uint32_t slot = step->event->slot;
	struct source *source = &schedule->sources[slot];

	must(slot < SCHEDULE_SLOTS);
	if (slot >= schedule->n_slots)
		schedule->n_slots = slot + 1;
	if (source->is_used) {
		source->is_removed = false;
		source->rule = *step->event->rule;
		/* A shorter interval counts from now on. */
		if (source->failures == 0 &&
		    source->due_ms > step->now_ms + source->rule.poll_ms)
			source->due_ms = step->now_ms + source->rule.poll_ms;
		return;
	}
	*source = (struct source){ .is_used = true,
		.rule = *step->event->rule,
		.due_ms = step->now_ms };
	schedule->hours[slot] = (struct hour){ 0 };
	if (!step->event->value)
		step_commit(step, slot, OP_CLAIM_ID);
}

/* A slot is free again once nothing of its removed source is left to do. */
static void
free_removed(struct step *step, uint32_t slot)
{
	struct source *source = &step->schedule->sources[slot];
	bool has_job =
	    source->job.state >= JOB_HELD && source->job.state <= JOB_RUNNING;

	if (!source->is_removed || has_job || source->committing != 0 ||
	    source->pending != 0)
		return;
	step_act(step, ACTION_CLEAR, slot, 0);
	*source = (struct source){ 0 };
}

static void
on_remove(struct step *step)
{
	uint32_t slot = step->event->slot;
	struct source *source = &step->schedule->sources[slot];

	step_end_exchange(step, slot);
	source->is_removed = true;
	if (source->job.state == JOB_HELD)
		step_release(step, slot, RELEASE_STOPPING);
	free_removed(step, slot);
}

static void
on_found(struct step *step)
{
	uint32_t slot = step->event->slot;
	struct source *source = &step->schedule->sources[slot];
	uint32_t crashes = step->event->job->crashes;

	must(source->job.state == JOB_NONE);
	source->job = *step->event->job;
	source->due_ms = step->now_ms;
	if (source->job.state == JOB_FINISHED)
		return;
	job_recover(&source->job, step->event->value, step->now_ms);
	step_record(step, slot,
	    source->job.crashes > crashes &&
		    source->job.outcome == OUTCOME_RELEASED
		? OP_CRASH
		: 0);
}

/* -- the box */

static void
on_listed(struct step *step)
{
	struct schedule *schedule = step->schedule;

	schedule->yard_is_up = true;
	schedule->usable = step->event->value;
	for (uint32_t i = 0; i < CAPABILITY_COUNT; i++) {
		if (schedule->rests[i].is_missing)
			schedule->rests[i] = (struct rest){ 0 };
	}
}

static void
on_ended(struct step *step)
{
	struct schedule *schedule = step->schedule;
	uint32_t slot = schedule->running;
	uint32_t end = step->event->value;
	struct job *job;
	enum job_blame blame;
	uint32_t capability;

	if (slot == SLOT_NONE)
		return;
	schedule->running = SLOT_NONE;
	job = &schedule->sources[slot].job;
	capability = job->capability;
	job->body_bytes = step->event->number;
	/* Killed by our order, but not because of a drain: it ran on past
	 * its limit. By another's it is not the job's fault. */
	if (end == YARD_END_ORDER && schedule->drain == DRAIN_NOT &&
	    schedule->kill_ms != 0)
		end = YARD_END_TIME;
	blame = job_end(job, end, step->event->verdict, step->now_ms);
	if (blame == BLAME_MACHINE || blame == BLAME_MISSING)
		rest(step, capability, blame);
	else if (blame == BLAME_NONE && job->outcome == OUTCOME_SUCCEEDED)
		schedule->rests[capability] = (struct rest){ 0 };
	if (job->reason == RELEASE_CAPABILITY_RESTING)
		job->retry_after_s = step_rest_seconds(step, capability);
	/* One that is given up is not offered again. */
	if (job->outcome != OUTCOME_RELEASED)
		blame = BLAME_NONE;
	step_record(step, slot, blame == BLAME_SUSPECT ? OP_SUSPECT : 0);
}

static uint32_t
oldest_held(const struct schedule *schedule)
{
	uint32_t found = SLOT_NONE;

	for (uint32_t i = 0; i < schedule->n_slots; i++) {
		const struct source *source = &schedule->sources[i];

		if (source->job.state == JOB_HELD && source->committing == 0 &&
		    (found == SLOT_NONE ||
			source->job.since_ms <
			    schedule->sources[found].job.since_ms))
			found = i;
	}
	return found;
}

/* Gives back held jobs that cannot have their turn; starts the next. */
static void
serve_held(struct step *step)
{
	struct schedule *schedule = step->schedule;
	uint32_t slot;

	for (uint32_t i = 0; i < schedule->n_slots; i++) {
		struct source *source = &schedule->sources[i];
		struct job *job = &source->job;

		if (job->state != JOB_HELD || source->committing != 0)
			continue;
		if (schedule->drain != DRAIN_NOT)
			step_release(step, i, RELEASE_STOPPING);
		else if (schedule->rests[job->capability].until_ms >
		    step->now_ms)
			release_resting(step, i);
		else if (step->now_ms - job->since_ms >= LIMIT_HELD_MS)
			step_release(step, i, RELEASE_BUSY);
	}
	slot = oldest_held(schedule);
	if (slot != SLOT_NONE &&
	    step_can_start(step, schedule->sources[slot].job.capability))
		step_start(step, slot, 0);
}

/* -- the journal */

static bool
has_pending(const struct schedule *schedule)
{
	for (uint32_t i = 0; i < schedule->n_slots; i++) {
		if (schedule->sources[i].pending != 0)
			return true;
	}
	return false;
}

static void
on_committed(struct step *step)
{
	uint32_t slot = step->event->slot;
	struct schedule *schedule = step->schedule;
	struct source *source = &schedule->sources[slot];
	bool was_pending = (source->pending & step->event->value) != 0;

	source->committing &= ~step->event->value;
	source->pending &= ~step->event->value;
	if (schedule->journal_is_full && !has_pending(schedule)) {
		schedule->journal_is_full = false;
		step_note(step, slot, NOTE_JOURNAL_WELL);
	} else if (schedule->journal_is_full && was_pending) {
		schedule->journal_retry_ms = step->now_ms;
	}
	if (source->job.state == JOB_STARTING && source->committing == 0) {
		source->job.state = JOB_RUNNING;
		source->job.since_ms = step->now_ms;
		step_act(step, ACTION_MAKE, slot, source->job.capability);
	} else if (source->job.state == JOB_GONE && source->committing == 0 &&
	    source->pending == 0) {
		source->job = (struct job){ 0 };
		step_act(step, ACTION_CLEAR, slot, 0);
	}
	free_removed(step, slot);
}

static void
on_uncommitted(struct step *step)
{
	uint32_t slot = step->event->slot;
	struct schedule *schedule = step->schedule;
	struct source *source = &schedule->sources[slot];
	uint32_t ops = step->event->value;

	source->committing &= ~ops;
	/* A job that could not be written down is not run. */
	source->pending |= ops & ~(uint32_t)(OP_TAKEN | OP_START);
	if (!schedule->journal_is_full)
		step_note(step, slot, NOTE_JOURNAL_FULL);
	schedule->journal_is_full = true;
	schedule->journal_retry_ms = step->now_ms + JOURNAL_RETRY_MS;
	if (ops & OP_START)
		schedule->running = SLOT_NONE;
	if (ops & (OP_TAKEN | OP_START))
		step_release(step, slot, RELEASE_BUSY);
}

static void
retry_journal(struct step *step)
{
	struct schedule *schedule = step->schedule;

	if (!schedule->journal_is_full ||
	    step->now_ms < schedule->journal_retry_ms)
		return;
	schedule->journal_retry_ms = step->now_ms + JOURNAL_RETRY_MS;
	for (uint32_t i = 0; i < schedule->n_slots; i++) {
		uint32_t ops = schedule->sources[i].pending;

		if (ops != 0 && schedule->sources[i].committing == 0)
			step_commit(step, i, ops);
	}
}

/* -- time and the end */

static void
on_stop(struct step *step)
{
	struct schedule *schedule = step->schedule;

	enum drain drain = step->event->value ? DRAIN_NOW : DRAIN_FINISH;

	if (drain <= schedule->drain)
		return;
	if (schedule->drain == DRAIN_NOT)
		step_note(step, SLOT_NONE, NOTE_DRAINING);
	schedule->drain_ms = step->now_ms;
	schedule->drain = drain;
	for (uint32_t i = 0; i < schedule->n_slots; i++) {
		if (schedule->sources[i].job.state == JOB_ASKING)
			step_end_exchange(step, i);
	}
}

static uint64_t
kill_due_ms(const struct schedule *schedule)
{
	const struct job *job;
	uint64_t due;
	uint64_t drained;

	if (schedule->running == SLOT_NONE)
		return TIME_NEVER;
	if (schedule->kill_ms != 0)
		return schedule->kill_ms + KILL_SLACK_MS;
	if (schedule->drain == DRAIN_NOW)
		return schedule->drain_ms;
	job = &schedule->sources[schedule->running].job;
	due = job->since_ms + schedule->limits.run_ms[job->capability] +
	    LIMIT_BOX_SETUP_MS + KILL_SLACK_MS;
	drained = schedule->drain_ms + schedule->limits.drain_timeout_ms;
	return schedule->drain == DRAIN_FINISH && drained < due ? drained : due;
}

static void
guard_box(struct step *step)
{
	struct schedule *schedule = step->schedule;

	if (step->now_ms < kill_due_ms(schedule) ||
	    schedule->sources[schedule->running].job.state != JOB_RUNNING)
		return;
	if (schedule->kill_ms == 0) {
		schedule->kill_ms = step->now_ms;
		step_act(step, ACTION_KILL, schedule->running, 0);
	} else if (!schedule->has_exited) {
		step_note(step, SLOT_NONE, NOTE_YARD_STUCK);
		schedule->has_exited = true;
		step_act(step, ACTION_EXIT, SLOT_NONE, 1);
	}
}

static void
expire(struct step *step)
{
	struct schedule *schedule = step->schedule;

	for (uint32_t i = 0; i < schedule->n_slots; i++) {
		struct source *source = &schedule->sources[i];

		if (source->exchange != EXCHANGE_NONE &&
		    step->now_ms >= source->deadline_ms)
			round_drop(schedule, i, step->event->random,
			    step->now_ms, step->out);
		if (source->job.state == JOB_FINISHED &&
		    source->exchange == EXCHANGE_NONE &&
		    source->committing == 0 &&
		    step->now_ms - source->job.finished_ms >=
			schedule->limits.result_ttl_ms) {
			step_note(step, i, NOTE_EXPIRED);
			step_gone(step, i);
		}
	}
}

/* Nothing is left that could be done before the end. */
static bool
is_drained(const struct step *step)
{
	const struct schedule *schedule = step->schedule;
	uint64_t patience_ms = schedule->drain == DRAIN_NOW
	    ? LIMIT_STOP_MS
	    : schedule->limits.drain_timeout_ms;
	bool is_late = step->now_ms - schedule->drain_ms >= patience_ms;

	if (schedule->drain == DRAIN_NOT || schedule->running != SLOT_NONE)
		return false;
	if (schedule->drain == DRAIN_NOW && is_late)
		return true;
	for (uint32_t i = 0; i < schedule->n_slots; i++) {
		const struct source *source = &schedule->sources[i];
		bool can_deliver = source->job.state == JOB_FINISHED &&
		    schedule->keep_is_up && source->due_ms <= step->now_ms;

		if (source->exchange != EXCHANGE_NONE ||
		    source->committing != 0 || can_deliver ||
		    (source->pending != 0 && !is_late))
			return false;
	}
	return true;
}

static void
settle(struct step *step)
{
	struct schedule *schedule = step->schedule;

	retry_journal(step);
	expire(step);
	serve_held(step);
	guard_box(step);
	round_count(schedule, step->now_ms);
	round_limit_letters(
	    schedule, step->event->random, step->now_ms, step->out);
	round_ask(schedule, step->event->random, step->now_ms, step->out);
	if (!schedule->has_exited && is_drained(step)) {
		schedule->has_exited = true;
		step_act(step, ACTION_EXIT, SLOT_NONE, 0);
	}
}

static void
handle(struct step *step)
{
	struct schedule *schedule = step->schedule;
	const struct event *event = step->event;
	struct source *source = &schedule->sources[event->slot];

	switch (event->kind) {
	case EVENT_TICK:
		break;
	case EVENT_SOURCE:
		on_source(step);
		break;
	case EVENT_REMOVE:
		on_remove(step);
		break;
	case EVENT_RAN:
		hour_add(
		    &schedule->hours[event->slot], event->number, step->now_ms);
		break;
	case EVENT_PARKED:
		source->parked = event->value;
		source->parked_bytes = event->number;
		break;
	case EVENT_READY:
		source->is_ready = true;
		break;
	case EVENT_FOUND:
		on_found(step);
		break;
	case EVENT_LIMITS:
		schedule->limits = *event->limits;
		break;
	case EVENT_KEEP_UP:
		schedule->keep_is_up = true;
		break;
	case EVENT_KEEP_DOWN:
		exchange_keep_down(step);
		break;
	case EVENT_OPENED:
		exchange_opened(step);
		break;
	case EVENT_ANSWERED:
		exchange_answered(step);
		break;
	case EVENT_LOST:
		exchange_lost(step);
		break;
	case EVENT_LETTER:
		if (source->exchange == EXCHANGE_CLAIM)
			source->letter_bytes = event->number;
		break;
	case EVENT_LISTED:
		on_listed(step);
		break;
	case EVENT_YARD_DOWN:
		schedule->yard_is_up = false;
		break;
	case EVENT_ENDED:
		on_ended(step);
		break;
	case EVENT_COMMITTED:
		on_committed(step);
		break;
	case EVENT_UNCOMMITTED:
		on_uncommitted(step);
		break;
	case EVENT_STOP:
		on_stop(step);
		break;
	}
}

void
schedule_step(struct schedule *schedule, const struct event *event,
    uint64_t now_ms, struct actions *out)
{
	struct step step = { schedule, event, now_ms, out };

	must(event->slot < SCHEDULE_SLOTS);
	handle(&step);
	settle(&step);
}

static uint64_t
source_wake_ms(struct schedule *schedule, uint32_t slot, uint64_t now_ms)
{
	const struct source *source = &schedule->sources[slot];
	uint64_t wake = round_ready_ms(schedule, slot, now_ms);
	uint64_t also = TIME_NEVER;

	/* One that is due waits for another's answer, or became due since the
	 * last step. */
	if (wake <= now_ms && schedule->waiting != SLOT_NONE)
		wake = round_overdue_ms(schedule, wake);
	if (source->exchange != EXCHANGE_NONE)
		also = source->deadline_ms;
	else if (source->job.state == JOB_HELD)
		also = source->job.since_ms + LIMIT_HELD_MS;
	else if (source->job.state == JOB_FINISHED)
		also = source->job.finished_ms + schedule->limits.result_ttl_ms;
	return also < wake ? also : wake;
}

uint64_t
schedule_wake_ms(struct schedule *schedule, uint64_t now_ms)
{
	uint64_t wake = kill_due_ms(schedule);
	if (schedule->has_exited)
		return TIME_NEVER;
#define SOONER(ms) ((ms) < wake ? (ms) : wake)
	for (uint32_t i = 0; i < schedule->n_slots; i++) {
		wake = SOONER(source_wake_ms(schedule, i, now_ms));
	}
	if (schedule->waiting != SLOT_NONE)
		wake = SOONER(schedule->waiting_since_ms + schedule->budget_ms);
	if (schedule->journal_is_full && has_pending(schedule))
		wake = SOONER(schedule->journal_retry_ms);
	if (schedule->drain == DRAIN_NOW)
		wake = SOONER(schedule->drain_ms + LIMIT_STOP_MS);
	else if (schedule->drain == DRAIN_FINISH && schedule->journal_is_full)
		wake = SOONER(
		    schedule->drain_ms + schedule->limits.drain_timeout_ms);
	if (round_must_watch(schedule))
		wake = SOONER(now_ms + LIMIT_WATCH_MS);
#undef SOONER
	return wake;
}
