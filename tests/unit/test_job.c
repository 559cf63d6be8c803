/* SPDX-License-Identifier: ISC
 *
 * Which outcome comes from what happened, as tables.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "contract/capability.h"
#include "contract/outcome.h"
#include "core/job.h"
#include "wire/yard_msg.h"

#define NOW 5000000ull

static void
a_claims_answer_becomes_a_job(void **state)
{
	static const struct {
		uint32_t status, capability, error;
		enum job_state state;
		uint32_t outcome, code;
	} cases[] = {
		{ COURIER_JOB, CAPABILITY_IMAGE_PREVIEW, 0, JOB_HELD, 0, 0 },
		/* allowed, but not in this claim */
		{ COURIER_JOB, CAPABILITY_IMAGE_TEXT, 0, JOB_FINISHED,
		    OUTCOME_RELEASED, RELEASE_CAPABILITY_RESTING },
		/* not allowed; not known */
		{ COURIER_JOB, CAPABILITY_DOCUMENT_TEXT, 0, JOB_FINISHED,
		    OUTCOME_FAILED, ERROR_NOT_ASKED },
		{ COURIER_JOB, CAPABILITY_NONE, 0, JOB_FINISHED, OUTCOME_FAILED,
		    ERROR_NOT_ASKED },
		{ COURIER_BAD_JOB, CAPABILITY_NONE, ERROR_BAD_JOB, JOB_FINISHED,
		    OUTCOME_FAILED, ERROR_BAD_JOB },
		{ COURIER_BAD_JOB, CAPABILITY_NONE, ERROR_TOO_LARGE,
		    JOB_FINISHED, OUTCOME_FAILED, ERROR_TOO_LARGE },
	};
	const uint32_t allowed =
	    1u << CAPABILITY_IMAGE_PREVIEW | 1u << CAPABILITY_IMAGE_TEXT;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct courier_answer answer = { .status = cases[i].status,
			.capability = cases[i].capability,
			.error = cases[i].error,
			.input_bytes = 77 };
		struct job job = { .state = JOB_ASKING };

		job_take(&job, &answer, allowed, 1u << CAPABILITY_IMAGE_PREVIEW,
		    NOW);
		assert_int_equal(job.state, cases[i].state);
		assert_int_equal(job.outcome, cases[i].outcome);
		assert_int_equal(job.error + job.reason, cases[i].code);
		assert_int_equal(
		    job.input_bytes, job.state == JOB_HELD ? 77 : 0);
	}
}

static void
how_a_box_ended_decides(void **state)
{
	static const struct {
		uint32_t end, verdict, outcome, code;
		enum job_blame blame;
	} cases[] = {
		{ YARD_END_VERDICT, 0, OUTCOME_SUCCEEDED, 0, BLAME_NONE },
		{ YARD_END_VERDICT, ERROR_ENCRYPTED, OUTCOME_FAILED,
		    ERROR_ENCRYPTED, BLAME_NONE },
		{ YARD_END_SILENT, 0, OUTCOME_FAILED, ERROR_CRASHED,
		    BLAME_NONE },
		{ YARD_END_TIME, 0, OUTCOME_FAILED, ERROR_TIMEOUT, BLAME_NONE },
		{ YARD_END_MEMORY, 0, OUTCOME_FAILED, ERROR_TOO_HEAVY,
		    BLAME_NONE },
		{ YARD_END_ORDER, 0, OUTCOME_RELEASED, RELEASE_STOPPING,
		    BLAME_NONE },
		{ YARD_END_FOREIGN, 0, OUTCOME_RELEASED, RELEASE_RESTARTED,
		    BLAME_SUSPECT },
		{ YARD_END_UNMADE, 0, OUTCOME_RELEASED,
		    RELEASE_CAPABILITY_RESTING, BLAME_MACHINE },
		{ YARD_END_MISSING, 0, OUTCOME_RELEASED,
		    RELEASE_CAPABILITY_RESTING, BLAME_MISSING },
	};

	(void)state;
	assert_int_equal(sizeof(cases) / sizeof(cases[0]), YARD_END_COUNT);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct job job = {
			.state = JOB_RUNNING, .input_bytes = 9, .body_bytes = 50
		};
		bool has_body = cases[i].outcome == OUTCOME_SUCCEEDED;

		assert_int_equal(
		    job_end(&job, cases[i].end, cases[i].verdict, NOW),
		    cases[i].blame);
		assert_int_equal(job.state, JOB_FINISHED);
		assert_int_equal(job.outcome, cases[i].outcome);
		assert_int_equal(job.error + job.reason, cases[i].code);
		assert_int_equal(job.finished_ms, NOW);
		assert_int_equal(job.input_bytes, 0);
		assert_int_equal(job.body_bytes, has_body ? 50 : 0);
	}
}

static void
the_third_suspicion_is_the_last(void **state)
{
	struct job job = { .state = JOB_RUNNING, .suspicions = 1 };

	(void)state;
	(void)job_end(&job, YARD_END_FOREIGN, 0, NOW);
	assert_int_equal(job.outcome, OUTCOME_RELEASED);
	job = (struct job){ .state = JOB_RUNNING, .suspicions = 2 };
	(void)job_end(&job, YARD_END_FOREIGN, 0, NOW);
	assert_int_equal(job.outcome, OUTCOME_FAILED);
	assert_int_equal(job.error, ERROR_GAVE_UP);
	/* A suspect that ends well has ended well. */
	job = (struct job){ .state = JOB_RUNNING, .suspicions = 2 };
	(void)job_end(&job, YARD_END_VERDICT, 0, NOW);
	assert_int_equal(job.outcome, OUTCOME_SUCCEEDED);
}

static void
after_a_restart_it_is_given_back(void **state)
{
	static const struct {
		enum job_state state;
		uint32_t crashes;
		bool has_crashed;
		uint32_t outcome, counted;
	} cases[] = {
		{ JOB_HELD, 2, true, OUTCOME_RELEASED, 2 },
		{ JOB_RUNNING, 2, false, OUTCOME_RELEASED, 2 },
		{ JOB_RUNNING, 0, true, OUTCOME_RELEASED, 1 },
		{ JOB_RUNNING, 1, true, OUTCOME_RELEASED, 2 },
		{ JOB_RUNNING, 2, true, OUTCOME_FAILED, 3 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct job job = { .state = cases[i].state,
			.crashes = cases[i].crashes };

		job_recover(&job, cases[i].has_crashed, NOW);
		assert_int_equal(job.state, JOB_FINISHED);
		assert_int_equal(job.outcome, cases[i].outcome);
		assert_int_equal(job.crashes, cases[i].counted);
		if (job.outcome == OUTCOME_FAILED)
			assert_int_equal(job.error, ERROR_CRASHED_WORKER);
		else
			assert_int_equal(job.reason, RELEASE_RESTARTED);
	}
}

static void
what_a_source_says_to_a_success(void **state)
{
	static const struct {
		uint32_t status, http;
		enum job_fate fate;
	} cases[] = {
		{ COURIER_STORED, 200, FATE_GONE },
		{ COURIER_GONE, 409, FATE_GONE },
		{ COURIER_MISMATCH, 0, FATE_PARKED },
		{ COURIER_ANSWERED, 400, FATE_PARKED },
		{ COURIER_ANSWERED, 422, FATE_PARKED },
		{ COURIER_ANSWERED, 413, FATE_AMENDED },
		{ COURIER_ANSWERED, 401, FATE_KEPT },
		{ COURIER_ANSWERED, 403, FATE_KEPT },
		{ COURIER_ANSWERED, 404, FATE_KEPT },
		{ COURIER_ANSWERED, 301, FATE_KEPT },
		{ COURIER_ANSWERED, 408, FATE_KEPT },
		{ COURIER_ANSWERED, 425, FATE_KEPT },
		{ COURIER_ANSWERED, 429, FATE_KEPT },
		{ COURIER_ANSWERED, 500, FATE_KEPT },
		{ COURIER_NOT_CONTRACT, 200, FATE_KEPT },
		{ COURIER_UNREACHABLE, 0, FATE_KEPT },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct courier_answer answer = { .status = cases[i].status,
			.http_status = cases[i].http };
		struct job job = { .state = JOB_FINISHED,
			.outcome = OUTCOME_SUCCEEDED,
			.body_bytes = 10 };

		assert_int_equal(job_answer(&job, &answer, NOW), cases[i].fate);
		assert_int_equal(job.tries, 1);
		/* Trouble on the way never changes an outcome. */
		if (cases[i].fate != FATE_AMENDED) {
			assert_int_equal(job.outcome, OUTCOME_SUCCEEDED);
			assert_int_equal(job.body_bytes, 10);
			continue;
		}
		assert_int_equal(job.error, ERROR_OUTPUT_TOO_LARGE);
		assert_int_equal(job_answer(&job, &answer, NOW), FATE_PARKED);
	}
}

static void
a_bad_output_was_told_as_one(void **state)
{
	struct courier_answer answer = { .status = COURIER_STORED,
		.error = ERROR_BAD_OUTPUT };
	struct job job = { .state = JOB_FINISHED,
		.outcome = OUTCOME_SUCCEEDED };

	(void)state;
	assert_int_equal(job_answer(&job, &answer, NOW), FATE_GONE);
	assert_int_equal(job.outcome, OUTCOME_FAILED);
	assert_int_equal(job.error, ERROR_BAD_OUTPUT);
	job = (struct job){ .state = JOB_FINISHED,
		.outcome = OUTCOME_RELEASED,
		.reason = RELEASE_BUSY };
	assert_int_equal(job_answer(&job, &answer, NOW), FATE_GONE);
	assert_int_equal(job.outcome, OUTCOME_RELEASED);
}

static void
a_day_of_5xx_parks(void **state)
{
	struct courier_answer answer = { .status = COURIER_ANSWERED,
		.http_status = 500 };
	struct courier_answer away = { .status = COURIER_UNREACHABLE };
	struct courier_answer other = { .status = COURIER_ANSWERED,
		.http_status = 404 };
	struct job job = { .state = JOB_FINISHED,
		.outcome = OUTCOME_SUCCEEDED };
	uint64_t day = LIMIT_ANSWERED_5XX_MS;

	(void)state;
	assert_int_equal(job_answer(&job, &answer, NOW), FATE_KEPT);
	assert_int_equal(job_answer(&job, &away, NOW + day), FATE_KEPT);
	assert_int_equal(job_answer(&job, &answer, NOW + day - 1), FATE_KEPT);
	assert_int_equal(job_answer(&job, &answer, NOW + day), FATE_PARKED);
	assert_int_equal(job_answer(&job, &other, NOW + day), FATE_KEPT);
	assert_int_equal(job_answer(&job, &answer, NOW + day), FATE_KEPT);
}

static void
a_large_result_has_more_time(void **state)
{
	struct job job = { 0 };

	(void)state;
	assert_int_equal(job_deadline_ms(&job), 30000);
	job.body_bytes = 1024 * 1024;
	assert_int_equal(job_deadline_ms(&job), 38000);
	job.body_bytes = LIMIT_OUTPUT_BYTES;
	assert_int_equal(job_deadline_ms(&job), 286000);
	job.body_bytes = UINT32_MAX;
	assert_int_equal(job_deadline_ms(&job), LIMIT_RESULT_MAX_MS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_claims_answer_becomes_a_job),
		cmocka_unit_test(how_a_box_ended_decides),
		cmocka_unit_test(the_third_suspicion_is_the_last),
		cmocka_unit_test(after_a_restart_it_is_given_back),
		cmocka_unit_test(what_a_source_says_to_a_success),
		cmocka_unit_test(a_bad_output_was_told_as_one),
		cmocka_unit_test(a_day_of_5xx_parks),
		cmocka_unit_test(a_large_result_has_more_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
