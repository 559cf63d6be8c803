/* SPDX-License-Identifier: ISC
 *
 * How the keep's main process starts a child.
 */
#ifndef KEEP_START_H
#define KEEP_START_H

#include <stddef.h>

#include "base/spawn.h"

/*
 * Starts one of our programs, arguments[0], with these fds, without a word to
 * our stderr, and to be killed when this process ends, however it ends. 0 or
 * -errno.
 */
int start_child(const char *const *arguments, const int *fds, size_t n_fds,
    struct child *ret_child);

#endif
