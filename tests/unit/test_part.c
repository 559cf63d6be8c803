/* SPDX-License-Identifier: ISC
 *
 * What the supervisor believes of a part's answers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/part.h"

struct pair {
	struct part part;
	int theirs;
};

static struct pair
begin(void)
{
	struct pair pair = { .part = { .program = "sandcastle-test" } };
	int ends[2];

	assert_int_equal(packet_pair(ends), 0);
	pair.part.link = ends[0];
	pair.theirs = ends[1];
	return pair;
}

static void
end(struct pair *pair)
{
	(void)close(pair->part.link);
	(void)close(pair->theirs);
}

static void
say(struct pair *pair, uint32_t sequence, const char *refusal)
{
	struct super_order order;
	struct super_answer answer;

	super_order_encode(&order, SUPER_COMMIT, sequence, 1);
	super_answer_encode(&answer, &order, refusal);
	assert_int_equal(
	    packet_send(pair->theirs, &answer, sizeof(answer), NULL, 0), 0);
}

static int
ask(struct pair *pair, struct fault *fault)
{
	struct super_order order;

	super_order_encode(&order, SUPER_COMMIT, 0, 1);
	return part_ask(&pair->part, &order, -1, fault);
}

/* A part that was too slow once goes on to be one that can be asked. */
static void
passes_over_late_answers(void **state)
{
	struct pair pair = begin();
	struct super_order order;
	struct fault fault = { 0 };

	(void)state;
	super_order_encode(&order, SUPER_COMMIT, 0, 1);
	for (int i = 0; i < 2; i++)
		part_tell(&pair.part, &order, -1);
	say(&pair, 1, "late, and no answer to what follows");
	say(&pair, 2, NULL);
	say(&pair, 3, NULL);
	assert_int_equal(ask(&pair, &fault), 0);
	say(&pair, 3, NULL);
	say(&pair, 4, "its own words");
	assert_int_equal(ask(&pair, &fault), -1);
	assert_string_equal(fault.text, "sandcastle-test: its own words");
	say(&pair, 5, NULL);
	assert_int_equal(ask(&pair, &fault), 0);
	end(&pair);
}

static void
believes_no_answer_before_its_order(void **state)
{
	struct pair pair = begin();
	struct fault fault = { 0 };

	(void)state;
	say(&pair, 2, NULL);
	assert_int_equal(ask(&pair, &fault), -1);
	assert_non_null(strstr(fault.text, "ended while it was asked"));
	end(&pair);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(passes_over_late_answers),
		cmocka_unit_test(believes_no_answer_before_its_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
