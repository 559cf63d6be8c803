/* SPDX-License-Identifier: ISC
 *
 * sandcastle init: the directories and a first config.yaml. It never
 * overwrites anything and says what it made.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "cli/command.h"
#include "cli/places.h"
#include "cli/starter.h"

static void
tell_made(const char *path, const char *what)
{
	(void)printf("made %s (%s)\n", path, what);
}

static int
write_lines(int fd)
{
	int r = 0;

	for (size_t i = 0; starter_lines[i] != NULL && r == 0; i++)
		r = file_write_all(
		    fd, starter_lines[i], strlen(starter_lines[i]));
	if (r == 0 && fchmod(fd, 0644) < 0)
		r = -errno;
	return r == 0 && fsync(fd) < 0 ? -errno : r;
}

static int
write_starter(const char *path, struct fault *fault)
{
	cleanup_fd int fd = open(
	    path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	int r;

	if (fd < 0 && errno == EEXIST) {
		(void)printf("kept %s, which was there\n", path);
		return 0;
	}
	if (fd < 0)
		return fault_set(fault, FAULT_SYSTEM, "%s: cannot make it: %s",
		    path, strerror(errno));
	r = write_lines(fd);
	if (r < 0) {
		(void)unlink(path);
		return fault_set(fault, FAULT_SYSTEM, "%s: cannot write: %s",
		    path, strerror(-r));
	}
	tell_made(path, "the config, all of it commented out");
	return 0;
}

int
init_run(const struct call *call)
{
	const char *dir = call->dir;
	const char *flag = dir != NULL ? "--dir " : "";
	const char *gap = dir != NULL ? " " : "";
	struct fault fault = { 0 };

	if (dir == NULL)
		dir = "";
	if (command_takes_nothing(call) != 0)
		return STATUS_USAGE;
	if (places_make(&call->paths, tell_made, &fault) < 0 ||
	    write_starter(call->paths.config, &fault) < 0)
		return command_fault(STATUS_FAILED, &fault);
	(void)printf("\nNext:\n"
		     "  edit %s: one source is enough\n"
		     "  sandcastle %s%s%ssecret set NAME\n"
		     "  sandcastle %s%s%scheck\n"
		     "  sandcastle %s%s%srun\n",
	    call->paths.config, flag, dir, gap, flag, dir, gap, flag, dir, gap);
	return 0;
}
