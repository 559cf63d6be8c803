/* SPDX-License-Identifier: ISC
 *
 * The life of a job, pure: no fd, no clock, no allocation. A source has at
 * most one job here, from the ask to the delivery. Ids, letters and tickets
 * are elsewhere; this is what decisions are made from.
 */
#ifndef CORE_JOB_H
#define CORE_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/courier_msg.h"

enum job_state {
	JOB_NONE = 0,
	JOB_ASKING, /* a claim is on its way */
	JOB_HELD, /* taken; waits for its turn */
	JOB_STARTING, /* its start is being committed */
	JOB_RUNNING, /* a box has it */
	JOB_FINISHED, /* has an outcome the source does not know yet */
	JOB_GONE, /* delivered, parked or expired; being committed */
};

struct job {
	enum job_state state;
	uint32_t capability; /* index, or CAPABILITY_NONE */
	uint64_t input_bytes; /* of the letter that is held or in a box */
	uint64_t body_bytes; /* of the output letter of a success */
	uint64_t since_ms; /* when the state began */
	uint64_t finished_ms; /* when it had its outcome: result_ttl */
	uint32_t outcome; /* enum outcome, once finished */
	uint32_t error;
	uint32_t reason;
	uint32_t retry_after_s;
	uint32_t suspicions; /* earlier suspect releases of this id */
	uint32_t crashes; /* times the core died while it ran */
	uint32_t tries;
	uint64_t first_5xx_ms; /* 0: not answered so */
};

/* What follows from how a box ended. */
enum job_blame {
	BLAME_NONE = 0, /* the job's own outcome */
	BLAME_MACHINE, /* a box could not be made: its capability rests */
	BLAME_MISSING, /* a program is gone: rests until a reload */
	BLAME_SUSPECT, /* who knows: the job is suspected */
};

/* What follows from a source's answer to a result. */
enum job_fate {
	FATE_KEPT = 0, /* trouble on the way: again later */
	FATE_GONE, /* the source has it, or holds it no more */
	FATE_PARKED, /* put aside for the operator */
	FATE_AMENDED, /* sent again at once, with another outcome */
};

void job_finish(
    struct job *job, uint32_t outcome, uint32_t code, uint64_t now_ms);

/*
 * Takes the job of a claim's answer (JOB or BAD_JOB). allowed: what the
 * operator allows this source; asked: what the claim named. The job is HELD
 * or, when it must not run, FINISHED.
 */
void job_take(struct job *job, const struct courier_answer *answer,
    uint32_t allowed, uint32_t asked, uint64_t now_ms);

/* A job that the core before this one held or ran. */
void job_recover(struct job *job, bool has_crashed, uint64_t now_ms);

/* The running job's box ended: FINISHED, or released. */
enum job_blame job_end(
    struct job *job, uint32_t end, uint32_t verdict, uint64_t now_ms);

/* The source answered the result of a FINISHED job. */
enum job_fate job_answer(
    struct job *job, const struct courier_answer *answer, uint64_t now_ms);

/* Milliseconds its result may take. */
uint32_t job_deadline_ms(const struct job *job);

#endif
