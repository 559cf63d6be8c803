/* SPDX-License-Identifier: ISC
 *
 * A part: one of the three processes the supervisor runs. Starting it as the
 * right user, asking it, ending it.
 */
#ifndef SUPERVISOR_PART_H
#define SUPERVISOR_PART_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/fault.h"
#include "base/spawn.h"
#include "wire/super_msg.h"

/* The longest a part may take to read a config, or the yard to try a box. */
#define PART_ANSWER_MS 30000
/* The longest a part may take to end when it is told to. */
#define PART_END_MS 5000

struct part {
	enum super_peer peer;
	const char *program;
	const char *arguments[10]; /* argv, NULL at its end */
	const char *user; /* whom it runs as when started by root */
	uid_t uid;
	gid_t gid;
	bool changes_user;
	bool without_network;

	struct child child; /* pidfd -1 when it does not run */
	int link; /* -1 when it does not run */
	uint32_t sequence;
};

/* Finds the user of a part when we are root. -1 with a fault naming `make
 * install` when it does not exist. */
int part_find_user(struct part *part, struct fault *fault);

/* Starts the process. -1 with a fault. */
int part_start(struct part *part, struct fault *fault);

/*
 * Sends an order, with fd unless it is negative, and waits for its answer.
 * 0: OK. -1 with a fault: refused (the part's own words), ended, or silent
 * for PART_ANSWER_MS.
 */
int part_ask(
    struct part *part, struct super_order *order, int fd, struct fault *fault);

/* Sends an order that is not answered. */
void part_tell(struct part *part, struct super_order *order, int fd);

/* Reaps a part that has ended: its wait status. */
int part_reap(struct part *part);

/* Tells it to end at once, waits a little, kills it, reaps it. */
void part_end(struct part *part);

#endif
