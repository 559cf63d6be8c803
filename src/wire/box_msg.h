/* SPDX-License-Identifier: ISC
 *
 * yard ↔ driver: into the box and out of it.
 *
 *   BOX_JOB + input letter (read-only) + output letter → BOX_VERDICT code
 *   BOX_TEST (no fds)                                  → BOX_WALLS bits
 *
 * A box can only say succeeded or failed.
 *
 * BOX_WALLS is what the driver, trying from inside, found standing. A wall
 * that shows nothing inside counts as standing: the yard knows whether it made
 * it, and believes a wall only when both do.
 */
#ifndef WIRE_BOX_MSG_H
#define WIRE_BOX_MSG_H

#include "wire/yard_msg.h"

/* From here init is started; it is gone with that. */
#define BOX_INIT_FD 97
/*
 * What the driver finds open: its link at SPAWN_FIRST_FD, the capability's
 * tools from LIMIT_BOX_PROGRAM_FD, and at these two a sealed memfd with the
 * filter of a tool (an array of struct sock_filter), and itself, for init.
 */
#define BOX_FILTER_FD 98
#define BOX_DRIVER_FD 99
/* Where a tool's process has one page of zeroes when it calls execveat: the
 * only path pointer its filter lets pass. */
#define BOX_EXEC_ADDRESS 0x100000ul

enum box_verb {
	BOX_JOB = 1,
	BOX_TEST,
	BOX_VERB_END,
	BOX_VERDICT = 100,
	BOX_WALLS,
};

struct box_order {
	struct packet_head head;
	uint32_t capability;
	uint32_t tools; /* bit per tool that stands at
			   LIMIT_BOX_PROGRAM_FD + index */
	uint64_t max_input; /* decoded bytes */
	uint64_t max_output; /* contents of the output letter */
	uint32_t time_limit_ms; /* the yard kills at this; the driver ends its
				   tools a little earlier to say so itself */
	uint32_t n_languages;
	char languages[LIMIT_LANGUAGES][16]; /* that the operator allows */
};

struct box_answer {
	struct packet_head head;
	uint32_t verdict; /* BOX_VERDICT: 0 succeeded, or an error_code */
	uint32_t walls; /* BOX_WALLS: bit per enum yard_wall */
};

/* Sets the head; the rest of the struct is the caller's, zeroed first. */
void box_order_encode(struct box_order *order, enum box_verb verb);
int box_order_decode(const struct box_order *order, size_t n_fds);
void box_answer_encode(
    struct box_answer *to, enum box_verb verb, uint32_t value);
int box_answer_decode(const struct box_answer *answer, size_t n_fds);

#endif
