/* SPDX-License-Identifier: ISC
 *
 * The two system call filters of a box. The driver's is entered before init
 * starts; the tool's comes on top of it, entered by the driver's child before
 * it becomes a tool.
 *
 * A call must pass both. What a runtime needs that waits by epoll(7) is let
 * through only in the boxes of a capability with such a tool.
 */
#ifndef YARD_FILTERS_H
#define YARD_FILTERS_H

#include <linux/filter.h>
#include <stdbool.h>

#include "base/fault.h"

struct filters {
	struct sock_fprog driver; /* init and the driver */
	int tool; /* sealed memfd for BOX_FILTER_FD */
};

/* Compiles both. -1 with a fault; needs /proc. */
int filters_init(
    bool has_event_loop, struct filters *ret_filters, struct fault *fault);

#endif
