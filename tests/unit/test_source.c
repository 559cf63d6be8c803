/* SPDX-License-Identifier: ISC
 *
 * When a source is asked: the rolling hour against a list of every run, the
 * growing delay against its formula.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/source.h"

#define START_MS 1000000000ull

static uint64_t seed;

static uint32_t
draw(void)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(seed >> 33);
}

static int
set_up(void **state)
{
	(void)state;
	seed = (uint64_t)time(NULL);
	(void)printf("# seed %llu\n", (unsigned long long)seed);
	return 0;
}

static void
the_hour_never_holds_more_than_its_cap(void **state)
{
	static struct hour hour;
	static uint64_t runs[4096];
	const uint32_t cap = 20;
	uint64_t now = START_MS;
	size_t n = 0;

	(void)state;
	memset(&hour, 0, sizeof(hour));
	while (n < 4096) {
		uint64_t free_ms = hour_free_ms(&hour, cap, now);

		if (free_ms <= now) {
			hour_add(&hour, 0, now);
			runs[n++] = now;
			if (n > cap)
				assert_true(
				    now - runs[n - 1 - cap] >= LIMIT_HOUR_MS);
		} else {
			/* Not longer shut than a second beyond the hour. */
			assert_true(
			    free_ms <= runs[n - cap] + LIMIT_HOUR_MS + 1001);
			if (draw() % 3 == 0)
				now = free_ms;
		}
		now += draw() % (draw() % 50 == 0 ? 7200000 : 60000);
	}
}

static void
an_hour_later_all_is_forgotten(void **state)
{
	static struct hour hour;
	uint64_t now = START_MS + 999;

	(void)state;
	memset(&hour, 0, sizeof(hour));
	hour_add(&hour, 0, now);
	hour_add(&hour, 0, now);
	assert_int_equal(hour_used(&hour, now + LIMIT_HOUR_MS - 1), 2);
	assert_int_equal(hour_used(&hour, now + LIMIT_HOUR_MS + 1000), 0);
	/* A clock that stands still, or a long sleep. */
	hour_add(&hour, 0, now + LIMIT_HOUR_MS + 1000);
	assert_int_equal(hour_used(&hour, now + LIMIT_HOUR_MS + 1000), 1);
	assert_int_equal(hour_used(&hour, now + 100ull * LIMIT_HOUR_MS), 0);
}

static void
runs_of_before_count_by_their_age(void **state)
{
	static struct hour hour;

	(void)state;
	memset(&hour, 0, sizeof(hour));
	hour_add(&hour, 1000, START_MS);
	hour_add(&hour, LIMIT_HOUR_MS - 1, START_MS);
	hour_add(&hour, LIMIT_HOUR_MS + 5000, START_MS);
	hour_add(&hour, START_MS * 2, START_MS);
	assert_int_equal(hour_used(&hour, START_MS), 2);
	assert_int_equal(hour_used(&hour, START_MS + 2000), 1);
	assert_true(hour_free_ms(&hour, 1, START_MS + 2000) >
	    START_MS + LIMIT_HOUR_MS - 2000);
}

static void
the_delay_grows_to_ten_minutes(void **state)
{
	static const uint64_t polls[] = { 100, 1000, 10000, 600000, 3600000 };

	(void)state;
	for (size_t p = 0; p < sizeof(polls) / sizeof(polls[0]); p++) {
		for (uint32_t n = 1; n < 100; n++) {
			uint64_t full = n < 30 ? polls[p] << n : 600000;
			uint64_t ms = source_backoff_ms(polls[p], n, draw());

			if (full > 600000)
				full = 600000;
			assert_true(ms >= polls[p]);
			assert_true(ms <= (full > polls[p] ? full : polls[p]));
			assert_true(ms >= full * 4 / 5);
		}
	}
	assert_int_equal(source_backoff_ms(1000, 1, 0), 2000);
	assert_int_equal(source_backoff_ms(1000, 3, 0), 8000);
	assert_true(source_backoff_ms(1000, 3, 1023) < 6500);
}

static void
one_success_resets_the_delay(void **state)
{
	static struct source source;
	const struct trouble refused = { TROUBLE_COURIER, COURIER_REFUSED };

	(void)state;
	source = (struct source){ .rule.poll_ms = 1000 };
	for (int i = 0; i < 5; i++)
		source_fail(&source, refused, 0, 0, START_MS);
	assert_int_equal(source.due_ms, START_MS + 32000);
	assert_int_equal(source.delay_ms, 32000);
	source.claimed_ms = START_MS;
	source_well(&source, 0, START_MS + 300);
	assert_int_equal(source.due_ms, START_MS + 1000);
	assert_int_equal(source.delay_ms, 0);
	assert_int_equal(source.trouble.kind, TROUBLE_NONE);
	source_fail(&source, refused, 0, 0, START_MS);
	assert_int_equal(source.delay_ms, 2000);
}

static void
retry_after_is_kept_within_bounds(void **state)
{
	static struct source source;
	const struct trouble busy = { TROUBLE_HTTP, 503 };

	(void)state;
	source = (struct source){ .rule.poll_ms = 10000 };
	source_fail(&source, busy, 60, 0, START_MS);
	assert_int_equal(source.due_ms, START_MS + 60000);
	source_fail(&source, busy, 1, 0, START_MS);
	assert_int_equal(source.due_ms, START_MS + 40000);
	source_fail(&source, busy, 86400, 0, START_MS);
	assert_int_equal(source.due_ms, START_MS + 600000);
	source.claimed_ms = START_MS;
	source_well(&source, 30, START_MS);
	assert_int_equal(source.due_ms, START_MS + 30000);
}

static void
the_keeps_trouble_has_no_growing_delay(void **state)
{
	static struct source source;
	const struct trouble missing = { TROUBLE_KEEP, KEEP_RESULT_MISSING };

	(void)state;
	source = (struct source){ .rule.poll_ms = 1000 };
	for (int i = 0; i < 20; i++) {
		source_skip(&source, missing, START_MS);
		assert_int_equal(source.due_ms, START_MS + 1000);
		assert_int_equal(source.delay_ms, 0);
	}
}

static void
a_busy_keep_is_asked_soon_but_not_for_ever(void **state)
{
	static struct source source;
	uint64_t now = START_MS;
	uint64_t last = 0;

	(void)state;
	source = (struct source){ .rule.poll_ms = 60000 };
	for (int i = 0; i < 8; i++) {
		source_retry_soon(&source, now);
		assert_true(source.due_ms - now > last);
		last = source.due_ms - now;
	}
	assert_true(last < 10000);
	source_retry_soon(&source, now);
	assert_int_equal(source.due_ms, now + 60000);
	assert_int_equal(source.trouble.what, KEEP_RESULT_BUSY);
}

static void
troubles_are_sentences(void **state)
{
	static const struct {
		struct trouble trouble;
		const char *text;
	} cases[] = {
		{ { TROUBLE_NONE, 0 }, "" },
		{ { TROUBLE_KEEP_DOWN, 0 }, "the keep is down" },
		{ { TROUBLE_KEEP, KEEP_RESULT_MISSING },
		    "its secret cannot be used: it is not set" },
		{ { TROUBLE_KEEP, KEEP_RESULT_NO_CA },
		    "the CA certificates cannot be read" },
		{ { TROUBLE_COURIER, COURIER_REFUSED },
		    "it refuses the connection" },
		{ { TROUBLE_HTTP, 401 },
		    "it answers with status 401: is its token right?" },
		{ { TROUBLE_HTTP, 404 }, "it answers with status 404" },
		{ { TROUBLE_LATE, 0 }, "it did not answer in time" },
	};
	char text[128];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		source_trouble_text(&cases[i].trouble, text, sizeof(text));
		assert_string_equal(text, cases[i].text);
	}
}

static void
too_much_parked_shuts_a_source(void **state)
{
	static struct source source;

	(void)state;
	source = (struct source){ .parked = LIMIT_PARKED - 1 };
	assert_false(source_is_parked(&source));
	source.parked++;
	assert_true(source_is_parked(&source));
	source = (struct source){ .parked_bytes = LIMIT_PARKED_BYTES };
	assert_true(source_is_parked(&source));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_hour_never_holds_more_than_its_cap),
		cmocka_unit_test(an_hour_later_all_is_forgotten),
		cmocka_unit_test(runs_of_before_count_by_their_age),
		cmocka_unit_test(the_delay_grows_to_ten_minutes),
		cmocka_unit_test(one_success_resets_the_delay),
		cmocka_unit_test(retry_after_is_kept_within_bounds),
		cmocka_unit_test(the_keeps_trouble_has_no_growing_delay),
		cmocka_unit_test(a_busy_keep_is_asked_soon_but_not_for_ever),
		cmocka_unit_test(troubles_are_sentences),
		cmocka_unit_test(too_much_parked_shuts_a_source),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
