/* SPDX-License-Identifier: ISC
 *
 * Whether an instance runs, and which process it is.
 */
#ifndef CLI_INSTANCE_H
#define CLI_INSTANCE_H

#include <sys/types.h>

#include "base/fault.h"

struct instance {
	pid_t pid;
	int pidfd; /* owned by the caller */
};

/* Looks for the supervisor that holds the lock file. 1 with *ret_instance,
 * 0 when nobody holds it, -1 with a fault. */
int instance_find(
    const char *lock, struct instance *ret_instance, struct fault *fault);

#endif
