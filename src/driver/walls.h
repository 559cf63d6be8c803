/* SPDX-License-Identifier: ISC
 *
 * Tries the walls of a box from inside.
 *
 * What is tried, by wall. "Nothing" means that a wall cannot be told from its
 * absence in here, behind the others: its bit is set, and it is for the yard,
 * which knows whether it made it, to take it away.
 *
 *   user namespace     becoming root, or anyone else, is refused
 *   mount namespace    mount, umount and their like are refused
 *   pid namespace      init is the parent, and no other process answers
 *   network namespace  a socket of any kind is refused
 *   ipc namespace      SysV and POSIX queues and shared memory are refused
 *   uts namespace      the host's name is not to be had
 *   cgroup namespace   nothing
 *   time namespace     nothing; setting the clock is refused
 *   root               no known path of the host, no place to write
 *   scratch            /tmp is a tmpfs of limited size and count, and nothing
 *                      in it can be executed or mapped so
 *   filter             calls that no job needs are refused; so is a program
 *   landlock           reading the root directory is refused
 *   privileges         no_new_privs, no capability, no root
 *   limits             each is set, and cannot be raised
 *   descriptors        nothing is open but what the yard says it gives
 */
#ifndef DRIVER_WALLS_H
#define DRIVER_WALLS_H

#include <stdint.h>

/* A bit per enum yard_wall that was found standing. */
uint32_t walls_try(void);

#endif
