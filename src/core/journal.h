/* SPDX-License-Identifier: ISC
 *
 * What must survive: held jobs, finished results, counted runs, claim_ids and
 * suspected jobs, in one SQLite file with one writer. Inputs are never in it.
 * Rows belong to a source's name AND origin: a name that is used again for
 * another URL does not get them.
 */
#ifndef CORE_JOURNAL_H
#define CORE_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/limits.h"
#include "wire/courier_msg.h"

struct journal;

/* Whose rows. */
struct journal_key {
	const char *name;
	const char *origin;
};

/* A job as the journal has it. */
struct journal_row {
	int64_t row; /* of the outbox; 0: none */
	char id[COURIER_ID_BYTES];
	char lease[COURIER_ID_BYTES];
	unsigned char ticket[LETTER_TICKET_BYTES];
	uint32_t capability;
	bool is_running; /* held only */
	uint32_t outcome;
	uint32_t error;
	uint32_t reason;
	uint32_t retry_after_s;
	uint32_t tries;
	uint64_t age_ms; /* running time since it had its outcome */
	int64_t bad_ms; /* since the first 5xx; -1: none */
	uint64_t body_bytes; /* the whole output letter; 0: none */
};

/* Where in time a run began. */
struct journal_time {
	char boot_id[37];
	uint64_t boot_ms;
	int64_t wall_s;
};

/*
 * Opens or makes DIRECTORY/journal.db. -1 with a fault that says what is
 * wrong with it: unreadable, of a newer version, damaged, no space.
 */
int journal_open(
    const char *directory, struct journal **ret, struct fault *fault);
void journal_close(struct journal *journal);

/*
 * All changes happen between begin and commit. A function that fails gives
 * -1; the transaction is then rolled back by commit, which gives -1 too.
 */
void journal_begin(struct journal *journal);
int journal_commit(struct journal *journal);
/* What the last failure was, for the log. */
const char *journal_problem(const struct journal *journal);

int journal_set_claim_id(struct journal *journal, const struct journal_key *key,
    const char *claim_id);
int journal_add_held(struct journal *journal, const struct journal_key *key,
    const struct journal_row *row);
int journal_add_run(struct journal *journal, const struct journal_key *key,
    const struct journal_time *now);
int journal_set_running(struct journal *journal, const struct journal_key *key);
/* Held → outbox, or a changed outcome of a row that is in it (then *row says
 * which). letter: the sealed output, or -1. Sets row->row. */
int journal_put_outcome(struct journal *journal, const struct journal_key *key,
    struct journal_row *row, int letter);
int journal_set_tried(struct journal *journal, const struct journal_row *row);
int journal_park(struct journal *journal, int64_t row);
/* The source has the result, or will never: out of outbox (unless row is 0)
 * and held. */
int journal_forget(
    struct journal *journal, const struct journal_key *key, int64_t row);
/* One suspicion, or one crash, more of an id. */
int journal_suspect(struct journal *journal, const struct journal_key *key,
    const char *id, bool is_crash);

/* Reading; 1 found, 0 not, -1 failed. */
int journal_get_claim_id(struct journal *journal, const struct journal_key *key,
    char ret[LIMIT_CLAIM_ID_BYTES + 1]);
int journal_get_held(struct journal *journal, const struct journal_key *key,
    struct journal_row *ret);
/* The oldest result that waits. */
int journal_get_waiting(struct journal *journal, const struct journal_key *key,
    struct journal_row *ret);
int journal_get_suspect(struct journal *journal, const struct journal_key *key,
    const char *id, uint32_t ret[2]);
int journal_count_parked(struct journal *journal, const struct journal_key *key,
    uint32_t *ret_n, uint64_t *ret_bytes);
/* The body of a row as a sealed letter, or -errno. */
int journal_get_body(struct journal *journal, const struct journal_row *row);
/* Each run of the last hour: how long ago. */
int journal_each_run(struct journal *journal, const struct journal_key *key,
    const struct journal_time *now,
    void (*function)(void *context, uint64_t age_ms), void *context);
/* Each name and origin that has held jobs or results. */
int journal_each_owner(struct journal *journal,
    void (*function)(
	void *context, const struct journal_key *key, uint32_t n_rows),
    void *context);

/* Writes the log back and cuts it off, so that nothing deleted stays. */
void journal_checkpoint(struct journal *journal);

#endif
