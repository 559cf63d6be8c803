/* SPDX-License-Identifier: ISC
 *
 * The core's links to its peers: what it sends them and how it takes what
 * they say. A peer that sends nonsense loses its link.
 */
#ifndef CORE_LINKS_H
#define CORE_LINKS_H

#include "core/core.h"

/* Keep and couriers. */
void keep_link_set(struct core *core, int fd);
void keep_link_open(struct core *core, uint32_t slot);
void keep_link_drop(struct core *core, uint32_t slot);
/* Whether the keep has hung up, noticed or not. */
bool keep_link_is_gone(struct core *core);
/* The keep has gone: so have its couriers. */
void keep_link_lose(struct core *core);

void courier_link_claim(struct core *core, uint32_t at, uint32_t capabilities);
void courier_link_deliver(struct core *core, uint32_t at, uint32_t deadline_ms);
/* Starts to listen to a courier that the keep has made. */
void courier_link_watch(struct core *core, uint32_t slot);
/* Closes our end. */
void courier_link_close(struct slot *slot);
/* Looks how large the letters of the claims in flight are. */
void courier_link_measure(struct core *core);

/* Yard and box. */
void yard_link_set(struct core *core, int fd, uint32_t generation);
void yard_link_make(struct core *core, uint32_t at, uint32_t capability);
void yard_link_kill(struct core *core);

#endif
