/* SPDX-License-Identifier: ISC
 *
 * The config as the supervisor hands it out, in keep, yard and core. That it
 * is sealed is what makes three readings of it one.
 */
#include "config/config.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/memory.h"

int
config_read(
    int fd, bool is_for_boxes, struct config **ret_config, struct fault *fault)
{
	cleanup_free struct config_errors *errors =
	    memory_new(1, sizeof(*errors));
	cleanup_free char *bytes = memory_new(LIMIT_CONFIG_BYTES + 1, 1);
	ssize_t n = file_sealed_size(fd, LIMIT_CONFIG_BYTES);
	int r;

	if (n >= 0)
		n = file_pread_all(fd, bytes, (size_t)n, 0);
	if (n < 0)
		return fault_set(fault, FAULT_PEER,
		    "config.yaml: cannot be read: %s", strerror((int)-n));
	r = (is_for_boxes ? config_parse_for_boxes : config_parse)(
	    bytes, (size_t)n, "config.yaml", ret_config, errors);
	return r == 0 ? 0
		      : fault_set(fault, FAULT_CONFIG, "%s", errors->lines[0]);
}
