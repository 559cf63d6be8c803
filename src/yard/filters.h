/* SPDX-License-Identifier: ISC
 *
 * The two system call filters of a box. The driver's is entered before init
 * starts; the tool's comes on top of it, entered by the driver's child before
 * it becomes a tool.
 */
#ifndef YARD_FILTERS_H
#define YARD_FILTERS_H

#include <linux/filter.h>

#include "base/fault.h"

struct filters {
	struct sock_fprog driver; /* init and the driver */
	int tool; /* sealed memfd for BOX_FILTER_FD */
};

/* Compiles both, once. -1 with a fault; needs /proc. */
int filters_init(struct filters *ret_filters, struct fault *fault);

#endif
