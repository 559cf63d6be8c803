/* SPDX-License-Identifier: ISC
 *
 * Starting openers, dialers and couriers, in the keep's main process. They ask
 * for their death with it themselves as well; done before exec it holds from
 * their first instruction on, and for a program that forgets.
 */
#include "keep/start.h"

#include <unistd.h>

#include "confine/process.h"

/* Runs in the child, before exec. */
static int
narrow(void *keep)
{
	return process_die_with_parent(*(const pid_t *)keep);
}

int
start_child(const char *const *arguments, const int *fds, size_t n_fds,
    struct child *ret_child)
{
	pid_t keep = getpid();
	struct spawn spawn = { .program = arguments[0],
		.arguments = arguments,
		.fds = fds,
		.n_fds = n_fds,
		.is_quiet = true,
		.narrow = narrow,
		.narrow_context = &keep };

	return spawn_start(&spawn, ret_child);
}
