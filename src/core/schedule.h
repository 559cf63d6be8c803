/* SPDX-License-Identifier: ISC
 *
 * What the core does next, pure: state + event + now → actions. No fd, no
 * clock, no allocation. Everything the core does goes through here, so that a
 * simulator can drive the same code through millions of virtual hours.
 *
 * Sources live in slots that stay theirs over reloads.
 */
#ifndef CORE_SCHEDULE_H
#define CORE_SCHEDULE_H

#include "core/source.h"
#include "wire/yard_msg.h"

/* One more than sources: a removed source keeps its slot while its job runs.
 */
#define SCHEDULE_SLOTS	 (LIMIT_SOURCES + 1)
#define SLOT_NONE	 UINT32_MAX
#define SCHEDULE_ACTIONS (SCHEDULE_SLOTS * 8)

enum event_kind {
	EVENT_TICK = 0,
	/* configuration and recovery */
	EVENT_SOURCE, /* slot, rule; value: its claim_id is in the journal */
	EVENT_REMOVE, /* slot */
	EVENT_RAN, /* slot; number: age in ms of a run to count */
	EVENT_PARKED, /* slot; value rows of number bytes are parked */
	EVENT_READY, /* slot: all the journal knows of it was told */
	EVENT_FOUND, /* slot, job from the journal; value: the core before
			this one crashed */
	EVENT_LIMITS, /* limits */
	/* peers */
	EVENT_KEEP_UP,
	EVENT_KEEP_DOWN,
	EVENT_OPENED, /* slot; value: enum keep_result */
	EVENT_ANSWERED, /* slot, answer; value: suspicions, number: crashes of
			   its id */
	EVENT_LOST, /* slot: the courier ended without an answer */
	EVENT_LETTER, /* slot; number: bytes in the claim's letter so far */
	EVENT_LISTED, /* a yard; value: bits of usable capabilities */
	EVENT_YARD_DOWN, /* the yard for new jobs is gone */
	EVENT_ENDED, /* value: enum yard_end, verdict; number: bytes of the
			output letter */
	/* the journal */
	EVENT_COMMITTED, /* slot; value: the ops */
	EVENT_UNCOMMITTED,
	/* the supervisor */
	EVENT_STOP, /* value: urgent */
};

/* What the config says about all. */
struct schedule_limits {
	uint64_t result_ttl_ms;
	uint64_t drain_timeout_ms;
	uint64_t run_ms[CAPABILITY_COUNT]; /* the yard's time limit */
};

struct event {
	enum event_kind kind;
	uint32_t slot;
	uint32_t value;
	uint32_t verdict;
	uint32_t random; /* any number: used where a delay is drawn */
	uint64_t number;
	const struct source_rule *rule;
	const struct job *job;
	const struct courier_answer *answer;
	const struct schedule_limits *limits;
};

/* Journal ops, bits: those of one slot are one transaction. */
enum journal_op {
	OP_CLAIM_ID = 1u << 0, /* a new claim_id */
	OP_TAKEN = 1u << 1, /* the job is held; the run is counted */
	OP_START = 1u << 2, /* it is in a box from now on */
	OP_OUTCOME = 1u << 3, /* into the outbox, with its output */
	OP_TRIED = 1u << 4, /* tries and first 5xx */
	OP_PARKED = 1u << 5, /* put aside */
	OP_GONE = 1u << 6, /* out of the outbox */
	OP_SUSPECT = 1u << 7, /* one suspicion more of its id */
	OP_CRASH = 1u << 8, /* one crash more of its id */
};

enum action_kind {
	ACTION_JOURNAL = 1, /* slot; value: ops; answered by COMMITTED or
			       UNCOMMITTED */
	ACTION_OPEN, /* slot: a courier */
	ACTION_CLAIM, /* slot; value: capabilities */
	ACTION_DELIVER, /* slot; value: deadline in ms */
	ACTION_DROP, /* slot: end its courier */
	ACTION_MAKE, /* slot; value: capability */
	ACTION_KILL, /* the box */
	ACTION_CLEAR, /* slot: its job is over, let go of its letters */
	ACTION_NOTE, /* slot; value: enum note: a line for the log */
	ACTION_EXIT, /* value: status */
};

enum note {
	NOTE_TROUBLE = 1, /* began, or changed */
	NOTE_WELL, /* ended */
	NOTE_TAKEN,
	NOTE_OUTCOME,
	NOTE_PARKED,
	NOTE_MISMATCH, /* parked: a ticket was not the id's */
	NOTE_EXPIRED,
	NOTE_RESTING, /* slot is the capability */
	NOTE_JOURNAL_FULL,
	NOTE_JOURNAL_WELL,
	NOTE_DRAINING,
	NOTE_YARD_STUCK,
};

struct action {
	enum action_kind kind;
	uint32_t slot;
	uint32_t value;
};

struct actions {
	size_t n;
	struct action list[SCHEDULE_ACTIONS];
};

struct rest {
	uint64_t until_ms; /* TIME_NEVER: until a reload */
	uint32_t steps; /* how often it doubled */
	bool is_missing; /* a program is gone */
};

enum drain {
	DRAIN_NOT = 0,
	DRAIN_FINISH, /* let the job end */
	DRAIN_NOW, /* the job is given back */
};

struct schedule {
	struct source sources[SCHEDULE_SLOTS];
	struct hour hours[SCHEDULE_SLOTS];
	uint32_t n_slots; /* those above were never used */
	struct rest rests[CAPABILITY_COUNT];
	uint32_t usable; /* capabilities the yard can run */
	struct schedule_limits limits;
	bool keep_is_up;
	bool yard_is_up;
	bool journal_is_full;
	uint64_t journal_retry_ms;
	/* the box */
	uint32_t running; /* slot, or SLOT_NONE */
	uint64_t kill_ms; /* when it was killed; 0: not */
	/* the round of asking */
	uint32_t turn; /* the slot that is first */
	uint32_t round; /* its number */
	uint32_t waiting; /* slot that is waited for, or SLOT_NONE */
	uint64_t waiting_since_ms;
	uint64_t budget_ms; /* waiting left in this round */
	bool is_open; /* claims can be made */
	uint64_t open_ms; /* since when */
	uint64_t shut_ms; /* when they could not any more */
	bool is_busy; /* a job is held, running, or being started */
	uint32_t n_exchanges;
	/* the end */
	enum drain drain;
	uint64_t drain_ms; /* when it began */
	bool has_exited;
};

void schedule_init(struct schedule *schedule);

/* Takes one event and adds what is to be done to *out. */
void schedule_step(struct schedule *schedule, const struct event *event,
    uint64_t now_ms, struct actions *out);

/* When the next EVENT_TICK is wanted; TIME_NEVER when none is. */
uint64_t schedule_wake_ms(struct schedule *schedule, uint64_t now_ms);

/* Capabilities of a source that can be asked for now. */
uint32_t schedule_askable(const struct schedule *schedule,
    const struct source *source, uint64_t now_ms);

#endif
