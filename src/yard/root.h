/* SPDX-License-Identifier: ISC
 *
 * The yard's root: a tree with one small root for each capability, in place of
 * the host's files.
 */
#ifndef YARD_ROOT_H
#define YARD_ROOT_H

#include <limits.h>
#include <stdbool.h>

#include "base/fault.h"
#include "config/config.h"
#include "confine/landlock.h"

/* A tool, by its directory, so that a box gets the file that is there when it
 * is made: packages are upgraded under a running yard. */
struct program {
	int directory; /* read-only clone; -1: there is no such directory */
	char name[NAME_MAX + 1];
};

/* The views, and the loader of the system's libraries. */
#define PLACE_ROOMS (CAPABILITY_VIEWS + 1)

/* What a box of one capability is made from. */
struct place {
	char path[32]; /* its root in the yard's tree */
	bool is_whole; /* every view that it needs is there */
	size_t n_rooms;
	struct landlock_room rooms[PLACE_ROOMS];
	size_t n_programs;
	struct program programs[LIMIT_TOOLS];
};

struct root {
	int null;
	int init;
	int driver;
	struct place places[CAPABILITY_COUNT];
};

/*
 * Opens what boxes need, builds the tree, and leaves the host's files for
 * good. -1 with a fault; *ret_error is the errno. What a capability lacks is
 * logged, and shows in its place.
 */
int root_build(const struct config *config, struct root *ret_root,
    int *ret_error, struct fault *fault);

/*
 * Opens a program as it is now: an O_PATH fd owned by the caller, or -errno
 * (-ENOENT: gone; -EACCES: no executable file).
 */
int program_open(const struct program *program);

#endif
