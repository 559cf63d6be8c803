/* SPDX-License-Identifier: ISC
 *
 * One instance per state directory: a locked file that holds a pid.
 */
#ifndef SUPERVISOR_LOCK_H
#define SUPERVISOR_LOCK_H

#include "base/fault.h"

/*
 * Takes the lock and writes this process's pid into the file. Gives its fd,
 * to be kept open for the life of the process, or -1 with a fault that names
 * the pid of the instance that holds it.
 */
int lock_take(const char *path, struct fault *fault);

#endif
