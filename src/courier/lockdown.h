/* SPDX-License-Identifier: ISC
 *
 * The courier's walls: entered after its libraries have opened what they need
 * and before it holds a token or meets a byte of its source.
 */
#ifndef COURIER_LOCKDOWN_H
#define COURIER_LOCKDOWN_H

#include <stddef.h>
#include <stdint.h>

#include "confine/filter.h"

/* Every system call that is answered; all others kill the process. */
const struct filter_rule *lockdown_rules(size_t *ret_n);

/*
 * Enters all walls, for good: no file to open, no socket to make or to
 * connect, no process, no signal; at most max_file_bytes in any file.
 * no_new_privs must be set. 0 or -errno, and then nothing may go on.
 */
int lockdown_enter(uint64_t max_file_bytes);

#endif
