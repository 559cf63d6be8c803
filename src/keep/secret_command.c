/* SPDX-License-Identifier: ISC
 *
 * The verbs of `sandcastle secret`, run by the operator under the keep's own
 * user. A token comes in by a terminal or a pipe, never by an argument or the
 * environment, and nothing of it ever goes out again: no verb prints a value,
 * a length or a hash.
 */
#include "keep/secret_command.h"

#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/text.h"
#include "config/config.h"
#include "keep/secret.h"
#include "keep/secret_input.h"
#include "keep/walls.h"

struct command {
	const char *name; /* NULL: the verb takes none */
	const char *state;
	const char *config_path;
	int config_fd; /* -1: opened by its path */
	struct config *config; /* NULL: the verb needs none */
};

static int
complain(const char *name, const struct fault *fault)
{
	if (name != NULL)
		(void)fprintf(
		    stderr, "sandcastle secret: %s: %s\n", name, fault->text);
	else
		(void)fprintf(stderr, "sandcastle secret: %s\n", fault->text);
	return 1;
}

/* Prints what is wrong with the config. */
static int
read_config(struct command *command)
{
	cleanup_free char *bytes = NULL;
	struct config_errors errors = { 0 };
	size_t n;
	int r;

	if (command->config_path == NULL) {
		(void)fputs("sandcastle secret: --config is missing\n", stderr);
		return -1;
	}
	r = command->config_fd >= 0
	    ? file_slurp_fd(command->config_fd, LIMIT_CONFIG_BYTES, &bytes, &n)
	    : file_slurp(AT_FDCWD, command->config_path, LIMIT_CONFIG_BYTES,
		  &bytes, &n);
	if (r < 0) {
		(void)fprintf(stderr, "sandcastle secret: %s: %s\n",
		    command->config_path, strerror(-r));
		return -1;
	}
	if (config_parse(
		bytes, n, command->config_path, &command->config, &errors) == 0)
		return 0;
	for (size_t i = 0; i < errors.n_lines; i++)
		(void)fprintf(stderr, "%s\n", errors.lines[i]);
	(void)fputs("sandcastle secret: the configuration must be right "
		    "first: a secret is bound to its source's url\n",
	    stderr);
	return -1;
}

/* The one origin of all sources that use a secret. */
static int
find_origin(const struct command *command, const struct source_config **ret,
    struct fault *fault)
{
	const struct source_config *first = NULL;

	for (uint32_t i = 0; i < command->config->n_sources; i++) {
		const struct source_config *s = &command->config->sources[i];

		if (strcmp(s->secret, command->name) != 0)
			continue;
		if (first != NULL && strcmp(first->origin, s->origin) != 0)
			return fault_set(fault, FAULT_CONFIG,
			    "sources %s (%s) and %s (%s) both use it, but a "
			    "secret is for one origin: give one of them its "
			    "own (secret: NAME in %s)",
			    first->name, first->origin, s->name, s->origin,
			    command->config_path);
		if (first == NULL)
			first = s;
	}
	if (first == NULL)
		return fault_set(fault, FAULT_CONFIG,
		    "no source in %s uses it: add the source first, then set "
		    "its secret",
		    command->config_path);
	*ret = first;
	return 0;
}

static int
run_set(struct command *command)
{
	cleanup_secret char *token = secret_memory(SECRET_INPUT_BYTES);
	struct secret_store store = SECRET_STORE_NONE;
	const struct source_config *source;
	struct secret_id id = { .name = command->name };
	struct fault fault;
	enum keep_result result;

	if (find_origin(command, &source, &fault) < 0)
		return complain(command->name, &fault);
	id.origin = source->origin;
	/* The store is looked at first, so that nobody types a token for
	 * nothing; but no one else has to wait while it is typed. */
	result = secret_store_change(command->state, &store, &fault);
	secret_store_close(&store);
	if (result != KEEP_RESULT_OK ||
	    secret_input_read(token, command->name, &fault) < 0)
		return complain(command->name, &fault);
	result = secret_store_change(command->state, &store, &fault);
	if (result == KEEP_RESULT_OK)
		result = secret_write(&store, &id, token, &fault);
	secret_store_close(&store);
	if (result != KEEP_RESULT_OK)
		return complain(command->name, &fault);
	(void)fprintf(stderr, "secret %s is set, for %s\n", command->name,
	    source->origin);
	return 0;
}

/* Whether a secret can be used for a source. */
static enum keep_result
try_secret(const struct secret_store *store, const char *name,
    const char *origin, struct fault *fault)
{
	cleanup_secret struct token_msg *message =
	    secret_memory(sizeof(*message));
	struct secret_id id = { .name = name, .origin = origin };

	return secret_read(store, &id, message, fault);
}

static int
run_check(struct command *command)
{
	struct secret_store store = SECRET_STORE_NONE;
	const struct source_config *source;
	struct fault fault;
	enum keep_result result;

	if (find_origin(command, &source, &fault) < 0)
		return complain(command->name, &fault);
	result = secret_store_open(command->state, &store, &fault);
	if (result == KEEP_RESULT_OK)
		result =
		    try_secret(&store, command->name, source->origin, &fault);
	secret_store_close(&store);
	if (result == KEEP_RESULT_OK) {
		(void)printf("%s: ok, for %s\n", command->name, source->origin);
		return 0;
	}
	(void)printf("%s: %s\n", command->name, fault.text);
	return 1;
}

static int
run_rm(struct command *command)
{
	struct secret_store store = SECRET_STORE_NONE;
	struct fault fault;
	enum keep_result result =
	    secret_store_open(command->state, &store, &fault);

	if (result == KEEP_RESULT_OK)
		result = secret_remove(&store, command->name, &fault);
	secret_store_close(&store);
	return result == KEEP_RESULT_OK ? 0 : complain(command->name, &fault);
}

static void
print_row(
    const char *name, const char *when, const char *used_by, const char *usable)
{
	(void)printf("%-20s  %-16s  %-20s  %s\n", name, when, used_by, usable);
}

/* One row for each source that uses the secret; one without a source else. */
static void
list_secret(const struct command *command, const struct secret_store *store,
    const struct secret_entry *entry)
{
	char when[32] = "?";
	bool is_used = false;
	time_t at = (time_t)entry->set_at_s;
	struct tm utc;

	if (gmtime_r(&at, &utc) != NULL)
		(void)strftime(when, sizeof(when), "%Y-%m-%d %H:%MZ", &utc);
	for (uint32_t i = 0; i < command->config->n_sources; i++) {
		const struct source_config *s = &command->config->sources[i];
		char usable[600] = "yes";
		struct fault fault;

		if (strcmp(s->secret, entry->name) != 0)
			continue;
		is_used = true;
		if (try_secret(store, entry->name, s->origin, &fault) !=
		    KEEP_RESULT_OK)
			(void)snprintf(
			    usable, sizeof(usable), "no: %s", fault.text);
		print_row(entry->name, when, s->name, usable);
	}
	if (!is_used)
		print_row(entry->name, when, "-", "no: no source uses it");
}

static bool
is_listed(const struct secret_entry *entries, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(entries[i].name, name) == 0)
			return true;
	}
	return false;
}

static int
run_list(struct command *command)
{
	cleanup_free struct secret_entry *entries = NULL;
	struct secret_store store = SECRET_STORE_NONE;
	struct fault fault;
	size_t n = 0;
	enum keep_result result =
	    secret_store_open(command->state, &store, &fault);

	if (result != KEEP_RESULT_OK)
		return complain(NULL, &fault);
	if (secret_list(&store, &entries, &n, &fault) < 0) {
		secret_store_close(&store);
		return complain(NULL, &fault);
	}
	print_row("SECRET", "SET", "SOURCE", "USABLE");
	for (size_t i = 0; i < n; i++)
		list_secret(command, &store, &entries[i]);
	for (uint32_t i = 0; i < command->config->n_sources; i++) {
		const struct source_config *s = &command->config->sources[i];

		if (!is_listed(entries, n, s->secret))
			print_row(s->secret, "-", s->name, "no: is not set");
	}
	secret_store_close(&store);
	return 0;
}

static const struct verb {
	const char *name;
	int n_words;
	bool needs_config;
	int (*run)(struct command *);
} verbs[] = {
	{ "set", 2, true, run_set },
	{ "list", 1, true, run_list },
	{ "check", 2, true, run_check },
	{ "rm", 2, false, run_rm },
};

static const struct verb *
find_verb(const char *name)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	}
	return NULL;
}

static int
misuse(const char *what)
{
	(void)fprintf(stderr, "sandcastle secret: %s\n", what);
	return 2;
}

int
secret_command(char **words, int n_words, const char *state, const char *config,
    int config_fd)
{
	const struct verb *verb = find_verb(words[0]);
	struct command command = {
		.state = state, .config_path = config, .config_fd = config_fd
	};
	int status = 1;

	if (verb == NULL || n_words != verb->n_words)
		return misuse("say: set NAME, list, check NAME or rm NAME");
	if (n_words > 1 && !text_is_name(words[1]))
		return misuse("a name is 1 to 64 of a-z 0-9 _ - and begins "
			      "with a letter or digit; the token itself is "
			      "asked for, or read from standard input");
	if (geteuid() == 0)
		return misuse("not as root: files of root could not be read "
			      "by the keep; `sandcastle secret` changes to its "
			      "user by itself");
	if (walls_secret() < 0 || sodium_init() < 0)
		return misuse("cannot shut itself in");
	command.name = n_words > 1 ? words[1] : NULL;
	if (!verb->needs_config || read_config(&command) == 0)
		status = verb->run(&command);
	config_free(command.config);
	return status;
}
