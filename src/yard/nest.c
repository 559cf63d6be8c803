/* SPDX-License-Identifier: ISC
 *
 * The yard's own namespaces. Runs in the yard before its first order, with no
 * privilege but what a user namespace gives. What it guarantees: the process
 * that makes boxes has no other uid and no network, and ends with the one that
 * the supervisor knows; no box outlives it, as it is the PID 1 above them.
 */
#include "yard/nest.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "wire/yard_msg.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

#define SYSCTL "/proc/sys/"

/* Whether it is on; -1 where there is no such switch. */
static int
get_switch(const char *path)
{
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	char first;

	if (fd < 0 || file_read_all(fd, &first, 1) != 1)
		return -1;
	return first != '0';
}

/* The switches with which systems forbid user namespaces. They explain a
 * refusal; they never decide one. */
static const char *
likely_cause(int error)
{
	if (get_switch(SYSCTL "user/max_user_namespaces") == 0)
		return "user.max_user_namespaces is 0";
	if (get_switch(SYSCTL "kernel/unprivileged_userns_clone") == 0)
		return "kernel.unprivileged_userns_clone is 0";
	if (get_switch(SYSCTL "kernel/apparmor_restrict_unprivileged_userns") >
	    0)
		return "AppArmor lets only programs that have a profile make "
		       "user namespaces";
	if (error == ENOSPC || error == EUSERS)
		return "the limit user.max_user_namespaces is reached";
	if (error == ENOSYS || error == EINVAL)
		return "this kernel is built without them";
	return "a container, a service's RestrictNamespaces or a security "
	       "module forbids them";
}

static int
map_ids(uid_t uid, gid_t gid)
{
	char line[40];
	int r = file_put("/proc/self/setgroups", "deny");

	(void)snprintf(line, sizeof(line), "%u %u 1", uid, uid);
	if (r == 0)
		r = file_put("/proc/self/uid_map", line);
	(void)snprintf(line, sizeof(line), "%u %u 1", gid, gid);
	return r < 0 ? r : file_put("/proc/self/gid_map", line);
}

/* A box must not see since when the machine is up. */
static int
begin_time(void)
{
	struct timespec monotonic;
	struct timespec boot;
	char lines[96];

	if (clock_gettime(CLOCK_MONOTONIC, &monotonic) < 0 ||
	    clock_gettime(CLOCK_BOOTTIME, &boot) < 0)
		return -errno;
	(void)snprintf(lines, sizeof(lines),
	    "monotonic %lld 0\nboottime %lld 0\n", -(long long)monotonic.tv_sec,
	    -(long long)boot.tv_sec);
	return file_put("/proc/self/timens_offsets", lines);
}

static int
leave(uint32_t *ret_walls)
{
	uint32_t walls = 1u << WALL_USER_NAMESPACE |
	    1u << WALL_MOUNT_NAMESPACE | 1u << WALL_PID_NAMESPACE |
	    1u << WALL_NETWORK_NAMESPACE | 1u << WALL_IPC_NAMESPACE;
	uid_t uid = geteuid();
	gid_t gid = getegid();
	int r;

	if (unshare(CLONE_NEWUSER) < 0)
		return -errno;
	r = map_ids(uid, gid);
	if (r < 0)
		return r;
	if (unshare(CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWPID) <
	    0)
		return -errno;
	if (unshare(CLONE_NEWUTS) == 0)
		walls |= 1u << WALL_UTS_NAMESPACE;
	if (unshare(CLONE_NEWCGROUP) == 0)
		walls |= 1u << WALL_CGROUP_NAMESPACE;
	if (unshare(CLONE_NEWTIME) == 0 && begin_time() == 0)
		walls |= 1u << WALL_TIME_NAMESPACE;
	*ret_walls = walls;
	return 0;
}

/* Outside: hold nothing, and end as the child ends. */
static _Noreturn void
stand_by(pid_t child)
{
	int status = 0;

	(void)syscall(SYS_close_range, 0u, ~0u, 0u);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (!WIFSIGNALED(status))
		_exit(WEXITSTATUS(status));
	(void)signal(WTERMSIG(status), SIG_DFL);
	(void)raise(WTERMSIG(status));
	_exit(128 + WTERMSIG(status));
}

/* Inside getppid(2) is 0 whoever the parent is, so the pidfd tells whether it
 * ended before the order to die with it was given. */
static void
die_with(int outside)
{
	struct pollfd ended = { .fd = outside, .events = POLLIN };

	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 ||
	    poll(&ended, 1, 0) != 0)
		_exit(1);
}

static int
go_inside(void)
{
	cleanup_fd int self = (int)syscall(SYS_pidfd_open, getpid(), 0u);
	pid_t child;

	if (self < 0)
		return -errno;
	child = fork();
	if (child < 0)
		return -errno;
	if (child > 0)
		stand_by(child);
	die_with(self);
	return 0;
}

int
nest_enter(uint32_t *ret_walls, int *ret_error, struct fault *fault)
{
	uint32_t walls = 0;
	int r;

	/* A child of an undumpable process cannot write its own id maps. */
	r = prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0 ? -errno : 0;
	if (r == 0)
		r = leave(&walls);
	if (r == 0)
		r = go_inside();
	if (r < 0) {
		*ret_error = -r;
		return fault_set(fault, FAULT_SYSTEM,
		    "no box can be made: namespaces: %s: %s", strerror(-r),
		    likely_cause(-r));
	}
	*ret_walls = walls;
	return 0;
}
