/* SPDX-License-Identifier: ISC
 *
 * From the input letter to a checked input: the content in a file, the other
 * values in job->shape.
 */
#ifndef DRIVER_INPUT_H
#define DRIVER_INPUT_H

#include "driver/job.h"

/*
 * Checks the letter against the capability's input list and writes the
 * decoded `data` to path. ERROR_NONE, or what is wrong: ERROR_BAD_INPUT,
 * ERROR_TOO_LARGE, ERROR_TOO_HEAVY (no space for it).
 */
enum error_code input_read(struct job *job, const char *path);

#endif
