/* SPDX-License-Identifier: ISC
 *
 * The mount calls, for the yard itself and for the child that becomes a box.
 * Trusts its callers; the files behind the fds may be anything.
 */
#include "yard/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"

#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif

#define ATTRIBUTES_OF_A_NEW_ONE \
	(MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC)

int
mount_clone_readonly(int fd, bool is_executable)
{
	struct mount_attr attributes = {
		.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID |
		    MOUNT_ATTR_NODEV | (is_executable ? 0u : MOUNT_ATTR_NOEXEC),
		.propagation = MS_PRIVATE,
	};
	cleanup_fd int tree = open_tree(fd, "",
	    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE);

	if (tree < 0)
		return -errno;
	if (mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes,
		sizeof(attributes)) < 0)
		return -errno;
	return take_fd(&tree);
}

int
mount_new(const char *type, const struct mount_option *options)
{
	cleanup_fd int context = fsopen(type, FSOPEN_CLOEXEC);
	int mount;

	if (context < 0)
		return -errno;
	for (; options->key != NULL; options++) {
		unsigned int command = options->value == NULL
		    ? FSCONFIG_SET_FLAG
		    : FSCONFIG_SET_STRING;

		if (fsconfig(
			context, command, options->key, options->value, 0) < 0)
			return -errno;
	}
	if (fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -errno;
	mount = fsmount(context, FSMOUNT_CLOEXEC, ATTRIBUTES_OF_A_NEW_ONE);
	return mount < 0 ? -errno : mount;
}

int
mount_attach(int mount, int directory, const char *path)
{
	return move_mount(mount, "", directory, path, MOVE_MOUNT_F_EMPTY_PATH) <
		0
	    ? -errno
	    : 0;
}

int
mount_freeze(int mount)
{
	struct mount_attr attributes = { .attr_set = MOUNT_ATTR_RDONLY };

	return mount_setattr(mount, "", AT_EMPTY_PATH, &attributes,
		   sizeof(attributes)) < 0
	    ? -errno
	    : 0;
}

int
mount_become_root(int mount)
{
	/* With "." twice the old root ends on top of the new one, where
	 * umount2 finds it: pivot_root(2). */
	if (fchdir(mount) < 0 || syscall(SYS_pivot_root, ".", ".") < 0 ||
	    umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
		return -errno;
	return 0;
}
