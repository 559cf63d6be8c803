/* SPDX-License-Identifier: ISC
 *
 * The pure scheduler, event by event: what it does at which moment.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "contract/outcome.h"
#include "core/round.h"

#define START 1000000000ull
#define MIB   (1024ull * 1024)

static struct schedule s;
static struct actions out;
static uint64_t now;

static void
step(struct event event)
{
	schedule_step(&s, &event, now, &out);
}

static void
tell(enum event_kind kind, uint32_t slot, uint32_t value)
{
	step((struct event){ .kind = kind, .slot = slot, .value = value });
}

/* Forgets the actions so far. */
static void
forget(void)
{
	out.n = 0;
}

static uint32_t
count(enum action_kind kind, uint32_t slot)
{
	uint32_t n = 0;

	for (size_t i = 0; i < out.n; i++)
		n += out.list[i].kind == kind &&
		    (slot == SLOT_NONE || out.list[i].slot == slot);
	return n;
}

/* The value of the last such action; fails when there is none. */
static uint32_t
last(enum action_kind kind, uint32_t slot)
{
	for (size_t i = out.n; i > 0; i--) {
		if (out.list[i - 1].kind == kind &&
		    out.list[i - 1].slot == slot)
			return out.list[i - 1].value;
	}
	fail_msg("no action %d of slot %u", (int)kind, slot);
	return 0;
}

/* Time passes, with a tick whenever one is wanted. */
static void
pass(uint64_t ms)
{
	uint64_t end = now + ms;

	for (int i = 0; i < 100000; i++) {
		uint64_t wake = schedule_wake_ms(&s, now);

		if (wake > end)
			break;
		assert_true(i == 0 || wake > now);
		now = wake > now ? wake : now;
		tell(EVENT_TICK, 0, 0);
	}
	now = end;
}

/* The journal says yes to everything it was asked since forget(). */
static void
write_down(bool is_written)
{
	static struct actions seen;

	seen = out;
	for (size_t i = 0; i < seen.n; i++) {
		if (seen.list[i].kind == ACTION_JOURNAL &&
		    s.sources[seen.list[i].slot].committing != 0)
			tell(is_written ? EVENT_COMMITTED : EVENT_UNCOMMITTED,
			    seen.list[i].slot, seen.list[i].value);
	}
}

static void
add_source(uint32_t slot, uint32_t cap)
{
	struct source_rule rule = { .capabilities = 3,
		.poll_ms = 10000,
		.max_jobs_per_hour = cap,
		.max_input = 64 * MIB };

	step((struct event){
	    .kind = EVENT_SOURCE, .slot = slot, .value = 1, .rule = &rule });
	tell(EVENT_READY, slot, 0);
}

static int
set_up(void **state)
{
	static const struct schedule_limits limits = {
		.result_ttl_ms = 7ull * 24 * LIMIT_HOUR_MS,
		.drain_timeout_ms = 60000,
		.run_ms = { 30000, 30000, 30000 },
	};

	(void)state;
	schedule_init(&s);
	now = START;
	forget();
	step((struct event){ .kind = EVENT_LIMITS, .limits = &limits });
	tell(EVENT_LISTED, 0, CAPABILITY_ALL);
	return 0;
}

static void
up(void)
{
	tell(EVENT_KEEP_UP, 0, 0);
}

static void
answer(uint32_t slot, uint32_t status, uint32_t http)
{
	struct courier_answer a = { .status = status, .http_status = http };

	if (status == COURIER_JOB)
		a.input_bytes = 1000;
	step((struct event){
	    .kind = EVENT_ANSWERED, .slot = slot, .answer = &a });
}

static void
open_ok(uint32_t slot)
{
	assert_true(count(ACTION_OPEN, slot) > 0);
	tell(EVENT_OPENED, slot, KEEP_RESULT_OK);
}

/* From nothing to a running job of the slot. */
static void
run_job(uint32_t slot)
{
	open_ok(slot);
	forget();
	answer(slot, COURIER_JOB, 200);
	write_down(true);
	assert_int_equal(last(ACTION_MAKE, slot), 0);
	forget();
}

static void
end_box(uint32_t how, uint32_t verdict)
{
	step((struct event){ .kind = EVENT_ENDED,
	    .value = how,
	    .verdict = verdict,
	    .number = 500 });
}

static void
the_thread_of_one_job(void **state)
{
	(void)state;
	add_source(0, 0);
	assert_int_equal(count(ACTION_OPEN, 0), 0);
	up();
	open_ok(0);
	assert_int_equal(last(ACTION_CLAIM, 0), 3);
	forget();
	answer(0, COURIER_JOB, 200);
	/* Nothing runs that is not written down. */
	assert_int_equal(count(ACTION_MAKE, SLOT_NONE), 0);
	assert_int_equal(
	    last(ACTION_JOURNAL, 0), OP_TAKEN | OP_START | OP_CLAIM_ID);
	write_down(true);
	assert_int_equal(last(ACTION_MAKE, 0), 0);
	forget();
	end_box(YARD_END_VERDICT, 0);
	/* Nothing is sent that is not written down. */
	assert_int_equal(last(ACTION_JOURNAL, 0), OP_OUTCOME);
	assert_int_equal(count(ACTION_OPEN, 0), 0);
	write_down(true);
	open_ok(0);
	assert_int_equal(last(ACTION_DELIVER, 0), 30000);
	forget();
	answer(0, COURIER_STORED, 200);
	assert_int_equal(last(ACTION_JOURNAL, 0), OP_GONE);
	write_down(true);
	assert_int_equal(count(ACTION_CLEAR, 0), 1);
	assert_int_equal(s.sources[0].counts[OUTCOME_SUCCEEDED], 1);
	assert_int_equal(count(ACTION_OPEN, 0), 0);
	pass(9999);
	assert_int_equal(count(ACTION_OPEN, 0), 0);
	pass(1);
	assert_int_equal(count(ACTION_OPEN, 0), 1);
}

static void
one_second_of_waiting_in_all(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 8; i++)
		add_source(i, 0);
	up();
	/* One after the other, as long as they answer. */
	assert_int_equal(count(ACTION_OPEN, SLOT_NONE), 1);
	open_ok(0);
	pass(300);
	answer(0, COURIER_NOTHING, 204);
	assert_int_equal(count(ACTION_OPEN, SLOT_NONE), 2);
	open_ok(1);
	pass(699);
	assert_int_equal(count(ACTION_OPEN, SLOT_NONE), 2);
	/* The second is spent: all others at once. */
	pass(1);
	assert_int_equal(count(ACTION_OPEN, SLOT_NONE), 8);
	for (uint32_t i = 2; i < 8; i++)
		open_ok(i);
	assert_int_equal(count(ACTION_CLAIM, SLOT_NONE), 8);
}

static void
who_was_late_is_not_waited_for(void **state)
{
	(void)state;
	add_source(0, 0);
	add_source(1, 0);
	up();
	open_ok(0);
	pass(1000);
	open_ok(1);
	answer(1, COURIER_NOTHING, 204);
	pass(1000);
	answer(0, COURIER_NOTHING, 204);
	forget();
	pass(8000);
	assert_int_equal(count(ACTION_OPEN, 0), 1);
	open_ok(0);
	pass(1000);
	/* The other is due a second later and finds nobody in its way. */
	assert_int_equal(count(ACTION_OPEN, 1), 1);
	open_ok(1);
	answer(0, COURIER_NOTHING, 204);
	answer(1, COURIER_NOTHING, 204);
	forget();
	pass(9000);
	assert_int_equal(count(ACTION_OPEN, 0), 1);
	assert_int_equal(s.waiting, SLOT_NONE);
}

static void
late_jobs_are_held_and_have_their_turn(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		add_source(i, 0);
	up();
	open_ok(0);
	pass(1000);
	open_ok(1);
	open_ok(2);
	run_job(0);
	answer(2, COURIER_JOB, 200);
	write_down(true);
	pass(10);
	answer(1, COURIER_JOB, 200);
	write_down(true);
	assert_int_equal(count(ACTION_MAKE, SLOT_NONE), 0);
	forget();
	/* The one that waited longer comes first. */
	end_box(YARD_END_VERDICT, 0);
	write_down(true);
	assert_int_equal(count(ACTION_MAKE, 2), 1);
	/* The last is given back after 30 s. */
	forget();
	pass(30000);
	assert_int_equal(s.sources[1].job.outcome, OUTCOME_RELEASED);
	assert_int_equal(s.sources[1].job.reason, RELEASE_BUSY);
	assert_int_equal(s.running, 2);
}

static void
nobody_is_asked_while_a_job_runs(void **state)
{
	(void)state;
	add_source(0, 0);
	add_source(1, 0);
	up();
	run_job(0);
	pass(29000);
	assert_int_equal(count(ACTION_OPEN, SLOT_NONE), 0);
	end_box(YARD_END_VERDICT, 0);
	write_down(true);
	assert_int_equal(count(ACTION_OPEN, SLOT_NONE), 1);
	/* The next turn begins behind the one that gave the job. */
	assert_int_equal(count(ACTION_OPEN, 1), 1);
}

static void
a_result_goes_before_a_claim(void **state)
{
	(void)state;
	add_source(0, 0);
	up();
	run_job(0);
	end_box(YARD_END_VERDICT, ERROR_BAD_CONTENT);
	write_down(true);
	for (int i = 0; i < 10; i++) {
		pass(600000);
		open_ok(0);
		forget();
		assert_int_equal(s.sources[0].exchange, EXCHANGE_RESULT);
		answer(0, COURIER_ANSWERED, 500);
		write_down(true);
	}
	assert_int_equal(s.sources[0].job.tries, 10);
	assert_int_equal(s.sources[0].job.error, ERROR_BAD_CONTENT);
}

static void
a_capability_that_rests_is_not_asked_for(void **state)
{
	uint64_t rested;

	(void)state;
	add_source(0, 0);
	up();
	run_job(0);
	end_box(YARD_END_UNMADE, 0);
	write_down(true);
	assert_int_equal(s.sources[0].job.retry_after_s, 60);
	open_ok(0);
	answer(0, COURIER_STORED, 200);
	write_down(true);
	rested = s.rests[0].until_ms;
	assert_int_equal(rested, now + 60000);
	forget();
	pass(10000);
	open_ok(0);
	assert_int_equal(last(ACTION_CLAIM, 0), 2);
	/* A job of it that comes nevertheless is given back. */
	answer(0, COURIER_JOB, 200);
	assert_int_equal(s.sources[0].job.reason, RELEASE_CAPABILITY_RESTING);
	assert_int_equal(s.sources[0].job.retry_after_s, 50);
	write_down(true);
	open_ok(0);
	answer(0, COURIER_STORED, 200);
	write_down(true);
	forget();
	pass(60000);
	open_ok(0);
	assert_int_equal(last(ACTION_CLAIM, 0), 3);
	/* It doubles. */
	forget();
	answer(0, COURIER_JOB, 200);
	write_down(true);
	end_box(YARD_END_UNMADE, 0);
	assert_int_equal(s.rests[0].until_ms, now + 120000);
}

static void
with_all_resting_a_source_is_not_asked(void **state)
{
	(void)state;
	add_source(0, 0);
	s.rests[0].until_ms = now + 50000;
	s.rests[1].until_ms = now + 40000;
	up();
	pass(39999);
	assert_int_equal(count(ACTION_OPEN, 0), 0);
	pass(1);
	assert_int_equal(count(ACTION_OPEN, 0), 1);
}

static void
an_hour_that_is_full_shuts_the_source(void **state)
{
	(void)state;
	add_source(0, 2);
	step((struct event){ .kind = EVENT_RAN, .slot = 0, .number = 1800000 });
	up();
	run_job(0);
	end_box(YARD_END_VERDICT, 0);
	write_down(true);
	open_ok(0);
	answer(0, COURIER_STORED, 200);
	write_down(true);
	forget();
	pass(1799000);
	assert_int_equal(count(ACTION_OPEN, 0), 0);
	pass(2001);
	assert_int_equal(count(ACTION_OPEN, 0), 1);
}

static void
what_cannot_be_written_down_is_not_run(void **state)
{
	(void)state;
	add_source(0, 0);
	add_source(1, 0);
	up();
	open_ok(0);
	forget();
	answer(0, COURIER_JOB, 200);
	write_down(false);
	assert_int_equal(count(ACTION_MAKE, SLOT_NONE), 0);
	assert_int_equal(s.sources[0].job.reason, RELEASE_BUSY);
	assert_true(s.journal_is_full);
	forget();
	/* The release cannot be written either: it is sent all the same. */
	tell(EVENT_UNCOMMITTED, 0, OP_OUTCOME);
	assert_int_equal(count(ACTION_OPEN, 0), 1);
	assert_int_equal(count(ACTION_OPEN, 1), 0);
	open_ok(0);
	answer(0, COURIER_STORED, 200);
	forget();
	tell(EVENT_UNCOMMITTED, 0, OP_GONE);
	/* Nothing is claimed, from anyone. */
	pass(9999);
	assert_int_equal(count(ACTION_OPEN, SLOT_NONE), 0);
	assert_int_equal(count(ACTION_JOURNAL, SLOT_NONE), 0);
	pass(1);
	assert_int_equal(last(ACTION_JOURNAL, 0), OP_GONE | OP_CLAIM_ID);
	write_down(true);
	assert_false(s.journal_is_full);
	assert_int_equal(count(ACTION_NOTE, 0), 1);
	assert_true(count(ACTION_OPEN, SLOT_NONE) > 0);
}

static void
letters_have_a_limit(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 6; i++)
		add_source(i, 0);
	up();
	open_ok(0);
	pass(1000);
	for (uint32_t i = 1; i < 6; i++)
		open_ok(i);
	pass(5);
	for (uint32_t i = 0; i < 4; i++)
		step((struct event){
		    .kind = EVENT_LETTER, .slot = i, .number = 60 * MIB });
	forget();
	step((struct event){
	    .kind = EVENT_LETTER, .slot = 4, .number = 60 * MIB });
	/* The one that ran longest goes. */
	assert_int_equal(count(ACTION_DROP, SLOT_NONE), 1);
	assert_int_equal(count(ACTION_DROP, 0), 1);
	assert_int_equal(s.sources[0].trouble.kind, TROUBLE_LATE);
	assert_true(round_letter_bytes(&s) <= LIMIT_LETTERS_BYTES);
}

static void
couriers_have_a_limit(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < LIMIT_COURIERS + 2; i++)
		add_source(i, 0);
	up();
	pass(1000);
	assert_int_equal(s.n_exchanges, LIMIT_COURIERS);
	assert_int_equal(count(ACTION_OPEN, SLOT_NONE), LIMIT_COURIERS + 2);
	assert_int_equal(count(ACTION_DROP, SLOT_NONE), 2);
	assert_int_equal(count(ACTION_DROP, 0), 1);
}

static void
an_exchange_ends_at_its_deadline(void **state)
{
	(void)state;
	add_source(0, 0);
	up();
	open_ok(0);
	pass(LIMIT_CLAIM_MS - 1);
	assert_int_equal(count(ACTION_DROP, 0), 0);
	pass(1);
	assert_int_equal(count(ACTION_DROP, 0), 1);
	assert_int_equal(s.sources[0].failures, 1);
	/* What comes later counts for nothing. */
	answer(0, COURIER_JOB, 200);
	assert_int_equal(s.sources[0].job.state, JOB_NONE);
}

static void
a_box_that_outlives_its_limit_is_killed(void **state)
{
	(void)state;
	add_source(0, 0);
	up();
	run_job(0);
	pass(49999);
	assert_int_equal(count(ACTION_KILL, SLOT_NONE), 0);
	pass(1);
	assert_int_equal(count(ACTION_KILL, SLOT_NONE), 1);
	forget();
	end_box(YARD_END_ORDER, 0);
	assert_int_equal(s.sources[0].job.error, ERROR_TIMEOUT);
	write_down(true);
	open_ok(0);
	answer(0, COURIER_STORED, 200);
	write_down(true);
	pass(10000);
	run_job(0);
	pass(60000);
	/* A yard that does not end it either is given up. */
	assert_int_equal(last(ACTION_EXIT, SLOT_NONE), 1);
}

static void
idle_it_ends_at_once(void **state)
{
	(void)state;
	add_source(0, 0);
	up();
	open_ok(0);
	tell(EVENT_STOP, 0, 0);
	assert_int_equal(count(ACTION_DROP, 0), 1);
	assert_int_equal(last(ACTION_EXIT, SLOT_NONE), 0);
}

static void
draining_it_finishes_delivers_and_ends(void **state)
{
	(void)state;
	add_source(0, 0);
	add_source(1, 0);
	up();
	open_ok(0);
	pass(1000);
	open_ok(1);
	run_job(0);
	answer(1, COURIER_JOB, 200);
	write_down(true);
	forget();
	tell(EVENT_STOP, 0, 0);
	write_down(true);
	assert_int_equal(s.sources[1].job.reason, RELEASE_STOPPING);
	assert_int_equal(count(ACTION_KILL, SLOT_NONE), 0);
	open_ok(1);
	answer(1, COURIER_STORED, 200);
	write_down(true);
	assert_int_equal(count(ACTION_EXIT, SLOT_NONE), 0);
	pass(5000);
	forget();
	end_box(YARD_END_VERDICT, 0);
	write_down(true);
	assert_int_equal(count(ACTION_EXIT, SLOT_NONE), 0);
	open_ok(0);
	answer(0, COURIER_UNREACHABLE, 0);
	/* Written down and once tried: that is all there is to do. */
	write_down(true);
	assert_int_equal(count(ACTION_EXIT, SLOT_NONE), 1);
}

static void
drain_timeout_and_a_second_stop_kill(void **state)
{
	(void)state;
	add_source(0, 0);
	up();
	run_job(0);
	tell(EVENT_STOP, 0, 0);
	pass(10000);
	assert_int_equal(count(ACTION_KILL, SLOT_NONE), 0);
	tell(EVENT_STOP, 0, 1);
	assert_int_equal(count(ACTION_KILL, SLOT_NONE), 1);
	end_box(YARD_END_ORDER, 0);
	write_down(true);
	assert_int_equal(s.sources[0].job.reason, RELEASE_STOPPING);
	open_ok(0);
	/* A source that does not answer is not waited for for long. */
	pass(LIMIT_STOP_MS);
	assert_int_equal(last(ACTION_EXIT, SLOT_NONE), 0);
}

static void
a_removed_source_is_let_go_when_its_job_is_done(void **state)
{
	(void)state;
	add_source(0, 0);
	up();
	run_job(0);
	tell(EVENT_REMOVE, 0, 0);
	assert_true(s.sources[0].is_used);
	end_box(YARD_END_VERDICT, 0);
	assert_int_equal(last(ACTION_JOURNAL, 0), OP_OUTCOME);
	write_down(true);
	assert_false(s.sources[0].is_used);
	assert_int_equal(count(ACTION_OPEN, 0), 0);
	assert_int_equal(count(ACTION_CLEAR, 0), 1);
}

static void
a_result_is_kept_for_its_time_only(void **state)
{
	(void)state;
	add_source(0, 0);
	up();
	run_job(0);
	tell(EVENT_KEEP_DOWN, 0, 0);
	end_box(YARD_END_VERDICT, 0);
	write_down(true);
	forget();
	pass(7ull * 24 * LIMIT_HOUR_MS - 1);
	assert_int_equal(count(ACTION_JOURNAL, 0), 0);
	pass(1);
	assert_int_equal(last(ACTION_JOURNAL, 0), OP_GONE);
	assert_int_equal(last(ACTION_NOTE, 0), NOTE_EXPIRED);
}

#define SCHEDULE_TEST(name) cmocka_unit_test_setup(name, set_up)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		SCHEDULE_TEST(the_thread_of_one_job),
		SCHEDULE_TEST(one_second_of_waiting_in_all),
		SCHEDULE_TEST(who_was_late_is_not_waited_for),
		SCHEDULE_TEST(late_jobs_are_held_and_have_their_turn),
		SCHEDULE_TEST(nobody_is_asked_while_a_job_runs),
		SCHEDULE_TEST(a_result_goes_before_a_claim),
		SCHEDULE_TEST(a_capability_that_rests_is_not_asked_for),
		SCHEDULE_TEST(with_all_resting_a_source_is_not_asked),
		SCHEDULE_TEST(an_hour_that_is_full_shuts_the_source),
		SCHEDULE_TEST(what_cannot_be_written_down_is_not_run),
		SCHEDULE_TEST(letters_have_a_limit),
		SCHEDULE_TEST(couriers_have_a_limit),
		SCHEDULE_TEST(an_exchange_ends_at_its_deadline),
		SCHEDULE_TEST(a_box_that_outlives_its_limit_is_killed),
		SCHEDULE_TEST(idle_it_ends_at_once),
		SCHEDULE_TEST(draining_it_finishes_delivers_and_ends),
		SCHEDULE_TEST(drain_timeout_and_a_second_stop_kill),
		SCHEDULE_TEST(a_removed_source_is_let_go_when_its_job_is_done),
		SCHEDULE_TEST(a_result_is_kept_for_its_time_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
