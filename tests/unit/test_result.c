/* SPDX-License-Identifier: ISC
 *
 * The frame of a result, word for word, and that it is always JSON.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "contract/outcome.h"
#include "contract/result.h"
#include "contract/scan.h"

#define TIMES_8(t) t t t t t t t t
#define ID_128	   TIMES_8(TIMES_8("=/"))

static void
assert_frame(const struct result *result, const char *head, const char *tail)
{
	struct result_frame frame;

	result_frame(&frame, result);
	assert_string_equal(frame.head, head);
	assert_string_equal(frame.tail, tail);
	assert_int_equal(frame.n_head, strlen(head));
	assert_int_equal(frame.n_tail, strlen(tail));
}

static void
test_words(void **state)
{
	struct result result = { .id = "i/1", .lease = "l=2" };

	(void)state;
	result.outcome = OUTCOME_SUCCEEDED;
	assert_frame(&result,
	    "{\"id\":\"i/1\",\"lease\":\"l=2\",\"outcome\":\"succeeded\","
	    "\"output\":",
	    "}");
	result.outcome = OUTCOME_FAILED;
	result.error = ERROR_ENCRYPTED;
	assert_frame(&result,
	    "{\"id\":\"i/1\",\"lease\":\"l=2\",\"outcome\":\"failed\","
	    "\"error\":{\"code\":\"encrypted\","
	    "\"message\":\"the PDF needs a password\"}",
	    "}");
	result.outcome = OUTCOME_RELEASED;
	result.reason = RELEASE_CAPABILITY_RESTING;
	result.retry_after_s = 60;
	assert_frame(&result,
	    "{\"id\":\"i/1\",\"lease\":\"l=2\",\"outcome\":\"released\","
	    "\"reason\":\"capability_resting\",\"retry_after\":60",
	    "}");
}

static void
test_left_out(void **state)
{
	struct result result = {
		.id = "i",
		.lease = "",
		.outcome = OUTCOME_RELEASED,
		.reason = RELEASE_BUSY,
	};

	(void)state;
	assert_frame(&result,
	    "{\"id\":\"i\",\"outcome\":\"released\",\"reason\":\"busy\"", "}");
	result.outcome = OUTCOME_SUCCEEDED;
	assert_frame(&result,
	    "{\"id\":\"i\",\"outcome\":\"succeeded\",\"output\":", "}");
}

static int
ignore_piece(void *context, const struct scan_piece *piece)
{
	(void)context;
	(void)piece;
	return 0;
}

static void
assert_json(const struct result *result)
{
	struct result_frame frame;
	struct scan scan;

	result_frame(&frame, result);
	scan_init(&scan, LIMIT_JSON_DEPTH, ignore_piece, NULL);
	(void)scan_feed(&scan, frame.head, frame.n_head);
	if (result->outcome == OUTCOME_SUCCEEDED)
		(void)scan_feed(&scan, "{}", 2);
	(void)scan_feed(&scan, frame.tail, frame.n_tail);
	assert_int_equal(scan_finish(&scan), SCAN_OK);
}

/* Every code and reason, with the longest ids. */
static void
test_is_json(void **state)
{
	struct result result = { .id = ID_128, .lease = ID_128 };

	(void)state;
	assert_int_equal(strlen(ID_128), LIMIT_ID_BYTES);
	result.outcome = OUTCOME_SUCCEEDED;
	assert_json(&result);
	result.outcome = OUTCOME_FAILED;
	for (uint32_t e = ERROR_NONE + 1; e < ERROR_COUNT; e++) {
		result.error = e;
		assert_json(&result);
	}
	result.outcome = OUTCOME_RELEASED;
	result.retry_after_s = LIMIT_RETRY_AFTER_S;
	for (uint32_t r = RELEASE_NONE + 1; r < RELEASE_COUNT; r++) {
		result.reason = r;
		assert_json(&result);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_is_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
