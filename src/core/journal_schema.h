/* SPDX-License-Identifier: ISC
 *
 * The tables of the journal. Numbers are those of the contract's enums. The
 * body of an outcome stands apart from its row in the outbox: SQLite reads and
 * writes a row as a whole, and a body must never be in memory as a whole.
 */
#ifndef CORE_JOURNAL_SCHEMA_H
#define CORE_JOURNAL_SCHEMA_H

#define JOURNAL_VERSION 1

/* max_page_count: LIMIT_JOURNAL_BYTES in pages of 4 KiB. The log is written
 * back early: on a full disk it must not be what fills it. */
#define JOURNAL_SETTINGS                 \
	"PRAGMA journal_mode=WAL;"       \
	"PRAGMA synchronous=FULL;"       \
	"PRAGMA secure_delete=ON;"       \
	"PRAGMA temp_store=MEMORY;"      \
	"PRAGMA trusted_schema=OFF;"     \
	"PRAGMA cell_size_check=ON;"     \
	"PRAGMA wal_autocheckpoint=128;" \
	"PRAGMA max_page_count=1048576;"

#define JOURNAL_SCHEMA                                                       \
	"BEGIN IMMEDIATE;"                                                   \
	"CREATE TABLE sources(name TEXT NOT NULL, origin TEXT NOT NULL, "    \
	" claim_id TEXT NOT NULL, PRIMARY KEY(name, origin)) WITHOUT ROWID;" \
	"CREATE TABLE held(source TEXT NOT NULL, origin TEXT NOT NULL, "     \
	" id TEXT NOT NULL, lease TEXT NOT NULL, capability INTEGER NOT "    \
	" NULL, ticket BLOB NOT NULL, is_running INTEGER NOT NULL, "         \
	" PRIMARY KEY(source, origin)) WITHOUT ROWID;"                       \
	"CREATE TABLE outbox(row INTEGER PRIMARY KEY AUTOINCREMENT, "        \
	" source TEXT NOT NULL, origin TEXT NOT NULL, id TEXT NOT NULL, "    \
	" lease TEXT NOT NULL, capability INTEGER NOT NULL, ticket BLOB "    \
	" NOT NULL, outcome INTEGER NOT NULL, error INTEGER NOT NULL, "      \
	" reason INTEGER NOT NULL, retry_after_s INTEGER NOT NULL, "         \
	" tries INTEGER NOT NULL, age_ms INTEGER NOT NULL, bad_ms INTEGER "  \
	" NOT NULL, is_parked INTEGER NOT NULL, body_bytes INTEGER NOT "     \
	" NULL);"                                                            \
	"CREATE TABLE bodies(row INTEGER PRIMARY KEY, body BLOB NOT NULL);"  \
	"CREATE INDEX outbox_source ON outbox(source, origin);"              \
	"CREATE TABLE runs(source TEXT NOT NULL, origin TEXT NOT NULL, "     \
	" boot_id TEXT NOT NULL, boot_ms INTEGER NOT NULL, wall_s INTEGER "  \
	" NOT NULL);"                                                        \
	"CREATE INDEX runs_source ON runs(source, origin);"                  \
	"CREATE TABLE suspects(row INTEGER PRIMARY KEY AUTOINCREMENT, "      \
	" source TEXT NOT NULL, origin TEXT NOT NULL, id TEXT NOT NULL, "    \
	" suspicions INTEGER NOT NULL, crashes INTEGER NOT NULL);"           \
	"CREATE INDEX suspects_id ON suspects(source, origin, id);"          \
	"PRAGMA user_version=1;"                                             \
	"COMMIT;"

#endif
