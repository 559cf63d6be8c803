/* SPDX-License-Identifier: ISC
 *
 * sandcastle-keep
 *
 * Theory of operation. The keep is the secret store, and the only one that
 * decides where a token goes. One program, three lives:
 *
 *   serve   the main process, a child of the supervisor (fd 3). A bare poll
 *           loop that holds no secret itself. On KEEP_OPEN of the core, for a
 *           source of the config in force, it starts an opener and then the
 *           courier, hands the courier its fds and, when it asks, dialers.
 *           It kills couriers by pidfd: on KEEP_DROP, when the core is gone,
 *           when their source changes, after an hour.
 *   open    the opener, a child of the main process (fd 3: a pipe): decrypts
 *           one secret, writes it into the pipe, ends. Its exit status is an
 *           enum keep_result.
 *   secret  what `sandcastle secret` becomes: the operator sets, lists,
 *           checks and removes secrets. It and `serve` meet only in the store.
 *
 *        supervisor            core
 *            | config, links     | KEEP_OPEN source, KEEP_DROP source
 *            v                   v
 *          keep serve --------------------+----------------+
 *            |                            |                |
 *            v                            v                v
 *          keep open ==pipe: token==>  courier  <-socket-  dialer
 *
 * The main process reads fixed structs, its config and exit statuses; no byte
 * of a source, of a name server or of a secret.
 */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/spawn.h"
#include "base/text.h"
#include "keep/opener.h"
#include "keep/secret_command.h"
#include "keep/serve.h"
#include "keep/walls.h"

#ifdef __SANITIZE_ADDRESS__
/* Leaks are looked for by tracing, which this process forbids. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *
__asan_default_options(void)
{
	return "detect_leaks=0";
}
#endif

struct arguments {
	const char *state;
	const char *config;
	int config_fd; /* -1: there is none */
	char **words; /* what is no option */
	int n_words;
};

static int
usage(void)
{
	(void)fputs(
	    "usage: sandcastle-keep serve --state DIR\n"
	    "       sandcastle-keep open NAME ORIGIN SOURCE --state DIR\n"
	    "       sandcastle-keep secret set|list|check|rm [NAME] "
	    "--state DIR --config FILE [--config-fd N]\n"
	    "These are started by sandcastle; the operator's command is "
	    "`sandcastle secret`.\n",
	    stderr);
	return 2;
}

static int
read_arguments(int argc, char **argv, struct arguments *ret)
{
	static const struct option options[] = {
		{ "state", required_argument, NULL, 's' },
		{ "config", required_argument, NULL, 'c' },
		{ "config-fd", required_argument, NULL, 'f' },
		{ NULL, 0, NULL, 0 },
	};
	struct arguments arguments = { .config_fd = -1 };
	uint64_t fd;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 's')
			arguments.state = optarg;
		else if (c == 'c')
			arguments.config = optarg;
		else if (c == 'f' && text_u64(optarg, INT32_MAX, &fd) == 0)
			arguments.config_fd = (int)fd;
		else
			return -1;
	}
	arguments.words = argv + optind;
	arguments.n_words = argc - optind;
	if (arguments.state == NULL || arguments.n_words < 1)
		return -1;
	*ret = arguments;
	return 0;
}

/* A keep ends when its supervisor, which gave it a session of its own, says so
 * or is gone. */
static int
run_serve(const struct arguments *arguments)
{
	struct fault fault;

	for (const int *s =
		 (const int[]){ SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGQUIT, 0 };
	     *s != 0; s++)
		(void)signal(*s, SIG_IGN);
	if (walls_serve(&fault) < 0) {
		log_error("%s", fault.text);
		return 1;
	}
	return serve(SPAWN_FIRST_FD, arguments->state);
}

int
main(int argc, char **argv)
{
	struct arguments a;
	const char *mode;

	log_open("sandcastle-keep");
	(void)umask(077);
	if (read_arguments(argc, argv, &a) < 0)
		return usage();
	mode = a.words[0];
	if (strcmp(mode, "serve") == 0 && a.n_words == 1)
		return run_serve(&a);
	if (strcmp(mode, "open") == 0 && a.n_words == 4)
		return opener_run(
		    &(struct secret_id){
			.name = a.words[1],
			.origin = a.words[2],
			.source = a.words[3],
		    },
		    a.state, SPAWN_FIRST_FD);
	if (strcmp(mode, "secret") == 0 && a.n_words >= 2)
		return secret_command(
		    a.words + 1, a.n_words - 1, a.state, a.config, a.config_fd);
	return usage();
}
