/* SPDX-License-Identifier: ISC
 *
 * Bodies between the wire and the database, in the queue. They are a client's
 * bytes and are only moved here, never looked at. A file has no name, so none
 * is left behind by a crash, and all files together are bounded.
 */
#include "queue/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/must.h"

static uint64_t bytes_on_disk;

void
spool_init(struct spool *spool, int directory)
{
	*spool = (struct spool){ .directory = directory, .fd = -1 };
}

void
spool_done(struct spool *spool)
{
	if (spool->fd >= 0) {
		(void)close(spool->fd);
		bytes_on_disk -= spool->n;
	}
	free(spool->memory);
	spool_init(spool, spool->directory);
}

/* Not every filesystem can make a file without a name. */
static int
open_named(int directory)
{
	static unsigned int serial;
	char name[64];
	int fd;

	(void)snprintf(
	    name, sizeof(name), ".spool.%d.%u", (int)getpid(), serial++);
	fd = openat(directory, name,
	    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	(void)unlinkat(directory, name, 0);
	return fd;
}

static int
open_file(int directory)
{
	int fd = openat(directory, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	return errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT
	    ? open_named(directory)
	    : -errno;
}

static int
put_in_file(struct spool *spool, const void *bytes, size_t n)
{
	int r;

	if (bytes_on_disk + n > LIMIT_QUEUE_SPOOL_BYTES)
		return -ENOSPC;
	r = file_pwrite_all(spool->fd, bytes, n, (off_t)spool->n);
	if (r < 0)
		return r;
	spool->n += n;
	bytes_on_disk += n;
	return 0;
}

static int
leave_memory(struct spool *spool)
{
	size_t n = (size_t)spool->n;
	int r;

	spool->fd = open_file(spool->directory);
	if (spool->fd < 0) {
		r = spool->fd;
		spool->fd = -1;
		return r;
	}
	spool->n = 0;
	r = put_in_file(spool, spool->memory, n);
	free(spool->memory);
	spool->memory = NULL;
	return r;
}

static void
put_in_memory(struct spool *spool, const void *bytes, size_t n)
{
	size_t need = (size_t)spool->n + n;

	if (need > spool->n_memory) {
		spool->n_memory = need < 1024 ? 1024 : need * 2;
		spool->memory =
		    memory_resize(spool->memory, spool->n_memory, 1);
	}
	memcpy(spool->memory + spool->n, bytes, n);
	spool->n = need;
}

int
spool_put(struct spool *spool, const void *bytes, size_t n)
{
	int r = 0;

	if (n == 0)
		return 0;
	if (spool->fd < 0 && spool->n + n <= LIMIT_QUEUE_MEMORY_BYTES) {
		put_in_memory(spool, bytes, n);
		return 0;
	}
	if (spool->fd < 0)
		r = leave_memory(spool);
	return r < 0 ? r : put_in_file(spool, bytes, n);
}

int
spool_put_text(struct spool *spool, const char *text)
{
	return spool_put(spool, text, strlen(text));
}

int
spool_get(const struct spool *spool, uint64_t at, void *to, size_t n)
{
	ssize_t got;

	must(at + n <= spool->n);
	if (spool->fd < 0) {
		memcpy(to, spool->memory + at, n);
		return 0;
	}
	got = file_pread_all(spool->fd, to, n, (off_t)at);
	if (got < 0)
		return (int)got;
	return (size_t)got == n ? 0 : -EIO;
}
