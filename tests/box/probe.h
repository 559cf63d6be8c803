/* SPDX-License-Identifier: ISC
 *
 * What the parts of boxprobe share. An attempt prints one line,
 * "NAME refused ERRNO" or "NAME open RESULT"; the test that reads the lines
 * knows which it must be, inside a box and outside.
 */
#ifndef BOX_PROBE_H
#define BOX_PROBE_H

#include <stddef.h>
#include <sys/types.h>

/* Prints the line of an attempt by the result of its call and errno. */
void say(const char *name, long result);

/* A new, empty file in /tmp that has no name any more: outside a box /tmp is
 * everybody's. Its fd or -1. */
int scratch_file(mode_t mode);

struct check {
	const char *name;
	void (*run)(void);
};

extern const struct check attempts[];
extern const size_t n_attempts;
extern const struct check programs[];
extern const size_t n_programs;
extern const struct check leftovers[];
extern const size_t n_leftovers;

/* Each system call from 0 with -1 as all its arguments, each in a process of
 * its own that enters the filter first, when there is one. */
void sweep(void);

/* Puts this process under the tool's filter of the box. 0 or -1. */
int enter_tool_filter(void);

#endif
