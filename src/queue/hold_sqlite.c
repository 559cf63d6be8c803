/* SPDX-License-Identifier: ISC
 *
 * Who holds which job, in SQLite: the worker's half of the store. A job is
 * held by one worker under one lease; what the worker says counts only with
 * all three. A hold that ran out makes its job free for others; until another
 * one has it, the first may still answer.
 */
#include "queue/store_sqlite.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/must.h"
#include "contract/outcome.h"

/* What a result is about. */
struct held {
	enum hold_state hold;
	int64_t number;
	uint32_t job;
	uint32_t attempts;
};

static int
end_hold(struct store *store, const char *lease, uint32_t state)
{
	return sql_finish(
	    &store->sql, sql_bind(&store->sql, S_END_HOLD, "tu", lease, state));
}

static int
return_job(
    struct store *store, int64_t number, uint32_t attempts, int64_t not_before)
{
	return sql_finish(&store->sql,
	    sql_bind(&store->sql, S_RETURN_JOB, "iuii", number, attempts,
		not_before, clock_wall_s()));
}

/* Its input is not needed any more and is dropped. */
static int
finish_job(struct store *store, int64_t number, enum job_state state,
    uint32_t attempts)
{
	int r = sql_finish(
	    &store->sql, sql_bind(&store->sql, S_DROP_PIECES, "i", number));

	if (r < 0)
		return r;
	return sql_finish(&store->sql,
	    sql_bind(&store->sql, S_FINISH_JOB, "iuuii", number, state,
		attempts, clock_wall_s(), store_now(store)));
}

static int
give_up(struct store *store, int64_t number, uint32_t attempts)
{
	struct spool spool;
	struct span span = { 0 };
	char error[160];
	int r = finish_job(store, number, JOB_FAILED, attempts);

	(void)snprintf(error, sizeof(error),
	    "{\"code\":\"%s\",\"message\":\"handed out %u times and never "
	    "answered in time\"}",
	    error_name(ERROR_GAVE_UP), attempts);
	spool_init(&spool, store->directory);
	/* Small: it stays in memory and cannot fail. */
	(void)spool_put_text(&spool, error);
	span.end = spool.n;
	if (r >= 0)
		r = store_put_part(store, number, STORE_OUTPUT, &spool, &span);
	spool_done(&spool);
	return r;
}

/* Ends one hold that ran out. 1 when there was one. */
static int
end_one_hold(struct store *store)
{
	char lease[STORE_ID_BYTES];
	int64_t number;
	uint32_t attempts;
	sqlite3_stmt *find =
	    sql_bind(&store->sql, S_RAN_OUT, "i", store_now(store));
	int r = sql_step(&store->sql, find);

	if (r != SQL_ROW)
		return r;
	sql_text(find, 0, lease, sizeof(lease));
	number = sqlite3_column_int64(find, 1);
	attempts = (uint32_t)sqlite3_column_int(find, 2) + 1;
	(void)sqlite3_reset(find);
	r = end_hold(store, lease, HOLD_RAN_OUT);
	if (r >= 0)
		r = attempts >= store->rules.attempts
		    ? give_up(store, number, attempts)
		    : return_job(store, number, attempts, 0);
	return r < 0 ? r : 1;
}

int
store_end_holds(struct store *store)
{
	int r = 1;

	for (int i = 0; r == 1 && i < LIMIT_QUEUE_BATCH; i++)
		r = end_one_hold(store);
	return r < 0 ? r : STORE_OK;
}

static int
read_grant(struct store *store, int64_t number, struct store_grant *to)
{
	sqlite3_stmt *find = sql_bind(&store->sql, S_JOB_AT, "i", number);
	int r = sql_step(&store->sql, find);

	if (r < 0)
		return r;
	must(r == SQL_ROW);
	store_read_job(find, &to->job);
	(void)sqlite3_reset(find);
	return STORE_OK;
}

static bool
is_wanted(const struct body *claim, const char *capability)
{
	for (uint32_t i = 0; i < claim->n_capabilities; i++) {
		if (strcmp(claim->capabilities[i], capability) == 0)
			return true;
	}
	return false;
}

static int64_t
hold_end(const struct store *store, const struct body *claim)
{
	uint64_t need_ms = (uint64_t)claim->max_job_seconds * 1000;
	uint64_t hold_ms = store->rules.hold_ms;

	return store_now(store) +
	    (int64_t)(need_ms > hold_ms ? need_ms : hold_ms);
}

/*
 * The job this worker holds under this claim_id already: its first answer was
 * lost on the way. STORE_NONE when there is none.
 */
static int
claim_again(struct store *store, const char *worker, const struct body *claim,
    struct store_grant *to)
{
	struct sql *sql = &store->sql;
	sqlite3_stmt *find =
	    sql_bind(sql, S_FIND_CLAIM, "tt", worker, claim->claim_id);
	int64_t number;
	int r = sql_step(sql, find);

	if (r != SQL_ROW)
		return r < 0 ? r : STORE_NONE;
	sql_text(find, 0, to->lease, sizeof(to->lease));
	number = sqlite3_column_int64(find, 1);
	(void)sqlite3_reset(find);
	r = read_grant(store, number, to);
	if (r < 0)
		return r;
	if (is_wanted(claim, to->job.capability))
		return sql_finish(sql,
		    sql_bind(sql, S_EXTEND_HOLD, "ti", to->lease,
			hold_end(store, claim)));
	r = end_hold(store, to->lease, HOLD_TAKEN_BACK);
	if (r >= 0)
		r = return_job(store, number, to->job.attempts, 0);
	return r < 0 ? r : STORE_NONE;
}

/* The oldest job that waits for one of these capabilities; 0: none. And
 * whether none, one or more do: *ret_waiting is no full count. */
static int
find_waiting(struct store *store, const struct body *claim, int64_t *ret_number,
    uint32_t *ret_waiting)
{
	int64_t oldest = 0;
	uint32_t found = 0;

	for (uint32_t i = 0; i < claim->n_capabilities; i++) {
		sqlite3_stmt *find = sql_bind(&store->sql, S_WAITING, "ti",
		    claim->capabilities[i], store_now(store));
		int r;

		while ((r = sql_step(&store->sql, find)) == SQL_ROW) {
			int64_t number = sqlite3_column_int64(find, 0);

			found++;
			if (oldest == 0 || number < oldest)
				oldest = number;
		}
		if (r < 0)
			return r;
	}
	*ret_number = oldest;
	*ret_waiting = found;
	return STORE_OK;
}

static int
hold_job(struct store *store, const char *worker, const struct body *claim,
    struct store_grant *to)
{
	struct sql *sql = &store->sql;
	int64_t number = to->job.number;
	int r = sql_finish(sql,
	    sql_bind(sql, S_HOLD_JOB, "iti", number, worker, clock_wall_s()));

	store_random(to->lease);
	if (r >= 0)
		r = sql_finish(sql,
		    sql_bind(
			sql, S_FORGET_HOLDS, "iu", number, LIMIT_QUEUE_HOLDS));
	if (r >= 0)
		r = sql_finish(sql,
		    sql_bind(sql, S_ADD_HOLD, "titti", to->lease, number,
			worker, claim->claim_id, hold_end(store, claim)));
	return r;
}

static int
claim_in(struct store *store, const char *worker, const struct body *claim,
    struct store_grant *to)
{
	uint32_t waiting;
	int64_t number;
	int r = store_end_holds(store);
	int again;

	if (r < 0)
		return r;
	again = claim_again(store, worker, claim, to);
	if (again < 0)
		return again;
	r = find_waiting(store, claim, &number, &waiting);
	if (r < 0)
		return r;
	to->more = waiting > (again == STORE_NONE ? 1 : 0);
	if (again == STORE_OK || number == 0)
		return again;
	r = read_grant(store, number, to);
	return r < 0 ? r : hold_job(store, worker, claim, to);
}

int
store_claim(struct store *store, const char *worker, const struct body *body,
    struct store_grant *ret_grant)
{
	struct store_grant grant = { 0 };
	int r = store_begin(store);

	if (r == STORE_OK)
		r = store_end(store, claim_in(store, worker, body, &grant));
	if (r == STORE_OK)
		*ret_grant = grant;
	return r;
}

static int
find_held(struct store *store, const char *worker, const struct body *body,
    struct held *to)
{
	sqlite3_stmt *find = sql_bind(
	    &store->sql, S_FIND_HOLD, "ttt", body->lease, worker, body->id);
	int r = sql_step(&store->sql, find);

	if (r != SQL_ROW)
		return r < 0 ? r : STORE_NONE;
	to->hold = (enum hold_state)sqlite3_column_int(find, 0);
	to->number = sqlite3_column_int64(find, 1);
	to->job = (uint32_t)sqlite3_column_int(find, 2);
	to->attempts = (uint32_t)sqlite3_column_int(find, 3);
	(void)sqlite3_reset(find);
	return STORE_OK;
}

static const struct span *
part_of(const struct body *body)
{
	return body->outcome == OUTCOME_SUCCEEDED ? &body->output
						  : &body->error;
}

/* The worker repeats itself, for want of our answer, or contradicts itself. */
static int
answer_again(struct store *store, const struct held *held,
    const struct body *body, const struct spool *from)
{
	int r;

	if (held->hold != HOLD_ANSWERED + body->outcome)
		return STORE_TAKEN;
	if (body->outcome == OUTCOME_RELEASED)
		return STORE_OK;
	r = store_same_part(
	    store, held->number, STORE_OUTPUT, from, part_of(body));
	if (r < 0)
		return r;
	return r == 1 ? STORE_OK : STORE_TAKEN;
}

static int
take_result(struct store *store, const struct held *held,
    const struct body *body, const struct spool *from)
{
	int64_t later = store_now(store) + (int64_t)body->retry_after_s * 1000;
	int r = end_hold(store, body->lease, HOLD_ANSWERED + body->outcome);

	if (r < 0)
		return r;
	if (body->outcome == OUTCOME_RELEASED)
		return return_job(store, held->number, held->attempts, later);
	r = finish_job(store, held->number,
	    body->outcome == OUTCOME_SUCCEEDED ? JOB_SUCCEEDED : JOB_FAILED,
	    held->attempts + 1);
	if (r < 0)
		return r;
	return store_put_part(
	    store, held->number, STORE_OUTPUT, from, part_of(body));
}

static int
result_in(struct store *store, const char *worker, const struct body *body,
    const struct spool *from)
{
	struct held held = { .hold = HOLD_LIVE };
	int r = find_held(store, worker, body, &held);

	if (r != STORE_OK)
		return r;
	if (held.hold >= HOLD_ANSWERED)
		return answer_again(store, &held, body, from);
	if (held.hold == HOLD_RAN_OUT && held.job == JOB_WAITING) {
		/* It counts as what it is answered now, not as run out. */
		must(held.attempts > 0);
		held.attempts--;
	} else if (held.hold != HOLD_LIVE) {
		return STORE_TAKEN;
	}
	return take_result(store, &held, body, from);
}

int
store_result(struct store *store, const char *worker, const struct body *body,
    const struct spool *from)
{
	int r = store_begin(store);

	return r == STORE_OK
	    ? store_end(store, result_in(store, worker, body, from))
	    : r;
}
