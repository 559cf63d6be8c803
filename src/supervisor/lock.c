/* SPDX-License-Identifier: ISC
 *
 * The lock of the supervisor. The kernel drops it with the process; the file
 * stays and decides nothing.
 */
#include "supervisor/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>

#include "base/cleanup.h"
#include "base/file.h"

static int
refuse_second(int fd, const char *path, struct fault *fault)
{
	char pid[16] = "";
	ssize_t n = file_pread_all(fd, pid, sizeof(pid) - 1, 0);

	pid[n > 0 ? (size_t)n : 0] = '\0';
	pid[strspn(pid, "0123456789")] = '\0';
	return fault_set(fault, FAULT_SYSTEM,
	    "%s: another sandcastle is running there, pid %s", path,
	    pid[0] != '\0' ? pid : "unknown");
}

int
lock_take(const char *path, struct fault *fault)
{
	char pid[16];
	cleanup_fd int fd =
	    open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);

	if (fd < 0)
		return fault_set(fault, FAULT_SYSTEM,
		    "%s: cannot open the lock file: %s (sandcastle init makes "
		    "the directories)",
		    path, strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return refuse_second(fd, path, fault);
	(void)snprintf(pid, sizeof(pid), "%d\n", (int)getpid());
	if (ftruncate(fd, 0) < 0 ||
	    file_pwrite_all(fd, pid, strlen(pid), 0) < 0)
		return fault_set(fault, FAULT_SYSTEM, "%s: cannot write: %s",
		    path, strerror(errno));
	return take_fd(&fd);
}
