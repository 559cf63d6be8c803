/* SPDX-License-Identifier: ISC
 *
 * Shared by the parts of the SQLite store, and by nothing else.
 */
#ifndef QUEUE_STORE_SQLITE_H
#define QUEUE_STORE_SQLITE_H

#include "queue/sql.h"
#include "queue/store.h"

/* Their numbers are in the database: add at the end only. The last three are
 * enum outcome behind HOLD_ANSWERED. */
enum hold_state {
	HOLD_LIVE = 1,
	HOLD_RAN_OUT, /* nobody else may have got the job yet */
	HOLD_TAKEN_BACK, /* its claim was repeated without the capability */
	HOLD_ANSWERED = 10,
};

enum statement {
	S_BEGIN,
	S_COMMIT,
	S_ROLLBACK,
	S_SAVE_CLOCK,
	S_ADD_JOB,
	S_ADD_PIECE,
	S_DROP_PIECES,
	S_READ_PIECES,
	S_FIND_JOB,
	S_JOB_AT,
	S_LIST,
	S_LIST_STATE,
	S_WAITING,
	S_HOLD_JOB,
	S_RETURN_JOB,
	S_FINISH_JOB,
	S_ADD_HOLD,
	S_FIND_CLAIM,
	S_EXTEND_HOLD,
	S_FIND_HOLD,
	S_RAN_OUT,
	S_END_HOLD,
	S_FORGET_HOLDS,
	S_DROP_OLD,
	S_COUNT,
};

struct store {
	struct sql sql;
	struct store_rules rules;
	int directory;
	int lock;
	uint64_t clock_base_ms; /* the queue's clock at boot_base_ms */
	uint64_t boot_base_ms;
	uint64_t saved_ms; /* what the database says the clock is */
	int changes; /* of the database, when the transaction began */
	char *step; /* LIMIT_BLOB_STEP bytes to copy with */
	char *other; /* the same, to compare with */
};

/* The queue's clock. */
int64_t store_now(const struct store *store);

/* A transaction: store_end commits unless r is negative, and gives r or what
 * went wrong. One that changed nothing writes nothing. */
int store_begin(struct store *store);
int store_end(struct store *store, int r);

void store_random(char to[STORE_ID_BYTES]);

/* The job in the row of S_FIND_JOB and its kin. */
void store_read_job(sqlite3_stmt *row, struct job *to);

/* Parts of jobs, inside a transaction. */
int store_put_part(struct store *store, int64_t number, enum store_part part,
    const struct spool *from, const struct span *span);
/* 1 when the stored part is this span, 0 when not. */
int store_same_part(struct store *store, int64_t number, enum store_part part,
    const struct spool *from, const struct span *span);

/* Ends what ran out, inside a transaction. */
int store_end_holds(struct store *store);

#endif
