/* SPDX-License-Identifier: ISC
 *
 * Starting programs of ours, in the supervisor, the keep and the command.
 */
#include "base/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/cleanup.h"

/* Above every fd that a child is handed, so that moves cannot collide. */
#define SPAWN_PARK_FD 64

int
spawn_path(const char *program, char *to, size_t size)
{
	char self[512];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (n <= 0 || (size_t)n == sizeof(self) - 1)
		return -1;
	self[n] = '\0';
	slash = strrchr(self, '/');
	if (slash == NULL)
		return -1;
	*slash = '\0';
	if (snprintf(to, size, "%s/%s", self, program) >= (int)size)
		return -1;
	if (access(to, F_OK) == 0)
		return 0;
	return snprintf(to, size, "%s/%s", SANDCASTLE_LIBEXEC, program) >=
		(int)size
	    ? -1
	    : 0;
}

static int
arrange_fds(const struct spawn *spawn)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int parked[16];
	unsigned int first_free = SPAWN_FIRST_FD + (unsigned int)spawn->n_fds;

	if (null < 0 || spawn->n_fds > sizeof(parked) / sizeof(parked[0]))
		return -1;
	for (size_t i = 0; i < spawn->n_fds; i++) {
		parked[i] =
		    fcntl(spawn->fds[i], F_DUPFD_CLOEXEC, SPAWN_PARK_FD);
		if (parked[i] < 0)
			return -1;
	}
	if (dup2(null, 0) < 0 || dup2(null, 1) < 0 ||
	    (spawn->is_quiet && dup2(null, 2) < 0))
		return -1;
	for (size_t i = 0; i < spawn->n_fds; i++) {
		if (dup2(parked[i], SPAWN_FIRST_FD + (int)i) < 0)
			return -1;
	}
	return (int)syscall(SYS_close_range, first_free, ~0u, 0u);
}

_Noreturn static void
become(const struct spawn *spawn, const char *path)
{
	char *environment[] = { NULL };
	sigset_t none;

	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	for (int s = 1; s < NSIG; s++)
		(void)sigaction(
		    s, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
	if (spawn->narrow != NULL && spawn->narrow(spawn->narrow_context) < 0)
		_exit(126);
	if (arrange_fds(spawn) == 0)
		(void)execve(path, (char *const *)(uintptr_t)spawn->arguments,
		    environment);
	_exit(127);
}

int
spawn_start(const struct spawn *spawn, struct child *ret_child)
{
	char path[768];
	struct child child;
	int error;

	if (spawn_path(spawn->program, path, sizeof(path)) < 0)
		return -ENOENT;
	child.pid = fork();
	if (child.pid < 0)
		return -errno;
	if (child.pid == 0)
		become(spawn, path);
	child.pidfd = (int)syscall(SYS_pidfd_open, child.pid, 0u);
	if (child.pidfd < 0) {
		error = errno;
		(void)kill(child.pid, SIGKILL);
		(void)waitpid(child.pid, NULL, 0);
		return -error;
	}
	*ret_child = child;
	return 0;
}

void
spawn_kill(const struct child *child)
{
	if (child->pidfd >= 0)
		(void)syscall(
		    SYS_pidfd_send_signal, child->pidfd, SIGKILL, NULL, 0u);
}

int
spawn_reap(struct child *child)
{
	int status = 0;

	while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		;
	(void)close(child->pidfd);
	child->pidfd = -1;
	child->pid = -1;
	return status;
}
