/* SPDX-License-Identifier: ISC
 *
 * The core around its pure scheduler: one slot per source with what the
 * scheduler does not look at (names, ids, letters, links), the peers, the
 * journal. Everything that happens becomes an event; every decision comes back
 * as an action.
 */
#ifndef CORE_CORE_H
#define CORE_CORE_H

#include "config/config.h"
#include "core/journal.h"
#include "core/schedule.h"
#include "core/watch.h"
#include "wire/super_msg.h"

/* Times of the scheduler are boot milliseconds plus this, so that what was
 * before this boot has a time as well. */
#define CORE_EPOCH_MS (10ull * 365 * 24 * LIMIT_HOUR_MS)

struct courier_link {
	struct watch *watch; /* NULL: none, or still with the keep */
	int end; /* ours, until it is watched; -1 */
	uint32_t sequence; /* of KEEP_OPEN; 0: no exchange */
	uint32_t generation; /* of the config when it was opened */
	uint32_t index;
	bool is_claim;
	int letter; /* of a claim: writable; -1 */
};

struct slot {
	bool is_used;
	uint32_t index; /* in the config in force */
	char name[CONFIG_NAME_BYTES];
	char origin[320];
	char claim_id[LIMIT_CLAIM_ID_BYTES + 1];
	struct courier_link link;
	struct journal_row row; /* the job: id, lease, ticket */
	int64_t committed_row; /* row.row as of the last commit */
	int input; /* sealed; -1: none */
	int output; /* -1: none, or in the journal only */
	uint64_t run_ms; /* how long its box took */
};

struct yard_link {
	struct watch *watch; /* NULL: none */
	uint32_t generation;
	uint32_t sequence;
	bool is_listed;
	struct yard_answer listed;
};

struct core {
	uv_loop_t loop;
	struct watch *supervisor;
	struct watch *timer;
	struct watch *keep; /* NULL: down */
	struct yard_link yards[2]; /* [0]: for new jobs; [1]: an older one
				      that still has the box */
	int running_yard; /* index of the one with the box; -1 */
	struct journal *journal;
	struct schedule schedule;
	struct slot slots[SCHEDULE_SLOTS];
	struct config *config;
	struct config *pending;
	uint32_t generation;
	uint32_t pending_generation;
	bool has_crashed; /* the core before this one */
	uint32_t sequence;
	/* actions of events that were not yet performed */
	struct actions actions[2];
	unsigned int filling;
	unsigned int n_holds;
	uint64_t checkpoint_ms; /* 0: nothing was deleted */
	/* status.json */
	int run_directory;
	bool status_is_due;
	uint64_t status_ms; /* last written */
	bool has_status_trouble;
	int exit_status;
	bool has_ended;
	char boot_id[37];
};

/* The scheduler's clock. */
uint64_t core_now_ms(void);
void core_journal_time(const struct core *core, struct journal_time *ret_time);

/* Lets the scheduler see an event and performs what it wants. */
void core_event(struct core *core, const struct event *event);
void core_event_slot(
    struct core *core, enum event_kind kind, uint32_t slot, uint32_t value);

/* Actions wait between these two, so that they share one commit; while some
 * are being performed, they wait anyway. */
void core_hold(struct core *core);
void core_go(struct core *core);

/* Puts core->config in force: slots, rules, and at the start recovery. */
void core_configure(struct core *core);

/* Leaves the loop, and the process with that status. */
void core_end(struct core *core, int status);

/* Lets go of the letters of a slot's job. */
void core_clear_job(struct slot *slot);

/* Performs ACTION_NOTE: a line in the log. */
void core_note(struct core *core, uint32_t slot, enum note note);

#endif
