/* SPDX-License-Identifier: ISC
 *
 * boxprobe, static: tries what a box must refuse. It runs in three places:
 * as the driver of a box (placed beside a yard as sandcastle-driver), as the
 * tool of one (named as `program` in a config, started by the former), and
 * outside, where the same attempts must succeed: a test whose attempt fails
 * everywhere shows nothing.
 *
 *   boxprobe NAME    outside, or as a tool
 *
 * As a driver it takes the name from the input letter ("tool:NAME" hands it to
 * a tool) and writes the lines into the output letter.
 */
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/spawn.h"
#include "contract/outcome.h"
#include "wire/box_msg.h"
#include "wire/letter.h"

#define LOADER "/lib64/ld-linux-x86-64.so.2"

static int n_refused;
static int n_open;

void
say(const char *name, long result)
{
	if (result < 0)
		n_refused++;
	else
		n_open++;
	if (result < 0)
		printf("%s refused %s\n", name, strerrorname_np(errno));
	else
		printf("%s open %ld\n", name, result);
	(void)fflush(stdout);
}

int
scratch_file(mode_t mode)
{
	static int number;
	char name[64];
	int fd;

	(void)snprintf(name, sizeof(name), "/tmp/boxprobe-%d-%d", (int)getpid(),
	    number++);
	fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (fd >= 0)
		(void)unlink(name);
	return fd;
}

int
enter_tool_filter(void)
{
	struct stat st;
	struct sock_fprog program;

	if (fstat(BOX_FILTER_FD, &st) < 0)
		return -1;
	program.len =
	    (unsigned short)((size_t)st.st_size / sizeof(struct sock_filter));
	program.filter = memory_new((size_t)st.st_size, 1);
	if (file_pread_all(BOX_FILTER_FD, program.filter, (size_t)st.st_size,
		0) != st.st_size)
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

static bool
try_among(const struct check *checks, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(name, checks[i].name) == 0) {
			checks[i].run();
			return true;
		}
	}
	return false;
}

static int
try(const char *name)
{
	if (strcmp(name, "sweep") == 0) {
		sweep();
		return 0;
	}
	if (try_among(attempts, n_attempts, name) ||
	    try_among(programs, n_programs, name) ||
	    try_among(leftovers, n_leftovers, name))
		return 0;
	printf("no such check: %s\n", name);
	return 2;
}

/* As the driver starts a tool. With a path in the page it starts what the
 * path says, which shows what the page is worth. */
static _Noreturn void
become_tool(const char *name, const char *path)
{
	const char *const arguments[] = { "tool", name, NULL };
	const char *const environment[] = { NULL };
	char *page =
	    mmap((void *)BOX_EXEC_ADDRESS, 4096, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (page != (void *)BOX_EXEC_ADDRESS)
		_exit(120);
	(void)strcpy(page, path);
	for (int i = 0; i < LIMIT_TOOLS; i++)
		(void)fcntl(LIMIT_BOX_PROGRAM_FD + i, F_SETFD, FD_CLOEXEC);
	(void)fcntl(SPAWN_FIRST_FD, F_SETFD, FD_CLOEXEC);
	(void)fcntl(BOX_FILTER_FD, F_SETFD, FD_CLOEXEC);
	if (enter_tool_filter() < 0)
		_exit(121);
	(void)syscall(SYS_execveat, LIMIT_BOX_PROGRAM_FD, page, arguments,
	    environment, AT_EMPTY_PATH);
	_exit(122);
}

static void
run_tool(const char *name, const char *path)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		become_tool(name, path);
	(void)waitpid(pid, &status, 0);
	printf("tool status %d signal %d\n",
	    WIFEXITED(status) ? WEXITSTATUS(status) : -1,
	    WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

/* What no driver of ours says. */
static _Noreturn void
misspeak(const char *how)
{
	struct box_answer answer;
	size_t n = sizeof(answer);

	box_answer_encode(&answer, BOX_VERDICT, 0);
	if (strcmp(how, "released") == 0)
		answer.verdict = 999;
	else if (strcmp(how, "gave_up") == 0)
		answer.verdict = ERROR_GAVE_UP;
	else if (strcmp(how, "walls") == 0)
		box_answer_encode(&answer, BOX_WALLS, WALL_ALL);
	else if (strcmp(how, "half") == 0)
		n /= 2;
	else
		(void)packet_send(SPAWN_FIRST_FD, &answer, n, NULL, 0);
	(void)packet_send(SPAWN_FIRST_FD, &answer, n, NULL, 0);
	(void)poll(NULL, 0, 500);
	_exit(0);
}

static void
do_job(const int letters[PACKET_FDS])
{
	char name[256] = "";
	int pipes[2];
	pid_t pid;
	char bytes[4096];
	ssize_t n;

	if (letter_read(letters[0], name, sizeof(name) - 1, 0) < 0 ||
	    pipe2(pipes, O_CLOEXEC) < 0)
		_exit(110);
	if (strncmp(name, "self:says ", 10) == 0)
		misspeak(name + 10);
	if (strncmp(name, "self:", 5) == 0)
		_exit(try(name + 5));
	/* In a child, so that the lines survive it. */
	pid = fork();
	if (pid == 0) {
		(void)dup2(pipes[1], STDOUT_FILENO);
		(void)close(pipes[0]);
		(void)close(pipes[1]);
		(void)close(letters[0]);
		(void)close(letters[1]);
		if (strncmp(name, "tool:", 5) == 0)
			run_tool(name + 5, "");
		else if (strcmp(name, "page") == 0)
			run_tool("--list-diagnostics", LOADER);
		else
			(void)try(name);
		(void)fflush(stdout);
		_exit(0);
	}
	(void)close(pipes[1]);
	while ((n = read(pipes[0], bytes, sizeof(bytes))) > 0)
		(void)file_write_all(letters[1], bytes, (size_t)n);
	(void)waitpid(pid, NULL, 0);
}

static int
be_driver(void)
{
	struct pollfd link = { SPAWN_FIRST_FD, POLLIN, 0 };
	struct box_order order;
	struct box_answer answer;
	int fds[PACKET_FDS];

	(void)poll(&link, 1, -1);
	if (packet_receive(SPAWN_FIRST_FD, &order, sizeof(order), fds) !=
	    PACKET_GOT)
		return 0;
	if (order.head.verb == BOX_TEST) {
		box_answer_encode(&answer, BOX_WALLS, WALL_ALL);
	} else {
		do_job(fds);
		box_answer_encode(&answer, BOX_VERDICT, 0);
	}
	return packet_send(SPAWN_FIRST_FD, &answer, sizeof(answer), NULL, 0) <
	    0;
}

/* An fd beside the three that a tool has. */
static int
holds_more(void)
{
	struct stat st;

	for (int fd = 3; fd < 4096; fd++) {
		if (fstat(fd, &st) == 0)
			return 1;
	}
	return 0;
}

/*
 * As the tool of the real driver, which passes on no lines but tells a tool
 * that failed from one that crashed: fails when everything was refused,
 * crashes when anything was not. A job that says OPEN has it try what a tool
 * may do.
 */
static _Noreturn void
hold_all(const char *job_file)
{
	static const char *const held[] = { "network", "namespaces", "paths",
		"execution", "processes", "by path", "by execve", "by fd",
		"by memory", "by page" };
	char job[256] = "";
	int fd = open(job_file, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, job, sizeof(job) - 1) < 0)
		abort();
	(void)close(fd);
	if (holds_more())
		abort();
	for (size_t i = 0; i < sizeof(held) / sizeof(held[0]); i++)
		(void)try(held[i]);
	if (memmem(job, sizeof(job), "OPEN", 4) != NULL)
		(void)try("usable");
	if (n_open > 0 || n_refused < 60)
		abort();
	exit(1);
}

int
main(int argc, char **argv)
{
	if (argc > 1 && strncmp(argv[0], "vips", 4) == 0)
		hold_all("/tmp/in");
	if (argc == 1 && strcmp(argv[0], "sandcastle-driver") == 0)
		return be_driver();
	return argc == 2 ? try(argv[1]) : 2;
}
