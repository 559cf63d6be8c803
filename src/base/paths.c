/* SPDX-License-Identifier: ISC
 *
 * The places of files, for the command and the supervisor.
 */
#include "base/paths.h"

#include <linux/limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

static int
join(char *to, size_t size, const char *base, const char *rest,
    struct fault *fault)
{
	if (snprintf(to, size, "%s%s", base, rest) < (int)size)
		return 0;
	return fault_set(
	    fault, FAULT_CONFIG, "path %s%s is too long", base, rest);
}

static int
fill(struct paths *p, const char *const bases[5], const char *const rests[5],
    struct fault *fault)
{
	if (join(p->config, sizeof(p->config), bases[0], rests[0], fault) < 0 ||
	    join(p->core, sizeof(p->core), bases[1], rests[1], fault) < 0 ||
	    join(p->keep, sizeof(p->keep), bases[2], rests[2], fault) < 0 ||
	    join(p->lock, sizeof(p->lock), bases[3], rests[3], fault) < 0 ||
	    join(p->run, sizeof(p->run), bases[4], rests[4], fault) < 0)
		return -1;
	return 0;
}

static int
below(const char *dir, struct paths *p, struct fault *fault)
{
	char whole[PATH_MAX];
	const char *bases[] = { whole, whole, whole, whole, whole };
	const char *rests[] = { "/config.yaml", "/state/core", "/state/keep",
		"/state/lock", "/run" };

	if (dir[0] == '/') {
		if (text_copy(whole, sizeof(whole), dir) < 0)
			whole[0] = '\0';
	} else if (getcwd(whole, sizeof(whole)) == NULL ||
	    strlen(whole) + strlen(dir) + 2 > sizeof(whole)) {
		whole[0] = '\0';
	} else {
		(void)strncat(whole, "/", 2);
		(void)strncat(whole, dir, sizeof(whole) - strlen(whole) - 1);
	}
	if (whole[0] == '\0')
		return fault_set(
		    fault, FAULT_CONFIG, "--dir: %s: path is too long", dir);
	return fill(p, bases, rests, fault);
}

static int
of_user(struct paths *p, struct fault *fault)
{
	const char *home = getenv("HOME");
	const char *config = getenv("XDG_CONFIG_HOME");
	const char *state = getenv("XDG_STATE_HOME");
	const char *run = getenv("XDG_RUNTIME_DIR");
	bool needs_home = config == NULL || state == NULL || run == NULL;
	const char *bases[] = { config ? config : home, state ? state : home,
		state ? state : home, state ? state : home, run ? run : home };
	const char *rests[] = {
		config ? "/sandcastle/config.yaml"
		       : "/.config/sandcastle/config.yaml",
		state ? "/sandcastle/core" : "/.local/state/sandcastle/core",
		state ? "/sandcastle/keep" : "/.local/state/sandcastle/keep",
		state ? "/sandcastle/lock" : "/.local/state/sandcastle/lock",
		run ? "/sandcastle" : "/.local/state/sandcastle/run",
	};

	if (needs_home && (home == NULL || home[0] != '/'))
		return fault_set(fault, FAULT_CONFIG,
		    "HOME is not set: give --dir DIR, or set HOME");
	return fill(p, bases, rests, fault);
}

int
paths_find(const char *dir, struct paths *ret_paths, struct fault *fault)
{
	static const char *const bases[] = { "/etc/sandcastle",
		"/var/lib/sandcastle", "/var/lib/sandcastle",
		"/var/lib/sandcastle", "/run/sandcastle" };
	static const char *const rests[] = { "/config.yaml", "/core", "/keep",
		"/lock", "" };
	struct paths paths;
	int r;

	if (dir != NULL)
		r = below(dir, &paths, fault);
	else if (geteuid() == 0)
		r = fill(&paths, bases, rests, fault);
	else
		r = of_user(&paths, fault);
	if (r == 0)
		*ret_paths = paths;
	return r;
}

int
paths_check_config(const char *path, struct fault *fault)
{
	struct stat st;
	bool others_write;

	if (stat(path, &st) < 0)
		return 0;
	others_write = (st.st_mode & S_IWOTH) != 0 ||
	    ((st.st_mode & S_IWGRP) != 0 && st.st_gid != getegid());
	if (!others_write)
		return 0;
	return fault_set(fault, FAULT_CONFIG,
	    "%s: others may write it, and it names the programs that are run: "
	    "chmod go-w",
	    path);
}
