/* SPDX-License-Identifier: ISC
 *
 * sandcastle try: one job in a real box, without any source. The command plays
 * supervisor and core to a yard of its own, and courier to the output: the
 * same walls, the same checks. Works with the operator's config or, where
 * there is none, with the defaults.
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "cli/command.h"
#include "cli/config_file.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/trouble.h"
#include "cli/yard_client.h"
#include "contract/outcome.h"
#include "wire/letter.h"

static int
unknown_capability(const char *name)
{
	char known[200] = "";

	for (uint32_t i = 0; i < CAPABILITY_COUNT; i++) {
		size_t used = strlen(known);

		(void)snprintf(known + used, sizeof(known) - used, "%s %s",
		    i > 0 ? "," : "", capability_at(i)->name);
	}
	return command_fail(STATUS_USAGE, "%s is not %s, there are:%s", name,
	    capability_is_planned(name) ? "supported yet" : "a capability",
	    known);
}

/* Reads the arguments; 0 or an exit status. */
static int
read_arguments(const struct call *call, struct input *input)
{
	static const struct option options[] = {
		{ "data", required_argument, NULL, 'd' },
		{ "input", required_argument, NULL, 'i' },
		{ "set", required_argument, NULL, 's' },
		{ NULL, 0, NULL, 0 },
	};
	const char *name;
	int option;

	while ((option = getopt_long(
		    call->argc, call->argv, "", options, NULL)) != -1) {
		if (option == 'd')
			input->data = optarg;
		else if (option == 'i')
			input->json = optarg;
		else if (option == 's' && input->n_settings < INPUT_SETTINGS)
			input->settings[input->n_settings++] = optarg;
		else
			return command_misused(call);
	}
	if (optind + 1 != call->argc)
		return command_misused(call);
	name = call->argv[optind];
	input->capability = capability_find(name, strlen(name));
	if (input->capability == CAPABILITY_NONE)
		return unknown_capability(name);
	if (input->json != NULL ? input->data != NULL || input->n_settings > 0
				: input->data == NULL && input->n_settings == 0)
		return command_misused(call);
	return 0;
}

static int
print_error(uint32_t code)
{
	(void)printf("{\"code\":\"%s\",\"message\":\"%s\"}\n", error_name(code),
	    error_message(code));
	return STATUS_FAILED;
}

/* Writes the input letter; 0 or an exit status. */
static int
write_input(const struct input *input, int *ret_letter)
{
	struct fault fault = { 0 };

	switch (input_write(input, ret_letter, &fault)) {
	case INPUT_OK:
		return 0;
	case INPUT_MISUSED:
		return command_fault(STATUS_USAGE, &fault);
	case INPUT_TOO_LARGE:
		(void)command_fault(0, &fault);
		return print_error(ERROR_TOO_LARGE);
	case INPUT_UNREADABLE:
		break;
	}
	return command_fault(STATUS_NO_INPUT, &fault);
}

static int
finish_output(int output, uint32_t capability)
{
	char wrong[160];
	uint32_t code = output_check(output, capability, wrong);

	if (code != 0) {
		(void)command_fail(0, "the output is refused: %s", wrong);
		return print_error(code);
	}
	return output_print(output) < 0
	    ? command_fail(STATUS_FAILED, "cannot write the output")
	    : 0;
}

static int
finish_failed(uint32_t code, int input, const struct yard_answer *answer,
    const struct capability_config *settings)
{
	char wrong[160] = "";

	if (code == ERROR_BAD_INPUT)
		input_explain(
		    input, answer->capability, settings->max_input, wrong);
	if (wrong[0] != '\0')
		(void)command_fail(0, "%s", wrong);
	return print_error(code);
}

/* As the core does: an outcome, or the job would be released. */
static int
finish(const struct yard_answer *answer, const int letters[2],
    const struct capability_config *settings)
{
	uint32_t error = yard_end_error(answer->end, answer->verdict);

	if (error != ERROR_NONE)
		return finish_failed(error, letters[0], answer, settings);
	if (answer->end == YARD_END_VERDICT)
		return finish_output(letters[1], answer->capability);
	if (answer->end == YARD_END_UNMADE)
		return command_fail(STATUS_RELEASED,
		    "the box could not be made: %s",
		    strerror((int)answer->status));
	return command_fail(
	    STATUS_RELEASED, "the box: %s", yard_end_text(answer->end));
}

/* Has the job done by a yard that runs; gives the exit status. */
static int
run_box(struct yard_client *yard, const struct input *input, int input_letter,
    const struct config *config)
{
	const struct capability_config *settings =
	    &config->capabilities[input->capability];
	cleanup_fd int readable = file_reopen_readonly(input_letter);
	cleanup_fd int output = letter_new("output");
	int letters[2] = { readable, output };
	struct yard_answer answer;
	struct fault fault = { 0 };
	char trouble[300];

	if (readable < 0 || output < 0)
		return command_fail(STATUS_RELEASED, "cannot make letters");
	if (yard_client_list(yard, &answer, &fault) < 0)
		return command_fault(STATUS_RELEASED, &fault);
	if (trouble_of_capability(
		&answer, input->capability, settings, trouble))
		return command_fail(STATUS_RELEASED, "%s", trouble);
	if (yard_client_make(
		yard, input->capability, letters, &answer, &fault) < 0)
		return command_fault(STATUS_RELEASED, &fault);
	return finish(&answer, letters, settings);
}

int
try_run(const struct call *call)
{
	struct input input = { 0 };
	struct config_file file = { 0 };
	struct yard_client yard;
	struct fault fault = { 0 };
	cleanup_fd int letter = -1;
	int status = read_arguments(call, &input);

	if (status == 0 &&
	    config_file_read(call->paths.config, false, &file) < 0)
		status = STATUS_CONFIG;
	if (status == 0)
		status = write_input(&input, &letter);
	if (status == 0) {
		status =
		    yard_client_start(&yard, file.bytes, file.n, &fault) < 0
		    ? command_fault(STATUS_RELEASED, &fault)
		    : run_box(&yard, &input, letter, file.config);
		yard_client_stop(&yard);
	}
	config_file_done(&file);
	return status;
}
