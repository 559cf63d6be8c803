/* SPDX-License-Identifier: ISC
 *
 * Resource limits of a box. Runs in the child that becomes one. Without a
 * cgroup the bound of a box's memory is address space × processes: the filters
 * let only the driver fork, and a tool only make threads, so that in practice
 * it is init, driver and one tool.
 */
#include "yard/ration.h"

#include <sys/resource.h>

#include "confine/process.h"

/* The wall limit ends a box; this ends what the yard could not. */
#define CPU_SLACK_S 2

static rlim_t
file_bytes(const struct capability_config *capability)
{
	rlim_t output = LIMIT_OUTPUT_BYTES + LIMIT_OUTPUT_SLACK_BYTES;

	return capability->tmp_limit > output ? capability->tmp_limit : output;
}

int
ration_take(const struct capability_config *capability)
{
	const struct {
		__rlimit_resource_t resource;
		rlim_t value;
	} rations[] = {
		{ RLIMIT_CORE, 0 },
		{ RLIMIT_MEMLOCK, 0 },
		{ RLIMIT_MSGQUEUE, 0 },
		{ RLIMIT_NOFILE, LIMIT_BOX_FILES },
		{ RLIMIT_NPROC, LIMIT_BOX_PROCESSES },
		{ RLIMIT_SIGPENDING, LIMIT_BOX_SIGNALS },
		{ RLIMIT_STACK, LIMIT_BOX_STACK_BYTES },
		{ RLIMIT_AS, capability->memory_limit },
		{ RLIMIT_FSIZE, file_bytes(capability) },
		{ RLIMIT_CPU, capability->time_limit_ms / 1000 + CPU_SLACK_S },
	};
	int r = 0;

	for (size_t i = 0; i < sizeof(rations) / sizeof(rations[0]); i++) {
		if (r == 0)
			r = process_limit(
			    rations[i].resource, rations[i].value);
	}
	return r;
}
