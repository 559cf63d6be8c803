/* SPDX-License-Identifier: ISC
 *
 * A yard of the command's own, for `try` and `check`: started, given a config
 * and an order as the supervisor and the core would.
 */
#ifndef CLI_YARD_CLIENT_H
#define CLI_YARD_CLIENT_H

#include <stddef.h>

#include "base/fault.h"
#include "base/spawn.h"
#include "wire/yard_msg.h"

struct yard_client {
	struct child child;
	int super_link;
	int core_link;
	uint32_t sequence;
};

/* Starts a yard with the bytes of a config. -1 with a fault. */
int yard_client_start(struct yard_client *yard, const char *config, size_t n,
    struct fault *fault);

/* Asks what can be run. -1 with a fault. */
int yard_client_list(struct yard_client *yard, struct yard_answer *ret_answer,
    struct fault *fault);

/*
 * Has one box made: letters[0] is the sealed input letter, letters[1] the
 * writable output letter. Waits for its end. -1 with a fault.
 */
int yard_client_make(struct yard_client *yard, uint32_t capability,
    const int letters[2], struct yard_answer *ret_answer,
    struct fault *fault);

/* Ends the yard and what it made. Fine on one that was never started, when
 * it is zeroed but for its fds, which are -1. */
void yard_client_stop(struct yard_client *yard);

#endif
