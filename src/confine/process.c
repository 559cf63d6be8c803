/* SPDX-License-Identifier: ISC
 *
 * Small walls, used by every process that has any.
 */
#include "confine/process.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

int
process_undumpable(void)
{
	int r = process_limit(RLIMIT_CORE, 0);

	if (r == 0 && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		r = -errno;
	return r;
}

int
process_no_new_privileges(void)
{
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? -errno : 0;
}

int
process_limit(__rlimit_resource_t resource, rlim_t value)
{
	struct rlimit limit = { value, value };

	return setrlimit(resource, &limit) < 0 ? -errno : 0;
}

int
process_die_with_parent(pid_t parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return -errno;
	return getppid() == parent ? 0 : -ESRCH;
}
