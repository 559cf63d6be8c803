/* SPDX-License-Identifier: ISC
 *
 * The operator's config.yaml, for the verbs that read it.
 */
#ifndef CLI_CONFIG_FILE_H
#define CLI_CONFIG_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "config/config.h"

struct config_file {
	char *bytes; /* owned */
	size_t n;
	struct config *config; /* owned */
};

/*
 * Reads and parses the file. needs_source: it must name a source; without,
 * a missing file is an empty one, and gives the defaults. -1 after the errors
 * were printed on stderr.
 */
int config_file_read(
    const char *path, bool needs_source, struct config_file *ret_file);

void config_file_done(struct config_file *file);

#endif
