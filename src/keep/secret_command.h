/* SPDX-License-Identifier: ISC
 *
 * `sandcastle secret`.
 */
#ifndef KEEP_SECRET_COMMAND_H
#define KEEP_SECRET_COMMAND_H

/*
 * Runs one verb: words[0] is set, list, check or rm, words[1] the name.
 * config may be NULL where the verb does not need it. Gives the exit status:
 * 0 done (check: usable), 1 not, 2 wrong use.
 */
int secret_command(
    char **words, int n_words, const char *state, const char *config);

#endif
