/* SPDX-License-Identifier: ISC
 *
 * Finding the running supervisor, in the command. The pid in the lock file
 * counts only while somebody holds the lock, and is fixed as a pidfd before
 * that is looked at: so a signal can never reach a process that merely got
 * the number later.
 */
#include "cli/instance.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"

/* 1: held; 0: free; else -errno. */
static int
is_held(int fd)
{
	if (flock(fd, LOCK_SH | LOCK_NB) == 0) {
		(void)flock(fd, LOCK_UN);
		return 0;
	}
	return errno == EWOULDBLOCK ? 1 : -errno;
}

static int
read_pid(int fd, pid_t *ret_pid)
{
	char text[24];
	ssize_t n = file_pread_all(fd, text, sizeof(text) - 1, 0);
	uint64_t pid;

	if (n <= 1 || text[n - 1] != '\n')
		return -1;
	text[n - 1] = '\0';
	if (text_u64(text, INT32_MAX, &pid) < 0 || pid == 0)
		return -1;
	*ret_pid = (pid_t)pid;
	return 0;
}

int
instance_find(
    const char *lock, struct instance *ret_instance, struct fault *fault)
{
	cleanup_fd int fd = open(lock, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	cleanup_fd int pidfd = -1;
	pid_t pid = 0;
	int held;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return fault_set(fault, FAULT_SYSTEM, "%s: cannot read: %s",
		    lock, strerror(errno));
	if (read_pid(fd, &pid) == 0)
		pidfd = (int)syscall(SYS_pidfd_open, pid, 0u);
	held = is_held(fd);
	if (held == 0)
		return 0;
	if (held < 0)
		return fault_set(fault, FAULT_SYSTEM, "%s: cannot look: %s",
		    lock, strerror(-held));
	if (pidfd < 0)
		return fault_set(fault, FAULT_SYSTEM,
		    "%s: somebody holds it, but it names no process that is "
		    "there",
		    lock);
	*ret_instance = (struct instance){ pid, take_fd(&pidfd) };
	return 1;
}
