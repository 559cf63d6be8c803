/* SPDX-License-Identifier: ISC
 *
 * How a token comes in: from a terminal or a pipe.
 */
#ifndef KEEP_SECRET_INPUT_H
#define KEEP_SECRET_INPUT_H

#include "base/fault.h"
#include "base/limits.h"

/* A token, a line end, and one byte to see that there was more. */
#define SECRET_INPUT_BYTES (LIMIT_TOKEN_BYTES + 4)

/*
 * Reads a token from stdin into to, which must be secret_memory of that size:
 * from a terminal without echo, twice; else up to the end. One line end is
 * stripped; the result is a valid token. -1 with a fault.
 */
int secret_input_read(
    char to[SECRET_INPUT_BYTES], const char *name, struct fault *fault);

#endif
