/* SPDX-License-Identifier: ISC
 *
 * The few things the queue does with SQLite itself. Durable before anything is
 * answered: WAL with synchronous=FULL.
 */
#include "queue/sql.h"

#include <stdarg.h>
#include <string.h>

#include "base/limits.h"
#include "base/must.h"
#include "base/text.h"

static int
fail(struct sql *sql, int code)
{
	(void)text_copy(
	    sql->trouble, sizeof(sql->trouble), sqlite3_errmsg(sql->db));
	return (code & 0xff) == SQLITE_FULL ? SQL_FULL : SQL_BROKEN;
}

int
sql_script(struct sql *sql, const char *script)
{
	int code = sqlite3_exec(sql->db, script, NULL, NULL, NULL);

	return code == SQLITE_OK ? SQL_DONE : fail(sql, code);
}

int
sql_number(struct sql *sql, const char *query, int64_t *ret)
{
	sqlite3_stmt *statement = NULL;
	int64_t number = 0;
	int code = sqlite3_prepare_v2(sql->db, query, -1, &statement, NULL);

	if (code == SQLITE_OK)
		code = sqlite3_step(statement);
	if (code == SQLITE_ROW)
		number = sqlite3_column_int64(statement, 0);
	if (code != SQLITE_ROW && code != SQLITE_DONE) {
		code = fail(sql, code);
		(void)sqlite3_finalize(statement);
		return code;
	}
	(void)sqlite3_finalize(statement);
	*ret = number;
	return SQL_DONE;
}

int
sql_open(struct sql *sql, const char *path, struct fault *fault)
{
	static const char settings[] = "PRAGMA auto_vacuum=INCREMENTAL;"
				       "PRAGMA journal_mode=WAL;"
				       "PRAGMA synchronous=FULL;"
				       "PRAGMA foreign_keys=ON;"
				       "PRAGMA trusted_schema=OFF;"
				       "PRAGMA temp_store=MEMORY;"
				       "PRAGMA journal_size_limit=16777216;";
	int code;

	memset(sql, 0, sizeof(*sql));
	code = sqlite3_open_v2(path, &sql->db,
	    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX |
		SQLITE_OPEN_NOFOLLOW,
	    NULL);
	if (code == SQLITE_OK) {
		(void)sqlite3_extended_result_codes(sql->db, 1);
		(void)sqlite3_busy_timeout(sql->db, LIMIT_QUEUE_BUSY_MS);
		code = sql_script(sql, settings);
	} else {
		(void)fail(sql, code);
	}
	return code == SQLITE_OK
	    ? 0
	    : fault_set(fault, FAULT_SYSTEM, "%s: %s", path, sql->trouble);
}

int
sql_prepare(struct sql *sql, const char *const *texts, size_t n)
{
	must(n <= SQL_STATEMENTS);
	for (size_t i = 0; i < n; i++) {
		int code = sqlite3_prepare_v3(sql->db, texts[i], -1,
		    SQLITE_PREPARE_PERSISTENT, &sql->statements[i], NULL);

		if (code != SQLITE_OK)
			return fail(sql, code);
	}
	return SQL_DONE;
}

void
sql_close(struct sql *sql)
{
	for (size_t i = 0; i < SQL_STATEMENTS; i++)
		(void)sqlite3_finalize(sql->statements[i]);
	(void)sqlite3_close(sql->db);
	memset(sql, 0, sizeof(*sql));
}

sqlite3_stmt *
sql_bind(struct sql *sql, size_t number, const char *types, ...)
{
	sqlite3_stmt *statement = sql->statements[number];
	va_list arguments;
	int at = 0;

	va_start(arguments, types);
	for (const char *type = types; *type != '\0'; type++) {
		int code;

		at++;
		if (*type == 'i')
			code = sqlite3_bind_int64(
			    statement, at, va_arg(arguments, int64_t));
		else if (*type == 'u')
			code = sqlite3_bind_int64(
			    statement, at, va_arg(arguments, uint32_t));
		else
			code = sqlite3_bind_text(statement, at,
			    va_arg(arguments, const char *), -1, SQLITE_STATIC);
		must(code == SQLITE_OK);
	}
	va_end(arguments);
	return statement;
}

int
sql_step(struct sql *sql, sqlite3_stmt *statement)
{
	int code = sqlite3_step(statement);
	int result = SQL_DONE;

	if (code == SQLITE_ROW)
		return SQL_ROW;
	if (code != SQLITE_DONE)
		result = fail(sql, code);
	(void)sqlite3_reset(statement);
	return result;
}

int
sql_finish(struct sql *sql, sqlite3_stmt *statement)
{
	int result = sql_step(sql, statement);

	must(result != SQL_ROW);
	return result;
}

void
sql_text(sqlite3_stmt *statement, int column, char *to, size_t size)
{
	const char *text = (const char *)sqlite3_column_text(statement, column);

	if (text == NULL)
		to[0] = '\0';
	else
		(void)text_copy(to, size, text);
}
