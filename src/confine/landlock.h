/* SPDX-License-Identifier: ISC
 *
 * Landlock: files, network and signals by allow-list. Everything that the
 * running kernel's version can forbid is forbidden, save what a rule gives.
 */
#ifndef CONFINE_LANDLOCK_H
#define CONFINE_LANDLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LANDLOCK_READ	 (1u << 0) /* read files and list directories */
#define LANDLOCK_EXECUTE (1u << 1)
#define LANDLOCK_WRITE	 (1u << 2) /* write, make, remove files and directories \
				    */

struct landlock_room {
	int fd; /* O_PATH fd of a file or directory; all below it counts */
	unsigned int rights;
};

/* The version of the running kernel's Landlock; 0 when there is none. */
int landlock_version(void);

/*
 * Shuts the process in. with_network leaves TCP alone (the dialer). 0 or
 * -errno: -EOPNOTSUPP when the kernel has no Landlock. no_new_privs must be
 * set. Async-signal-safe.
 */
int landlock_enter(
    const struct landlock_room *rooms, size_t n_rooms, bool with_network);

#endif
