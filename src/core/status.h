/* SPDX-License-Identifier: ISC
 *
 * status.json in the run directory: what the core does, for `sandcastle
 * status` and for whoever watches. Written by temp and rename; names, enums
 * and numbers only.
 */
#ifndef CORE_STATUS_H
#define CORE_STATUS_H

#include "core/core.h"

/* The object as text, owned by the caller. wall_s: the time it is now. */
char *status_text(struct core *core, uint64_t now_ms, int64_t wall_s);

/* Writes the file when something changed or the last one is old. */
void status_write(struct core *core);

/* When it is to be written next. */
uint64_t status_due_ms(const struct core *core);

#endif
