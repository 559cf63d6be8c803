/* SPDX-License-Identifier: ISC
 *
 * Builds the tree that boxes are made from. Runs once in the yard, in its own
 * mount namespace, while it still sees the host's files. Trusts the operator's
 * paths and the capability table, no one else. What it guarantees: after
 * root_build the yard reaches nothing of the host but the views, the
 * directories of the tools, /dev/null and two programs of its own.
 */
#include "yard/root.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "base/must.h"
#include "base/spawn.h"
#include "base/text.h"
#include "yard/mount.h"

/* Where tools on x86-64 name their loader. It alone of the libraries' files
 * must be executable for Landlock: it is opened to be run, the others are
 * mapped. */
#define LOADER "lib64/ld-linux-x86-64.so.2"

/* Views below this hold code, which noexec would forbid to map. */
#define LIBRARIES "/usr/lib"

static int
open_beneath(int directory, const char *path, uint64_t flags, uint64_t resolve)
{
	struct open_how how = { .flags = flags | O_CLOEXEC,
		.resolve = RESOLVE_NO_MAGICLINKS | resolve };
	long fd = syscall(SYS_openat2, directory, path, &how, sizeof(how));

	return fd < 0 ? -errno : (int)fd;
}

/* A box has no interpreter: each of its jobs would be said to have failed.
 * What may be run and not be read is none. */
static bool
is_script(int fd)
{
	cleanup_fd int readable = file_reopen_readonly(fd);
	char mark[2];

	return readable >= 0 &&
	    file_pread_all(readable, mark, sizeof(mark), 0) == sizeof(mark) &&
	    memcmp(mark, "#!", sizeof(mark)) == 0;
}

static int
check_program(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EACCES;
	if (faccessat(fd, "", X_OK, AT_EMPTY_PATH | AT_EACCESS) < 0)
		return -errno;
	return is_script(fd) ? -ENOEXEC : 0;
}

int
program_open(const struct program *program)
{
	cleanup_fd int fd = -1;
	int r;

	if (program->directory < 0)
		return -ENOENT;
	fd = open_beneath(program->directory, program->name, O_PATH,
	    RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	if (fd < 0)
		return take_fd(&fd);
	r = check_program(fd);
	return r < 0 ? r : take_fd(&fd);
}

/* Follows the operator's path, and keeps the directory in which it ends. */
static int
find_program(const char *path, struct program *ret_program)
{
	cleanup_fd int file = open_beneath(AT_FDCWD, path, O_PATH, 0);
	cleanup_fd int directory = -1;
	char link[40];
	char real[PATH_MAX];
	char *slash;
	ssize_t n;
	int clone = file < 0 ? file : check_program(file);

	/* What is no program opens no directory to the yard. */
	if (clone < 0)
		return clone;
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
	n = readlink(link, real, sizeof(real) - 1);
	if (n <= 0)
		return -errno;
	real[n] = '\0';
	slash = strrchr(real, '/');
	if (slash == NULL ||
	    text_copy(ret_program->name, sizeof(ret_program->name), slash + 1) <
		0)
		return -ENOENT;
	slash[slash == real] = '\0';
	directory = open_beneath(AT_FDCWD, real, O_PATH | O_DIRECTORY, 0);
	if (directory < 0)
		return directory;
	clone = mount_clone_readonly(directory, true);
	if (clone < 0)
		return clone;
	ret_program->directory = clone;
	return 0;
}

static void
find_programs(const struct capability *capability,
    const struct capability_config *settings, struct place *place)
{
	for (size_t i = 0; capability->tools[i].name != NULL; i++) {
		int r;

		place->programs[i].directory = -1;
		place->n_programs = i + 1;
		if (!settings->is_enabled)
			continue;
		r = find_program(settings->program[i], &place->programs[i]);
		if (r < 0 && !capability->tools[i].is_optional)
			log_warning("%s: program %s: %s: %s", capability->name,
			    capability->tools[i].name, settings->program[i],
			    strerror(-r));
	}
}

/* mkdir -p of a path of the table; its last part is made as a file when that
 * is what will be mounted there. */
static int
make_point(int tree, const char *path, bool is_directory)
{
	char part[PATH_MAX];
	cleanup_fd int file = -1;

	for (const char *at = strchr(path, '/'); at != NULL;
	     at = strchr(at + 1, '/')) {
		size_t n = (size_t)(at - path);

		must(n < sizeof(part));
		memcpy(part, path, n);
		part[n] = '\0';
		if (mkdirat(tree, part, 0755) < 0 && errno != EEXIST)
			return -errno;
	}
	if (is_directory)
		return mkdirat(tree, path, 0755) < 0 && errno != EEXIST ? -errno
									: 0;
	file = openat(tree, path, O_CREAT | O_WRONLY | O_CLOEXEC, 0444);
	return file < 0 ? -errno : 0;
}

static bool
is_library(const char *path)
{
	return strncmp(path, LIBRARIES, strlen(LIBRARIES)) == 0;
}

static int
show(int tree, const struct view *view, struct place *place)
{
	cleanup_fd int file = open_beneath(AT_FDCWD, view->path, O_PATH, 0);
	cleanup_fd int clone = -1;
	char point[PATH_MAX];
	struct stat st;
	int r;

	if (file < 0)
		return file;
	if (fstat(file, &st) < 0)
		return -errno;
	clone = mount_clone_readonly(file, is_library(view->path));
	if (clone < 0)
		return clone;
	(void)snprintf(
	    point, sizeof(point), "%s%s", place->path + 1, view->path);
	r = make_point(tree, point, S_ISDIR(st.st_mode));
	if (r == 0)
		r = mount_attach(clone, tree, point);
	if (r < 0)
		return r;
	must(place->n_rooms < PLACE_ROOMS);
	place->rooms[place->n_rooms++] =
	    (struct landlock_room){ take_fd(&clone), LANDLOCK_READ };
	return 0;
}

/* The merged /usr, as programs name their loader and libraries. */
static int
lay_links(int tree, const struct place *place)
{
	static const char *const links[][2] = { { "usr/lib", "lib" },
		{ "usr/lib64", "lib64" } };
	char name[64];

	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		(void)snprintf(
		    name, sizeof(name), "%s/%s", place->path + 1, links[i][1]);
		if (symlinkat(links[i][0], tree, name) < 0)
			return -errno;
	}
	(void)snprintf(name, sizeof(name), "%s/tmp", place->path + 1);
	return make_point(tree, name, true);
}

static void
let_loader_run(int tree, struct place *place)
{
	cleanup_fd int base =
	    open_beneath(tree, place->path + 1, O_PATH | O_DIRECTORY, 0);
	int loader = open_beneath(base, LOADER, O_PATH, RESOLVE_IN_ROOT);

	/* Without one only static programs can be run there. */
	if (loader >= 0)
		place->rooms[place->n_rooms++] = (struct landlock_room){ loader,
			LANDLOCK_READ | LANDLOCK_EXECUTE };
}

static int
lay_place(int tree, uint32_t index, struct place *place)
{
	const struct capability *capability = capability_at(index);
	int r;

	(void)snprintf(place->path, sizeof(place->path), "/trees/%u", index);
	place->is_whole = true;
	r = make_point(tree, place->path + 1, true);
	if (r == 0)
		r = lay_links(tree, place);
	for (const struct view *v = capability->views;
	     r == 0 && v->path != NULL; v++) {
		r = show(tree, v, place);
		if (r == -ENOENT && !v->is_optional) {
			log_warning(
			    "%s: %s is missing", capability->name, v->path);
			place->is_whole = false;
		}
		if (r == -ENOENT)
			r = 0;
	}
	if (r == 0)
		let_loader_run(tree, place);
	return r;
}

/* A program of ours; it stays the one that this yard was started with. */
static int
open_own(const char *name, int *ret_fd)
{
	char path[PATH_MAX];
	cleanup_fd int file = -1;
	int r;

	if (spawn_path(name, path, sizeof(path)) < 0)
		return -ENOENT;
	file = open_beneath(AT_FDCWD, path, O_PATH, 0);
	r = file < 0 ? file : check_program(file);
	if (r < 0)
		return r;
	r = mount_clone_readonly(file, true);
	if (r < 0)
		return r;
	*ret_fd = r;
	return 0;
}

static int
open_proc(int tree)
{
	/* Only what the id maps of children need: no /proc/sys. */
	static const struct mount_option options[] = { { "subset", "pid" },
		{ NULL, NULL } };
	cleanup_fd int proc = mount_new("proc", options);
	int r;

	if (proc < 0)
		return proc;
	r = make_point(tree, "proc", true);
	return r < 0 ? r : mount_attach(proc, tree, "proc");
}

struct failure {
	const char *step;
	int error;
};

static int
lay_tree(struct root *root, const struct config *config, int tree,
    struct failure *failure)
{
	int r;

	failure->step = "a tree of its own";
	r = mount_attach(tree, AT_FDCWD, "/");
	if (r == 0)
		r = make_point(tree, "trees", true);
	for (uint32_t i = 0; r == 0 && i < CAPABILITY_COUNT; i++) {
		failure->step = capability_at(i)->name;
		r = lay_place(tree, i, &root->places[i]);
		find_programs(capability_at(i), &config->capabilities[i],
		    &root->places[i]);
	}
	if (r == 0) {
		failure->step = "a /proc of its own (is the host's whole?)";
		r = open_proc(tree);
	}
	if (r == 0)
		r = mount_freeze(tree);
	if (r == 0) {
		failure->step = "pivot_root (not from an initramfs)";
		r = mount_become_root(tree);
	}
	return r;
}

static int
open_all(struct root *root, struct failure *failure)
{
	int r;

	failure->step = "/dev/null";
	root->null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (root->null < 0)
		return -errno;
	failure->step = "sandcastle-init";
	r = open_own("sandcastle-init", &root->init);
	if (r < 0)
		return r;
	failure->step = "sandcastle-driver";
	return open_own("sandcastle-driver", &root->driver);
}

int
root_build(const struct config *config, struct root *ret_root, int *ret_error,
    struct fault *fault)
{
	static const struct mount_option options[] = { { "size", "1m" },
		{ "nr_inodes", "1024" }, { "mode", "0755" }, { NULL, NULL } };
	struct root root = { .null = -1, .init = -1, .driver = -1 };
	struct failure failure = { "tmpfs", 0 };
	cleanup_fd int tree = mount_new("tmpfs", options);
	int r = tree < 0 ? tree : open_all(&root, &failure);

	if (r == 0)
		r = lay_tree(&root, config, tree, &failure);
	if (r < 0) {
		*ret_error = -r;
		return fault_set(fault, FAULT_SYSTEM,
		    "no box can be made: %s: %s", failure.step, strerror(-r));
	}
	*ret_root = root;
	return 0;
}
