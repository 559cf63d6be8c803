/* SPDX-License-Identifier: ISC
 *
 * The keep's own tool for secrets, run under the keep's user.
 */
#ifndef CLI_KEEP_COMMAND_H
#define CLI_KEEP_COMMAND_H

#include "base/fault.h"
#include "base/paths.h"

/*
 * Becomes `sandcastle-keep secret VERB [NAME]`. As root it first becomes the
 * user that owns the store (sandcastle-keep where there is none yet). Gives
 * -1 with a fault when it cannot.
 */
int keep_command_become(const struct paths *paths, const char *verb,
    const char *name, struct fault *fault);

/*
 * Runs `sandcastle-keep secret check NAME`. Gives its exit status with the
 * last line it wrote, printable; -1 with a fault when it could not be run.
 */
int keep_command_check(const struct paths *paths, const char *name,
    char ret_line[300], struct fault *fault);

/*
 * Whether the keep will be able to open a file that the config names. 0, a
 * positive errno, or -1 with a fault when that could not be tried.
 */
int keep_command_open(
    const struct paths *paths, const char *file, struct fault *fault);

#endif
