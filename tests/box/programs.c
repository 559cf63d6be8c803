/* SPDX-License-Identifier: ISC
 *
 * Attempts at a second program: by a path, by the system's loader, by memory,
 * and by bringing back the page that the tool's filter lets execveat read its
 * path from.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe.h"
#include "wire/box_msg.h"

#define LOADER "/lib64/ld-linux-x86-64.so.2"
#define PAGE   4096u

static const char *const arguments[] = { "second", "--version", NULL };
static const char *const environment[] = { NULL };

/* Outside an exec that works would end the probe, so there it is tried in a
 * child; a tool cannot have one. */
static void
try_exec(const char *name, int fd, const char *path, int flags)
{
	pid_t pid = fork();
	int status = 0;

	if (pid <= 0) {
		int null = pid == 0 ? open("/dev/null", O_WRONLY) : -1;

		if (null >= 0)
			(void)dup2(null, STDOUT_FILENO);
		(void)syscall(
		    SYS_execveat, fd, path, arguments, environment, flags);
		if (pid == 0)
			_exit(errno);
		say(name, -1);
		return;
	}
	(void)waitpid(pid, &status, 0);
	errno = WEXITSTATUS(status);
	say(name, errno == 0 ? 0 : -1);
}

static void
by_path(void)
{
	try_exec("loader by path", AT_FDCWD, LOADER, 0);
	try_exec("loader, an fd before it", 0, LOADER, AT_EMPTY_PATH);
	try_exec("loader, the tool's fd before it", LIMIT_BOX_PROGRAM_FD,
	    LOADER, AT_EMPTY_PATH);
	try_exec(
	    "loader, the tool's fd, no flag", LIMIT_BOX_PROGRAM_FD, LOADER, 0);
}

static void
by_execve(void)
{
	pid_t pid = fork();
	int status = 0;

	if (pid <= 0) {
		int null = pid == 0 ? open("/dev/null", O_WRONLY) : -1;

		if (null >= 0)
			(void)dup2(null, STDOUT_FILENO);
		(void)syscall(SYS_execve, LOADER, arguments, environment);
		if (pid == 0)
			_exit(errno);
		say("execve", -1);
		return;
	}
	(void)waitpid(pid, &status, 0);
	errno = WEXITSTATUS(status);
	say("execve", errno == 0 ? 0 : -1);
}

static void
by_fd(void)
{
	int fd = open(LOADER, O_RDONLY | O_CLOEXEC);
	int high;

	try_exec("an opened loader", fd, "", AT_EMPTY_PATH);
	high = fcntl(fd, F_DUPFD, LIMIT_BOX_PROGRAM_FD);
	say("an fd in the tools' place", high);
	if (high >= 0)
		(void)close(high);
}

static void
by_memory(void)
{
	int fd = (int)syscall(SYS_memfd_create, "program", 0u);

	say("memfd", fd);
	say("memfd_secret",
	    syscall(SYS_memfd_secret, 0u) < 0 && errno == ENOSYS ? 0 : -1);
	say("shared memory", syscall(SYS_shmget, 0, PAGE, 0600));
	say("/proc/self/fd", open("/proc/self/fd", O_RDONLY));
}

/* Whether the page of the path can be read again: what counts. */
static int
is_page_there(void)
{
	int fd = scratch_file(0600);
	ssize_t n = write(fd, (const void *)BOX_EXEC_ADDRESS, 1);

	(void)close(fd);
	return n == 1;
}

/* The line of a way to the page: "open" when it led there. */
static void
came_to_page(const char *name)
{
	int error = errno;

	if (is_page_there()) {
		say(name, 0);
		(void)syscall(SYS_munmap, BOX_EXEC_ADDRESS - PAGE, 2 * PAGE);
		return;
	}
	errno = error;
	say(name, -1);
}

static void *
map_at(uintptr_t address, size_t n, int flags)
{
	return mmap((void *)address, n, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

static void
move_there(void)
{
	char *page = map_at(0, 2 * PAGE, 0);
	void *to = (void *)BOX_EXEC_ADDRESS;

	(void)mremap(page, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to);
	came_to_page("mremap, fixed");
	(void)mremap(
	    page + PAGE, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, to);
	came_to_page("mremap, left behind");
}

/* Touching just below a mapping that grows makes it grow. */
static void
grow_there(void)
{
	char *low = map_at(0x200000, PAGE, MAP_GROWSDOWN | MAP_FIXED);

	if (low != MAP_FAILED) {
		for (uintptr_t at = 0x200000 - PAGE; at >= BOX_EXEC_ADDRESS;
		     at -= PAGE)
			*(volatile char *)at = 1;
	}
	came_to_page("a stack that grows");
}

static void
by_page(void)
{
	(void)map_at(BOX_EXEC_ADDRESS, PAGE, 0);
	came_to_page("mmap, a wish");
	(void)map_at(BOX_EXEC_ADDRESS, PAGE, MAP_FIXED);
	came_to_page("mmap, fixed");
	(void)map_at(BOX_EXEC_ADDRESS, PAGE, MAP_FIXED_NOREPLACE);
	came_to_page("mmap, fixed, not replacing");
	(void)map_at(BOX_EXEC_ADDRESS - PAGE, 2 * PAGE, MAP_FIXED);
	came_to_page("mmap, from below");
	(void)map_at(0, 0x200000, MAP_FIXED);
	came_to_page("mmap, from zero");
	(void)map_at(0, PAGE, MAP_32BIT);
	came_to_page("mmap, low");
	move_there();
	grow_there();
	(void)syscall(SYS_brk, BOX_EXEC_ADDRESS + PAGE);
	came_to_page("brk");
	(void)syscall(SYS_arch_prctl, 0x2003, BOX_EXEC_ADDRESS);
	came_to_page("vdso");
	(void)syscall(SYS_remap_file_pages, BOX_EXEC_ADDRESS, PAGE, 0, 0, 0);
	came_to_page("remap_file_pages");
	(void)syscall(SYS_shmat, 0, BOX_EXEC_ADDRESS, 0);
	came_to_page("shmat");
	(void)syscall(453, BOX_EXEC_ADDRESS, PAGE, 0);
	came_to_page("shadow stack");
	try_exec("execveat as the filter wants it", LIMIT_BOX_PROGRAM_FD,
	    (const char *)BOX_EXEC_ADDRESS, AT_EMPTY_PATH);
}

/* Everything that is free, until the kernel would have to give low pages. */
static void
by_exhaustion(void)
{
	size_t n = (size_t)1 << 46;
	long got = 0;

	while (n >= PAGE) {
		void *at = mmap(NULL, n, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (at == MAP_FAILED)
			n /= 2;
		else if (++got > 4000)
			break;
	}
	came_to_page("all that is free");
}

const struct check programs[] = {
	{ "by path", by_path },
	{ "by execve", by_execve },
	{ "by fd", by_fd },
	{ "by memory", by_memory },
	{ "by page", by_page },
	{ "by exhaustion", by_exhaustion },
};
const size_t n_programs = sizeof(programs) / sizeof(programs[0]);
