/* SPDX-License-Identifier: ISC
 *
 * The walls of the core. It holds every source's jobs as letters, so it must
 * not be a way to anything else: no network, no programs, no files but its
 * journal and its status, and nothing of the keep's.
 */
#include "core/walls.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "base/log.h"
#include "confine/filter.h"
#include "confine/landlock.h"
#include "confine/process.h"

/* Files at once: an input, an output, a courier's link, a claim's letter for
 * each source, and what SQLite and libuv hold. */
#define WALLS_FILES 2048

static const struct filter_rule rules[] = {
	/* memory and threads of libc */
	FILTER_ALLOW(brk),
	FILTER_ALLOW_IF(mmap, FILTER_LACKS(2, PROT_EXEC)),
	FILTER_ALLOW(munmap),
	FILTER_ALLOW(mremap),
	FILTER_ALLOW(madvise),
	FILTER_ALLOW(futex),
	FILTER_ALLOW(getrandom),
	FILTER_ALLOW(getpid),
	FILTER_ALLOW(getppid),
	FILTER_ALLOW(gettid),
	FILTER_ALLOW(getuid),
	FILTER_ALLOW(geteuid),
	FILTER_ALLOW(getegid),
	FILTER_ALLOW(getgid),
	FILTER_ALLOW(getppid),
	FILTER_ALLOW(tgkill),
	FILTER_ALLOW(rt_sigaction),
	FILTER_ALLOW(rt_sigprocmask),
	FILTER_ALLOW(rt_sigreturn),
	FILTER_ALLOW(restart_syscall),
	FILTER_ALLOW(exit),
	FILTER_ALLOW(exit_group),
	FILTER_ALLOW(sched_yield),
	/* time and the loop */
	FILTER_ALLOW(clock_gettime),
	FILTER_ALLOW(gettimeofday),
	FILTER_ALLOW(time),
	FILTER_ALLOW(clock_nanosleep),
	FILTER_ALLOW(nanosleep),
	FILTER_ALLOW(epoll_wait),
	FILTER_ALLOW(epoll_pwait),
	FILTER_ALLOW(epoll_ctl),
	FILTER_ALLOW(timerfd_settime),
	FILTER_ALLOW(poll),
	FILTER_ALLOW(ppoll),
	/* files below the two directories; Landlock says which */
	FILTER_ALLOW(read),
	FILTER_ALLOW(write),
	FILTER_ALLOW(pread64),
	FILTER_ALLOW(pwrite64),
	FILTER_ALLOW(lseek),
	FILTER_ALLOW(openat),
	FILTER_ALLOW(open),
	FILTER_ALLOW(close),
	FILTER_ALLOW(fstat),
	FILTER_ALLOW(stat),
	FILTER_ALLOW(lstat),
	FILTER_ALLOW(newfstatat),
	FILTER_ALLOW(statx),
	FILTER_ALLOW(access),
	FILTER_ALLOW(faccessat),
	FILTER_ALLOW(getcwd),
	FILTER_ALLOW(readlink),
	FILTER_ALLOW(fcntl),
	FILTER_ALLOW(flock),
	FILTER_ALLOW(ftruncate),
	FILTER_ALLOW(fallocate),
	FILTER_ALLOW(fsync),
	FILTER_ALLOW(fdatasync),
	FILTER_ALLOW(unlink),
	FILTER_ALLOW(unlinkat),
	FILTER_ALLOW(rename),
	FILTER_ALLOW(renameat),
	FILTER_ALLOW(fchmod),
	FILTER_ALLOW(fchown),
	FILTER_ALLOW(umask),
	FILTER_ALLOW(memfd_create),
	/* peers: pairs of our own, never an address */
	FILTER_ALLOW_IF(socketpair, FILTER_IS(0, AF_UNIX)),
	FILTER_ALLOW(sendmsg),
	FILTER_ALLOW(recvmsg),
	FILTER_ALLOW(getsockopt),
	FILTER_ALLOW_IF(ioctl, FILTER_IS(1, FIONBIO)),
};

static int
shut_in(int state_directory, int run_directory)
{
	const struct landlock_room rooms[] = {
		{ state_directory, LANDLOCK_READ | LANDLOCK_WRITE },
		{ run_directory, LANDLOCK_READ | LANDLOCK_WRITE },
	};

	return landlock_enter(rooms, 2, false);
}

int
walls_enter(int state_directory, int run_directory, struct fault *fault)
{
	struct sock_fprog program = { 0 };
	int r = process_undumpable();

	if (r == 0)
		r = process_limit(RLIMIT_NOFILE, WALLS_FILES);
	if (r == -EPERM)
		r = 0;
	if (r == 0)
		r = process_limit(RLIMIT_NPROC, 0);
	if (r == 0)
		r = process_no_new_privileges();
	if (r < 0)
		return fault_set(
		    fault, FAULT_SYSTEM, "walls: %s", strerror(-r));
	r = shut_in(state_directory, run_directory);
	if (r == -EOPNOTSUPP)
		log_notice("this kernel has no Landlock: nothing but its user "
			   "keeps the core from other files");
	else if (r < 0)
		return fault_set(
		    fault, FAULT_SYSTEM, "landlock: %s", strerror(-r));
	if (filter_compile(rules, sizeof(rules) / sizeof(rules[0]),
		SCMP_ACT_ERRNO(EPERM), &program, fault) < 0)
		return -1;
	r = filter_enter(&program);
	filter_free(&program);
	return r < 0
	    ? fault_set(fault, FAULT_SYSTEM, "seccomp: %s", strerror(-r))
	    : 0;
}
