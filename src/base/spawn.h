/* SPDX-License-Identifier: ISC
 *
 * A process is a program: fork and exec with an empty environment and exactly
 * the fds that are named. fds[i] becomes 3 + i in the child; 0 and 1 are
 * /dev/null, 2 is the caller's stderr or /dev/null.
 */
#ifndef BASE_SPAWN_H
#define BASE_SPAWN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The first fd a program of ours was given by its parent. */
#define SPAWN_FIRST_FD 3

struct spawn {
	const char *program; /* name of one of our programs */
	const char *const *arguments; /* argv, argv[0] included, NULL at its end */
	const int *fds;
	size_t n_fds;
	bool is_quiet; /* stderr is /dev/null */
	/* Runs in the child before exec; NULL: nothing. Negative: the child
	 * ends. Only async-signal-safe calls. */
	int (*narrow)(void *context);
	void *narrow_context;
};

struct child {
	pid_t pid;
	int pidfd; /* owned; readable when the child has ended */
};

/*
 * Starts a program that stands beside the running one (or in the directory it
 * was installed to). 0, or -errno with nothing started; a failed exec shows
 * as exit status 127 of the child.
 */
int spawn_start(const struct spawn *spawn, struct child *ret_child);

/* Sends SIGKILL by pidfd; harmless when it has ended. */
void spawn_kill(const struct child *child);

/*
 * Reaps a child that has ended (waits if it has not) and closes its pidfd.
 * Gives the wait status as waitpid(2) does.
 */
int spawn_reap(struct child *child);

/*
 * Writes the path of one of our programs. -1 when the directory of the
 * running program is not known or the path does not fit.
 */
int spawn_path(const char *program, char *to, size_t size);

#endif
