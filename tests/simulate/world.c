/* SPDX-License-Identifier: ISC
 *
 * The world around the scheduler. It performs the actions as the core does:
 * the journal first, everything of a batch in one transaction, then orders.
 */
#include "world.h"

#include <string.h>

#include "contract/outcome.h"

static uint32_t
draw(struct world *w, uint32_t n)
{
	w->random = w->random * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)((w->random >> 32) * n >> 32);
}

static void
broken(struct world *w, const char *what)
{
	if (w->broken == NULL)
		w->broken = what;
}

static void
tell(struct world *w, struct event event)
{
	event.random = draw(w, UINT32_MAX);
	schedule_step(&w->schedule, &event, w->now_ms, &w->actions[w->filling]);
}

static void
tell_slot(struct world *w, enum event_kind kind, uint32_t slot, uint32_t value)
{
	tell(w, (struct event){ .kind = kind, .slot = slot, .value = value });
}

/* -- start and restart of the core */

static void
find_row(struct world *w, uint32_t slot)
{
	struct world_source *source = &w->sources[slot];

	if (w->schedule.sources[slot].job.state != JOB_NONE)
		return;
	for (uint32_t i = 0; i < source->book.n_rows; i++) {
		struct world_row *row = &source->book.rows[i];

		if (row->is_parked)
			continue;
		source->job = row->job;
		row->data.state = JOB_FINISHED;
		tell(w,
		    (struct event){
			.kind = EVENT_FOUND, .slot = slot, .job = &row->data });
		return;
	}
}

static void
recover(struct world *w, uint32_t slot)
{
	struct world_source *source = &w->sources[slot];
	struct book *book = &source->book;
	struct event parked = { .kind = EVENT_PARKED, .slot = slot };
	uint32_t n =
	    source->n_starts < WORLD_CAP ? source->n_starts : WORLD_CAP;

	for (uint32_t i = 0; i < book->n_rows; i++)
		parked.value += book->rows[i].is_parked;
	tell(w, parked);
	for (uint32_t i = 0; i < n; i++)
		tell(w,
		    (struct event){ .kind = EVENT_RAN,
			.slot = slot,
			.number = w->now_ms - source->starts[i] });
	if (book->is_held) {
		const struct world_job *job = &w->jobs[book->held_job];
		struct job held = {
			.state = book->is_running ? JOB_RUNNING : JOB_HELD,
			.capability = job->capability,
			.suspicions = job->suspicions,
			.crashes = job->crashes,
		};

		source->job = book->held_job;
		tell(w,
		    (struct event){ .kind = EVENT_FOUND,
			.slot = slot,
			.value = w->has_crashed,
			.job = &held });
	} else {
		find_row(w, slot);
	}
}

static void
start_core(struct world *w)
{
	static const struct schedule_limits limits = {
		.result_ttl_ms = 7ull * 24 * LIMIT_HOUR_MS,
		.drain_timeout_ms = 60000,
		.run_ms = { 60000, 60000, 60000 },
	};

	schedule_init(&w->schedule);
	w->actions[0].n = w->actions[1].n = 0;
	w->is_dead = false;
	w->box = SLOT_NONE;
	memset(w->unmade_ms, 0, sizeof(w->unmade_ms));
	tell(w, (struct event){ .kind = EVENT_LIMITS, .limits = &limits });
	for (uint32_t i = 0; i < w->n; i++) {
		struct world_source *source = &w->sources[i];

		source->stage = STAGE_IDLE;
		source->job = JOB_NOBODY;
		source->claimed_ms = source->failures = 0;
		source->ready_since_ms = 0;
		tell(w,
		    (struct event){ .kind = EVENT_SOURCE,
			.slot = i,
			.value = source->book.claim_id != 0,
			.rule = &source->rule });
		recover(w, i);
		tell_slot(w, EVENT_READY, i, 0);
	}
	if (w->keep_is_up)
		tell_slot(w, EVENT_KEEP_UP, 0, 0);
	if (w->yard_is_up)
		tell_slot(w, EVENT_LISTED, 0, CAPABILITY_ALL);
}

/* -- the journal */

static struct world_row *
row_of(struct book *book, uint32_t job)
{
	for (uint32_t i = 0; i < book->n_rows; i++) {
		if (book->rows[i].job == job && !book->rows[i].is_parked)
			return &book->rows[i];
	}
	return NULL;
}

static void
remove_row(struct book *book, struct world_row *row)
{
	size_t after = (size_t)(&book->rows[book->n_rows] - row - 1);

	memmove(row, row + 1, after * sizeof(*row));
	book->n_rows--;
}

static void
put_row(struct world *w, uint32_t slot)
{
	struct world_source *source = &w->sources[slot];
	struct book *book = &source->book;
	struct world_row *row = row_of(book, source->job);

	book->is_held = false;
	if (row == NULL && book->n_rows == WORLD_ROWS) {
		broken(w, "more results than a source may have");
		return;
	}
	if (row == NULL)
		row = &book->rows[book->n_rows++];
	*row = (struct world_row){ .job = source->job,
		.data = w->schedule.sources[slot].job };
	if (row->data.outcome != OUTCOME_RELEASED)
		w->jobs[source->job].suspicions = w->jobs[source->job].crashes =
		    0;
}

static void
drop_row(struct world *w, uint32_t slot)
{
	struct world_source *source = &w->sources[slot];
	struct book *book = &source->book;
	struct world_row *row = row_of(book, source->job);
	const struct job *job = &w->schedule.sources[slot].job;
	bool is_old = w->now_ms - job->finished_ms >= 7ull * 24 * LIMIT_HOUR_MS;

	if (w->jobs[source->job].outcome == 0 && !is_old)
		broken(w, "a result was dropped that was not delivered");
	if (row != NULL)
		remove_row(book, row);
	book->is_held = false;
	w->n_done++;
}

static void
write_ops(struct world *w, uint32_t slot, uint32_t ops)
{
	struct world_source *source = &w->sources[slot];
	struct world_row *row;

	if (ops & OP_CLAIM_ID)
		source->book.claim_id = ++w->next_claim_id;
	if (ops & OP_TAKEN) {
		source->book.is_held = true;
		source->book.is_running = false;
		source->book.held_job = source->job;
		source->starts[source->n_starts++ % WORLD_CAP] = w->now_ms;
	}
	if (ops & OP_START)
		source->book.is_running = true;
	if (ops & OP_OUTCOME)
		put_row(w, slot);
	row = row_of(&source->book, source->job);
	if ((ops & OP_TRIED) && row != NULL)
		row->data = w->schedule.sources[slot].job;
	if ((ops & OP_PARKED) && row != NULL)
		row->is_parked = true;
	if (ops & OP_GONE)
		drop_row(w, slot);
	if (ops & OP_SUSPECT)
		w->jobs[source->job].suspicions++;
	if (ops & OP_CRASH)
		w->jobs[source->job].crashes++;
}

static void
perform_journal(struct world *w, const struct actions *list)
{
	enum event_kind kind =
	    w->disk_is_full ? EVENT_UNCOMMITTED : EVENT_COMMITTED;

	for (size_t i = 0; i < list->n; i++) {
		const struct action *a = &list->list[i];

		if (a->kind != ACTION_JOURNAL)
			continue;
		if (kind == EVENT_COMMITTED)
			write_ops(w, a->slot, a->value);
		else if (w->sources[a->slot].job != JOB_NOBODY)
			w->jobs[w->sources[a->slot].job].is_excused = true;
		w->n_full += kind != EVENT_COMMITTED;
	}
	/* A crash between the commit and all that follows from it. */
	if (draw(w, 20000) == 0)
		w->is_dead = true;
	for (size_t i = 0; i < list->n && !w->is_dead; i++) {
		if (list->list[i].kind == ACTION_JOURNAL)
			tell_slot(
			    w, kind, list->list[i].slot, list->list[i].value);
	}
}

/* -- the sources */

static uint64_t
latency(struct world *w, const struct world_source *source)
{
	switch (source->temper) {
	case TEMPER_SLOW:
		return 500 + draw(w, draw(w, 10) == 0 ? 59000 : 5000);
	case TEMPER_SILENT:
		return draw(w, 50) == 0 ? 10 : TIME_NEVER;
	case TEMPER_LIAR:
		return draw(w, 20) == 0 ? TIME_NEVER : draw(w, 3000);
	case TEMPER_FAST:
	case TEMPER_AWAY:
	case TEMPER_REPEATS:
	case TEMPER_COUNT:
		break;
	}
	return 2 + draw(w, 60);
}

static void
answer_in(struct world *w, uint32_t slot, uint32_t status, uint32_t http)
{
	struct world_source *source = &w->sources[slot];
	uint64_t ms = latency(w, source);

	source->answer = (struct courier_answer){ .status = status,
		.http_status = http,
		.capability = CAPABILITY_NONE };
	source->answer_ms = ms == TIME_NEVER ? ms : w->now_ms + ms;
}

static uint32_t
new_job(struct world *w, uint32_t slot)
{
	struct world_source *source = &w->sources[slot];
	uint32_t id = source->last_job;
	bool is_again = id != JOB_NOBODY &&
	    (source->temper == TEMPER_REPEATS ||
		w->jobs[id].outcome == OUTCOME_RELEASED);

	if (!is_again) {
		if (w->n_jobs == WORLD_JOBS)
			return JOB_NOBODY;
		id = w->n_jobs++;
		w->jobs[id] = (struct world_job){ .owner = slot,
			.capability = draw(w, CAPABILITY_COUNT) };
	}
	w->jobs[id].outcome = w->jobs[id].code = 0;
	source->last_job = id;
	return id;
}

static void
answer_claim(struct world *w, uint32_t slot)
{
	struct world_source *source = &w->sources[slot];
	uint32_t lie = source->temper == TEMPER_LIAR ? draw(w, 8) : 99;
	uint32_t claim_id = source->claim_id_sent;

	source->answer_job = JOB_NOBODY;
	answer_in(w, slot, COURIER_NOTHING, 204);
	if (source->is_away || lie == 0) {
		source->answer.status = COURIER_UNREACHABLE;
		source->answer.http_status = 0;
		source->answer.trouble = COURIER_REFUSED;
		return;
	}
	if (lie == 1 || lie == 2) {
		source->answer.status =
		    lie == 1 ? COURIER_NOT_CONTRACT : COURIER_ANSWERED;
		source->answer.http_status =
		    lie == 1 ? 200 : 401 + draw(w, 150);
		source->answer.retry_after_s = draw(w, LIMIT_RETRY_AFTER_S);
		return;
	}
	/* The same claim again has the same job again. */
	if (claim_id == source->claim_id &&
	    w->jobs[source->claim_job].outcome == 0)
		source->answer_job = source->claim_job;
	else if (draw(w, 3) == 0)
		source->answer_job = new_job(w, slot);
	if (source->answer_job == JOB_NOBODY)
		return;
	source->claim_id = claim_id;
	source->claim_job = source->answer_job;
	source->answer.status = COURIER_JOB;
	source->answer.http_status = 200;
	source->answer.input_bytes =
	    draw(w, 8) == 0 ? draw(w, LIMIT_BODY_BYTES) : draw(w, 100000);
	source->answer.capability = w->jobs[source->answer_job].capability;
	if (lie == 3) {
		source->answer.status = COURIER_BAD_JOB;
		source->answer.error = ERROR_BAD_JOB;
		source->answer.input_bytes = 0;
		source->answer.capability = CAPABILITY_NONE;
	}
	/* The answer is lost on its way. */
	if (draw(w, 30) == 0) {
		source->answer =
		    (struct courier_answer){ .status = COURIER_UNREACHABLE,
			    .trouble = COURIER_CLOSED };
		source->answer_job = JOB_NOBODY;
	}
}

static void
receive_result(struct world *w, uint32_t slot)
{
	struct world_source *source = &w->sources[slot];
	struct world_job *job = &w->jobs[source->job];
	const struct job *sent = &w->schedule.sources[slot].job;
	uint32_t code = sent->error + sent->reason;

	if (job->owner != slot)
		broken(w, "a result went to another source");
	if (job->outcome == 0) {
		job->outcome = sent->outcome;
		job->code = code;
	} else if ((job->outcome != sent->outcome || job->code != code) &&
	    !job->is_excused && sent->error != ERROR_OUTPUT_TOO_LARGE) {
		/* That one a source brings about itself, by a 413 to what it
		 * has stored already. */
		broken(w, "an outcome changed after it was delivered");
	}
}

static void
answer_result(struct world *w, uint32_t slot)
{
	struct world_source *source = &w->sources[slot];
	uint32_t lie = source->temper == TEMPER_LIAR ? draw(w, 16) : 99;

	answer_in(w, slot, COURIER_STORED, 200);
	if (source->is_away || lie == 0) {
		source->answer =
		    (struct courier_answer){ .status = COURIER_UNREACHABLE,
			    .trouble = COURIER_TIMEOUT };
		return;
	}
	if (lie <= 4) {
		static const uint32_t statuses[] = { 400, 413, 500, 503, 404 };

		source->answer.status = COURIER_ANSWERED;
		source->answer.http_status = statuses[lie];
		return;
	}
	receive_result(w, slot);
	/* Stored, but the answer is lost. */
	if (draw(w, 20) == 0)
		source->answer =
		    (struct courier_answer){ .status = COURIER_UNREACHABLE,
			    .trouble = COURIER_CLOSED };
}

/* -- what must hold when the core acts */

static void
check_delay(struct world *w, struct world_source *source)
{
	uint64_t poll = source->rule.poll_ms;
	uint64_t full =
	    source->failures < 24 ? poll << source->failures : LIMIT_BACKOFF_MS;
	uint64_t least;

	if (source->failures == 0)
		return;
	if (full > LIMIT_BACKOFF_MS)
		full = LIMIT_BACKOFF_MS;
	least = full * 4 / 5 > poll ? full * 4 / 5 : poll;
	if (w->sabotage == SABOTAGE_NO_BACKOFF)
		least *= 2;
	if (w->now_ms - source->failed_ms < least)
		broken(w, "a source in trouble was asked too early");
}

static void
check_claim(struct world *w, uint32_t slot, uint32_t capabilities)
{
	struct world_source *source = &w->sources[slot];
	uint32_t id = source->book.claim_id;
	uint64_t poll = source->rule.poll_ms;

	if (w->sabotage == SABOTAGE_CAPABILITY && source->n_starts > 0)
		capabilities = CAPABILITY_ALL;
	if (capabilities == 0 ||
	    (capabilities & ~source->rule.capabilities) != 0)
		broken(w, "asked for a capability that is not allowed");
	for (uint32_t i = 0; i < CAPABILITY_COUNT; i++) {
		if ((capabilities & 1u << i) && w->unmade_ms[i] != 0 &&
		    w->now_ms < w->unmade_ms[i] + 60000)
			broken(w, "asked for a capability that rests");
	}
	if (w->box != SLOT_NONE)
		broken(w, "asked while a job runs");
	if (w->schedule.journal_is_full)
		broken(w, "claimed what could not be written down");
	if (w->sabotage == SABOTAGE_HURRY)
		poll += 100;
	if (source->claimed_ms != 0 && w->now_ms < source->claimed_ms + poll)
		broken(w, "asked again before the interval was over");
	if (w->sabotage == SABOTAGE_CLAIM_ID)
		id += draw(w, 50) == 0;
	if (source->claim_id_sent != 0 && source->claim_id_sent != id)
		broken(w, "a claim_id changed before a 200 came");
	source->claim_id_sent = id;
	source->claimed_ms = w->now_ms;
	check_delay(w, source);
}

static void
check_start(struct world *w, uint32_t slot)
{
	struct world_source *source = &w->sources[slot];
	uint32_t cap = source->rule.max_jobs_per_hour;
	uint32_t n = source->n_starts;

	if (w->box != SLOT_NONE || w->sabotage == SABOTAGE_TWO_BOXES)
		broken(w, "two jobs at once");
	if (!source->book.is_running || source->book.held_job != source->job)
		broken(w, "a job runs that was not written down");
	if (w->jobs[source->job].owner != slot)
		broken(w, "a job of another source runs");
	if (w->sabotage == SABOTAGE_HOUR && cap > 1)
		cap--;
	if (cap != 0 && n > cap &&
	    w->now_ms - source->starts[(n - 1 - cap) % WORLD_CAP] <
		LIMIT_HOUR_MS)
		broken(w, "more jobs in an hour than the cap");
}

static void
fail(struct world *w, struct world_source *source)
{
	source->failures++;
	source->failed_ms = w->now_ms;
}

static void
make_box(struct world *w, uint32_t slot, uint32_t capability)
{
	check_start(w, slot);
	w->n_starts++;
	w->box = slot;
	w->box_capability = capability;
	w->box_ms =
	    w->now_ms + (draw(w, 10) == 0 ? draw(w, 59000) : 1 + draw(w, 2000));
	/* A yard that forgets its limit; the core does not. */
	if (draw(w, 500) == 0)
		w->box_ms = TIME_NEVER;
}

static void
drop(struct world *w, uint32_t slot)
{
	struct world_source *source = &w->sources[slot];

	if (w->keep_is_up &&
	    (source->stage == STAGE_CLAIM || source->stage == STAGE_RESULT))
		fail(w, source);
	source->stage = STAGE_IDLE;
}

static void
open_courier(struct world *w, uint32_t slot)
{
	struct world_source *source = &w->sources[slot];

	if (source->stage != STAGE_IDLE)
		broken(w, "two couriers for one source");
	source->stage = STAGE_OPENING;
	source->answer_ms = w->now_ms + 1 + draw(w, 30);
	source->keep_result = KEEP_RESULT_OK;
	if (draw(w, 200) == 0)
		source->keep_result = 1 + draw(w, KEEP_RESULT_COUNT - 1);
}

static void
perform(struct world *w, const struct action *a)
{
	struct world_source *source = &w->sources[a->slot % LIMIT_SOURCES];

	switch (a->kind) {
	case ACTION_JOURNAL:
	case ACTION_NOTE:
		break;
	case ACTION_OPEN:
		open_courier(w, a->slot);
		break;
	case ACTION_CLAIM:
		check_claim(w, a->slot, a->value);
		source->stage = STAGE_CLAIM;
		answer_claim(w, a->slot);
		break;
	case ACTION_DELIVER:
		check_delay(w, source);
		source->stage = STAGE_RESULT;
		if (w->sabotage == SABOTAGE_OWNER && w->n_done > 100)
			w->jobs[source->job].owner ^= 1;
		if (w->sabotage == SABOTAGE_OUTCOME && w->n_done > 100)
			w->schedule.sources[a->slot].job.outcome =
			    1 + draw(w, 3);
		answer_result(w, a->slot);
		break;
	case ACTION_DROP:
		drop(w, a->slot);
		break;
	case ACTION_MAKE:
		make_box(w, a->slot, a->value);
		break;
	case ACTION_KILL:
		w->box_ms = w->now_ms + 5;
		w->box_capability = CAPABILITY_NONE;
		break;
	case ACTION_CLEAR:
		source->job = JOB_NOBODY;
		find_row(w, a->slot);
		break;
	case ACTION_EXIT:
		broken(w, "the core ended by itself");
		break;
	}
}

static void
settle(struct world *w)
{
	while (w->actions[w->filling].n > 0 && !w->is_dead) {
		struct actions *list = &w->actions[w->filling];

		w->filling ^= 1;
		w->actions[w->filling].n = 0;
		perform_journal(w, list);
		for (size_t i = 0; i < list->n && !w->is_dead; i++)
			perform(w, &list->list[i]);
		list->n = 0;
	}
}

/* -- what happens next */

static void
answered(struct world *w, uint32_t slot)
{
	struct world_source *source = &w->sources[slot];
	struct courier_answer answer = source->answer;
	struct event event = {
		.kind = EVENT_ANSWERED, .slot = slot, .answer = &answer
	};
	bool is_claim = source->stage == STAGE_CLAIM;
	uint32_t status = answer.status;

	if (source->stage == STAGE_OPENING) {
		if (source->keep_result != KEEP_RESULT_OK)
			source->stage = STAGE_IDLE;
		tell_slot(w, EVENT_OPENED, slot, source->keep_result);
		return;
	}
	source->stage = STAGE_IDLE;
	if (is_claim && source->answer_job != JOB_NOBODY) {
		source->job = source->answer_job;
		event.value = w->jobs[source->job].suspicions;
		event.number = w->jobs[source->job].crashes;
	}
	if (is_claim && answer.http_status == 200)
		source->claim_id_sent = 0;
	if (status == COURIER_UNREACHABLE || status == COURIER_NOT_CONTRACT ||
	    (status == COURIER_ANSWERED &&
		(is_claim ||
		    (answer.http_status != 400 && answer.http_status != 413))))
		fail(w, source);
	else
		source->failures = 0;
	/* 413 to a success is told as another outcome; else it is parked. */
	if (w->sabotage == SABOTAGE_FORGET && !is_claim && w->n_done > 100)
		w->jobs[source->job].outcome = 0;
	tell(w, event);
}

static void
box_ended(struct world *w)
{
	uint32_t how = YARD_END_VERDICT;
	struct event event = { .kind = EVENT_ENDED, .number = 1000 };

	if (w->box_capability == CAPABILITY_NONE)
		how = YARD_END_ORDER;
	else if (draw(w, 10) == 0)
		how = 1 + draw(w, YARD_END_COUNT - 1);
	if (how == YARD_END_MISSING || how == YARD_END_ORDER)
		how = w->box_capability == CAPABILITY_NONE ? YARD_END_ORDER
							   : YARD_END_SILENT;
	if (how == YARD_END_UNMADE)
		w->unmade_ms[w->box_capability] = w->now_ms;
	event.value = how;
	if (how == YARD_END_VERDICT && draw(w, 3) == 0)
		event.verdict = ERROR_BAD_CONTENT;
	w->box = SLOT_NONE;
	tell(w, event);
}

static void
change_keep(struct world *w)
{
	w->keep_is_up = !w->keep_is_up;
	w->keep_ms =
	    w->now_ms + (w->keep_is_up ? draw(w, 40000000) : draw(w, 20000));
	tell_slot(w, w->keep_is_up ? EVENT_KEEP_UP : EVENT_KEEP_DOWN, 0, 0);
}

static void
change_yard(struct world *w)
{
	struct event foreign = { .kind = EVENT_ENDED,
		.value = YARD_END_FOREIGN };

	w->yard_is_up = !w->yard_is_up;
	w->yard_ms =
	    w->now_ms + (w->yard_is_up ? draw(w, 40000000) : draw(w, 60000));
	if (w->yard_is_up) {
		tell_slot(w, EVENT_LISTED, 0, CAPABILITY_ALL);
		return;
	}
	tell_slot(w, EVENT_YARD_DOWN, 0, 0);
	if (w->box == SLOT_NONE)
		return;
	w->box = SLOT_NONE;
	tell(w, foreign);
}

static void
change_disk(struct world *w)
{
	w->disk_is_full = !w->disk_is_full;
	w->disk_ms =
	    w->now_ms + (w->disk_is_full ? draw(w, 120000) : draw(w, 80000000));
	tell_slot(w, EVENT_TICK, 0, 0);
}

static void
change_tempers(struct world *w)
{
	for (uint32_t i = 0; i < w->n; i++) {
		struct world_source *source = &w->sources[i];

		if (source->temper != TEMPER_AWAY ||
		    w->now_ms < source->toggle_ms)
			continue;
		source->is_away = !source->is_away;
		source->toggle_ms =
		    w->now_ms + draw(w, source->is_away ? 300000000 : 30000000);
	}
}

/* No source that could be asked waits for others for more than a second. */
static void
check_waiting(struct world *w)
{
	for (uint32_t i = 0; i < w->n; i++) {
		struct world_source *source = &w->sources[i];
		uint64_t limit = LIMIT_ROUND_MS;

		if (w->sabotage == SABOTAGE_SLOW)
			limit = 100;
		if (round_ready_ms(&w->schedule, i, w->now_ms) > w->now_ms)
			source->ready_since_ms = 0;
		else if (source->ready_since_ms == 0)
			source->ready_since_ms = w->now_ms;
		else if (w->now_ms - source->ready_since_ms > limit)
			broken(w, "a source was held back by others");
	}
}

static void
check_state(struct world *w)
{
	uint32_t n_running = 0;

	for (uint32_t i = 0; i < w->n; i++) {
		const struct source *source = &w->schedule.sources[i];
		enum job_state state = source->job.state;

		n_running += state == JOB_STARTING || state == JOB_RUNNING;
		if (source->delay_ms > LIMIT_BACKOFF_MS &&
		    source->delay_ms > source->rule.poll_ms)
			broken(w, "a delay of more than ten minutes");
		if (source->committing != 0)
			broken(w, "a commit that nobody answered");
	}
	if (n_running > 1)
		broken(w, "two jobs at once");
	if (round_letter_bytes(&w->schedule) > LIMIT_LETTERS_BYTES)
		broken(w, "too many letters");
	if (schedule_wake_ms(&w->schedule, w->now_ms) <= w->now_ms)
		broken(w, "the core spins");
}

struct next {
	uint64_t ms;
	uint32_t slot; /* its answer comes; SLOT_NONE: the clock */
};

static struct next
find_next(struct world *w)
{
	struct next next = { schedule_wake_ms(&w->schedule, w->now_ms),
		SLOT_NONE };
	const uint64_t changes[] = { w->keep_ms, w->yard_ms, w->disk_ms };

	for (uint32_t i = 0; i < w->n; i++) {
		const struct world_source *source = &w->sources[i];

		if (source->stage != STAGE_IDLE && source->answer_ms < next.ms)
			next = (struct next){ source->answer_ms, i };
	}
	for (size_t i = 0; i < 3; i++) {
		if (changes[i] < next.ms)
			next = (struct next){ changes[i], SLOT_NONE };
	}
	if (w->box != SLOT_NONE && w->box_ms < next.ms)
		next = (struct next){ w->box_ms, SLOT_NONE };
	return next;
}

static void
happen(struct world *w, struct next next)
{
	if (next.ms > w->now_ms)
		w->now_ms = next.ms;
	/* The machine slept. */
	if (draw(w, 200000) == 0)
		w->now_ms += draw(w, 36000000);
	change_tempers(w);
	if (next.slot != SLOT_NONE)
		answered(w, next.slot);
	else if (w->now_ms >= w->keep_ms)
		change_keep(w);
	else if (w->now_ms >= w->yard_ms)
		change_yard(w);
	else if (w->now_ms >= w->disk_ms)
		change_disk(w);
	else if (w->box != SLOT_NONE && w->now_ms >= w->box_ms)
		box_ended(w);
	else
		tell_slot(w, EVENT_TICK, 0, 0);
}

bool
world_step(struct world *w)
{
	bool slept;
	uint64_t before = w->now_ms;
	struct next next = find_next(w);

	if (next.ms == TIME_NEVER) {
		broken(w, "the core sleeps for ever");
		return false;
	}
	happen(w, next);
	slept = w->now_ms > next.ms && w->now_ms > before;
	settle(w);
	w->steps++;
	if (w->is_dead || draw(w, 30000) == 0) {
		w->n_crashes++;
		w->has_crashed = draw(w, 4) != 0;
		start_core(w);
		settle(w);
	}
	if (w->is_dead)
		return w->broken == NULL;
	if (slept) {
		for (uint32_t i = 0; i < w->n; i++)
			w->sources[i].ready_since_ms = 0;
	}
	check_waiting(w);
	check_state(w);
	return w->broken == NULL;
}

static void
init_source(struct world *w, uint32_t slot)
{
	static const uint64_t polls[] = { 100, 1000, 1000, 10000, 60000,
		3600000 };
	struct world_source *source = &w->sources[slot];

	*source = (struct world_source){ .temper = draw(w, TEMPER_COUNT),
		.claim_job = 0,
		.last_job = JOB_NOBODY,
		.job = JOB_NOBODY };
	source->rule = (struct source_rule){
		.capabilities = 1 + draw(w, CAPABILITY_ALL),
		.poll_ms = polls[draw(w, 6)],
		.max_jobs_per_hour =
		    draw(w, 2) ? 0 : 1 + draw(w, WORLD_CAP - 1),
		.max_input = LIMIT_BODY_BYTES,
	};
}

void
world_init(struct world *w, uint64_t seed, uint32_t sabotage)
{
	static const uint32_t sizes[] = { 1, 2, 3, 5, 8, 8, 20, 50, 200 };

	memset(w, 0, sizeof(*w));
	w->seed = w->random = seed;
	w->sabotage = sabotage;
	w->now_ms = WORLD_START;
	w->n = sizes[draw(w, 9)];
	w->keep_is_up = w->yard_is_up = true;
	w->keep_ms = w->now_ms + draw(w, 40000000);
	w->yard_ms = w->now_ms + draw(w, 40000000);
	w->disk_ms = w->now_ms + draw(w, 80000000);
	for (uint32_t i = 0; i < w->n; i++)
		init_source(w, i);
	start_core(w);
	settle(w);
}
