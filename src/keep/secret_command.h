/* SPDX-License-Identifier: ISC
 *
 * `sandcastle secret`.
 */
#ifndef KEEP_SECRET_COMMAND_H
#define KEEP_SECRET_COMMAND_H

/*
 * Runs one verb: words[0] is set, list, check or rm, words[1] the name.
 * config may be NULL where the verb does not need it; with config_fd it is only
 * a name for messages, and the file is that fd (-1: it is opened by its path).
 * The operator's file may be one that the keep's user cannot open. Gives the
 * exit status:
 * 0 done (check: usable), 1 not, 2 wrong use.
 */
int secret_command(char **words, int n_words, const char *state,
    const char *config, int config_fd);

#endif
