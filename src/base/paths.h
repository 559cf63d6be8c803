/* SPDX-License-Identifier: ISC
 *
 * Where things are: the system's places, a user's, or one directory for all.
 */
#ifndef BASE_PATHS_H
#define BASE_PATHS_H

#include "base/fault.h"

struct paths {
	char config[256]; /* the file config.yaml */
	char core[256]; /* directory of the journal */
	char keep[256]; /* directory of the secret store */
	char lock[256]; /* file that one running instance holds locked */
	char run[256]; /* directory of status.json */
};

/*
 * Fills *ret_paths. dir (from --dir) may be NULL: then root gets /etc,
 * /var/lib and /run, and a user the XDG places below HOME. -1 with a fault
 * when a path does not fit or HOME is needed and not set.
 */
int paths_find(const char *dir, struct paths *ret_paths, struct fault *fault);

/*
 * Whether a config may be believed: it names the programs that are run, so
 * nobody but its owner and our own group may write it. 0, also when there is
 * none; -1 with a fault.
 */
int paths_check_config(const char *path, struct fault *fault);

#endif
