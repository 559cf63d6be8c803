/* SPDX-License-Identifier: ISC
 *
 * The core shuts itself in, once its files are open and before it listens to
 * anyone but the supervisor.
 */
#ifndef CORE_WALLS_H
#define CORE_WALLS_H

#include "base/fault.h"

/*
 * No core dumps, no new privileges, files only below the two directories
 * (where the kernel has Landlock), system calls by list. -1 with a fault.
 */
int walls_enter(int state_directory, int run_directory, struct fault *fault);

#endif
