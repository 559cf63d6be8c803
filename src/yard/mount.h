/* SPDX-License-Identifier: ISC
 *
 * Mounts by fd. Nothing here follows a path of the host: what is shown to a
 * box was opened first, and is cloned from that fd.
 */
#ifndef YARD_MOUNT_H
#define YARD_MOUNT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Clones the directory or file behind fd, with what is mounted below it, as a
 * detached tree: read-only, nosuid, nodev, apart from the host's later mounts;
 * noexec too unless is_executable. The fd, owned by the caller, or -errno.
 */
int mount_clone_readonly(int fd, bool is_executable);

/* One option of a new file system; value NULL: a flag. */
struct mount_option {
	const char *key;
	const char *value;
};

/*
 * Makes a new file system of a type ("tmpfs", "proc") as a detached mount:
 * nosuid, nodev, noexec. The options end with key NULL. The fd or -errno.
 * Async-signal-safe.
 */
int mount_new(const char *type, const struct mount_option *options);

/* Puts a detached mount at path below the directory. 0 or -errno. */
int mount_attach(int mount, int directory, const char *path);

/* Forbids writing to an attached mount. 0 or -errno. */
int mount_freeze(int mount);

/*
 * Makes the attached mount behind fd the root, and lets go of the old root
 * with all below it. 0 or -errno: -EINVAL on an initramfs, which has no
 * mount above it to exchange. Async-signal-safe.
 */
int mount_become_root(int mount);

#endif
