/* SPDX-License-Identifier: ISC
 *
 * Asks the kernel for everything. Prints "answers NR" for each call that did
 * not answer EPERM or ENOSYS, and "declared NR" for each that is expected to,
 * by lists that are written down here once more: a filter cannot grow by a
 * slip in one place.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe.h"
#include "wire/box_msg.h"

#define LAST_CALL 479
#define CALL_MS	  400

static const int tool[] = { SYS_read, SYS_write, SYS_readv, SYS_writev,
	SYS_pread64, SYS_pwrite64, SYS_close, SYS_lseek, SYS_ftruncate,
	SYS_open, SYS_openat, SYS_stat, SYS_fstat, SYS_lstat, SYS_newfstatat,
	SYS_statx, SYS_access, SYS_faccessat, SYS_faccessat2, SYS_readlink,
	SYS_readlinkat, SYS_getdents64, SYS_getcwd, SYS_unlink, SYS_unlinkat,
	SYS_mkdir, SYS_mkdirat, SYS_rmdir, SYS_rename, SYS_renameat, SYS_umask,
	SYS_poll, SYS_ppoll, SYS_select, SYS_pselect6, SYS_munmap, SYS_brk,
	SYS_futex, SYS_set_robust_list, SYS_set_tid_address, SYS_rseq,
	SYS_sched_yield, SYS_sched_getaffinity, SYS_getcpu, SYS_rt_sigaction,
	SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_sigaltstack,
	SYS_clock_gettime, SYS_clock_getres, SYS_clock_nanosleep, SYS_nanosleep,
	SYS_gettimeofday, SYS_time, SYS_getrusage, SYS_restart_syscall,
	SYS_getrandom, SYS_uname, SYS_getpid, SYS_gettid, SYS_getppid,
	SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid, SYS_getrlimit,
	SYS_exit, SYS_exit_group };

static const int driver[] = { SYS_dup, SYS_dup2, SYS_dup3, SYS_pipe2,
	SYS_close_range, SYS_vfork, SYS_fork, SYS_wait4, SYS_waitid, SYS_kill,
	SYS_tgkill, SYS_capget, SYS_statfs, SYS_fstatfs };

static void
declare(const int *calls, size_t n)
{
	for (size_t i = 0; i < n; i++)
		printf("declared %d\n", calls[i]);
}

/* Of an operation that it does not know futex itself says ENOSYS. */
static _Noreturn void
call(int nr, int to, int is_filtered)
{
	char refused;
	long r;

	if (is_filtered && enter_tool_filter() < 0)
		_exit(1);
	r = syscall(nr, -1, nr == SYS_futex ? FUTEX_WAKE : -1, -1, -1, -1, -1);
	refused = r == -1 && (errno == EPERM || errno == ENOSYS);
	(void)!write(to, &refused, 1);
	for (;;)
		(void)syscall(SYS_exit_group, 0);
}

/* A call that does not come back was not refused either. */
static int
is_refused(int nr, int is_filtered)
{
	int pipes[2];
	char refused = 0;
	struct pollfd answer;
	pid_t pid;

	if (pipe2(pipes, O_CLOEXEC) < 0)
		return 0;
	pid = fork();
	if (pid == 0)
		call(nr, pipes[1], is_filtered);
	(void)close(pipes[1]);
	answer = (struct pollfd){ pipes[0], POLLIN, 0 };
	if (poll(&answer, 1, CALL_MS) > 0 && read(pipes[0], &refused, 1) != 1)
		refused = 0;
	(void)kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	(void)close(pipes[0]);
	return refused;
}

void
sweep(void)
{
	struct stat st;
	/* Both are looked at from a driver's place. */
	int is_box = fstat(BOX_FILTER_FD, &st) == 0;

	(void)signal(SIGTTOU, SIG_IGN);
	declare(tool, sizeof(tool) / sizeof(tool[0]));
	declare(driver, sizeof(driver) / sizeof(driver[0]));
	for (int nr = 0; nr <= LAST_CALL; nr++) {
		if (!is_refused(nr, 0))
			printf("answers %d\n", nr);
	}
	printf("--\n");
	declare(tool, sizeof(tool) / sizeof(tool[0]));
	for (int nr = 0; is_box && nr <= LAST_CALL; nr++) {
		if (!is_refused(nr, 1))
			printf("answers %d\n", nr);
	}
}
