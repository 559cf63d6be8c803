/* SPDX-License-Identifier: ISC
 *
 * The keep's main process.
 */
#ifndef KEEP_SERVE_H
#define KEEP_SERVE_H

/* Serves the supervisor at that link until it says stop or is gone. state is
 * the directory of the store. Gives the exit status. */
int serve(int supervisor, const char *state);

#endif
