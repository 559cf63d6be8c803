/* SPDX-License-Identifier: ISC
 *
 * From a config to a yard that can make boxes, and from an order to a box.
 * Believes the operator's config; of the core only numbers in range.
 */
#include "yard/yard.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "contract/capability.h"

uint32_t
yard_plan(
    const struct yard *yard, uint32_t capability, struct box_plan *ret_plan)
{
	const struct place *place = &yard->root.places[capability];
	struct box_plan plan = {
		.root = &yard->root,
		.place = place,
		.settings = &yard->config->capabilities[capability],
		.filters =
		    &yard->filters[capability_at(capability)->has_event_loop],
		.walls = yard->made,
		.tools = { -1, -1, -1, -1, -1 },
	};
	uint32_t missing = 0;

	_Static_assert(LIMIT_TOOLS == 5, "plan.tools starts empty");
	for (size_t i = 0; i < place->n_programs; i++) {
		plan.tools[i] = program_open(&place->programs[i]);
		if (plan.tools[i] < 0)
			missing |= 1u << i;
	}
	*ret_plan = plan;
	return missing;
}

void
yard_plan_done(struct box_plan *plan)
{
	for (size_t i = 0; i < LIMIT_TOOLS; i++)
		cleanup_fd_at(&plan->tools[i]);
}

static bool
is_enough(uint32_t capability, uint32_t missing)
{
	return (missing & capability_needs(capability_at(capability))) == 0;
}

static uint32_t
judge(const struct yard *yard, uint32_t capability, uint32_t walls,
    uint32_t *ret_missing)
{
	uint32_t accepted = yard->config->accept_missing & WALL_OPTIONAL;
	struct box_plan plan;

	if (!yard->config->capabilities[capability].is_enabled)
		return YARD_OFF;
	if ((~walls & ~accepted & WALL_ALL) != 0)
		return YARD_NO_WALLS;
	*ret_missing = yard_plan(yard, capability, &plan);
	yard_plan_done(&plan);
	if (!is_enough(capability, *ret_missing) || !plan.place->is_whole)
		return YARD_NO_PROGRAM;
	return YARD_USABLE;
}

static void
log_missing_walls(uint32_t walls, uint32_t accepted)
{
	for (uint32_t i = 0; i < WALL_COUNT; i++) {
		if (walls & 1u << i)
			continue;
		if (accepted & WALL_OPTIONAL & 1u << i)
			log_notice("a box here has no %s (accept_missing)",
			    yard_wall_text(i));
		else
			log_error("a box here has no %s: nothing is run",
			    yard_wall_text(i));
	}
}

static void
list(struct yard *yard, uint32_t walls)
{
	yard->listing.walls = walls;
	yard->listing.test_error = (uint32_t)yard->error;
	for (uint32_t i = 0; i < CAPABILITY_COUNT; i++)
		yard->listing.usable[i] =
		    judge(yard, i, walls, &yard->listing.missing[i]);
}

/* Once made the parts stay: a yard reads one config in its life. */
static int
build(struct yard *yard, struct fault *fault)
{
	for (int i = 0; i < 2; i++) {
		if (filters_init(i == 1, &yard->filters[i], fault) < 0) {
			yard->error = ENOSYS;
			return -1;
		}
	}
	if (landlock_version() > 0)
		yard->made |= 1u << WALL_LANDLOCK;
	return root_build(yard->config, &yard->root, &yard->error, fault);
}

int
yard_prepare(
    struct yard *yard, int config, uint32_t generation, struct fault *fault)
{
	struct fault machine = { 0 };
	uint32_t walls = 0;

	if (config_read(config, true, &yard->config, fault) < 0)
		return -1;
	yard->generation = generation;
	if (yard->error == 0 && build(yard, &machine) < 0)
		log_error("%s", machine.text);
	if (yard->error == 0 && yard_survey(yard, &walls) == 0)
		log_missing_walls(walls, yard->config->accept_missing);
	list(yard, walls);
	return 0;
}

static void
write_order(const struct yard *yard, uint32_t capability, uint32_t missing,
    struct box_order *ret_order)
{
	const struct capability_config *settings =
	    &yard->config->capabilities[capability];

	memset(ret_order, 0, sizeof(*ret_order));
	box_order_encode(ret_order, BOX_JOB);
	ret_order->capability = capability;
	ret_order->tools =
	    ((1u << yard->root.places[capability].n_programs) - 1) & ~missing;
	ret_order->max_input = settings->max_input;
	ret_order->max_output = LIMIT_OUTPUT_BYTES;
	ret_order->time_limit_ms = (uint32_t)settings->time_limit_ms;
	ret_order->n_languages = settings->n_languages;
	memcpy(ret_order->languages, settings->languages,
	    sizeof(ret_order->languages));
}

static void
refuse(struct yard_answer *answer, enum yard_end end, int error)
{
	answer->end = end;
	answer->status = (uint32_t)error;
}

int
yard_begin(struct yard *yard, const struct yard_order *order,
    const int letters[PACKET_FDS], struct yard_answer *answer)
{
	struct box_order job;
	struct box_plan plan;
	const char *step = "";
	uint32_t missing;
	int r;

	if (order->head.generation != yard->generation) {
		refuse(answer, YARD_END_UNMADE, ESTALE);
		return -1;
	}
	if (yard->listing.usable[order->capability] != YARD_USABLE) {
		refuse(answer, YARD_END_UNMADE, EPERM);
		return -1;
	}
	missing = yard_plan(yard, order->capability, &plan);
	write_order(yard, order->capability, missing, &job);
	if (!is_enough(order->capability, missing)) {
		yard_plan_done(&plan);
		refuse(answer, YARD_END_MISSING, ENOENT);
		return -1;
	}
	r = run_start(&yard->run, &plan, &job, letters, &step);
	yard_plan_done(&plan);
	if (r < 0) {
		log_error(
		    "a box could not be made: %s: %s", step, strerror(-r));
		refuse(answer, YARD_END_UNMADE, -r);
		return -1;
	}
	yard->order = *order;
	return 0;
}
