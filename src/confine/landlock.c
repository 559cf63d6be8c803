/* SPDX-License-Identifier: ISC
 *
 * The three Landlock calls. Constants newer than the build machine's headers
 * are spelled out: the kernel that runs us decides, not the one that built us.
 */
#include "confine/landlock.h"

#include <errno.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"

struct ruleset {
	uint64_t files;
	uint64_t network; /* version 4 */
	uint64_t scoped; /* version 6 */
};

#define NETWORK_TCP   3u /* bind and connect */
#define SCOPE_ALL     3u /* abstract unix sockets and signals */
#define FILES_1	      0x1FFFu
#define FILES_2_REFER 0x2000u
#define FILES_3_TRUNC 0x4000u
#define FILES_5_IOCTL 0x8000u

#define RIGHTS_READ (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define RIGHTS_WRITE                                                       \
	(LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |   \
	    LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR | \
	    LANDLOCK_ACCESS_FS_MAKE_REG | FILES_2_REFER | FILES_3_TRUNC)
#define RIGHTS_OF_A_FILE                                                \
	(LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | \
	    LANDLOCK_ACCESS_FS_EXECUTE | FILES_3_TRUNC)

int
landlock_version(void)
{
	long version = syscall(SYS_landlock_create_ruleset, NULL, (size_t)0,
	    LANDLOCK_CREATE_RULESET_VERSION);

	return version < 0 ? 0 : (int)version;
}

static struct ruleset
all_of(int version, bool with_network)
{
	struct ruleset all = { .files = FILES_1 };

	if (version >= 2)
		all.files |= FILES_2_REFER;
	if (version >= 3)
		all.files |= FILES_3_TRUNC;
	if (version >= 4 && !with_network)
		all.network = NETWORK_TCP;
	if (version >= 5)
		all.files |= FILES_5_IOCTL;
	if (version >= 6)
		all.scoped = SCOPE_ALL;
	return all;
}

static size_t
size_for(int version)
{
	if (version >= 6)
		return sizeof(struct ruleset);
	return version >= 4 ? 2 * sizeof(uint64_t) : sizeof(uint64_t);
}

static int
add_room(int ruleset, const struct landlock_room *room, uint64_t handled)
{
	struct landlock_path_beneath_attr rule = { .parent_fd = room->fd };
	struct stat st;

	if (fstat(room->fd, &st) < 0)
		return -errno;
	if (room->rights & LANDLOCK_READ)
		rule.allowed_access |= RIGHTS_READ;
	if (room->rights & LANDLOCK_EXECUTE)
		rule.allowed_access |= LANDLOCK_ACCESS_FS_EXECUTE;
	if (room->rights & LANDLOCK_WRITE)
		rule.allowed_access |= RIGHTS_WRITE;
	rule.allowed_access &= handled;
	if (!S_ISDIR(st.st_mode))
		rule.allowed_access &= RIGHTS_OF_A_FILE;
	return syscall(SYS_landlock_add_rule, ruleset,
		   LANDLOCK_RULE_PATH_BENEATH, &rule, 0u) < 0
	    ? -errno
	    : 0;
}

int
landlock_enter(
    const struct landlock_room *rooms, size_t n_rooms, bool with_network)
{
	int version = landlock_version();
	struct ruleset all = all_of(version, with_network);
	cleanup_fd int ruleset = -1;

	if (version == 0)
		return -EOPNOTSUPP;
	ruleset = (int)syscall(
	    SYS_landlock_create_ruleset, &all, size_for(version), 0u);
	if (ruleset < 0)
		return -errno;
	for (size_t i = 0; i < n_rooms; i++) {
		int r = add_room(ruleset, &rooms[i], all.files);

		if (r < 0)
			return r;
	}
	return syscall(SYS_landlock_restrict_self, ruleset, 0u) < 0 ? -errno
								    : 0;
}
