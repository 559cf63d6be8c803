/* SPDX-License-Identifier: ISC
 *
 * Making directories, in the command. As root it hands each to the user whose
 * process lives there. A directory that is there is left as it is: its owner
 * may have reasons.
 */
#include "cli/places.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/user.h"

/* Makes every missing directory above path, and path itself, 0755. */
static int
make_with_parents(const char *path, struct fault *fault)
{
	char part[256];
	size_t n = strlen(path);

	for (size_t i = 1; i <= n; i++) {
		if (i < n && path[i] != '/')
			continue;
		(void)snprintf(part, sizeof(part), "%.*s", (int)i, path);
		if (mkdir(part, 0755) < 0 && errno != EEXIST)
			return fault_set(fault, FAULT_SYSTEM,
			    "%s: cannot make the directory: %s", part,
			    strerror(errno));
	}
	return 0;
}

static int
make_parent(const char *path, struct fault *fault)
{
	char parent[256];
	char *slash;

	(void)text_copy(parent, sizeof(parent), path);
	slash = strrchr(parent, '/');
	if (slash == NULL || slash == parent)
		return 0;
	*slash = '\0';
	return make_with_parents(parent, fault);
}

static int
fail(const char *path, struct fault *fault)
{
	return fault_set(fault, FAULT_SYSTEM,
	    "%s: cannot make the directory: %s", path, strerror(errno));
}

/* By fds: nobody who can write above it gets another directory of ours. */
static int
make_at(int parent, const char *name, mode_t mode, const struct user *user)
{
	cleanup_fd int fd = -1;

	if (mkdirat(parent, name, mode) < 0)
		return -1;
	fd = openat(
	    parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fchmod(fd, mode) < 0)
		return -1;
	return user->is_change ? fchown(fd, user->uid, user->gid) : 0;
}

/* 1 when it was made, 0 when it was there, -1 with a fault. */
static int
make_owned(
    const char *path, mode_t mode, const char *owner, struct fault *fault)
{
	char above[256];
	const char *name = strrchr(path, '/') + 1;
	cleanup_fd int parent = -1;
	struct user user;

	if (user_find(owner, &user, fault) < 0 || make_parent(path, fault) < 0)
		return -1;
	(void)snprintf(above, sizeof(above), "%.*s", (int)(name - path), path);
	parent = open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (parent < 0)
		return fail(path, fault);
	if (make_at(parent, name, mode, &user) == 0)
		return 1;
	return errno == EEXIST ? 0 : fail(path, fault);
}

int
places_make(const struct paths *paths, places_teller *tell, struct fault *fault)
{
	struct {
		const char *path;
		mode_t mode;
		const char *owner;
		const char *about;
	} const places[] = {
		{ paths->core, 0700, "sandcastle", "the journal" },
		{ paths->keep, 0700, "sandcastle-keep", "the secrets" },
		{ paths->run, 0755, "sandcastle", "the status" },
	};

	if (make_parent(paths->config, fault) < 0 ||
	    make_parent(paths->lock, fault) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		int r = make_owned(
		    places[i].path, places[i].mode, places[i].owner, fault);

		if (r < 0)
			return -1;
		if (r == 1)
			tell(places[i].path, places[i].about);
	}
	return 0;
}

int
places_make_run(const struct paths *paths, struct fault *fault)
{
	return make_owned(paths->run, 0755, "sandcastle", fault) < 0 ? -1 : 0;
}
