/* SPDX-License-Identifier: ISC
 *
 * One source as the scheduler sees it, pure: when it is asked next, how its
 * trouble delays it, its hour, its one job, its exchange. Times are
 * milliseconds of the core's clock.
 */
#ifndef CORE_SOURCE_H
#define CORE_SOURCE_H

#include "core/job.h"
#include "wire/keep_msg.h"

#define TIME_NEVER UINT64_MAX

/* What the config says about it. */
struct source_rule {
	uint32_t capabilities;
	uint32_t max_jobs_per_hour; /* 0: no cap */
	uint64_t poll_ms;
	uint64_t max_input;
};

/*
 * The rolling hour in buckets of one second: a bucket counts until every run
 * in it is an hour old, so no 60 minutes ever hold more than the cap.
 */
#define HOUR_BUCKETS (LIMIT_HOUR_MS / 1000 + 1)

struct hour {
	uint64_t second; /* of the newest bucket */
	uint32_t used;
	uint32_t shut_cap; /* for which shut_ms was found */
	uint64_t shut_ms;
	uint16_t counts[HOUR_BUCKETS];
};

enum exchange {
	EXCHANGE_NONE = 0,
	EXCHANGE_OPENING, /* the keep makes a courier */
	EXCHANGE_CLAIM,
	EXCHANGE_RESULT,
};

enum trouble_kind {
	TROUBLE_NONE = 0,
	TROUBLE_KEEP_DOWN,
	TROUBLE_KEEP, /* what: enum keep_result */
	TROUBLE_COURIER, /* what: enum courier_trouble */
	TROUBLE_HTTP, /* what: the status */
	TROUBLE_LOST, /* its courier ended without an answer */
	TROUBLE_LATE, /* dropped at its deadline, or to make room */
};

struct trouble {
	enum trouble_kind kind;
	uint32_t what;
};

struct source {
	bool is_used;
	bool is_ready; /* what the journal knows of it is in */
	bool is_removed; /* no longer in the config; only its job is left */
	struct source_rule rule;
	struct job job;
	/* the exchange */
	enum exchange exchange;
	uint64_t opened_ms;
	uint64_t deadline_ms;
	uint64_t letter_bytes; /* of the claim's letter so far */
	uint32_t asked; /* capabilities the claim names */
	bool was_late; /* last time: not waited for this time */
	uint32_t round; /* the last one it was asked in */
	/* when */
	uint64_t claimed_ms; /* the last claim began */
	uint64_t due_ms;
	uint64_t delay_ms; /* of the backoff in force; 0: none */
	uint32_t failures;
	uint32_t busy; /* times in a row the keep said BUSY */
	struct trouble trouble;
	uint64_t last_ok_ms; /* 0: never */
	/* the journal: ops sent but not answered, and ops that failed */
	uint32_t committing;
	uint32_t pending;
	/* for status */
	uint32_t parked;
	uint64_t parked_bytes;
	uint32_t counts[4]; /* by enum outcome */
};

/* The hour. age_ms of a run: how long ago it was. */
void hour_add(struct hour *hour, uint64_t age_ms, uint64_t now_ms);
uint32_t hour_used(struct hour *hour, uint64_t now_ms);
/* When fewer than cap (at least 1) will be left; 0 when that is so now. */
uint64_t hour_free_ms(struct hour *hour, uint32_t cap, uint64_t now_ms);

/* The growing delay before the n-th failure's next ask: random is any
 * number, drawn evenly. */
uint64_t source_backoff_ms(uint64_t poll_ms, uint32_t n, uint32_t random);

/* An exchange that worked: resets delay and trouble. retry_after_s as the
 * source gave it, or 0. */
void source_well(
    struct source *source, uint32_t retry_after_s, uint64_t now_ms);

/* Cannot be reached, or no answer of the contract: the delay grows. */
void source_fail(struct source *source, struct trouble trouble,
    uint32_t retry_after_s, uint32_t random, uint64_t now_ms);

/* The keep's or the secret's trouble: asked again at its interval. */
void source_skip(
    struct source *source, struct trouble trouble, uint64_t now_ms);

/* The keep is not done with the courier before: soon again. */
void source_retry_soon(struct source *source, uint64_t now_ms);

/* Too many results of it are parked: it is not asked. */
bool source_is_parked(const struct source *source);

/* The trouble as a sentence; empty when there is none. */
void source_trouble_text(const struct trouble *trouble, char *to, size_t size);

#endif
