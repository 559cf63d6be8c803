/* SPDX-License-Identifier: ISC
 *
 * sandcastle-init, static, PID 1 of a box.
 *
 * Theory of operation. As PID 1 a program behaves unlike elsewhere: signals
 * that it did not ask for pass it by, and orphans become its children. So the
 * driver is not PID 1; this is. It starts the driver from the fd that the yard
 * opened, lets go of every fd, reaps whatever ends, and ends with the
 * driver's own end: its exit status, or 128 and the signal. With PID 1 the
 * kernel ends every process of the box.
 *
 * It reads nothing and trusts nothing in the box; it is under the box's
 * filter and limits itself.
 */
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wire/box_msg.h"

/* As a shell says it: the program could not be started. */
#define STATUS_NOT_RUN 127

static const char *const arguments[] = { "sandcastle-driver", NULL };
static const char *const environment[] = { NULL };

static _Noreturn void
become_driver(void)
{
	if (fcntl(BOX_DRIVER_FD, F_SETFD, FD_CLOEXEC) == 0)
		(void)syscall(SYS_execveat, BOX_DRIVER_FD, "", arguments,
		    environment, AT_EMPTY_PATH);
	_exit(STATUS_NOT_RUN);
}

static int
reap_until(pid_t driver)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, 0)) > 0) {
		if (pid != driver)
			continue;
		return WIFEXITED(status) ? WEXITSTATUS(status)
					 : 128 + WTERMSIG(status);
	}
	return STATUS_NOT_RUN;
}

int
main(void)
{
	/* Shares memory until the exec: no copy of the page tables. */
	pid_t driver = vfork();

	if (driver == 0)
		become_driver();
	(void)syscall(SYS_close_range, 0u, ~0u, 0u);
	_exit(driver < 0 ? STATUS_NOT_RUN : reap_until(driver));
}
