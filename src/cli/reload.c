/* SPDX-License-Identifier: ISC
 *
 * sandcastle reload: SIGHUP to the running supervisor.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/cleanup.h"
#include "cli/command.h"
#include "cli/config_file.h"
#include "cli/instance.h"

static int
signal_instance(const char *lock, pid_t *ret_pid, struct fault *fault)
{
	struct instance instance = { .pidfd = -1 };
	cleanup_fd int pidfd = -1;
	int r = instance_find(lock, &instance, fault);

	if (r < 0)
		return -1;
	if (r == 0)
		return fault_set(fault, FAULT_SYSTEM,
		    "no sandcastle is running here (nobody holds %s)", lock);
	pidfd = instance.pidfd;
	*ret_pid = instance.pid;
	if (syscall(SYS_pidfd_send_signal, pidfd, SIGHUP, NULL, 0u) == 0)
		return 0;
	return fault_set(fault, FAULT_SYSTEM, "cannot signal process %d: %s",
	    (int)instance.pid, strerror(errno));
}

int
reload_run(const struct call *call)
{
	struct config_file file;
	struct fault fault = { 0 };
	pid_t pid = 0;

	if (command_takes_nothing(call) != 0)
		return STATUS_USAGE;
	if (signal_instance(call->paths.lock, &pid, &fault) < 0)
		return command_fault(STATUS_FAILED, &fault);
	/* It reads the file for itself; here only for the operator to see. */
	if (config_file_read(call->paths.config, true, &file) < 0)
		return command_fail(
		    STATUS_FAILED, "nothing changes: the config has errors");
	config_file_done(&file);
	(void)printf("process %d was told to read %s again; its log says "
		     "what came of it\n",
	    (int)pid, call->paths.config);
	return 0;
}
