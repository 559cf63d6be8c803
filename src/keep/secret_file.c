/* SPDX-License-Identifier: ISC
 *
 * Opening what lies in the store, in the opener and in the operator's
 * `secret`. Whatever lies there is distrusted until its kind, owner, mode and
 * links are those of a file that only we could have made; every refusal has
 * its own reason.
 */
#include "keep/secret_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"

/* The reason a file or directory of ours may not be believed. */
static enum keep_result
judge(const struct stat *st, bool is_directory, struct fault *fault)
{
	if (is_directory ? !S_ISDIR(st->st_mode) : !S_ISREG(st->st_mode)) {
		(void)fault_set(fault, FAULT_SECRET, "is no %s",
		    is_directory ? "directory" : "plain file");
		return KEEP_RESULT_NOT_FILE;
	}
	if (!is_directory && st->st_nlink != 1) {
		(void)fault_set(fault, FAULT_SECRET,
		    "has %lu names: a hard link to it exists",
		    (unsigned long)st->st_nlink);
		return KEEP_RESULT_NOT_FILE;
	}
	if (st->st_uid != geteuid()) {
		(void)fault_set(fault, FAULT_SECRET,
		    "belongs to uid %u, not to uid %u", st->st_uid, geteuid());
		return KEEP_RESULT_OWNER;
	}
	if ((st->st_mode & (is_directory ? 022 : 077)) != 0) {
		(void)fault_set(fault, FAULT_SECRET,
		    "has mode %04o, others may %s it: chmod %s",
		    st->st_mode & 07777, is_directory ? "write" : "read",
		    is_directory ? "0700" : "0600");
		return KEEP_RESULT_MODE;
	}
	return KEEP_RESULT_OK;
}

/* Why open(2) failed; a file of others that we may not open is told by what
 * it is. */
static enum keep_result
judge_failure(int directory, const char *name, int error, bool is_directory,
    struct fault *fault)
{
	enum keep_result result = KEEP_RESULT_FAILED;
	struct stat st;

	(void)fault_set(fault, FAULT_SECRET, "%s", strerror(error));
	if (error == ENOENT)
		return KEEP_RESULT_MISSING;
	if (error == ELOOP || error == ENXIO || error == ENOTDIR) {
		(void)fault_set(fault, FAULT_SECRET, "is no %s",
		    is_directory ? "directory" : "plain file");
		return KEEP_RESULT_NOT_FILE;
	}
	if (error == EACCES &&
	    (fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) == 0 ||
		(is_directory && fstat(directory, &st) == 0))) {
		result = judge(&st, is_directory, fault);
		if (result == KEEP_RESULT_OK)
			result = KEEP_RESULT_MODE;
	}
	return result;
}

enum keep_result
secret_open_checked(int directory, const char *name, bool is_directory,
    int *ret_fd, struct fault *fault)
{
	int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY |
	    (is_directory ? O_DIRECTORY : 0);
	cleanup_fd int fd = openat(directory, name, flags);
	enum keep_result result;
	struct stat st;

	if (fd < 0) {
		result =
		    judge_failure(directory, name, errno, is_directory, fault);
	} else if (fstat(fd, &st) < 0) {
		(void)fault_set(fault, FAULT_SECRET, "%s", strerror(errno));
		result = KEEP_RESULT_FAILED;
	} else {
		result = judge(&st, is_directory, fault);
	}
	if (result == KEEP_RESULT_OK)
		*ret_fd = take_fd(&fd);
	return result;
}

enum keep_result
secret_load_file(int directory, const char *name, size_t limits[2],
    unsigned char *to, struct fault *fault)
{
	cleanup_fd int fd = -1;
	enum keep_result result =
	    secret_open_checked(directory, name, false, &fd, fault);
	ssize_t n;

	if (result != KEEP_RESULT_OK)
		return result;
	n = file_read_all(fd, to, limits[1] + 1);
	if (n < 0) {
		(void)fault_set(fault, FAULT_SECRET, "%s", strerror((int)-n));
		return KEEP_RESULT_FAILED;
	}
	if ((size_t)n < limits[0] || (size_t)n > limits[1]) {
		(void)fault_set(fault, FAULT_SECRET,
		    n == 0 ? "is empty" : "has a wrong size");
		return KEEP_RESULT_SIZE;
	}
	limits[0] = (size_t)n;
	return KEEP_RESULT_OK;
}
