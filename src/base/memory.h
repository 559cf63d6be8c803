/* SPDX-License-Identifier: ISC
 *
 * Allocation that cannot fail: every input is capped before memory is asked
 * for, so running out means the machine is in trouble, and the process ends.
 */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stddef.h>

/* Gives count * size zeroed bytes, owned by the caller (free). */
void *memory_new(size_t count, size_t size);

/* Resizes to count * size bytes; new bytes are not cleared. */
void *memory_resize(void *old, size_t count, size_t size);

/* Gives a copy of a string, owned by the caller (free). */
char *memory_text(const char *text);

#endif
