/* SPDX-License-Identifier: ISC
 *
 * SQLite with write-ahead log, synchronous FULL: what was committed survives
 * a power cut. Runs in the core, the only writer. Bodies are copied in small
 * steps, never as a whole in memory.
 */
#include "core/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/must.h"
#include "base/text.h"
#include "contract/outcome.h"
#include "core/journal_schema.h"

_Static_assert(LIMIT_JOURNAL_BYTES / 4096 == 1048576, "max_page_count");

struct journal {
	sqlite3 *db;
	bool has_failed; /* since begin */
	char problem[160];
	unsigned char step[LIMIT_BLOB_STEP];
};

static void
statement_done(sqlite3_stmt **statement)
{
	(void)sqlite3_finalize(*statement);
}

#define cleanup_statement cleanup_with(statement_done)

static int
failed(struct journal *journal)
{
	journal->has_failed = true;
	(void)snprintf(journal->problem, sizeof(journal->problem), "%s",
	    sqlite3_errmsg(journal->db));
	return -1;
}

/* Binds by type: t text, i integer, k a key (two texts), b a ticket. */
static sqlite3_stmt *
prepare_with(
    struct journal *journal, const char *sql, const char *types, va_list list)
{
	sqlite3_stmt *statement = NULL;
	int at = 1;

	if (sqlite3_prepare_v2(journal->db, sql, -1, &statement, NULL))
		return NULL;
	for (const char *type = types; *type != '\0'; type++) {
		if (*type == 't') {
			const char *text = va_arg(list, const char *);

			sqlite3_bind_text(
			    statement, at++, text, -1, SQLITE_TRANSIENT);
		} else if (*type == 'k') {
			const struct journal_key *key =
			    va_arg(list, const struct journal_key *);

			sqlite3_bind_text(
			    statement, at++, key->name, -1, SQLITE_STATIC);
			sqlite3_bind_text(
			    statement, at++, key->origin, -1, SQLITE_STATIC);
		} else if (*type == 'b') {
			sqlite3_bind_blob(statement, at++,
			    va_arg(list, const unsigned char *),
			    LETTER_TICKET_BYTES, SQLITE_TRANSIENT);
		} else {
			must(*type == 'i');
			sqlite3_bind_int64(
			    statement, at++, va_arg(list, int64_t));
		}
	}
	return statement;
}

static sqlite3_stmt *
query(struct journal *journal, const char *sql, const char *types, ...)
{
	sqlite3_stmt *statement;
	va_list list;

	va_start(list, types);
	statement = prepare_with(journal, sql, types, list);
	va_end(list);
	if (statement == NULL)
		(void)failed(journal);
	return statement;
}

static int
run(struct journal *journal, const char *sql, const char *types, ...)
{
	cleanup_statement sqlite3_stmt *statement = NULL;
	va_list list;

	if (journal->has_failed)
		return -1;
	va_start(list, types);
	statement = prepare_with(journal, sql, types, list);
	va_end(list);
	if (statement == NULL || sqlite3_step(statement) != SQLITE_DONE)
		return failed(journal);
	return 0;
}

/* The first row of a query. 1, 0 or -1. */
static int
first(struct journal *journal, sqlite3_stmt *statement)
{
	int r = statement == NULL ? SQLITE_ERROR : sqlite3_step(statement);

	if (r == SQLITE_ROW)
		return 1;
	return r == SQLITE_DONE ? 0 : failed(journal);
}

static int64_t
column(sqlite3_stmt *statement, int at)
{
	return sqlite3_column_int64(statement, at);
}

static uint32_t
column_u32(sqlite3_stmt *statement, int at)
{
	return (uint32_t)sqlite3_column_int64(statement, at);
}

static int
column_text(sqlite3_stmt *statement, int at, char *to, size_t size)
{
	const unsigned char *text = sqlite3_column_text(statement, at);

	memset(to, 0, size);
	return text_copy(to, size, text ? (const char *)text : "");
}

/* -- opening */

static int
version_of(sqlite3 *db)
{
	sqlite3_stmt *statement = NULL;
	int version = -1;

	if (sqlite3_prepare_v2(
		db, "PRAGMA user_version", -1, &statement, NULL) == 0 &&
	    sqlite3_step(statement) == SQLITE_ROW)
		version = sqlite3_column_int(statement, 0);
	(void)sqlite3_finalize(statement);
	return version;
}

static int
is_sound(sqlite3 *db)
{
	sqlite3_stmt *statement = NULL;
	int sound = 0;

	if (sqlite3_prepare_v2(
		db, "PRAGMA quick_check(1)", -1, &statement, NULL) == 0 &&
	    sqlite3_step(statement) == SQLITE_ROW) {
		const unsigned char *text = sqlite3_column_text(statement, 0);

		sound = text && strcmp((const char *)text, "ok") == 0;
	}
	(void)sqlite3_finalize(statement);
	return sound;
}

static int
prepare_file(sqlite3 *db, const char *path, struct fault *fault)
{
	int version;

	/* A core that was killed a moment ago may not be gone yet. */
	(void)sqlite3_busy_timeout(db, LIMIT_JOURNAL_WAIT_MS);
	/* What is no database shows at the first reading. */
	version = version_of(db);
	if (version < 0)
		return fault_set(fault, FAULT_SYSTEM, "%s: cannot be read: %s",
		    path, sqlite3_errmsg(db));
	if (version > JOURNAL_VERSION)
		return fault_set(fault, FAULT_SYSTEM,
		    "%s: is of version %d, this program knows %d; use the newer "
		    "program, or move the file away",
		    path, version, JOURNAL_VERSION);
	if (sqlite3_exec(db, JOURNAL_SETTINGS, NULL, NULL, NULL) ||
	    (version == 0 &&
		sqlite3_exec(db, JOURNAL_SCHEMA, NULL, NULL, NULL)))
		return fault_set(fault, FAULT_SYSTEM,
		    "%s: cannot be written: %s", path, sqlite3_errmsg(db));
	if (!is_sound(db))
		return fault_set(fault, FAULT_SYSTEM,
		    "%s: is damaged; move it away to start anew (results in it "
		    "would not be delivered)",
		    path);
	/* From here on nobody else writes, and the core must not wait. */
	(void)sqlite3_busy_timeout(db, 0);
	return 0;
}

int
journal_open(const char *directory, struct journal **ret, struct fault *fault)
{
	const int flags =
	    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW;
	char path[4096];
	struct journal *journal;
	sqlite3 *db = NULL;
	mode_t mask = umask(077);
	int r;

	(void)snprintf(path, sizeof(path), "%s/journal.db", directory);
	r = sqlite3_open_v2(path, &db, flags, NULL);
	if (r != SQLITE_OK)
		r = fault_set(fault, FAULT_SYSTEM, "%s: cannot be opened: %s",
		    path, db ? sqlite3_errmsg(db) : "out of memory");
	else
		r = prepare_file(db, path, fault);
	(void)umask(mask);
	if (r < 0) {
		(void)sqlite3_close(db);
		return -1;
	}
	journal = memory_new(1, sizeof(*journal));
	journal->db = db;
	*ret = journal;
	return 0;
}

void
journal_close(struct journal *journal)
{
	if (journal == NULL)
		return;
	(void)sqlite3_close(journal->db);
	free(journal);
}

/* -- writing */

void
journal_begin(struct journal *journal)
{
	journal->has_failed = false;
	(void)run(journal, "BEGIN IMMEDIATE", "");
}

int
journal_commit(struct journal *journal)
{
	if (run(journal, "COMMIT", "") == 0)
		return 0;
	if (sqlite3_get_autocommit(journal->db) == 0)
		(void)sqlite3_exec(journal->db, "ROLLBACK", NULL, NULL, NULL);
	return -1;
}

const char *
journal_problem(const struct journal *journal)
{
	return journal->problem;
}

int
journal_set_claim_id(struct journal *journal, const struct journal_key *key,
    const char *claim_id)
{
	return run(journal, "INSERT OR REPLACE INTO sources VALUES(?,?,?)",
	    "kt", key, claim_id);
}

int
journal_add_held(struct journal *journal, const struct journal_key *key,
    const struct journal_row *row)
{
	return run(journal, "INSERT OR REPLACE INTO held VALUES(?,?,?,?,?,?,0)",
	    "kttib", key, row->id, row->lease, (int64_t)row->capability,
	    row->ticket);
}

int
journal_add_run(struct journal *journal, const struct journal_key *key,
    const struct journal_time *now)
{
	int64_t boot_ms = (int64_t)now->boot_ms;

	(void)run(journal,
	    "DELETE FROM runs WHERE (boot_id = ?1 AND boot_ms < ?2) OR "
	    "(boot_id <> ?1 AND (wall_s < ?3 OR ?2 > 0))",
	    "tii", now->boot_id, boot_ms - LIMIT_HOUR_MS - 1000,
	    now->wall_s - LIMIT_HOUR_MS / 1000 - 1);
	return run(journal, "INSERT INTO runs VALUES(?,?,?,?,?)", "ktii", key,
	    now->boot_id, boot_ms, now->wall_s);
}

int
journal_set_running(struct journal *journal, const struct journal_key *key)
{
	return run(journal,
	    "UPDATE held SET is_running = 1 WHERE source = ? AND origin = ?",
	    "k", key);
}

/* Copies a letter into the body of a row. */
static int
put_body(struct journal *journal, int64_t row, int letter, uint64_t n)
{
	sqlite3_blob *blob = NULL;
	int r;

	if (run(journal, "INSERT INTO bodies VALUES(?,zeroblob(?))", "ii", row,
		(int64_t)n) < 0)
		return -1;
	r = sqlite3_blob_open(
	    journal->db, "main", "bodies", "body", row, 1, &blob);
	for (uint64_t at = 0; r == 0 && at < n;) {
		ssize_t got = file_pread_all(
		    letter, journal->step, LIMIT_BLOB_STEP, (off_t)at);

		if (got <= 0)
			r = SQLITE_IOERR;
		else
			r = sqlite3_blob_write(
			    blob, journal->step, (int)got, (int)at);
		at += got > 0 ? (uint64_t)got : 0;
	}
	if (r != 0)
		(void)failed(journal);
	(void)sqlite3_blob_close(blob);
	return r == 0 ? 0 : -1;
}

int
journal_put_outcome(struct journal *journal, const struct journal_key *key,
    struct journal_row *row, int letter)
{
	uint64_t n = letter < 0 ? 0 : row->body_bytes;

	if (journal_forget(journal, key, row->row) < 0)
		return -1;
	if (run(journal,
		"INSERT INTO outbox "
		"VALUES(NULL,?,?,?,?,?,?,?,?,?,?,?,?,-1,0,?)",
		"kttibiiiiiii", key, row->id, row->lease,
		(int64_t)row->capability, row->ticket, (int64_t)row->outcome,
		(int64_t)row->error, (int64_t)row->reason,
		(int64_t)row->retry_after_s, (int64_t)row->tries,
		(int64_t)row->age_ms, (int64_t)n) < 0)
		return -1;
	row->row = sqlite3_last_insert_rowid(journal->db);
	if (n > 0 && put_body(journal, row->row, letter, n) < 0)
		return -1;
	if (row->outcome == OUTCOME_RELEASED)
		return 0;
	return run(journal,
	    "DELETE FROM suspects WHERE source = ? AND origin = ? AND id = ?",
	    "kt", key, row->id);
}

int
journal_set_tried(struct journal *journal, const struct journal_row *row)
{
	return run(journal,
	    "UPDATE outbox SET tries = ?, age_ms = ?, bad_ms = ? "
	    "WHERE row = ?",
	    "iiii", (int64_t)row->tries, (int64_t)row->age_ms, row->bad_ms,
	    row->row);
}

int
journal_park(struct journal *journal, int64_t row)
{
	return run(
	    journal, "UPDATE outbox SET is_parked = 1 WHERE row = ?", "i", row);
}

int
journal_forget(
    struct journal *journal, const struct journal_key *key, int64_t row)
{
	(void)run(journal, "DELETE FROM bodies WHERE row = ?", "i", row);
	(void)run(journal, "DELETE FROM outbox WHERE row = ?", "i", row);
	return run(journal, "DELETE FROM held WHERE source = ? AND origin = ?",
	    "k", key);
}

int
journal_suspect(struct journal *journal, const struct journal_key *key,
    const char *id, bool is_crash)
{
	uint32_t counts[2] = { 0, 0 };

	if (journal_get_suspect(journal, key, id, counts) < 0)
		return -1;
	counts[is_crash]++;
	(void)run(journal,
	    "DELETE FROM suspects WHERE source = ? AND origin = ? AND id = ?",
	    "kt", key, id);
	(void)run(journal, "INSERT INTO suspects VALUES(NULL,?,?,?,?,?)",
	    "ktii", key, id, (int64_t)counts[0], (int64_t)counts[1]);
	return run(journal,
	    "DELETE FROM suspects WHERE source = ?1 AND origin = ?2 AND row <= "
	    "(SELECT row FROM suspects WHERE source = ?1 AND origin = ?2 "
	    "ORDER BY row DESC LIMIT 1 OFFSET ?3)",
	    "ki", key, (int64_t)LIMIT_SUSPECTS);
}

/* -- reading */

int
journal_get_claim_id(struct journal *journal, const struct journal_key *key,
    char ret[LIMIT_CLAIM_ID_BYTES + 1])
{
	cleanup_statement sqlite3_stmt *statement = query(journal,
	    "SELECT claim_id FROM sources WHERE name = ? AND origin = ?", "k",
	    key);
	int r = first(journal, statement);

	if (r == 1)
		(void)column_text(statement, 0, ret, LIMIT_CLAIM_ID_BYTES + 1);
	return r;
}

static int
read_names(sqlite3_stmt *statement, struct journal_row *row)
{
	const void *ticket = sqlite3_column_blob(statement, 3);

	if (column_text(statement, 0, row->id, sizeof(row->id)) < 0 ||
	    column_text(statement, 1, row->lease, sizeof(row->lease)) < 0 ||
	    ticket == NULL ||
	    sqlite3_column_bytes(statement, 3) != LETTER_TICKET_BYTES)
		return -1;
	row->capability = column_u32(statement, 2);
	memcpy(row->ticket, ticket, LETTER_TICKET_BYTES);
	return 0;
}

int
journal_get_held(struct journal *journal, const struct journal_key *key,
    struct journal_row *ret)
{
	cleanup_statement sqlite3_stmt *statement = query(journal,
	    "SELECT id, lease, capability, ticket, is_running FROM held "
	    "WHERE source = ? AND origin = ?",
	    "k", key);
	struct journal_row row = { .bad_ms = -1 };
	int r = first(journal, statement);

	if (r != 1)
		return r;
	if (read_names(statement, &row) < 0)
		return -1;
	row.is_running = column(statement, 4) != 0;
	*ret = row;
	return 1;
}

int
journal_get_waiting(struct journal *journal, const struct journal_key *key,
    struct journal_row *ret)
{
	cleanup_statement sqlite3_stmt *statement = query(journal,
	    "SELECT id, lease, capability, ticket, row, outcome, error, "
	    "reason, retry_after_s, tries, age_ms, bad_ms, body_bytes "
	    "FROM outbox WHERE source = ? AND origin = ? AND is_parked = 0 "
	    "ORDER BY row LIMIT 1",
	    "k", key);
	struct journal_row row = { 0 };
	int r = first(journal, statement);

	if (r != 1)
		return r;
	if (read_names(statement, &row) < 0)
		return -1;
	row.row = column(statement, 4);
	row.outcome = column_u32(statement, 5);
	row.error = column_u32(statement, 6);
	row.reason = column_u32(statement, 7);
	row.retry_after_s = column_u32(statement, 8);
	row.tries = column_u32(statement, 9);
	row.age_ms = (uint64_t)column(statement, 10);
	row.bad_ms = column(statement, 11);
	row.body_bytes = (uint64_t)column(statement, 12);
	*ret = row;
	return 1;
}

int
journal_get_suspect(struct journal *journal, const struct journal_key *key,
    const char *id, uint32_t ret[2])
{
	cleanup_statement sqlite3_stmt *statement = query(journal,
	    "SELECT suspicions, crashes FROM suspects WHERE source = ? AND "
	    "origin = ? AND id = ?",
	    "kt", key, id);
	int r = first(journal, statement);

	if (r == 1) {
		ret[0] = column_u32(statement, 0);
		ret[1] = column_u32(statement, 1);
	}
	return r;
}

int
journal_count_parked(struct journal *journal, const struct journal_key *key,
    uint32_t *ret_n, uint64_t *ret_bytes)
{
	cleanup_statement sqlite3_stmt *statement = query(journal,
	    "SELECT count(*), total(body_bytes) FROM outbox "
	    "WHERE source = ? AND origin = ? AND is_parked = 1",
	    "k", key);
	int r = first(journal, statement);

	if (r == 1) {
		*ret_n = column_u32(statement, 0);
		*ret_bytes = (uint64_t)column(statement, 1);
	}
	return r;
}

int
journal_get_body(struct journal *journal, const struct journal_row *row)
{
	cleanup_fd int letter = letter_new("output");
	sqlite3_blob *blob = NULL;
	int r;

	if (letter < 0)
		return letter;
	r = sqlite3_blob_open(
	    journal->db, "main", "bodies", "body", row->row, 0, &blob);
	for (uint64_t at = 0; r == 0 && at < row->body_bytes;) {
		uint64_t left = row->body_bytes - at;
		size_t n = left < LIMIT_BLOB_STEP ? left : LIMIT_BLOB_STEP;

		r = sqlite3_blob_read(blob, journal->step, (int)n, (int)at);
		if (r == 0 &&
		    file_pwrite_all(letter, journal->step, n, (off_t)at) < 0)
			r = SQLITE_FULL;
		at += n;
	}
	(void)sqlite3_blob_close(blob);
	if (r != 0)
		return -EIO;
	r = letter_seal(letter);
	return r < 0 ? r : take_fd(&letter);
}

static uint64_t
age_of(sqlite3_stmt *statement, const struct journal_time *now)
{
	const unsigned char *boot_id = sqlite3_column_text(statement, 0);
	int64_t age_ms;

	if (boot_id && strcmp((const char *)boot_id, now->boot_id) == 0)
		age_ms = (int64_t)now->boot_ms - column(statement, 1);
	else
		age_ms = (now->wall_s - column(statement, 2)) * 1000;
	/* A run of another boot is older than this boot. */
	if ((boot_id == NULL ||
		strcmp((const char *)boot_id, now->boot_id) != 0) &&
	    age_ms < (int64_t)now->boot_ms)
		age_ms = (int64_t)now->boot_ms;
	return age_ms < 0 ? 0 : (uint64_t)age_ms;
}

int
journal_each_run(struct journal *journal, const struct journal_key *key,
    const struct journal_time *now,
    void (*function)(void *context, uint64_t age_ms), void *context)
{
	cleanup_statement sqlite3_stmt *statement = query(journal,
	    "SELECT boot_id, boot_ms, wall_s FROM runs WHERE source = ? AND "
	    "origin = ?",
	    "k", key);
	int r;

	while ((r = first(journal, statement)) == 1)
		function(context, age_of(statement, now));
	return r;
}

int
journal_each_owner(struct journal *journal,
    void (*function)(
	void *context, const struct journal_key *key, uint32_t n_rows),
    void *context)
{
	cleanup_statement sqlite3_stmt *statement = query(journal,
	    "SELECT source, origin, count(*) FROM (SELECT source, origin FROM "
	    "outbox UNION ALL SELECT source, origin FROM held) "
	    "GROUP BY source, origin",
	    "");
	int r;

	while ((r = first(journal, statement)) == 1) {
		struct journal_key key = {
			(const char *)sqlite3_column_text(statement, 0),
			(const char *)sqlite3_column_text(statement, 1),
		};

		function(context, &key, column_u32(statement, 2));
	}
	return r;
}

void
journal_checkpoint(struct journal *journal)
{
	(void)sqlite3_wal_checkpoint_v2(
	    journal->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
}
