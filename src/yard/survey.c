/* SPDX-License-Identifier: ISC
 *
 * The test box: a real one, in which the driver tries each wall from inside.
 * Runs in the yard before its first order. A wall counts when the yard made it
 * and the driver found it.
 */
#include "yard/yard.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include "base/log.h"
#include "confine/landlock.h"

/* Landlock before this version lets files be linked and renamed across. */
#define LANDLOCK_VERSION_NEEDED 2

/* Made anew with every box, by steps that fail the box when they fail. */
#define WALLS_OF_A_BOX                                              \
	(1u << WALL_ROOT | 1u << WALL_SCRATCH | 1u << WALL_FILTER | \
	    1u << WALL_PRIVILEGES | 1u << WALL_LIMITS |             \
	    1u << WALL_DESCRIPTORS)

/* The walls are the same for all; a view more to try is better. */
static uint32_t
choose_capability(const struct yard *yard)
{
	for (uint32_t i = 0; i < CAPABILITY_COUNT; i++) {
		if (yard->config->capabilities[i].is_enabled &&
		    yard->root.places[i].is_whole)
			return i;
	}
	return 0;
}

static int
start(struct yard *yard)
{
	uint32_t capability = choose_capability(yard);
	struct box_order order = { .capability = capability,
		.time_limit_ms = LIMIT_BOX_SETUP_MS };
	struct box_plan plan;
	const char *step = "";
	int r;

	box_order_encode(&order, BOX_TEST);
	(void)yard_plan(yard, capability, &plan);
	r = run_start(&yard->run, &plan, &order, NULL, &step);
	yard_plan_done(&plan);
	if (r < 0)
		log_error("no box can be made: %s: %s", step, strerror(-r));
	return r;
}

/* RLIMIT_NPROC counts for each user namespace since Linux 5.14; before it
 * boxes, and all else under this uid, would share one count. */
static bool
is_count_own(void)
{
	struct utsname kernel;
	unsigned int major = 0;
	unsigned int minor = 0;

	if (uname(&kernel) < 0 ||
	    sscanf(kernel.release, "%u.%u", &major, &minor) != 2)
		return false;
	return major > 5 || (major == 5 && minor >= 14);
}

static void
wait_for_end(struct run *run)
{
	struct pollfd polls[RUN_POLLS];
	bool is_gone = false;

	while (!is_gone) {
		int timeout_ms = run_polls(run, polls);

		if (poll(polls, RUN_POLLS, timeout_ms) < 0)
			continue;
		is_gone = run_step(run, polls);
	}
}

int
yard_survey(struct yard *yard, uint32_t *ret_walls)
{
	struct run *run = &yard->run;
	uint32_t made = yard->made | WALLS_OF_A_BOX;
	int r = start(yard);

	if (r < 0) {
		yard->error = -r;
		return -1;
	}
	wait_for_end(run);
	if (!run->has_answer) {
		yard->error = EPROTO;
		log_error("the test box ended without an answer (%s %d)",
		    WIFSIGNALED(run->status) ? "signal" : "status",
		    WIFSIGNALED(run->status) ? WTERMSIG(run->status)
					     : WEXITSTATUS(run->status));
		return -1;
	}
	if (landlock_version() < LANDLOCK_VERSION_NEEDED)
		made &= ~(1u << WALL_LANDLOCK);
	if (!is_count_own())
		made &= ~(1u << WALL_LIMITS);
	*ret_walls = run->answer.walls & made;
	return 0;
}
