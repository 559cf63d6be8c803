/* SPDX-License-Identifier: ISC
 *
 * The books in SQLite: the file, its schema and statements, transactions and
 * the queue's clock. Jobs are in job_sqlite.c, who holds them in
 * hold_sqlite.c.
 */
#include "queue/store_sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/memory.h"

/* "SCQ1": this file is ours. */
#define APPLICATION_ID 1396920625
#define SCHEMA_VERSION 1
#define JOB_COLUMNS                                                          \
	"SELECT number, id, capability, state, attempts, created, changed, " \
	"worker FROM job "

static const char schema[] =
    "BEGIN;"
    "CREATE TABLE clock (ms INTEGER NOT NULL);"
    "INSERT INTO clock VALUES (0);"
    "CREATE TABLE job ("
    " number INTEGER PRIMARY KEY AUTOINCREMENT,"
    " id TEXT NOT NULL UNIQUE,"
    " producer TEXT NOT NULL,"
    " capability TEXT NOT NULL,"
    " state INTEGER NOT NULL,"
    " attempts INTEGER NOT NULL DEFAULT 0,"
    " not_before INTEGER NOT NULL DEFAULT 0,"
    " created INTEGER NOT NULL,"
    " changed INTEGER NOT NULL,"
    " finished INTEGER,"
    " worker TEXT NOT NULL DEFAULT '') STRICT;"
    "CREATE INDEX job_waiting ON job (capability, number) WHERE state = 1;"
    "CREATE INDEX job_listed ON job (producer, number);"
    "CREATE INDEX job_in_state ON job (producer, state, number);"
    "CREATE INDEX job_finished ON job (finished) WHERE finished NOT NULL;"
    "CREATE TABLE piece ("
    " job INTEGER NOT NULL REFERENCES job ON DELETE CASCADE,"
    " part INTEGER NOT NULL,"
    " n INTEGER NOT NULL,"
    " bytes BLOB NOT NULL,"
    " UNIQUE (job, part, n)) STRICT;"
    "CREATE TABLE hold ("
    " turn INTEGER PRIMARY KEY,"
    " lease TEXT NOT NULL UNIQUE,"
    " job INTEGER NOT NULL REFERENCES job ON DELETE CASCADE,"
    " worker TEXT NOT NULL,"
    " claim_id TEXT NOT NULL,"
    " state INTEGER NOT NULL,"
    " until INTEGER NOT NULL) STRICT;"
    "CREATE UNIQUE INDEX hold_of_job ON hold (job) WHERE state = 1;"
    "CREATE INDEX hold_by_job ON hold (job);"
    "CREATE INDEX hold_claimed ON hold (worker, claim_id) WHERE state = 1;"
    "CREATE INDEX hold_until ON hold (until) WHERE state = 1;"
    "PRAGMA application_id = 1396920625;"
    "PRAGMA user_version = 1;"
    "COMMIT;";

static const char *const statements[S_COUNT] = {
	[S_BEGIN] = "BEGIN",
	[S_COMMIT] = "COMMIT",
	[S_ROLLBACK] = "ROLLBACK",
	[S_SAVE_CLOCK] = "UPDATE clock SET ms = ?1",
	[S_ADD_JOB] =
	    "INSERT INTO job (id, producer, capability, state, created,"
	    " changed) VALUES (?1, ?2, ?3, 1, ?4, ?4)",
	[S_ADD_PIECE] =
	    "INSERT INTO piece (job, part, n, bytes) VALUES (?1, ?2, ?3, ?4)",
	[S_DROP_PIECES] = "DELETE FROM piece WHERE job = ?1",
	[S_READ_PIECES] = "SELECT bytes FROM piece WHERE job = ?1 AND"
			  " part = ?2 ORDER BY n",
	[S_FIND_JOB] = JOB_COLUMNS "WHERE id = ?1 AND producer = ?2",
	[S_JOB_AT] = JOB_COLUMNS "WHERE number = ?1",
	[S_LIST] = JOB_COLUMNS "WHERE producer = ?1 AND number > ?2"
			       " ORDER BY number LIMIT ?3",
	[S_LIST_STATE] =
	    JOB_COLUMNS "WHERE producer = ?1 AND number > ?2 AND state = ?4"
			" ORDER BY number LIMIT ?3",
	[S_WAITING] =
	    "SELECT number FROM job WHERE state = 1 AND capability = ?1 AND"
	    " not_before <= ?2 ORDER BY number LIMIT 2",
	[S_HOLD_JOB] = "UPDATE job SET state = 2, worker = ?2, changed = ?3"
		       " WHERE number = ?1",
	[S_RETURN_JOB] = "UPDATE job SET state = 1, worker = '', attempts = ?2,"
			 " not_before = ?3, changed = ?4 WHERE number = ?1",
	[S_FINISH_JOB] =
	    "UPDATE job SET state = ?2, worker = '', attempts = ?3,"
	    " changed = ?4, finished = ?5 WHERE number = ?1",
	[S_ADD_HOLD] = "INSERT INTO hold (lease, job, worker, claim_id, state,"
		       " until) VALUES (?1, ?2, ?3, ?4, 1, ?5)",
	[S_FIND_CLAIM] = "SELECT lease, job FROM hold WHERE worker = ?1 AND"
			 " claim_id = ?2 AND state = 1",
	[S_EXTEND_HOLD] = "UPDATE hold SET until = ?2 WHERE lease = ?1",
	[S_FIND_HOLD] =
	    "SELECT hold.state, job.number, job.state, job.attempts FROM hold"
	    " JOIN job ON job.number = hold.job WHERE hold.lease = ?1 AND"
	    " hold.worker = ?2 AND job.id = ?3",
	[S_RAN_OUT] =
	    "SELECT hold.lease, hold.job, job.attempts FROM hold JOIN job ON"
	    " job.number = hold.job WHERE hold.state = 1 AND"
	    " hold.until <= ?1 ORDER BY hold.until LIMIT 1",
	[S_END_HOLD] = "UPDATE hold SET state = ?2 WHERE lease = ?1",
	[S_FORGET_HOLDS] =
	    "DELETE FROM hold WHERE job = ?1 AND state <> 1 AND turn NOT IN"
	    " (SELECT turn FROM hold WHERE job = ?1 AND state <> 1"
	    " ORDER BY turn DESC LIMIT ?2)",
	[S_DROP_OLD] =
	    "DELETE FROM job WHERE number IN (SELECT number FROM job WHERE"
	    " finished NOT NULL AND finished <= ?1 ORDER BY finished"
	    " LIMIT ?2)",
};

int64_t
store_now(const struct store *store)
{
	return (int64_t)(store->clock_base_ms +
	    (clock_boot_ms() - store->boot_base_ms));
}

int
store_directory(const struct store *store)
{
	return store->directory;
}

const char *
store_trouble(const struct store *store)
{
	return store->sql.trouble;
}

int
store_begin(struct store *store)
{
	store->changes = sqlite3_total_changes(store->sql.db);
	return sql_finish(&store->sql, sql_bind(&store->sql, S_BEGIN, ""));
}

static int
save_clock(struct store *store)
{
	int64_t now = store_now(store);
	int r = sql_finish(
	    &store->sql, sql_bind(&store->sql, S_SAVE_CLOCK, "i", now));

	if (r == SQL_DONE)
		store->saved_ms = (uint64_t)now;
	return r;
}

int
store_end(struct store *store, int r)
{
	int done = r;

	if (done >= 0 && sqlite3_total_changes(store->sql.db) != store->changes)
		done = save_clock(store);
	if (done >= 0)
		done = sql_finish(
		    &store->sql, sql_bind(&store->sql, S_COMMIT, ""));
	if (done >= 0)
		return r;
	/* The trouble to be told is the first one. Some failures have rolled
	 * back already. */
	if (sqlite3_get_autocommit(store->sql.db) == 0)
		(void)sqlite3_exec(store->sql.db, "ROLLBACK", NULL, NULL, NULL);
	return done;
}

static int
drop_old(struct store *store)
{
	int64_t before = store_now(store) - (int64_t)store->rules.keep_done_ms;

	return sql_finish(&store->sql,
	    sql_bind(&store->sql, S_DROP_OLD, "iu", before, LIMIT_QUEUE_BATCH));
}

static int
give_room_back(struct store *store)
{
	int64_t free_pages;
	char order[96];
	int r = sql_number(&store->sql, "PRAGMA freelist_count", &free_pages);

	if (r < 0 || free_pages < LIMIT_QUEUE_FREE_PAGES)
		return r;
	/* The file itself shrinks when the log is written back to it. */
	(void)snprintf(order, sizeof(order),
	    "PRAGMA incremental_vacuum(%d);PRAGMA wal_checkpoint(TRUNCATE)",
	    LIMIT_QUEUE_BACK_PAGES);
	return sql_script(&store->sql, order);
}

int
store_tick(struct store *store)
{
	int r = store_begin(store);

	if (r < 0)
		return r;
	r = store_end_holds(store);
	if (r == STORE_OK)
		r = drop_old(store);
	if (r == STORE_OK &&
	    (uint64_t)store_now(store) - store->saved_ms > LIMIT_QUEUE_CLOCK_MS)
		r = save_clock(store);
	r = store_end(store, r);
	return r < 0 ? r : give_room_back(store);
}

/* A lock of our own: SQLite's are only for the length of a transaction. */
static int
lock_database(const char *path, int *ret_lock, struct fault *fault)
{
	char name[PATH_MAX];
	char pid[16] = "";
	cleanup_fd int fd = -1;
	ssize_t n;

	if (snprintf(name, sizeof(name), "%s.lock", path) >= (int)sizeof(name))
		return fault_set(
		    fault, FAULT_CONFIG, "--db: the path is too long");
	fd = open(name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return fault_set(
		    fault, FAULT_SYSTEM, "%s: %s", name, strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		n = file_pread_all(fd, pid, sizeof(pid) - 1, 0);
		return fault_set(fault, FAULT_SYSTEM,
		    "%s: in use by another sandcastle-queue (process %s)", path,
		    n > 0 ? pid : "unknown");
	}
	n = snprintf(pid, sizeof(pid), "%d", (int)getpid());
	if (ftruncate(fd, 0) < 0 || file_pwrite_all(fd, pid, (size_t)n, 0) < 0)
		return fault_set(
		    fault, FAULT_SYSTEM, "%s: cannot be written", name);
	*ret_lock = take_fd(&fd);
	return 0;
}

static int
open_directory(const char *path, int *ret_directory, struct fault *fault)
{
	cleanup_free char *copy = memory_text(path);
	const char *name = dirname(copy);
	int fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return fault_set(
		    fault, FAULT_SYSTEM, "%s: %s", name, strerror(errno));
	*ret_directory = fd;
	return 0;
}

static int
check_schema(struct store *store, const char *path, struct fault *fault)
{
	struct sql *sql = &store->sql;
	int64_t application = 0;
	int64_t version = 0;
	int64_t tables = 0;
	int r = sql_number(sql, "PRAGMA application_id", &application);

	if (r == SQL_DONE)
		r = sql_number(sql, "PRAGMA user_version", &version);
	if (r == SQL_DONE)
		r = sql_number(
		    sql, "SELECT count(*) FROM sqlite_schema", &tables);
	if (r == SQL_DONE && application == 0 && tables == 0)
		r = sql_script(sql, schema);
	else if (r == SQL_DONE &&
	    (application != APPLICATION_ID || version != SCHEMA_VERSION))
		return fault_set(fault, FAULT_SYSTEM,
		    "%s: is not a database of this version of "
		    "sandcastle-queue",
		    path);
	if (r == SQL_DONE)
		r = sql_prepare(sql, statements, S_COUNT);
	return r == SQL_DONE
	    ? 0
	    : fault_set(fault, FAULT_SYSTEM, "%s: %s", path, sql->trouble);
}

static int
start_clock(struct store *store, const char *path, struct fault *fault)
{
	int64_t ms;

	if (sql_number(&store->sql, "SELECT ms FROM clock", &ms) < 0)
		return fault_set(
		    fault, FAULT_SYSTEM, "%s: %s", path, store->sql.trouble);
	store->boot_base_ms = clock_boot_ms();
	store->clock_base_ms = (uint64_t)ms;
	store->saved_ms = (uint64_t)ms;
	return 0;
}

int
store_open(const char *path, const struct store_rules *rules,
    struct store **ret_store, struct fault *fault)
{
	struct store *store = memory_new(1, sizeof(*store));

	store->rules = *rules;
	store->directory = -1;
	store->lock = -1;
	store->step = memory_new(LIMIT_BLOB_STEP, 1);
	store->other = memory_new(LIMIT_BLOB_STEP, 1);
	if (open_directory(path, &store->directory, fault) < 0 ||
	    lock_database(path, &store->lock, fault) < 0 ||
	    sql_open(&store->sql, path, fault) < 0 ||
	    check_schema(store, path, fault) < 0 ||
	    start_clock(store, path, fault) < 0) {
		store_close(store);
		return -1;
	}
	*ret_store = store;
	return 0;
}

void
store_close(struct store *store)
{
	if (store == NULL)
		return;
	if (store->sql.statements[S_SAVE_CLOCK] != NULL)
		(void)save_clock(store);
	sql_close(&store->sql);
	if (store->lock >= 0)
		(void)close(store->lock);
	if (store->directory >= 0)
		(void)close(store->directory);
	free(store->step);
	free(store->other);
	free(store);
}
