/* SPDX-License-Identifier: ISC
 *
 * How the dialer shuts itself in, before it resolves a name. The machine's
 * name service reads below /etc, /usr and /run and loads libraries; all other
 * files are shut, the keep's store among them. TCP is left alone: that is the
 * trade of this process.
 */
#include "dialer/walls.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <unistd.h>

#include "base/limits.h"
#include "confine/landlock.h"
#include "confine/process.h"

static int
enter_landlock(void)
{
	/* The files by name too: they may be links to anywhere. */
	static const char *const paths[] = { "/etc", "/usr", "/lib", "/lib64",
		"/run", "/etc/resolv.conf", "/etc/hosts",
		"/etc/nsswitch.conf" };
	struct landlock_room rooms[sizeof(paths) / sizeof(paths[0])];
	size_t n = 0;
	int r;

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		int fd = open(paths[i], O_PATH | O_CLOEXEC);

		if (fd >= 0)
			rooms[n++] =
			    (struct landlock_room){ fd, LANDLOCK_READ };
	}
	r = landlock_enter(rooms, n, true);
	for (size_t i = 0; i < n; i++)
		(void)close(rooms[i].fd);
	/* A kernel without it: the keep has asked the operator already. */
	return r == -EOPNOTSUPP ? 0 : r;
}

int
walls_enter(void)
{
	int r = process_undumpable();

	if (r == 0)
		r = process_die_with_parent(getppid());
	if (r == 0)
		r = process_no_new_privileges();
	if (r == 0)
		r = process_limit(RLIMIT_FSIZE, 0);
	if (r == 0)
		r = process_limit(RLIMIT_NPROC, 0);
	if (r == 0)
		r = process_limit(RLIMIT_NOFILE, LIMIT_DIALER_FILES);
	if (r == 0)
		r = process_limit(RLIMIT_CPU, LIMIT_DIALER_CPU_S);
	return r == 0 ? enter_landlock() : r;
}
