/* SPDX-License-Identifier: ISC
 *
 * A body on its way in or out: in memory while it is small, in a file without
 * a name beside the database when it is not.
 */
#ifndef QUEUE_SPOOL_H
#define QUEUE_SPOOL_H

#include <stddef.h>
#include <stdint.h>

/* A stretch of a body. */
struct span {
	uint64_t begin;
	uint64_t end;
};

struct spool {
	int directory; /* borrowed: where a file would be made */
	int fd; /* -1 while in memory */
	char *memory;
	size_t n_memory;
	uint64_t n;
};

void spool_init(struct spool *spool, int directory);
void spool_done(struct spool *spool);

/*
 * Appends. 0 or -errno; -ENOSPC also when all spools together are at their
 * limit.
 */
int spool_put(struct spool *spool, const void *bytes, size_t n);
int spool_put_text(struct spool *spool, const char *text);

/* Reads exactly n bytes at an offset that was written. 0 or -errno. */
int spool_get(const struct spool *spool, uint64_t at, void *to, size_t n);

#endif
