/* SPDX-License-Identifier: ISC
 *
 * Children that are of no more use: killed, waited for without waiting.
 */
#ifndef KEEP_GRAVE_H
#define KEEP_GRAVE_H

#include <poll.h>
#include <stddef.h>

#include "base/limits.h"
#include "base/spawn.h"

struct grave {
	size_t n;
	struct child children[LIMIT_KEEP_DYING];
};

/* Kills a child, takes it over and leaves *child empty (pidfd -1). An empty
 * one is left alone. */
void grave_bury(struct grave *grave, struct child *child);

/* Writes one entry for each child; gives how many. */
size_t grave_watch(const struct grave *grave, struct pollfd *to);

/* Reaps those that have ended. */
void grave_reap(struct grave *grave);

#endif
