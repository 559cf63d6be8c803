/* SPDX-License-Identifier: ISC
 *
 * One box: made for one job, with nothing in it but what the job needs.
 */
#ifndef YARD_BOX_H
#define YARD_BOX_H

#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "config/config.h"
#include "yard/filters.h"
#include "yard/root.h"

/* What one box is made from. All of it is the caller's, and stays so. */
struct box_plan {
	const struct root *root;
	const struct place *place;
	const struct capability_config *settings;
	const struct filters *filters;
	uint32_t walls; /* of the optional ones: those this machine has */
	int tools[LIMIT_TOOLS]; /* opened programs; -1: none */
};

struct box {
	pid_t pid;
	int pidfd; /* owned; readable when the box is gone */
	int link; /* owned; the yard's end */
};

/*
 * Makes a box and lets its driver start. 0, or -errno with nothing run and
 * *ret_step naming what could not be done.
 */
int box_make(
    const struct box_plan *plan, struct box *ret_box, const char **ret_step);

/* Ends every process of the box, from outside, at once. */
void box_kill(const struct box *box);

/*
 * Waits for the end of the box, closes what it had, and gives the wait status
 * of its PID 1 with what all its processes used.
 */
int box_reap(struct box *box, struct rusage *ret_usage);

#endif
