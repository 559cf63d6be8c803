/* SPDX-License-Identifier: ISC
 *
 * One tool, from fork to the last byte of its output. Runs in the driver.
 * The tool has met hostile content and is distrusted: its output is capped,
 * its stderr is searched for a few marks and goes nowhere, its time is
 * bounded, and its process can start no other program: the filter it enters
 * lets one execveat pass, of an fd that the yard opened.
 */
#include "driver/run.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"

/* As a shell says it: the program could not be started. */
#define EXIT_NOT_RUN 127

/* Everything a tool may know of where it runs. VIPS_BLOCK_UNTRUSTED shuts
 * the loaders that were never hardened (SVG, PDF, all of ImageMagick);
 * VIPS_NOVECTOR its run-time compiler, which wants writable code. Each arena
 * of malloc reserves 128 MiB of the address space that is limited. */
static const char *const environment[] = { "PATH=/usr/bin", "HOME=/nonexistent",
	"TMPDIR=/tmp", "LC_ALL=C.UTF-8", "OMP_THREAD_LIMIT=1",
	"MALLOC_ARENA_MAX=1", "VIPS_BLOCK_UNTRUSTED=1", "VIPS_CONCURRENCY=1",
	"VIPS_NOVECTOR=1", NULL };

/* What the tools, their libraries and the loader say when it is the memory or
 * the space that ended. */
static const char *const heavy_marks[] = { "bad_alloc", "out of memory",
	"Out of memory", "Cannot allocate memory", "No space left on device",
	"failed to allocate", "unable to allocate", "malloc fail",
	"calloc fail", "failed to map segment", "Error creating thread", NULL };

struct streams {
	int out;
	int err;
	int child_out;
	int child_err;
};

static void
streams_done(struct streams *streams)
{
	cleanup_fd_at(&streams->out);
	cleanup_fd_at(&streams->err);
	cleanup_fd_at(&streams->child_out);
	cleanup_fd_at(&streams->child_err);
}

static int
streams_open(struct streams *streams)
{
	int pair[2];

	if (pipe2(pair, O_CLOEXEC) < 0)
		return -errno;
	streams->out = pair[0];
	streams->child_out = pair[1];
	if (pipe2(pair, O_CLOEXEC) < 0)
		return -errno;
	streams->err = pair[0];
	streams->child_err = pair[1];
	return 0;
}

/* In the child. The page must stand before the filter is entered, which lets
 * no path pointer but its address pass. */
static _Noreturn void
become_tool(
    const struct job *job, const struct run *run, const struct streams *streams)
{
	void *path = (void *)BOX_EXEC_ADDRESS;

	if (dup2(streams->child_out, STDOUT_FILENO) < 0 ||
	    dup2(streams->child_err, STDERR_FILENO) < 0)
		_exit(EXIT_NOT_RUN);
	if (mmap(path, 1, PROT_READ,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
		0) != path)
		_exit(EXIT_NOT_RUN);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, job->filter) < 0)
		_exit(EXIT_NOT_RUN);
	(void)syscall(SYS_execveat, LIMIT_BOX_PROGRAM_FD + (int)run->tool, path,
	    run->arguments, environment, AT_EMPTY_PATH);
	_exit(EXIT_NOT_RUN);
}

static enum error_code
take_output(struct run *run, const char *bytes, size_t n)
{
	size_t room = run->max_output - run->n;

	if (n > room) {
		n = room;
		run->is_cut = true;
	}
	if (run->file >= 0) {
		int r = file_write_all(run->file, bytes, n);

		if (r < 0)
			return r == -ENOSPC ? ERROR_TOO_HEAVY : ERROR_CRASHED;
	} else {
		memcpy(run->text + run->n, bytes, n);
	}
	run->n += n;
	return ERROR_NONE;
}

/* Doubles the memory while there is output, up to the cap. */
static void
make_room(struct run *run, size_t *size, size_t n)
{
	if (run->file >= 0 || run->n + n < *size)
		return;
	while (run->n + n >= *size)
		*size *= 2;
	run->text = memory_resize(run->text, *size, 1);
}

static void
take_notes(struct run *run, const char *bytes, size_t n)
{
	size_t over;

	if (n > LIMIT_TOOL_STDERR_BYTES) {
		bytes += n - LIMIT_TOOL_STDERR_BYTES;
		n = LIMIT_TOOL_STDERR_BYTES;
	}
	over = run->n_notes + n > LIMIT_TOOL_STDERR_BYTES
	    ? run->n_notes + n - LIMIT_TOOL_STDERR_BYTES
	    : 0;
	memmove(run->notes, run->notes + over, run->n_notes - over);
	memcpy(run->notes + run->n_notes - over, bytes, n);
	run->n_notes += n - over;
}

static int
left_ms(const struct job *job)
{
	uint64_t now = clock_boot_ms();

	return now >= job->deadline_ms ? 0 : (int)(job->deadline_ms - now);
}

/* Reads what one pipe has; closes it at its end. */
static enum error_code
take_from(struct run *run, int *fd, bool is_output, size_t *size)
{
	char bytes[8192];
	ssize_t n = read(*fd, bytes, sizeof(bytes));

	if (n < 0)
		return errno == EINTR ? ERROR_NONE : ERROR_CRASHED;
	if (n == 0) {
		cleanup_fd_at(fd);
		return ERROR_NONE;
	}
	if (!is_output) {
		take_notes(run, bytes, (size_t)n);
		return ERROR_NONE;
	}
	make_room(run, size, (size_t)n);
	return take_output(run, bytes, (size_t)n);
}

/* Until both pipes are at their end, the output is cut, or time is up. */
static enum error_code
follow(const struct job *job, struct run *run, struct streams *streams)
{
	size_t size = 65536;
	enum error_code error = ERROR_NONE;

	if (run->file < 0)
		run->text = memory_new(size, 1);
	while ((streams->out >= 0 || streams->err >= 0) && !run->is_cut &&
	    error == ERROR_NONE) {
		struct pollfd polls[2] = { { streams->out, POLLIN, 0 },
			{ streams->err, POLLIN, 0 } };
		int left = left_ms(job);

		if (left == 0)
			return ERROR_TIMEOUT;
		if (poll(polls, 2, left) < 0 && errno != EINTR)
			return ERROR_CRASHED;
		if (polls[0].revents != 0)
			error = take_from(run, &streams->out, true, &size);
		if (polls[1].revents != 0 && error == ERROR_NONE)
			error = take_from(run, &streams->err, false, &size);
	}
	if (run->file < 0)
		run->text[run->n] = '\0';
	return error;
}

/* A tool may close its pipes and work on; its time is up all the same. */
static enum error_code
await_end(
    const struct job *job, pid_t pid, int *ret_status, struct rusage *ret_usage)
{
	pid_t r;

	while ((r = wait4(pid, ret_status, WNOHANG, ret_usage)) == 0) {
		if (left_ms(job) == 0)
			return ERROR_TIMEOUT;
		(void)poll(NULL, 0, 1);
	}
	return r == pid ? ERROR_NONE : ERROR_CRASHED;
}

static bool
is_out_of_cpu(const struct rusage *usage)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_CPU, &limit) < 0 ||
	    limit.rlim_max == RLIM_INFINITY)
		return false;
	return (uint64_t)usage->ru_utime.tv_sec +
	    (uint64_t)usage->ru_stime.tv_sec + 1 >=
	    limit.rlim_max;
}

static enum error_code
judge_signal(const struct run *run, int signal, const struct rusage *usage)
{
	if (signal == SIGXCPU || (signal == SIGKILL && is_out_of_cpu(usage)))
		return ERROR_TIMEOUT;
	/* The machine's own memory ran out, or somebody aimed at the tool. It
	 * is not for a box to say whose fault that is: the box goes the same
	 * way, and the yard sees a SIGKILL that it did not send. */
	if (signal == SIGKILL)
		(void)kill(getpid(), SIGKILL);
	if (signal == SIGXFSZ || run_is_heavy(run))
		return ERROR_TOO_HEAVY;
	return ERROR_CRASHED;
}

static enum error_code
judge(struct run *run, int status, const struct rusage *usage)
{
	if (WIFSIGNALED(status))
		return judge_signal(run, WTERMSIG(status), usage);
	run->status = WEXITSTATUS(status);
	if (run->status == EXIT_NOT_RUN)
		return run_is_heavy(run) ? ERROR_TOO_HEAVY : ERROR_CRASHED;
	if (run->status != 0 && run_is_heavy(run))
		return ERROR_TOO_HEAVY;
	return ERROR_NONE;
}

enum error_code
run_tool(const struct job *job, struct run *run)
{
	struct streams streams = { -1, -1, -1, -1 };
	struct rusage usage = { 0 };
	enum error_code error;
	int status = 0;
	pid_t pid;

	if (left_ms(job) == 0)
		return ERROR_TIMEOUT;
	pid = streams_open(&streams) < 0 ? -1 : fork();
	if (pid == 0)
		become_tool(job, run, &streams);
	cleanup_fd_at(&streams.child_out);
	cleanup_fd_at(&streams.child_err);
	error = pid < 0 ? ERROR_TOO_HEAVY : follow(job, run, &streams);
	streams_done(&streams);
	if (pid < 0)
		return error;
	if (error == ERROR_NONE && !run->is_cut) {
		error = await_end(job, pid, &status, &usage);
		if (error == ERROR_NONE)
			return judge(run, status, &usage);
	}
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	return error;
}

bool
run_has_note(const struct run *run, const char *mark)
{
	return memmem(run->notes, run->n_notes, mark, strlen(mark)) != NULL;
}

bool
run_is_heavy(const struct run *run)
{
	for (const char *const *mark = heavy_marks; *mark != NULL; mark++) {
		if (run_has_note(run, *mark))
			return true;
	}
	return false;
}

void
run_done(struct run *run)
{
	free(run->text);
	run->text = NULL;
}
