/* SPDX-License-Identifier: ISC
 *
 * The system users that parts run as when root starts them.
 */
#ifndef CLI_USER_H
#define CLI_USER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/fault.h"

struct user {
	bool is_change; /* false: we are no root, and stay who we are */
	uid_t uid;
	gid_t gid;
};

/* The user of that name, for root; -1 with a fault when it is missing. */
int user_find(const char *name, struct user *ret_user, struct fault *fault);

/* Becomes the user for good. 0 or -errno; async-signal-safe. */
int user_become(const struct user *user);

#endif
