/* SPDX-License-Identifier: ISC
 *
 * The books of the queue: jobs, who holds them, what became of them. Every
 * function is one transaction, and durable when it has said STORE_OK.
 *
 * Time here is the queue's own clock: it runs only while the queue runs, so
 * neither a wall clock that jumps nor a week without power ends a hold or
 * drops a result.
 */
#ifndef QUEUE_STORE_H
#define QUEUE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "queue/body.h"
#include "queue/spool.h"
#include "queue/tokens.h"

struct store;

struct store_rules {
	uint64_t hold_ms; /* the shortest hold */
	uint64_t keep_done_ms; /* finished jobs are dropped after this */
	uint32_t attempts; /* then a job has failed: gave_up */
};

enum store_status {
	STORE_OK = 0,
	STORE_NONE = 1, /* no such job, no job to hand out */
	STORE_TAKEN = 2, /* no longer held by this worker */
	STORE_FULL = -1, /* no room on the disk: nothing was changed */
	STORE_BROKEN = -2, /* the database: nothing was changed */
};

/* 128 random bits as hexadecimal digits. */
#define STORE_ID_BYTES 33

/* Their order is part of the database: add at the end only. */
enum job_state {
	JOB_WAITING = 1,
	JOB_HELD,
	JOB_SUCCEEDED,
	JOB_FAILED,
	JOB_STATE_COUNT,
};

/* "waiting", …; NULL when the number is none. */
const char *job_state_name(uint32_t state);

enum store_part {
	STORE_INPUT = 1,
	STORE_OUTPUT, /* or the error object, of a failed job */
};

struct job {
	int64_t number; /* rises; the order of handing out */
	char id[STORE_ID_BYTES];
	body_name capability;
	uint32_t state; /* enum job_state */
	uint32_t attempts;
	int64_t created_s; /* wall clock, for people */
	int64_t changed_s;
	char worker[TOKENS_NAME_BYTES]; /* of a held job */
};

/*
 * Opens or makes the database at path; a second opener is refused while the
 * first lives. *ret_store is owned by the caller (store_close). 0, or -1 with
 * a fault.
 */
int store_open(const char *path, const struct store_rules *rules,
    struct store **ret_store, struct fault *fault);
void store_close(struct store *store);

/* The directory of the database, for spools; borrowed. */
int store_directory(const struct store *store);

/* What the last STORE_BROKEN or STORE_FULL was about, for the log. */
const char *store_trouble(const struct store *store);

/* Takes a job from a producer; its input is a span of the body. */
int store_submit(struct store *store, const char *producer,
    const struct body *body, const struct spool *from,
    char ret_id[STORE_ID_BYTES]);

/* One job of a producer, or STORE_NONE. */
int store_find(struct store *store, const char *producer, const char *id,
    struct job *ret_job);

typedef int store_visitor(void *context, const struct job *job);

struct store_filter {
	uint32_t state; /* 0: all */
	int64_t after; /* job number; 0: from the oldest */
	uint32_t limit;
};

/* Shows the jobs of a producer, oldest first, until the visitor gives
 * anything but 0; that is the result then. */
int store_list(struct store *store, const char *producer,
    const struct store_filter *filter, store_visitor *visitor, void *context);

struct store_grant {
	struct job job;
	char lease[STORE_ID_BYTES];
	bool more; /* another job waits that this claim could have had */
};

/*
 * Hands out a job: the same again when this worker still holds one under this
 * claim_id, else the oldest that waits. STORE_OK or STORE_NONE.
 */
int store_claim(struct store *store, const char *worker,
    const struct body *body, struct store_grant *ret_grant);

/*
 * Takes a result. STORE_OK (stored, or an identical repeat), STORE_TAKEN, or
 * STORE_NONE when this worker never held this id under this lease, or the job
 * is gone.
 */
int store_result(struct store *store, const char *worker,
    const struct body *body, const struct spool *from);

/* Appends a part of a job to a spool. STORE_NONE when it has none. */
int store_copy(struct store *store, int64_t number, enum store_part part,
    struct spool *to);

/* Ends holds that ran out, drops what is old, gives room back. To be called
 * about once a second. */
int store_tick(struct store *store);

#endif
