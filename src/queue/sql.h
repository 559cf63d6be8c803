/* SPDX-License-Identifier: ISC
 *
 * A database of prepared statements.
 */
#ifndef QUEUE_SQL_H
#define QUEUE_SQL_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

#define SQL_STATEMENTS 40

enum sql_result {
	SQL_DONE = 0,
	SQL_ROW = 1,
	SQL_FULL = -1, /* no room on the disk */
	SQL_BROKEN = -2, /* anything else; see trouble */
};

struct sql {
	sqlite3 *db;
	sqlite3_stmt *statements[SQL_STATEMENTS];
	char trouble[200]; /* the last failure, for the log */
};

/* Opens or makes the file. 0, or -1 with a fault; sql_close in any case. */
int sql_open(struct sql *sql, const char *path, struct fault *fault);

/* Runs a script of statements without parameters. */
int sql_script(struct sql *sql, const char *script);

/* The first number of the first row of a query; 0 when there is none. */
int sql_number(struct sql *sql, const char *query, int64_t *ret);

/* Prepares texts[0] to texts[n - 1]; their index is their number from now
 * on. */
int sql_prepare(struct sql *sql, const char *const *texts, size_t n);

void sql_close(struct sql *sql);

/*
 * Makes a statement ready with its parameters, by types: 'i' an int64_t, 'u' a
 * uint32_t or an enum, 't' a string that must live until the statement is
 * done.
 */
sqlite3_stmt *sql_bind(struct sql *sql, size_t number, const char *types, ...);

/* Gives SQL_ROW with a row to read; otherwise the statement is reset. */
int sql_step(struct sql *sql, sqlite3_stmt *statement);

/* Steps a bound statement that gives no rows to its end. */
int sql_finish(struct sql *sql, sqlite3_stmt *statement);

/* Copies a text column; an unfit one becomes "". */
void sql_text(sqlite3_stmt *statement, int column, char *to, size_t size);

#endif
