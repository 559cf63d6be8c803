/* SPDX-License-Identifier: ISC
 *
 * The verbs of the command, and what they share.
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "base/paths.h"

/* Exit statuses, besides 0. Those of sysexits.h where one fits. */
enum command_status {
	STATUS_FAILED = 1,
	STATUS_WITHOUT_SOME = 2, /* check */
	STATUS_USAGE = 64,
	STATUS_NO_INPUT = 66, /* try: a file cannot be read */
	STATUS_CONFIG = 78, /* try: config.yaml has errors */
	STATUS_RELEASED = 75, /* try: not the job's fault, try again */
};

/* How the command was called. */
struct call {
	const char *dir; /* of --dir; NULL: none given */
	struct paths paths;
	int argc; /* of the verb */
	char **argv; /* argv[0] is the verb; NULL at its end */
};

struct command {
	const char *verb;
	const char *arguments; /* "NAME [--json]" */
	const char *about;
	int (*run)(const struct call *call); /* gives the exit status */
};

int check_run(const struct call *call);
int init_run(const struct call *call);
int reload_run(const struct call *call);
int run_run(const struct call *call);
int secret_run(const struct call *call);
int status_run(const struct call *call);
int try_run(const struct call *call);

/* Prints "sandcastle: text" on stderr. Gives status. */
int command_fail(int status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same with the text of a fault. */
int command_fault(int status, const struct fault *fault);

/* Says how the verb is used. Gives STATUS_USAGE. */
int command_misused(const struct call *call);

/* Fails when the verb was given anything. */
int command_takes_nothing(const struct call *call);

#endif
