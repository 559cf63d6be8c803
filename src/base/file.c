/* SPDX-License-Identifier: ISC
 *
 * Files and memfds, in every process.
 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/cleanup.h"
#include "base/memory.h"

#define ALL_SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

ssize_t
file_read_all(int fd, void *to, size_t n)
{
	size_t got = 0;

	while (got < n) {
		ssize_t step = read(fd, (char *)to + got, n - got);

		if (step == 0)
			break;
		if (step < 0 && errno == EINTR)
			continue;
		if (step < 0)
			return -errno;
		got += (size_t)step;
	}
	return (ssize_t)got;
}

ssize_t
file_pread_all(int fd, void *to, size_t n, off_t at)
{
	size_t got = 0;

	while (got < n) {
		ssize_t step =
		    pread(fd, (char *)to + got, n - got, at + (off_t)got);

		if (step == 0)
			break;
		if (step < 0 && errno == EINTR)
			continue;
		if (step < 0)
			return -errno;
		got += (size_t)step;
	}
	return (ssize_t)got;
}

int
file_write_all(int fd, const void *from, size_t n)
{
	size_t put = 0;

	while (put < n) {
		ssize_t step = write(fd, (const char *)from + put, n - put);

		if (step < 0 && errno == EINTR)
			continue;
		if (step < 0)
			return -errno;
		put += (size_t)step;
	}
	return 0;
}

int
file_pwrite_all(int fd, const void *from, size_t n, off_t at)
{
	size_t put = 0;

	while (put < n) {
		ssize_t step = pwrite(
		    fd, (const char *)from + put, n - put, at + (off_t)put);

		if (step < 0 && errno == EINTR)
			continue;
		if (step < 0)
			return -errno;
		put += (size_t)step;
	}
	return 0;
}

int
file_put(const char *path, const char *text)
{
	cleanup_fd int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd < 0 ? -errno : file_write_all(fd, text, strlen(text));
}

int
file_memory(const char *name)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	return fd < 0 ? -errno : fd;
}

int
file_seal(int memfd)
{
	return fcntl(memfd, F_ADD_SEALS, ALL_SEALS) < 0 ? -errno : 0;
}

/*
 * The call itself: the libc's fstat is newfstatat(2) with an empty path, which
 * a filter cannot tell from one with a path.
 */
static int
stat_of(int fd, struct stat *ret_st)
{
	return syscall(SYS_fstat, fd, ret_st) < 0 ? -errno : 0;
}

ssize_t
file_sealed_size(int fd, size_t max)
{
	struct stat st;
	int r;
	int seals = fcntl(fd, F_GET_SEALS);

	if (seals < 0)
		return -errno;
	if ((seals & ALL_SEALS) != ALL_SEALS)
		return -EPERM;
	r = stat_of(fd, &st);
	if (r < 0)
		return r;
	return (uint64_t)st.st_size > max ? -EFBIG : (ssize_t)st.st_size;
}

int
file_reopen(int fd, int flags)
{
	char path[64];
	int again;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, flags | O_CLOEXEC);
	return again < 0 ? -errno : again;
}

int
file_reopen_readonly(int fd)
{
	return file_reopen(fd, O_RDONLY);
}

int
file_sealed_from(const char *name, const void *bytes, size_t n)
{
	cleanup_fd int fd = file_memory(name);
	int r;

	if (fd < 0)
		return fd;
	r = file_write_all(fd, bytes, n);
	if (r == 0)
		r = file_seal(fd);
	return r < 0 ? r : take_fd(&fd);
}

struct beside {
	char name[256]; /* of the temporary file */
	int fd;
};

static int
write_beside(struct beside *beside, int directory, const char *name,
    const void *bytes, size_t n)
{
	if (snprintf(beside->name, sizeof(beside->name), ".%s.%d", name,
		(int)getpid()) >= (int)sizeof(beside->name))
		return -ENAMETOOLONG;
	(void)unlinkat(directory, beside->name, 0);
	beside->fd = openat(directory, beside->name,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return beside->fd < 0 ? -errno : file_write_all(beside->fd, bytes, n);
}

/* Ends what write_beside began: in place, or as if it had never been. */
static int
put_in_place(struct beside *beside, int directory, const char *name, int r)
{
	if (r == 0 && renameat(directory, beside->name, directory, name) < 0)
		r = -errno;
	if (r < 0 && beside->fd >= 0)
		(void)unlinkat(directory, beside->name, 0);
	cleanup_fd_at(&beside->fd);
	return r;
}

int
file_swap(
    int directory, const char *name, const void *bytes, size_t n, mode_t mode)
{
	struct beside beside = { .fd = -1 };
	int r = write_beside(&beside, directory, name, bytes, n);

	if (r == 0 && fchmod(beside.fd, mode) < 0)
		r = -errno;
	return put_in_place(&beside, directory, name, r);
}

int
file_replace(
    int directory, const char *name, const void *bytes, size_t n, mode_t mode)
{
	struct beside beside = { .fd = -1 };
	int r = write_beside(&beside, directory, name, bytes, n);

	if (r == 0 && (fchmod(beside.fd, mode) < 0 || fsync(beside.fd) < 0))
		r = -errno;
	r = put_in_place(&beside, directory, name, r);
	return r == 0 && fsync(directory) < 0 ? -errno : r;
}

int
file_slurp_fd(int fd, size_t max, char **ret_bytes, size_t *ret_n)
{
	cleanup_free char *bytes = NULL;
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	if ((uint64_t)st.st_size > max)
		return -EFBIG;
	bytes = memory_new(max + 2, 1);
	n = file_pread_all(fd, bytes, max + 1, 0);
	if (n < 0)
		return (int)n;
	if ((size_t)n > max)
		return -EFBIG;
	*ret_n = (size_t)n;
	*ret_bytes = take_ptr(bytes);
	return 0;
}

int
file_slurp(int directory, const char *path, size_t max, char **ret_bytes,
    size_t *ret_n)
{
	cleanup_fd int fd =
	    openat(directory, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return -errno;
	return file_slurp_fd(fd, max, ret_bytes, ret_n);
}
