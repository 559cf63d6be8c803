/* SPDX-License-Identifier: ISC
 *
 * What a yard has: one config, one tree, at most one box.
 */
#ifndef YARD_YARD_H
#define YARD_YARD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "config/config.h"
#include "wire/yard_msg.h"
#include "yard/filters.h"
#include "yard/root.h"
#include "yard/run.h"

struct yard {
	struct config *config; /* NULL until the first SUPER_CONFIG */
	uint32_t generation;
	uint32_t made; /* walls that are made once, for all boxes */
	int error; /* errno of what makes every box impossible; or 0 */
	struct root root;
	struct filters filters[2]; /* by has_event_loop */
	struct yard_answer listing; /* the answer to YARD_LIST */
	struct run run;
	struct yard_order order; /* that the run belongs to */
	bool is_stopping;
};

/*
 * Reads the config, builds the tree, compiles the filters, tries a box. -1
 * with a fault: the config is not good. What the machine lacks is logged, and
 * shows in the listing.
 */
int yard_prepare(
    struct yard *yard, int config, uint32_t generation, struct fault *fault);

/*
 * Opens the tools of a capability for one box. Gives a bit for each that is
 * missing; the plan is good without the optional ones. Always to be closed.
 */
uint32_t yard_plan(
    const struct yard *yard, uint32_t capability, struct box_plan *ret_plan);
void yard_plan_done(struct box_plan *plan);

/* Runs the test box: which walls stand. -1 when it could not be made. */
int yard_survey(struct yard *yard, uint32_t *ret_walls);

/*
 * Begins the box of a YARD_MAKE. 0; or -1 with the answer filled: nothing
 * ran. letters stay the caller's.
 */
int yard_begin(struct yard *yard, const struct yard_order *order,
    const int letters[PACKET_FDS], struct yard_answer *answer);

#endif
