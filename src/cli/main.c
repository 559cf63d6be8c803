/* SPDX-License-Identifier: ISC
 *
 * sandcastle: the operator's command.
 *
 * Theory of operation
 *
 *   Every verb is a row of the table below and a file of its own. This program
 *   holds no secret and does no work itself: `run` becomes the supervisor,
 *   `secret` becomes the keep's own tool under the keep's user, `try` and
 *   `check` start a yard and speak to it as supervisor and core would, and
 *   `status` and `reload` look at what a running instance left in its
 *   directory. It believes the operator's arguments and nothing else: config,
 *   status.json, outputs of boxes are read with the same strict readers as
 *   everywhere.
 *
 *   --dir may stand before or behind the verb, so it is taken out first.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/must.h"
#include "base/text.h"
#include "cli/command.h"

static const struct command commands[] = {
	{ "init", "", "make the directories and a first config.yaml",
	    init_run },
	{ "secret", "set|check|rm NAME | list",
	    "set, look at and remove tokens", secret_run },
	{ "check", "", "look whether everything that is needed is there",
	    check_run },
	{ "run", "", "run until told to stop", run_run },
	{ "status", "[--json]", "show what a running sandcastle does",
	    status_run },
	{ "reload", "", "make a running sandcastle read its config again",
	    reload_run },
	{ "try",
	    "CAPABILITY --data FILE [--set FIELD=VALUE]... | CAPABILITY "
	    "--input FILE",
	    "do one job in a real box, without any source", try_run },
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static const struct command *
find_command(const char *verb)
{
	for (size_t i = 0; i < COMMANDS; i++) {
		if (strcmp(commands[i].verb, verb) == 0)
			return &commands[i];
	}
	return NULL;
}

static void
print_help(void)
{
	(void)printf("usage: sandcastle [--dir DIR] VERB ...\n\n");
	for (size_t i = 0; i < COMMANDS; i++)
		(void)printf("  %s%s%s\n      %s\n", commands[i].verb,
		    *commands[i].arguments ? " " : "", commands[i].arguments,
		    commands[i].about);
	(void)printf(
	    "\n  --dir DIR   keep everything below DIR (config.yaml, state,"
	    " run)\n  --version   say which version this is\n  --help      "
	    "say this\n\nsandcastle(1) and sandcastle.yaml(5) say more.\n");
}

int
command_fail(int status, const char *format, ...)
{
	char raw[1024], safe[2048];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(raw, sizeof(raw), format, arguments);
	va_end(arguments);
	text_printable(safe, sizeof(safe), raw, strlen(raw));
	(void)fprintf(stderr, "sandcastle: %s\n", safe);
	return status;
}

int
command_fault(int status, const struct fault *fault)
{
	(void)fprintf(stderr, "sandcastle: %s\n", fault->text);
	return status;
}

int
command_misused(const struct call *call)
{
	const struct command *command = find_command(call->argv[0]);

	must(command != NULL);
	(void)fprintf(stderr, "usage: sandcastle [--dir DIR] %s %s\n",
	    command->verb, command->arguments);
	return STATUS_USAGE;
}

int
command_takes_nothing(const struct call *call)
{
	return call->argc == 1 ? 0 : command_misused(call);
}

/* Takes --dir out of the arguments. -1 when its value is missing. */
static int
take_dir(int *argc, char **argv, const char **ret_dir)
{
	int kept = 1;

	for (int i = 1; i < *argc; i++) {
		if (strcmp(argv[i], "--dir") == 0) {
			if (++i == *argc)
				return -1;
			*ret_dir = argv[i];
		} else if (strncmp(argv[i], "--dir=", 6) == 0) {
			*ret_dir = argv[i] + 6;
		} else {
			argv[kept++] = argv[i];
		}
	}
	argv[kept] = NULL;
	*argc = kept;
	return *ret_dir != NULL && (*ret_dir)[0] == '\0' ? -1 : 0;
}

static int
dispatch(const char *dir, int argc, char **argv)
{
	const struct command *command = find_command(argv[0]);
	struct call call = { .dir = dir, .argc = argc, .argv = argv };
	struct fault fault = { 0 };

	if (command == NULL)
		return command_fail(STATUS_USAGE,
		    "there is no verb %s (sandcastle --help lists them)",
		    argv[0]);
	if (argc == 2 && strcmp(argv[1], "--help") == 0) {
		(void)printf("usage: sandcastle [--dir DIR] %s %s\n    %s\n",
		    command->verb, command->arguments, command->about);
		return 0;
	}
	if (paths_find(dir, &call.paths, &fault) < 0)
		return command_fault(STATUS_FAILED, &fault);
	return command->run(&call);
}

int
main(int argc, char **argv)
{
	const char *dir = NULL;

	log_open("sandcastle");
	/* What it makes, the parts must be able to pass through and read. */
	(void)umask(022);
	if (argc < 1 || take_dir(&argc, argv, &dir) < 0)
		return command_fail(
		    STATUS_USAGE, "--dir needs the name of a directory");
	if (argc == 1) {
		print_help();
		return STATUS_USAGE;
	}
	if (strcmp(argv[1], "--version") == 0) {
		(void)printf("sandcastle %s\n", SANDCASTLE_VERSION);
		return 0;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0) {
		print_help();
		return 0;
	}
	return dispatch(dir, argc - 1, argv + 1);
}
