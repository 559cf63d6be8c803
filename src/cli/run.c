/* SPDX-License-Identifier: ISC
 *
 * sandcastle run: becomes the supervisor, once the config has no error.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/spawn.h"
#include "cli/command.h"
#include "cli/config_file.h"
#include "cli/places.h"

int
run_run(const struct call *call)
{
	const struct paths *p = &call->paths;
	struct config_file file;
	struct fault fault = { 0 };
	char path[768];

	if (command_takes_nothing(call) != 0)
		return STATUS_USAGE;
	if (config_file_read(p->config, true, &file) < 0)
		return STATUS_FAILED;
	config_file_done(&file);
	if (places_make_run(p, &fault) < 0)
		return command_fault(STATUS_FAILED, &fault);
	if (spawn_path("sandcastle-supervisor", path, sizeof(path)) < 0)
		return command_fail(
		    STATUS_FAILED, "cannot find sandcastle-supervisor");
	(void)execl(path, "sandcastle-supervisor", "--config", p->config,
	    "--core", p->core, "--keep", p->keep, "--lock", p->lock, "--run",
	    p->run, (char *)NULL);
	return command_fail(
	    STATUS_FAILED, "%s: cannot start: %s", path, strerror(errno));
}
