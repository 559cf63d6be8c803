/* SPDX-License-Identifier: ISC
 *
 * How the keep's processes shut themselves in.
 */
#ifndef KEEP_WALLS_H
#define KEEP_WALLS_H

#include "base/fault.h"

/* The main process, before its first order. -1 with a fault. */
int walls_serve(struct fault *fault);

/* The opener: it can read below the state directory, and nothing else.
 * 0 or -errno. */
int walls_open(const char *state);

/* The operator's `secret`: no dumps, nothing gained by exec. 0 or -errno. */
int walls_secret(void);

#endif
