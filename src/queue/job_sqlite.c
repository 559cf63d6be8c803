/* SPDX-License-Identifier: ISC
 *
 * Jobs and their parts in SQLite: the producer's half of the store. Bodies are
 * kept in pieces, so that a large one is written once and never whole in
 * memory.
 */
#include "queue/store_sqlite.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/must.h"
#include "base/text.h"

const char *
job_state_name(uint32_t state)
{
	static const char *const names[JOB_STATE_COUNT] = {
		[JOB_WAITING] = "waiting",
		[JOB_HELD] = "held",
		[JOB_SUCCEEDED] = "succeeded",
		[JOB_FAILED] = "failed",
	};

	return state < JOB_STATE_COUNT ? names[state] : NULL;
}

void
store_random(char to[STORE_ID_BYTES])
{
	unsigned char bytes[16];

	must(getrandom(bytes, sizeof(bytes), 0) == (ssize_t)sizeof(bytes));
	text_hex(to, bytes, sizeof(bytes));
}

/* The spool's trouble, as the store's. */
static int
spool_failed(struct store *store, int error)
{
	(void)snprintf(store->sql.trouble, sizeof(store->sql.trouble),
	    "spool: %s", strerror(-error));
	return error == -ENOSPC || error == -EDQUOT || error == -EFBIG
	    ? STORE_FULL
	    : STORE_BROKEN;
}

static int
put_piece(struct store *store, int64_t number, enum store_part part, uint64_t n,
    int bytes)
{
	sqlite3_stmt *add =
	    sql_bind(&store->sql, S_ADD_PIECE, "iui", number, part, (int64_t)n);
	int r;

	must(sqlite3_bind_blob(add, 4, store->step, bytes, SQLITE_STATIC) ==
	    SQLITE_OK);
	r = sql_finish(&store->sql, add);
	(void)sqlite3_bind_null(add, 4);
	return r;
}

static size_t
step_at(const struct span *span, uint64_t at)
{
	uint64_t left = span->end - at;

	return left < LIMIT_BLOB_STEP ? (size_t)left : LIMIT_BLOB_STEP;
}

int
store_put_part(struct store *store, int64_t number, enum store_part part,
    const struct spool *from, const struct span *span)
{
	uint64_t at = span->begin;
	int r = STORE_OK;

	for (uint64_t n = 0; r == STORE_OK && at < span->end; n++) {
		size_t step = step_at(span, at);

		r = spool_get(from, at, store->step, step);
		if (r < 0)
			return spool_failed(store, r);
		r = put_piece(store, number, part, n, (int)step);
		at += step;
	}
	return r;
}

int
store_same_part(struct store *store, int64_t number, enum store_part part,
    const struct spool *from, const struct span *span)
{
	sqlite3_stmt *read =
	    sql_bind(&store->sql, S_READ_PIECES, "iu", number, part);
	uint64_t at = span->begin;
	bool is_same = true;
	int r = SQL_DONE;

	while (is_same && (r = sql_step(&store->sql, read)) == SQL_ROW) {
		const void *bytes = sqlite3_column_blob(read, 0);
		size_t n = (size_t)sqlite3_column_bytes(read, 0);

		is_same = n <= LIMIT_BLOB_STEP && n <= span->end - at &&
		    bytes != NULL &&
		    spool_get(from, at, store->other, n) == 0 &&
		    memcmp(bytes, store->other, n) == 0;
		at += n;
	}
	(void)sqlite3_reset(read);
	if (!is_same)
		return 0;
	return r < 0 ? r : at == span->end;
}

int
store_copy(
    struct store *store, int64_t number, enum store_part part, struct spool *to)
{
	sqlite3_stmt *read =
	    sql_bind(&store->sql, S_READ_PIECES, "iu", number, part);
	bool is_there = false;
	int r;

	while ((r = sql_step(&store->sql, read)) == SQL_ROW) {
		const void *bytes = sqlite3_column_blob(read, 0);
		int put =
		    spool_put(to, bytes, (size_t)sqlite3_column_bytes(read, 0));

		is_there = true;
		if (put < 0) {
			(void)sqlite3_reset(read);
			return spool_failed(store, put);
		}
	}
	if (r < 0)
		return r;
	return is_there ? STORE_OK : STORE_NONE;
}

static int
submit_in(struct store *store, const char *producer, const struct body *body,
    const struct spool *from, const char *id)
{
	struct sql *sql = &store->sql;
	int r = sql_finish(sql,
	    sql_bind(sql, S_ADD_JOB, "ttti", id, producer, body->capability,
		clock_wall_s()));

	if (r < 0)
		return r;
	return store_put_part(store, sqlite3_last_insert_rowid(sql->db),
	    STORE_INPUT, from, &body->input);
}

int
store_submit(struct store *store, const char *producer, const struct body *body,
    const struct spool *from, char ret_id[STORE_ID_BYTES])
{
	char id[STORE_ID_BYTES];
	int r = store_begin(store);

	store_random(id);
	if (r == STORE_OK)
		r = store_end(
		    store, submit_in(store, producer, body, from, id));
	if (r == STORE_OK)
		memcpy(ret_id, id, sizeof(id));
	return r;
}

void
store_read_job(sqlite3_stmt *row, struct job *to)
{
	memset(to, 0, sizeof(*to));
	to->number = sqlite3_column_int64(row, 0);
	sql_text(row, 1, to->id, sizeof(to->id));
	sql_text(row, 2, to->capability, sizeof(to->capability));
	to->state = (uint32_t)sqlite3_column_int(row, 3);
	to->attempts = (uint32_t)sqlite3_column_int(row, 4);
	to->created_s = sqlite3_column_int64(row, 5);
	to->changed_s = sqlite3_column_int64(row, 6);
	sql_text(row, 7, to->worker, sizeof(to->worker));
}

int
store_find(struct store *store, const char *producer, const char *id,
    struct job *ret_job)
{
	sqlite3_stmt *find =
	    sql_bind(&store->sql, S_FIND_JOB, "tt", id, producer);
	int r = sql_step(&store->sql, find);

	if (r != SQL_ROW)
		return r < 0 ? r : STORE_NONE;
	store_read_job(find, ret_job);
	(void)sqlite3_reset(find);
	return STORE_OK;
}

int
store_list(struct store *store, const char *producer,
    const struct store_filter *filter, store_visitor *visitor, void *context)
{
	sqlite3_stmt *list = filter->state == 0
	    ? sql_bind(&store->sql, S_LIST, "tiu", producer, filter->after,
		  filter->limit)
	    : sql_bind(&store->sql, S_LIST_STATE, "tiuu", producer,
		  filter->after, filter->limit, filter->state);
	struct job job;
	int r;

	while ((r = sql_step(&store->sql, list)) == SQL_ROW) {
		int stop;

		store_read_job(list, &job);
		stop = visitor(context, &job);
		if (stop != 0) {
			(void)sqlite3_reset(list);
			return stop;
		}
	}
	return r;
}
