/* SPDX-License-Identifier: ISC
 *
 * sandcastle secret: becomes the keep's own tool. This process never sees a
 * token.
 */
#include <string.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/keep_command.h"

int
secret_run(const struct call *call)
{
	static const char *const verbs[] = { "set", "check", "rm" };
	const char *verb = call->argc > 1 ? call->argv[1] : "";
	const char *name = call->argc > 2 ? call->argv[2] : NULL;
	struct fault fault = { 0 };
	bool is_known = strcmp(verb, "list") == 0 && call->argc == 2;

	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (strcmp(verb, verbs[i]) == 0 && call->argc == 3)
			is_known = true;
	}
	if (!is_known)
		return command_misused(call);
	if (name != NULL && !text_is_name(name))
		return command_fail(STATUS_USAGE,
		    "%s is not a name for a secret: 1 to 64 of a-z, 0-9, _ "
		    "and -, a letter or digit first",
		    name);
	(void)keep_command_become(&call->paths, verb, name, &fault);
	return command_fault(STATUS_FAILED, &fault);
}
