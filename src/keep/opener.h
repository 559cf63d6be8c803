/* SPDX-License-Identifier: ISC
 *
 * The opener: one secret, one pipe.
 */
#ifndef KEEP_OPENER_H
#define KEEP_OPENER_H

#include "keep/secret.h"

/* Writes the secret as one struct token_msg to the pipe. Gives the exit
 * status: enum keep_result. */
int opener_run(const struct secret_id *id, const char *state, int pipe);

#endif
