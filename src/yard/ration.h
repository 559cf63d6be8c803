/* SPDX-License-Identifier: ISC
 *
 * What a box may use up: resource limits, as no cgroup is at hand.
 */
#ifndef YARD_RATION_H
#define YARD_RATION_H

#include <stdint.h>

#include "config/config.h"

/* Sets the limits of the calling process and all that come from it, hard.
 * 0 or -errno. Async-signal-safe. */
int ration_take(const struct capability_config *capability);

#endif
