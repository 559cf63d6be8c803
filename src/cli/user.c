/* SPDX-License-Identifier: ISC
 *
 * Users of the parts, in the command. Only root changes its user.
 */
#include "cli/user.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

int
user_find(const char *name, struct user *ret_user, struct fault *fault)
{
	const struct passwd *user;

	if (geteuid() != 0) {
		*ret_user = (struct user){ false, geteuid(), getegid() };
		return 0;
	}
	user = getpwnam(name);
	if (user == NULL || user->pw_uid == 0)
		return fault_set(fault, FAULT_SYSTEM,
		    "user %s does not exist: make install makes it; or run "
		    "sandcastle as a plain user",
		    name);
	*ret_user = (struct user){ true, user->pw_uid, user->pw_gid };
	return 0;
}

int
user_become(const struct user *user)
{
	if (!user->is_change)
		return 0;
	if (setgroups(0, NULL) < 0 ||
	    setresgid(user->gid, user->gid, user->gid) < 0 ||
	    setresuid(user->uid, user->uid, user->uid) < 0)
		return -errno;
	return 0;
}
