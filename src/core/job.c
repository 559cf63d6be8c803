/* SPDX-License-Identifier: ISC
 *
 * Which outcome comes from what happened. Runs in the core; pure. It believes
 * a box only that it succeeded or failed, and a source nothing but the class
 * of its answer: `released` is said here, from facts outside the box.
 */
#include "core/job.h"

#include "base/must.h"
#include "contract/capability.h"
#include "contract/outcome.h"
#include "wire/yard_msg.h"

static void
enter(struct job *job, enum job_state state, uint64_t now_ms)
{
	job->state = state;
	job->since_ms = now_ms;
}

void
job_finish(struct job *job, uint32_t outcome, uint32_t code, uint64_t now_ms)
{
	must(outcome > 0 && outcome < OUTCOME_COUNT);
	job->outcome = outcome;
	job->error = outcome == OUTCOME_FAILED ? code : ERROR_NONE;
	job->reason = outcome == OUTCOME_RELEASED ? code : RELEASE_NONE;
	if (outcome != OUTCOME_SUCCEEDED)
		job->body_bytes = 0;
	job->input_bytes = 0;
	job->finished_ms = now_ms;
	enter(job, JOB_FINISHED, now_ms);
}

void
job_take(struct job *job, const struct courier_answer *answer, uint32_t allowed,
    uint32_t asked, uint64_t now_ms)
{
	uint32_t bit = answer->capability < CAPABILITY_COUNT
	    ? 1u << answer->capability
	    : 0;

	job->capability = answer->capability;
	job->input_bytes = answer->input_bytes;
	if (answer->status == COURIER_BAD_JOB)
		job_finish(job, OUTCOME_FAILED, answer->error, now_ms);
	else if ((bit & allowed) == 0)
		job_finish(job, OUTCOME_FAILED, ERROR_NOT_ASKED, now_ms);
	else if ((bit & asked) == 0)
		job_finish(
		    job, OUTCOME_RELEASED, RELEASE_CAPABILITY_RESTING, now_ms);
	else
		enter(job, JOB_HELD, now_ms);
}

void
job_recover(struct job *job, bool has_crashed, uint64_t now_ms)
{
	bool is_blamed = has_crashed && job->state == JOB_RUNNING;

	if (is_blamed && ++job->crashes >= LIMIT_SUSPICIONS)
		job_finish(job, OUTCOME_FAILED, ERROR_CRASHED_WORKER, now_ms);
	else
		job_finish(job, OUTCOME_RELEASED, RELEASE_RESTARTED, now_ms);
}

static enum job_blame
suspect(struct job *job, uint64_t now_ms)
{
	if (++job->suspicions >= LIMIT_SUSPICIONS)
		job_finish(job, OUTCOME_FAILED, ERROR_GAVE_UP, now_ms);
	else
		job_finish(job, OUTCOME_RELEASED, RELEASE_RESTARTED, now_ms);
	return BLAME_SUSPECT;
}

enum job_blame
job_end(struct job *job, uint32_t end, uint32_t verdict, uint64_t now_ms)
{
	uint32_t error = yard_end_error(end, verdict);

	if (error != ERROR_NONE) {
		job_finish(job, OUTCOME_FAILED, error, now_ms);
		return BLAME_NONE;
	}
	switch (end) {
	case YARD_END_VERDICT:
		job_finish(job, OUTCOME_SUCCEEDED, 0, now_ms);
		return BLAME_NONE;
	case YARD_END_ORDER:
		job_finish(job, OUTCOME_RELEASED, RELEASE_STOPPING, now_ms);
		return BLAME_NONE;
	case YARD_END_UNMADE:
	case YARD_END_MISSING:
		job_finish(
		    job, OUTCOME_RELEASED, RELEASE_CAPABILITY_RESTING, now_ms);
		return end == YARD_END_UNMADE ? BLAME_MACHINE : BLAME_MISSING;
	default:
		return suspect(job, now_ms);
	}
}

static enum job_fate
answered(struct job *job, uint32_t http_status, uint64_t now_ms)
{
	bool is_5xx = http_status >= 500;

	if (http_status == 413 && job->outcome == OUTCOME_SUCCEEDED) {
		job_finish(job, OUTCOME_FAILED, ERROR_OUTPUT_TOO_LARGE,
		    job->finished_ms);
		return FATE_AMENDED;
	}
	if (http_status == 400 || http_status == 413 || http_status == 422)
		return FATE_PARKED;
	if (!is_5xx)
		job->first_5xx_ms = 0;
	else if (job->first_5xx_ms == 0)
		job->first_5xx_ms = now_ms;
	else if (now_ms - job->first_5xx_ms >= LIMIT_ANSWERED_5XX_MS)
		return FATE_PARKED;
	return FATE_KEPT;
}

enum job_fate
job_answer(
    struct job *job, const struct courier_answer *answer, uint64_t now_ms)
{
	job->tries++;
	switch (answer->status) {
	case COURIER_STORED:
		/* The courier saw that the output is not the capability's
		 * and said so to the source instead. */
		if (answer->error == ERROR_BAD_OUTPUT &&
		    job->outcome == OUTCOME_SUCCEEDED)
			job_finish(job, OUTCOME_FAILED, ERROR_BAD_OUTPUT,
			    job->finished_ms);
		return FATE_GONE;
	case COURIER_GONE:
		return FATE_GONE;
	case COURIER_MISMATCH:
		return FATE_PARKED;
	case COURIER_ANSWERED:
		return answered(job, answer->http_status, now_ms);
	default:
		return FATE_KEPT;
	}
}

uint32_t
job_deadline_ms(const struct job *job)
{
	uint64_t ms =
	    LIMIT_RESULT_MS + job->body_bytes / LIMIT_RESULT_BYTES_PER_S * 1000;

	return ms > LIMIT_RESULT_MAX_MS ? LIMIT_RESULT_MAX_MS : (uint32_t)ms;
}
