/* SPDX-License-Identifier: ISC
 *
 * Starting the keep's tool, in the command. No secret passes through here: the
 * tool reads the token from the terminal itself, with an empty environment.
 */
#include "cli/keep_command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/spawn.h"
#include "base/text.h"
#include "cli/user.h"

static int
find_owner(const char *store, struct user *ret_user, struct fault *fault)
{
	struct stat st;

	if (geteuid() != 0 || stat(store, &st) < 0 || st.st_uid == 0)
		return user_find("sandcastle-keep", ret_user, fault);
	*ret_user = (struct user){ true, st.st_uid, st.st_gid };
	return 0;
}

int
keep_command_become(const struct paths *paths, const char *verb,
    const char *name, struct fault *fault)
{
	/* The operator's file may be one that only root can open: it is opened
	 * here, and stays open. Without one the tool says what is wrong. */
	int config = open(paths->config, O_RDONLY | O_NONBLOCK);
	char config_fd[16];
	const char *arguments[] = { "sandcastle-keep", "secret", "--state",
		paths->keep, "--config", paths->config, verb, NULL, NULL, NULL,
		NULL };
	char *environment[] = { NULL };
	size_t n = 7;
	char path[768];
	struct user user;

	if (find_owner(paths->keep, &user, fault) < 0)
		return -1;
	if (spawn_path("sandcastle-keep", path, sizeof(path)) < 0)
		return fault_set(
		    fault, FAULT_SYSTEM, "cannot find sandcastle-keep");
	if (user_become(&user) < 0)
		return fault_set(fault, FAULT_SYSTEM,
		    "cannot become user %u: %s", user.uid, strerror(errno));
	if (name != NULL)
		arguments[n++] = name;
	if (config >= 0) {
		(void)snprintf(config_fd, sizeof(config_fd), "%d", config);
		arguments[n++] = "--config-fd";
		arguments[n++] = config_fd;
	}
	(void)execve(path, (char *const *)(uintptr_t)arguments, environment);
	return fault_set(
	    fault, FAULT_SYSTEM, "%s: cannot start: %s", path, strerror(errno));
}

_Noreturn static void
run_check(const struct paths *paths, const char *name, int out)
{
	struct fault fault = { 0 };
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (null >= 0 && dup2(null, 0) >= 0 && dup2(out, 1) >= 0 &&
	    dup2(out, 2) >= 0)
		(void)keep_command_become(paths, "check", name, &fault);
	(void)!write(out, fault.text, strlen(fault.text));
	_exit(127);
}

static void
read_last_line(int fd, char to[300])
{
	char text[4096];
	ssize_t n = file_read_all(fd, text, sizeof(text) - 1);
	const char *line;

	while (n > 0 && text[n - 1] == '\n')
		n--;
	text[n > 0 ? n : 0] = '\0';
	line = strrchr(text, '\n');
	line = line == NULL ? text : line + 1;
	text_printable(to, 300, line, strlen(line));
}

int
keep_command_check(const struct paths *paths, const char *name,
    char ret_line[300], struct fault *fault)
{
	cleanup_fd int in = -1;
	cleanup_fd int out = -1;
	int ends[2];
	int status;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return fault_set(
		    fault, FAULT_SYSTEM, "pipe: %s", strerror(errno));
	in = ends[0];
	out = ends[1];
	pid = fork();
	if (pid < 0)
		return fault_set(
		    fault, FAULT_SYSTEM, "fork: %s", strerror(errno));
	if (pid == 0)
		run_check(paths, name, out);
	cleanup_fd_at(&out);
	read_last_line(in, ret_line);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 127;
}

/* Runs in a child: its exit status is an errno. */
_Noreturn static void
try_open(const struct user *user, const char *file)
{
	struct stat st;
	int fd;

	if (user_become(user) < 0)
		_exit(EPERM);
	fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) < 0)
		_exit(errno);
	_exit(S_ISREG(st.st_mode) ? 0 : EINVAL);
}

int
keep_command_open(
    const struct paths *paths, const char *file, struct fault *fault)
{
	struct user user;
	int status;
	pid_t pid;

	if (find_owner(paths->keep, &user, fault) < 0)
		return -1;
	pid = fork();
	if (pid < 0)
		return fault_set(
		    fault, FAULT_SYSTEM, "fork: %s", strerror(errno));
	if (pid == 0)
		try_open(&user, file);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}
