/* SPDX-License-Identifier: ISC
 *
 * Files and memfds: whole reads and writes, sealed memory, atomic
 * replacement. Failures are negative errno values.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Reads until n bytes or the end. Gives the number read, or -errno. */
ssize_t file_read_all(int fd, void *to, size_t n);

/* The same at an offset; the file's own offset stays. */
ssize_t file_pread_all(int fd, void *to, size_t n, off_t at);

/* Writes all n bytes. 0 or -errno. */
int file_write_all(int fd, const void *from, size_t n);
int file_pwrite_all(int fd, const void *from, size_t n, off_t at);

/*
 * Writes a text into a file that is there, as those of /proc are. 0 or -errno.
 * Async-signal-safe.
 */
int file_put(const char *path, const char *text);

/*
 * Makes a memfd, close-on-exec, that can be sealed. Gives the fd, owned by
 * the caller, or -errno.
 */
int file_memory(const char *name);

/*
 * Forbids every further change of a memfd. 0, or -errno: -EBUSY while a
 * writable mapping of it is alive anywhere.
 */
int file_seal(int memfd);

/*
 * Whether fd is a memfd with all seals and at most max bytes. Gives its size,
 * or -errno (-EPERM: not sealed, -EFBIG: too large).
 */
ssize_t file_sealed_size(int fd, size_t max);

/*
 * Opens the same file once more, with these flags of open(2): another offset,
 * other flags. The fd, or -errno. It needs /proc.
 */
int file_reopen(int fd, int flags);
int file_reopen_readonly(int fd);

/* Gives a sealed memfd with these bytes, or -errno. */
int file_sealed_from(const char *name, const void *bytes, size_t n);

/*
 * Puts a file of n bytes at name below the directory, for readers at once or
 * not at all: temporary file, rename. Nothing is waited for: after a power cut
 * it may be the old one, the new one, or empty. 0 or -errno.
 */
int file_swap(
    int directory, const char *name, const void *bytes, size_t n, mode_t mode);

/*
 * The same for good: with fsync of the file before and of the directory after
 * the rename. 0 or -errno.
 */
int file_replace(
    int directory, const char *name, const void *bytes, size_t n, mode_t mode);

/*
 * Reads a regular file of at most max bytes whole. *ret_bytes is owned by the
 * caller and has a terminator behind its *ret_n bytes. 0 or -errno (-EFBIG:
 * longer than max; -EINVAL: not a regular file).
 */
int file_slurp(int directory, const char *path, size_t max, char **ret_bytes,
    size_t *ret_n);

/* The same of an open file, from its beginning whatever its offset. */
int file_slurp_fd(int fd, size_t max, char **ret_bytes, size_t *ret_n);

#endif
