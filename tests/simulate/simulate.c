/* SPDX-License-Identifier: ISC
 *
 * Drives the pure scheduler through worlds drawn from a seed.
 *
 *   simulate [--steps N] [--seed S]
 *
 * Says in TAP whether every promise held, and for each check whether a world
 * that is made to break it is found out. A failure prints the seed of its
 * world, and --seed S replays it.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "world.h"

/* Steps of one world; then another is drawn. */
#define STEPS_OF_A_WORLD 200000

struct totals {
	uint64_t steps, worlds, starts, done, crashes, full;
	double years;
};

/* Lives in one world. False: a promise is broken. */
static bool
live(struct world *world, uint64_t seed, uint64_t steps, uint32_t sabotage,
    struct totals *totals)
{
	bool is_good = true;

	world_init(world, seed, sabotage);
	while (is_good && world->steps < steps)
		is_good = world_step(world);
	totals->steps += world->steps;
	totals->worlds++;
	totals->starts += world->n_starts;
	totals->done += world->n_done;
	totals->crashes += world->n_crashes;
	totals->full += world->n_full;
	totals->years +=
	    (double)(world->now_ms - WORLD_START) / 1000 / 86400 / 365;
	return is_good;
}

static bool
simulate(struct world *world, uint64_t seed, uint64_t steps)
{
	struct totals totals = { 0 };
	bool is_good = true;

	for (uint64_t i = 0; is_good && totals.steps < steps; i++) {
		is_good = live(world, seed + i, STEPS_OF_A_WORLD, 0, &totals);
		if (!is_good)
			(void)printf("# seed %llu, %u sources, step %llu: %s\n",
			    (unsigned long long)(seed + i), world->n,
			    (unsigned long long)world->steps, world->broken);
	}
	(void)printf("# %llu steps in %llu worlds, %.1f years: %llu jobs "
		     "started, %llu results gone, %llu crashes, %llu failed "
		     "commits\n",
	    (unsigned long long)totals.steps, (unsigned long long)totals.worlds,
	    totals.years, (unsigned long long)totals.starts,
	    (unsigned long long)totals.done, (unsigned long long)totals.crashes,
	    (unsigned long long)totals.full);
	return is_good && totals.starts > 0 && totals.crashes > 0;
}

/* Whether a world with this flaw is found out. */
static bool
find_out(struct world *world, uint64_t seed, uint32_t sabotage)
{
	struct totals totals = { 0 };

	for (uint64_t i = 0; i < 40; i++) {
		if (!live(world, seed + i, 50000, sabotage, &totals)) {
			(void)printf("# %s\n", world->broken);
			return true;
		}
	}
	return false;
}

int
main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "steps", required_argument, NULL, 's' },
		{ "seed", required_argument, NULL, 'r' },
		{ NULL, 0, NULL, 0 },
	};
	struct world *world = memory_new(1, sizeof(*world));
	uint64_t steps = 1000000;
	uint64_t seed = (uint64_t)time(NULL) * 1000;
	int failed = 0;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 's')
			steps = strtoull(optarg, NULL, 10);
		else if (option == 'r')
			seed = strtoull(optarg, NULL, 10);
		else
			return 64;
	}
	(void)printf(
	    "1..%d\n# seed %llu\n", SABOTAGE_COUNT, (unsigned long long)seed);
	if (!simulate(world, seed, steps))
		failed += printf("not ");
	(void)printf("ok 1 - every promise held\n");
	for (uint32_t i = 1; i < SABOTAGE_COUNT; i++) {
		if (!find_out(world, seed, i))
			failed += printf("not ");
		(void)printf("ok %u - flaw %u is found out\n", i + 1, i);
	}
	free(world);
	return failed ? 1 : 0;
}
