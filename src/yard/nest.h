/* SPDX-License-Identifier: ISC
 *
 * Leaving the host's namespaces, before anything else.
 */
#ifndef YARD_NEST_H
#define YARD_NEST_H

#include <stdint.h>

#include "base/fault.h"

/*
 * Goes on in a child that is alone in namespaces of its own: user (its uid
 * mapped to itself, nothing more), mount, network, ipc, pid; and uts, cgroup
 * and time where the kernel has them, with clocks that begin now. The calling
 * process stays outside and does nothing but end as the child ends, and the
 * kernel ends the child with it.
 *
 * 0 in the child: *ret_walls has a bit of enum yard_wall for each namespace.
 * -1 with a fault that names the likely cause: still in the calling process,
 * with no box possible; *ret_error is the errno.
 */
int nest_enter(uint32_t *ret_walls, int *ret_error, struct fault *fault);

#endif
