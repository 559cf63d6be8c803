/* SPDX-License-Identifier: ISC
 *
 * What a yard lacks, for people. Runs in the command.
 */
#include "cli/trouble.h"

#include <stdio.h>
#include <string.h>

static void
put_missing(const struct yard_answer *listed, uint32_t capability,
    const struct capability_config *settings, char to[300])
{
	const struct capability *c = capability_at(capability);

	(void)snprintf(
	    to, 300, "%s: a program or file it needs is missing", c->name);
	for (uint32_t i = 0; i < LIMIT_TOOLS; i++) {
		size_t used = strlen(to);

		if (c->tools[i].name == NULL)
			break;
		if ((listed->missing[capability] & capability_needs(c) &
			1u << i) != 0)
			(void)snprintf(to + used, 300 - used,
			    "; no %s (apt install %s, or set program:)",
			    settings->program[i], c->tools[i].package);
	}
}

static void
put_walls(const struct yard_answer *listed, const char *name, char to[300])
{
	(void)snprintf(to, 300, "%s: a box here would lack", name);
	for (uint32_t i = 0; i < WALL_COUNT; i++) {
		size_t used = strlen(to);

		if ((listed->walls & 1u << i) == 0)
			(void)snprintf(to + used, 300 - used, "%s %s",
			    used > 0 && to[used - 1] != 'k' ? "," : "",
			    yard_wall_text(i));
	}
	if (listed->test_error != 0) {
		size_t used = strlen(to);

		(void)snprintf(to + used, 300 - used, " (%s)",
		    strerror((int)listed->test_error));
	}
}

bool
trouble_of_capability(const struct yard_answer *listed, uint32_t capability,
    const struct capability_config *settings, char to[300])
{
	const char *name = capability_at(capability)->name;

	switch ((enum yard_usable)listed->usable[capability]) {
	case YARD_USABLE:
		return false;
	case YARD_OFF:
		(void)snprintf(
		    to, 300, "%s: turned off (enabled: false)", name);
		return true;
	case YARD_NO_PROGRAM:
		put_missing(listed, capability, settings, to);
		return true;
	case YARD_NO_WALLS:
	case YARD_UNUSABLE_COUNT:
		break;
	}
	put_walls(listed, name, to);
	return true;
}
