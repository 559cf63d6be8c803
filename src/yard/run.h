/* SPDX-License-Identifier: ISC
 *
 * A box under way: its order, its answer, its time, its end.
 */
#ifndef YARD_RUN_H
#define YARD_RUN_H

#include <poll.h>
#include <stdbool.h>

#include "wire/box_msg.h"
#include "yard/box.h"

struct run {
	struct box box; /* pid 0: none is under way */
	uint32_t awaited; /* enum box_verb of the answer */
	uint64_t started_ms;
	uint64_t deadline_ms;
	uint32_t killed_for; /* enum yard_end; 0: not killed by us */
	bool is_link_lost;
	bool has_answer;
	struct box_answer answer;
	/* when it has ended */
	int status; /* of wait4(2) */
	struct rusage usage;
	uint64_t ended_ms;
};

/* Where run_polls puts a run's fds. */
#define RUN_POLLS 2

/*
 * Makes a box and gives it its order, with letters when it is BOX_JOB. The
 * box has time_limit_ms of the order. 0, or -errno with *ret_step.
 */
int run_start(struct run *run, const struct box_plan *plan,
    const struct box_order *order, const int *letters, const char **ret_step);

static inline bool
run_is_on(const struct run *run)
{
	return run->box.pid > 0;
}

/* What to wait for; gives the milliseconds to wait at most, -1 without end. */
int run_polls(const struct run *run, struct pollfd polls[RUN_POLLS]);

/* Deals with what poll(2) saw, and with time. True when the box is gone. */
bool run_step(struct run *run, const struct pollfd polls[RUN_POLLS]);

/* Ends the box; the first reason given is the one that counts. */
void run_kill(struct run *run, enum yard_end why);

/* Kills, and waits until it is gone. */
void run_abandon(struct run *run);

/* Puts how an ended run ended into the answer's fields of YARD_ENDED. */
void run_tell(const struct run *run, struct yard_answer *answer);

#endif
