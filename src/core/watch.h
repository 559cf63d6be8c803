/* SPDX-License-Identifier: ISC
 *
 * An fd that libuv watches for reading, together with its ownership.
 */
#ifndef CORE_WATCH_H
#define CORE_WATCH_H

#include <stdint.h>
#include <uv.h>

typedef void watch_function(void *context, uint32_t tag);

struct watch {
	uv_poll_t poll;
	watch_function *function;
	void *context;
	uint32_t tag;
	int fd;
};

/* Takes the fd; function is called whenever it can be read or is hung up. */
struct watch *watch_new(uv_loop_t *loop, int fd, watch_function *function,
    void *context, uint32_t tag);

/* Closes the fd at once; the memory goes when libuv is done with it. */
void watch_free(struct watch *watch);

#endif
