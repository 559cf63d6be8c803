/* SPDX-License-Identifier: ISC
 *
 * Who is asked now. Runs in the core; pure. No source, however slow, holds
 * the others back by more than the round's one second; none is waited for
 * that was late the last time.
 */
#include "core/round.h"

#include "base/must.h"

static uint64_t
later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

void
action_add(
    struct actions *out, enum action_kind kind, uint32_t slot, uint32_t value)
{
	must(out->n < SCHEDULE_ACTIONS);
	out->list[out->n++] = (struct action){ kind, slot, value };
}

void
round_count(struct schedule *schedule, uint64_t now_ms)
{
	bool was_open = schedule->is_open;

	schedule->is_busy = false;
	schedule->n_exchanges = 0;
	for (uint32_t i = 0; i < schedule->n_slots; i++) {
		const struct source *source = &schedule->sources[i];
		enum job_state state = source->job.state;

		schedule->is_busy |= state >= JOB_HELD && state <= JOB_RUNNING;
		schedule->n_exchanges += source->exchange != EXCHANGE_NONE;
	}
	schedule->is_open = !schedule->is_busy && schedule->keep_is_up &&
	    schedule->yard_is_up && !schedule->journal_is_full;
	if (was_open && !schedule->is_open)
		schedule->shut_ms = now_ms;
	/* A job that is taken and given back at once delays nobody. */
	if (schedule->is_open && !was_open && schedule->shut_ms != now_ms)
		schedule->open_ms = now_ms;
}

uint64_t
round_overdue_ms(const struct schedule *schedule, uint64_t ready_ms)
{
	return later(ready_ms, schedule->open_ms) + LIMIT_ROUND_MS;
}

static bool
is_rested(const struct rest *rest, uint64_t now_ms)
{
	return rest->until_ms <= now_ms;
}

uint32_t
schedule_askable(const struct schedule *schedule, const struct source *source,
    uint64_t now_ms)
{
	uint32_t bits = source->rule.capabilities & schedule->usable;

	for (uint32_t i = 0; i < CAPABILITY_COUNT; i++) {
		if (!is_rested(&schedule->rests[i], now_ms))
			bits &= ~(1u << i);
	}
	return bits;
}

/* When the first of its capabilities can be asked for. */
static uint64_t
rested_ms(const struct schedule *schedule, const struct source *source)
{
	uint32_t bits = source->rule.capabilities & schedule->usable;
	uint64_t first = TIME_NEVER;

	for (uint32_t i = 0; i < CAPABILITY_COUNT; i++) {
		if ((bits & 1u << i) && schedule->rests[i].until_ms < first)
			first = schedule->rests[i].until_ms;
	}
	return first;
}

static bool
may_claim(const struct schedule *schedule, const struct source *source)
{
	return source->job.state == JOB_NONE && source->committing == 0 &&
	    source->pending == 0 && !schedule->journal_is_full &&
	    schedule->drain == DRAIN_NOT && schedule->yard_is_up &&
	    !source_is_parked(source) && !schedule->is_busy;
}

uint64_t
round_ready_ms(struct schedule *schedule, uint32_t slot, uint64_t now_ms)
{
	struct source *source = &schedule->sources[slot];
	uint32_t cap = source->rule.max_jobs_per_hour;
	uint64_t ready;

	if (!source->is_ready || source->is_removed || !schedule->keep_is_up ||
	    source->exchange != EXCHANGE_NONE)
		return TIME_NEVER;
	if (source->job.state == JOB_FINISHED)
		return source->committing ? TIME_NEVER : source->due_ms;
	if (!may_claim(schedule, source))
		return TIME_NEVER;
	ready = rested_ms(schedule, source);
	if (cap != 0 && ready != TIME_NEVER)
		ready = later(
		    ready, hour_free_ms(&schedule->hours[slot], cap, now_ms));
	return later(ready, source->due_ms);
}

static uint32_t
next_due(struct schedule *schedule, uint64_t now_ms)
{
	for (uint32_t i = 0; i < schedule->n_slots; i++) {
		uint32_t slot = (schedule->turn + i) % schedule->n_slots;

		if (schedule->sources[slot].round != schedule->round &&
		    round_ready_ms(schedule, slot, now_ms) <= now_ms)
			return slot;
	}
	return SLOT_NONE;
}

/* One that has waited its second, in whatever rounds. */
static uint32_t
next_overdue(struct schedule *schedule, uint64_t now_ms)
{
	for (uint32_t i = 0; i < schedule->n_slots; i++) {
		uint64_t ready = round_ready_ms(schedule, i, now_ms);

		if (ready <= now_ms &&
		    round_overdue_ms(schedule, ready) <= now_ms)
			return i;
	}
	return SLOT_NONE;
}

/* The exchange that has run longest; claims only, or any. */
static uint32_t
find_longest(const struct schedule *schedule, bool claims_only)
{
	uint32_t found = SLOT_NONE;
	uint64_t oldest = TIME_NEVER;

	for (uint32_t i = 0; i < schedule->n_slots; i++) {
		const struct source *source = &schedule->sources[i];

		if (source->exchange == EXCHANGE_NONE ||
		    source->opened_ms >= oldest ||
		    (claims_only && source->exchange != EXCHANGE_CLAIM))
			continue;
		oldest = source->opened_ms;
		found = i;
	}
	return found;
}

void
round_exchange_over(struct schedule *schedule, uint32_t slot, uint64_t now_ms)
{
	struct source *source = &schedule->sources[slot];

	source->was_late = now_ms - source->opened_ms >= LIMIT_ROUND_MS;
	source->exchange = EXCHANGE_NONE;
	schedule->n_exchanges--;
	source->letter_bytes = 0;
	if (source->job.state == JOB_ASKING)
		source->job.state = JOB_NONE;
	if (schedule->waiting == slot) {
		uint64_t waited = now_ms - schedule->waiting_since_ms;

		schedule->budget_ms -=
		    waited < schedule->budget_ms ? waited : schedule->budget_ms;
		schedule->waiting = SLOT_NONE;
	}
}

void
round_drop(struct schedule *schedule, uint32_t slot, uint32_t random,
    uint64_t now_ms, struct actions *out)
{
	struct source *source = &schedule->sources[slot];
	bool is_keeps = source->exchange == EXCHANGE_OPENING;
	enum trouble_kind before = source->trouble.kind;

	action_add(out, ACTION_DROP, slot, 0);
	round_exchange_over(schedule, slot, now_ms);
	source->was_late = true;
	if (is_keeps)
		source_skip(source,
		    (struct trouble){ TROUBLE_KEEP, KEEP_RESULT_FAILED },
		    now_ms);
	else
		source_fail(source, (struct trouble){ TROUBLE_LATE, 0 }, 0,
		    random, now_ms);
	if (source->trouble.kind != before)
		action_add(out, ACTION_NOTE, slot, NOTE_TROUBLE);
}

uint64_t
round_letter_bytes(const struct schedule *schedule)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < schedule->n_slots; i++) {
		const struct source *source = &schedule->sources[i];

		bytes += source->letter_bytes + source->job.input_bytes;
	}
	return bytes;
}

void
round_limit_letters(struct schedule *schedule, uint32_t random, uint64_t now_ms,
    struct actions *out)
{
	while (round_letter_bytes(schedule) > LIMIT_LETTERS_BYTES) {
		uint32_t slot = find_longest(schedule, true);

		if (slot == SLOT_NONE)
			return;
		round_drop(schedule, slot, random, now_ms, out);
	}
}

bool
round_must_watch(const struct schedule *schedule)
{
	uint64_t bytes = round_letter_bytes(schedule);

	for (uint32_t i = 0; i < schedule->n_slots; i++) {
		const struct source *source = &schedule->sources[i];

		if (source->exchange == EXCHANGE_CLAIM)
			bytes += source->rule.max_input - source->letter_bytes;
	}
	return bytes > LIMIT_LETTERS_BYTES;
}

static void
open_courier(struct schedule *schedule, uint32_t slot, uint64_t now_ms,
    struct actions *out)
{
	struct source *source = &schedule->sources[slot];

	source->exchange = EXCHANGE_OPENING;
	schedule->n_exchanges++;
	source->opened_ms = now_ms;
	source->deadline_ms = now_ms + LIMIT_CLAIM_MS;
	source->round = schedule->round;
	if (source->job.state == JOB_NONE) {
		source->job = (struct job){ .state = JOB_ASKING,
			.capability = CAPABILITY_NONE,
			.since_ms = now_ms };
	}
	action_add(out, ACTION_OPEN, slot, 0);
}

static bool
is_waiting(struct schedule *schedule, uint64_t now_ms)
{
	uint64_t waited = now_ms - schedule->waiting_since_ms;

	if (schedule->waiting == SLOT_NONE)
		return false;
	if (waited < schedule->budget_ms && !schedule->is_busy)
		return true;
	schedule->budget_ms -=
	    waited < schedule->budget_ms ? waited : schedule->budget_ms;
	schedule->waiting = SLOT_NONE;
	return false;
}

/* The next of this round, or the first of a new one. */
static uint32_t
next_in_turn(struct schedule *schedule, uint64_t now_ms)
{
	uint32_t slot = next_due(schedule, now_ms);

	if (slot != SLOT_NONE)
		return slot;
	schedule->round++;
	schedule->budget_ms = LIMIT_ROUND_MS;
	return next_due(schedule, now_ms);
}

/* Opens a courier for the slot, and makes room for it if need be. */
static void
ask(struct schedule *schedule, uint32_t slot, uint32_t random, uint64_t now_ms,
    struct actions *out)
{
	if (schedule->n_exchanges >= LIMIT_COURIERS)
		round_drop(schedule, find_longest(schedule, false), random,
		    now_ms, out);
	open_courier(schedule, slot, now_ms, out);
}

void
round_ask(struct schedule *schedule, uint32_t random, uint64_t now_ms,
    struct actions *out)
{
	for (;;) {
		bool waits = is_waiting(schedule, now_ms);
		uint32_t slot = waits ? next_overdue(schedule, now_ms)
				      : next_in_turn(schedule, now_ms);

		if (slot == SLOT_NONE)
			return;
		ask(schedule, slot, random, now_ms, out);
		if (waits || schedule->sources[slot].was_late ||
		    schedule->budget_ms == 0 || schedule->is_busy)
			continue;
		schedule->waiting = slot;
		schedule->waiting_since_ms = now_ms;
	}
}
