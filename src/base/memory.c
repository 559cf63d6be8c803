/* SPDX-License-Identifier: ISC
 *
 * Allocation for every process; the only place that dies for want of memory.
 */
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *
die_unless(void *got)
{
	if (got == NULL) {
		(void)fputs("<2>out of memory\n", stderr);
		abort();
	}
	return got;
}

void *
memory_new(size_t count, size_t size)
{
	return die_unless(calloc(count == 0 ? 1 : count, size));
}

void *
memory_resize(void *old, size_t count, size_t size)
{
	return die_unless(reallocarray(old, count == 0 ? 1 : count, size));
}

char *
memory_text(const char *text)
{
	return die_unless(strdup(text));
}
