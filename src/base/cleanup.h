/* SPDX-License-Identifier: ISC
 *
 * Owned things free themselves when their variable leaves scope.
 * take_fd() and take_ptr() mark the place where ownership is handed over.
 */
#ifndef BASE_CLEANUP_H
#define BASE_CLEANUP_H

#include <stdlib.h>
#include <unistd.h>

#define cleanup_with(function) __attribute__((cleanup(function)))

static inline void
cleanup_free_at(void *at)
{
	free(*(void **)at);
}

/* Closes *fd unless it is negative; the variable becomes -1. */
static inline void
cleanup_fd_at(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

#define cleanup_free cleanup_with(cleanup_free_at)
#define cleanup_fd   cleanup_with(cleanup_fd_at)

static inline int
take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

static inline void *
take_ptr_at(void *at)
{
	void *taken = *(void **)at;

	*(void **)at = NULL;
	return taken;
}

#define take_ptr(variable) ((__typeof__(variable))take_ptr_at(&(variable)))

#endif
