/* SPDX-License-Identifier: ISC
 *
 * A process narrows itself: what one call of the kernel takes away. All give
 * 0 or -errno.
 */
#ifndef CONFINE_PROCESS_H
#define CONFINE_PROCESS_H

#include <sys/resource.h>
#include <sys/types.h>

/* No core dumps, no ptrace, no reading of its memory by the same uid. */
int process_undumpable(void);

/* Nothing executed from now on can gain privilege. */
int process_no_new_privileges(void);

/* Soft and hard limit at once; it can never be raised again. */
int process_limit(__rlimit_resource_t resource, rlim_t value);

/*
 * The process gets SIGKILL when its parent ends. parent is the pid it had
 * when the order was given: -ESRCH when it is gone already.
 */
int process_die_with_parent(pid_t parent);

#endif
