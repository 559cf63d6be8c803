/* SPDX-License-Identifier: ISC
 *
 * A world for the scheduler to live in: sources with tempers, a keep, a yard
 * and a disk that fail, a core that dies at any step. Everything is drawn
 * from one seed. What must hold is checked where it happens; a broken promise
 * is written down and the seed printed.
 */
#ifndef SIMULATE_WORLD_H
#define SIMULATE_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "core/round.h"

#define WORLD_START 400000000000ull
#define WORLD_ROWS  (LIMIT_PARKED + 4)
#define WORLD_CAP   40 /* the most jobs an hour that is drawn */
#define WORLD_JOBS  (1u << 17)
#define JOB_NOBODY  UINT32_MAX

enum temper {
	TEMPER_FAST = 0,
	TEMPER_SLOW,
	TEMPER_SILENT,
	TEMPER_LIAR,
	TEMPER_AWAY, /* refuses for hours or days, then is back */
	TEMPER_REPEATS, /* hands out the same id again and again */
	TEMPER_COUNT,
};

/* One job of one source, as its server sees it. */
struct world_job {
	uint32_t owner;
	uint32_t capability;
	uint32_t outcome; /* received for this attempt; 0: none */
	uint32_t code;
	uint32_t suspicions; /* in the journal */
	uint32_t crashes;
	bool is_excused; /* the disk failed when it was to be written */
};

struct world_row {
	uint32_t job;
	bool is_parked;
	struct job data;
};

/* What the journal has for one source. */
struct book {
	uint32_t claim_id;
	bool is_held;
	bool is_running;
	uint32_t held_job;
	uint32_t n_rows;
	struct world_row rows[WORLD_ROWS];
};

enum stage {
	STAGE_IDLE = 0,
	STAGE_OPENING,
	STAGE_CLAIM,
	STAGE_RESULT,
};

struct world_source {
	enum temper temper;
	struct source_rule rule;
	struct book book;
	bool is_away;
	uint64_t toggle_ms;
	/* the server */
	uint32_t claim_id; /* the last it answered with a job */
	uint32_t claim_job;
	uint32_t last_job;
	/* the exchange */
	enum stage stage;
	uint64_t answer_ms; /* TIME_NEVER: none will come */
	struct courier_answer answer;
	uint32_t answer_job;
	uint32_t keep_result;
	/* the core's memory of it */
	uint32_t job;
	uint32_t claim_id_sent; /* 0: none since the last whole 200 */
	/* for the checks */
	uint64_t claimed_ms;
	uint64_t failed_ms;
	uint32_t failures;
	uint64_t ready_since_ms;
	uint64_t starts[WORLD_CAP];
	uint32_t n_starts;
};

struct world {
	uint64_t seed; /* as printed */
	uint64_t random;
	uint64_t now_ms;
	uint32_t n;
	struct world_source sources[LIMIT_SOURCES];
	uint32_t n_jobs;
	struct world_job jobs[WORLD_JOBS];
	struct schedule schedule;
	struct actions actions[2];
	int filling;
	bool is_dead; /* the core, in the middle of its actions */
	bool has_crashed;
	bool keep_is_up, yard_is_up, disk_is_full;
	uint64_t keep_ms, yard_ms, disk_ms; /* when they change */
	uint32_t next_claim_id;
	/* the box */
	uint32_t box; /* slot, or SLOT_NONE */
	uint64_t box_ms;
	uint32_t box_capability;
	uint64_t unmade_ms[CAPABILITY_COUNT];
	uint64_t steps;
	uint64_t n_done, n_crashes, n_starts, n_full;
	const char *broken;
	uint32_t sabotage; /* a check to be shown to fail; 0: none */
};

enum sabotage {
	SABOTAGE_TWO_BOXES = 1,
	SABOTAGE_CAPABILITY,
	SABOTAGE_HURRY,
	SABOTAGE_NO_BACKOFF,
	SABOTAGE_HOUR,
	SABOTAGE_SLOW,
	SABOTAGE_FORGET,
	SABOTAGE_OUTCOME,
	SABOTAGE_CLAIM_ID,
	SABOTAGE_OWNER,
	SABOTAGE_COUNT,
};

void world_init(struct world *world, uint64_t seed, uint32_t sabotage);

/* One event. False: a promise is broken (world->broken). */
bool world_step(struct world *world);

#endif
