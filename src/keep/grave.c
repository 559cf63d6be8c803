/* SPDX-License-Identifier: ISC
 *
 * Reaping, in the keep's main process. A killed child can take its time to
 * end (a dialer that hangs in a network file system); nobody waits for it
 * here, unless so many hang that the keep must not make more of them.
 */
#include "keep/grave.h"

void
grave_bury(struct grave *grave, struct child *child)
{
	if (child->pidfd < 0)
		return;
	spawn_kill(child);
	if (grave->n == LIMIT_KEEP_DYING) {
		(void)spawn_reap(&grave->children[0]);
		grave->children[0] = grave->children[--grave->n];
	}
	grave->children[grave->n++] = *child;
	*child = (struct child){ -1, -1 };
}

size_t
grave_watch(const struct grave *grave, struct pollfd *to)
{
	for (size_t i = 0; i < grave->n; i++)
		to[i] = (struct pollfd){ grave->children[i].pidfd, POLLIN, 0 };
	return grave->n;
}

void
grave_reap(struct grave *grave)
{
	struct pollfd p[LIMIT_KEEP_DYING];
	size_t n = grave_watch(grave, p);

	if (n == 0 || poll(p, (nfds_t)n, 0) <= 0)
		return;
	for (size_t i = n; i-- > 0;) {
		if (p[i].revents == 0)
			continue;
		(void)spawn_reap(&grave->children[i]);
		grave->children[i] = grave->children[--grave->n];
	}
}
