/* SPDX-License-Identifier: ISC
 *
 * Runs one of the box's tools and says how it ended. Exit status 0 is no
 * proof of success: the caller looks at what the tool made.
 */
#ifndef DRIVER_RUN_H
#define DRIVER_RUN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/limits.h"
#include "driver/job.h"

struct run {
	unsigned int tool; /* index in the capability's table */
	const char *const *arguments; /* argv, NULL at its end */
	int file; /* takes the tool's stdout; -1: kept in memory */
	size_t max_output; /* bytes of stdout; the tool is ended beyond */

	/* filled by run_tool */
	char *text; /* stdout, terminated; owned (run_done) */
	size_t n; /* bytes of stdout taken */
	bool is_cut; /* there was more than max_output */
	int status; /* exit status; 0 when cut */
	char notes[LIMIT_TOOL_STDERR_BYTES + 1]; /* the end of its stderr:
						    hostile, only to be
						    searched for marks */
	size_t n_notes;
};

/*
 * ERROR_NONE: the tool ended by itself with run->status, or was cut. Else
 * ERROR_TIMEOUT, ERROR_TOO_HEAVY or ERROR_CRASHED.
 */
enum error_code run_tool(const struct job *job, struct run *run);

/* Whether the end of stderr has this mark. */
bool run_has_note(const struct run *run, const char *mark);

/* Whether it says there that memory or space ended. Looked at by run_tool
 * when the exit status is not 0. */
bool run_is_heavy(const struct run *run);

void run_done(struct run *run);

#endif
