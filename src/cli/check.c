/* SPDX-License-Identifier: ISC
 *
 * sandcastle check: whether everything is there that `run` will need, by
 * trying it: the config, each secret (through the keep's own tool), a real
 * test box, each program. It changes nothing.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/config_file.h"
#include "cli/keep_command.h"
#include "cli/trouble.h"
#include "cli/yard_client.h"

struct check {
	const struct call *call;
	const struct config *config;
	unsigned int n_lacking; /* things it would run without */
	unsigned int n_capabilities; /* wanted by a source and usable */
	unsigned int n_secrets; /* usable */
};

static void
print_row(const char *what, const char *name, const char *text)
{
	(void)printf("%-11s %-26s %s\n", what, name, text);
}

static bool
is_checked_already(const struct config *config, uint32_t source)
{
	for (uint32_t i = 0; i < source; i++) {
		if (strcmp(config->sources[i].secret,
			config->sources[source].secret) == 0)
			return true;
	}
	return false;
}

/* Leaves out what the tool puts in front of its words. */
static const char *
behind_name(const char *line, const char *name)
{
	const char *found = strstr(line, name);
	size_t n = strlen(name);

	return found != NULL && strncmp(found + n, ": ", 2) == 0 ? found + n + 2
								 : line;
}

static void
check_secrets(struct check *check)
{
	const struct config *config = check->config;

	for (uint32_t i = 0; i < config->n_sources; i++) {
		const char *name = config->sources[i].secret;
		struct fault fault = { 0 };
		char line[300] = "";
		int status;

		if (is_checked_already(config, i))
			continue;
		status =
		    keep_command_check(&check->call->paths, name, line, &fault);
		print_row("secret", name,
		    status < 0 ? fault.text : behind_name(line, name));
		if (status == 0)
			check->n_secrets++;
		else
			check->n_lacking++;
	}
}

static void
check_ca_files(struct check *check)
{
	for (uint32_t i = 0; i < check->config->n_sources; i++) {
		const char *file = check->config->sources[i].ca_file;
		struct fault fault = { 0 };
		char text[200] = "can be read";
		int error;

		if (file[0] == '\0')
			continue;
		error = keep_command_open(&check->call->paths, file, &fault);
		if (error > 0)
			(void)snprintf(text, sizeof(text),
			    "CANNOT BE READ by the keep: %s", strerror(error));
		print_row("ca_file", file, error < 0 ? fault.text : text);
		check->n_lacking += error != 0;
	}
}

static void
check_walls(struct check *check, const struct yard_answer *listed)
{
	uint32_t accepted = check->config->accept_missing;

	for (uint32_t i = 0; i < WALL_COUNT; i++) {
		bool is_there = (listed->walls & 1u << i) != 0;
		bool is_accepted = (accepted & 1u << i) != 0;

		print_row("wall", yard_wall_text(i),
		    is_there	      ? "there"
			: is_accepted ? "missing, accepted"
				      : "MISSING");
		if (!is_there && !is_accepted)
			check->n_lacking++;
	}
	if (listed->test_error != 0)
		print_row("test box", "could not be made",
		    strerror((int)listed->test_error));
}

static uint32_t
wanted_capabilities(const struct config *config)
{
	uint32_t wanted = 0;

	for (uint32_t i = 0; i < config->n_sources; i++)
		wanted |= config->sources[i].capabilities;
	return wanted;
}

static void
print_programs(const struct capability *c, uint32_t missing,
    const struct capability_config *settings)
{
	for (size_t i = 0; c->tools[i].name != NULL; i++) {
		char text[200] = "there";

		if ((missing & 1u << i) != 0)
			(void)snprintf(text, sizeof(text),
			    "%s: apt install %s, or set program:",
			    c->tools[i].is_optional ? "not there (optional)"
						    : "MISSING",
			    c->tools[i].package);
		print_row("  program", settings->program[i], text);
	}
}

static void
print_limits(const struct capability_config *settings)
{
	char time[24];
	char memory[24];
	char scratch[24];
	char text[120];

	text_put_duration(time, sizeof(time), settings->time_limit_ms);
	text_put_size(memory, sizeof(memory), settings->memory_limit);
	text_put_size(scratch, sizeof(scratch), settings->tmp_limit);
	(void)snprintf(text, sizeof(text),
	    "%s, %s of memory for each process, %s of scratch space", time,
	    memory, scratch);
	print_row("  limits", "", text);
}

static void
check_capability(struct check *check, const struct yard_answer *listed,
    uint32_t index, bool is_wanted)
{
	const struct capability_config *settings =
	    &check->config->capabilities[index];
	const struct capability *c = capability_at(index);
	char trouble[300] = "usable";
	bool is_lacking =
	    trouble_of_capability(listed, index, settings, trouble);
	const char *text = trouble;

	if (is_lacking && strncmp(trouble, c->name, strlen(c->name)) == 0)
		text += strlen(c->name) + 2;
	print_row("capability", c->name, text);
	if (!is_wanted)
		print_row("", "", "(no source may ask for it)");
	print_programs(c, listed->missing[index], settings);
	print_limits(settings);
	if (is_wanted && is_lacking)
		check->n_lacking++;
	if (is_wanted && !is_lacking)
		check->n_capabilities++;
}

static int
check_box(struct check *check, const struct config_file *file)
{
	uint32_t wanted = wanted_capabilities(check->config);
	struct yard_client yard;
	struct yard_answer listed;
	struct fault fault = { 0 };
	int r = yard_client_start(&yard, file->bytes, file->n, &fault);

	if (r == 0)
		r = yard_client_list(&yard, &listed, &fault);
	yard_client_stop(&yard);
	if (r < 0) {
		print_row("box", "cannot be tried", fault.text);
		return -1;
	}
	check_walls(check, &listed);
	for (uint32_t i = 0; i < CAPABILITY_COUNT; i++)
		check_capability(check, &listed, i, (wanted & 1u << i) != 0);
	return 0;
}

/* What holds, but less than it could. */
static void
print_weaknesses(const struct config *config)
{
	char text[200];

	(void)snprintf(text, sizeof(text),
	    "no cgroup bounds a box as a whole: it may use its memory once "
	    "for init, driver and tool each, and a driver that was taken over "
	    "for up to %d processes",
	    LIMIT_BOX_PROCESSES);
	print_row("note", "memory", text);
	if (geteuid() != 0)
		print_row("note", "one uid",
		    "the keep's files are readable by everything you run; "
		    "start it as root to give each part a user of its own");
	for (uint32_t i = 0; i < config->n_sources; i++) {
		if (!config->sources[i].is_tls && config->sources[i].allow_http)
			print_row("note", config->sources[i].name,
			    "http: its token travels in clear");
	}
}

static int
conclude(const struct check *check)
{
	if (check->n_capabilities == 0) {
		(void)printf("\nIt would not run any job: no capability that "
			     "a source may ask for is usable.\n");
		return STATUS_FAILED;
	}
	if (check->n_secrets == 0) {
		(void)printf("\nIt would ask no source: no secret is "
			     "usable.\n");
		return STATUS_WITHOUT_SOME;
	}
	if (check->n_lacking > 0) {
		(void)printf("\nIt would run without what is named above.\n");
		return STATUS_WITHOUT_SOME;
	}
	(void)printf("\nAll is well.\n");
	return 0;
}

int
check_run(const struct call *call)
{
	struct config_file file;
	struct check check = { .call = call };
	int status = STATUS_FAILED;

	if (command_takes_nothing(call) != 0)
		return STATUS_USAGE;
	if (config_file_read(call->paths.config, true, &file) < 0)
		return STATUS_FAILED;
	check.config = file.config;
	print_row("config", call->paths.config, "no errors");
	(void)fflush(stdout);
	check_secrets(&check);
	check_ca_files(&check);
	if (check_box(&check, &file) == 0) {
		print_weaknesses(file.config);
		status = conclude(&check);
	}
	config_file_done(&file);
	return status;
}
