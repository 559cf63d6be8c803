/* SPDX-License-Identifier: ISC
 *
 * Watched fds of the core. A watch may be freed inside its own function.
 */
#include "core/watch.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/must.h"

static void
on_ready(uv_poll_t *poll, int status, int events)
{
	struct watch *watch = poll->data;

	(void)status;
	(void)events;
	watch->function(watch->context, watch->tag);
}

struct watch *
watch_new(uv_loop_t *loop, int fd, watch_function *function, void *context,
    uint32_t tag)
{
	struct watch *watch = memory_new(1, sizeof(*watch));

	watch->function = function;
	watch->context = context;
	watch->tag = tag;
	watch->fd = fd;
	watch->poll.data = watch;
	must(uv_poll_init(loop, &watch->poll, fd) == 0);
	must(uv_poll_start(
		 &watch->poll, UV_READABLE | UV_DISCONNECT, on_ready) == 0);
	return watch;
}

static void
on_closed(uv_handle_t *handle)
{
	free(handle->data);
}

void
watch_free(struct watch *watch)
{
	if (watch == NULL)
		return;
	(void)uv_poll_stop(&watch->poll);
	(void)close(watch->fd);
	uv_close((uv_handle_t *)&watch->poll, on_closed);
}
