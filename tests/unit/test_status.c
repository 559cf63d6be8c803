/* SPDX-License-Identifier: ISC
 *
 * status.json: strict JSON, whatever the state, with what it is made for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contract/outcome.h"
#include "contract/scan.h"
#include "core/status.h"

#define NOW 1000000000ull

static struct core *core;

static int
set_up(void **state)
{
	(void)state;
	core = calloc(1, sizeof(*core));
	if (core == NULL)
		return -1;
	schedule_init(&core->schedule);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	free(core);
	return 0;
}

static int
ignore(void *context, const struct scan_piece *piece)
{
	(void)context;
	(void)piece;
	return 0;
}

/* The text, checked to be JSON; valid until the next call. */
static const char *
text(void)
{
	static char *before;
	struct scan scan;

	free(before);
	before = status_text(core, NOW, 1700000000);
	scan_init(&scan, LIMIT_JSON_DEPTH, ignore, NULL);
	assert_int_equal(scan_feed(&scan, before, strlen(before)), SCAN_OK);
	assert_int_equal(scan_finish(&scan), SCAN_OK);
	return before;
}

static void
has(const char *part)
{
	const char *all = text();

	if (strstr(all, part) == NULL)
		fail_msg("%s is not in %s", part, all);
}

static struct source *
add_source(uint32_t slot, const char *name)
{
	struct source *source = &core->schedule.sources[slot];

	core->slots[slot].is_used = true;
	(void)strcpy(core->slots[slot].name, name);
	source->is_used = true;
	source->is_ready = true;
	source->rule.poll_ms = 1000;
	source->due_ms = NOW + 700;
	if (core->schedule.n_slots <= slot)
		core->schedule.n_slots = slot + 1;
	return source;
}

static void
an_empty_core_has_a_status(void **state)
{
	(void)state;
	has("\"version\":1,");
	has("\"written_at\":1700000000,");
	has("\"state\":\"running\",");
	has("\"keep\":\"down\",\"yard\":\"down\",\"journal\":\"ok\",");
	has("\"job\":null,");
	has("\"sources\":[]}");
	has("{\"name\":\"image.preview\",\"usable\":false,"
	    "\"resting_for\":0,\"reason\":\"the yard is down\"}");
}

static void
a_running_job_is_shown(void **state)
{
	struct source *source = add_source(3, "photos");

	(void)state;
	core->schedule.running = 3;
	core->schedule.drain = DRAIN_FINISH;
	source->job.state = JOB_RUNNING;
	source->job.since_ms = NOW - 5500;
	(void)strcpy(core->slots[3].row.id, "job-1~:@+/=-");
	has("\"state\":\"draining\",");
	has("\"job\":{\"source\":\"photos\",\"id\":\"job-1~:@+/=-\","
	    "\"capability\":\"image.preview\",\"since\":1699999995},");
}

static void
a_source_says_what_keeps_it(void **state)
{
	struct source *source = add_source(0, "photos");

	(void)state;
	has("\"state\":\"idle\",\"last_ok\":0,\"next_ask_in_ms\":700,");
	source->last_ok_ms = NOW - 30000;
	has("\"last_ok\":1699999970,");
	source->rule.max_jobs_per_hour = 1;
	hour_add(&core->schedule.hours[0], 0, NOW);
	has("\"state\":\"hour_full\",");
	has("\"next_ask_in_ms\":3601000,\"hour_used\":1,\"hour_cap\":1,");
	source->parked = LIMIT_PARKED;
	has("\"state\":\"parked\",");
	source->delay_ms = 64000;
	source->trouble = (struct trouble){ TROUBLE_HTTP, 502 };
	has("\"state\":\"backoff\",");
	has("\"backoff_ms\":64000,"
	    "\"trouble\":\"it answers with status 502\",");
	source->trouble = (struct trouble){ TROUBLE_KEEP, KEEP_RESULT_MISSING };
	has("\"state\":\"no_secret\",");
	source->exchange = EXCHANGE_CLAIM;
	has("\"state\":\"asking\",");
	source->was_late = true;
	has("\"state\":\"waiting\",");
}

static void
a_removed_source_is_not_shown(void **state)
{
	(void)state;
	add_source(0, "photos")->is_removed = true;
	(void)add_source(1, "notes");
	assert_null(strstr(text(), "photos"));
	has("\"sources\":[{\"name\":\"notes\",");
}

static void
a_capability_says_why_it_rests(void **state)
{
	(void)state;
	core->yards[0].is_listed = true;
	has("\"name\":\"image.preview\",\"usable\":true,");
	core->schedule.rests[0].until_ms = NOW + 59001;
	has("\"usable\":false,\"resting_for\":60,"
	    "\"reason\":\"no box could be made for it\"}");
	core->schedule.rests[0].until_ms = TIME_NEVER;
	core->schedule.rests[0].is_missing = true;
	has("\"resting_for\":0,"
	    "\"reason\":\"a program it needs is missing\"}");
	core->yards[0].listed.usable[1] = YARD_OFF;
	has("\"name\":\"document.text\",\"usable\":false,"
	    "\"resting_for\":0,\"reason\":\"turned off in the config\"}");
}

static void
as_many_sources_as_there_can_be(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < LIMIT_SOURCES; i++) {
		struct source *source = add_source(i,
		    "a-name-of-sixty-four-characters-"
		    "which-is-the-longest-there-can-b");

		source->counts[OUTCOME_FAILED] = UINT32_MAX;
		source->delay_ms = UINT64_MAX;
		source->trouble = (struct trouble){ TROUBLE_COURIER,
			COURIER_CERTIFICATE_TIME };
	}
	has("\"failed\":4294967295,");
}

#define STATUS_TEST(name) \
	cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		STATUS_TEST(an_empty_core_has_a_status),
		STATUS_TEST(a_running_job_is_shown),
		STATUS_TEST(a_source_says_what_keeps_it),
		STATUS_TEST(a_removed_source_is_not_shown),
		STATUS_TEST(a_capability_says_why_it_rests),
		STATUS_TEST(as_many_sources_as_there_can_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
