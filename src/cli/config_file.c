/* SPDX-License-Identifier: ISC
 *
 * Reading config.yaml in the command, and printing all that is wrong with it.
 */
#include "cli/config_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/paths.h"
#include "cli/command.h"

static int
slurp(const char *path, bool needs_source, struct config_file *file)
{
	struct fault fault = { 0 };
	int r;

	if (paths_check_config(path, &fault) < 0)
		return command_fault(-1, &fault);
	r = file_slurp(
	    AT_FDCWD, path, LIMIT_CONFIG_BYTES, &file->bytes, &file->n);
	if (r == 0)
		return 0;
	if (r == -ENOENT && !needs_source) {
		file->bytes = memory_text("");
		return 0;
	}
	if (r == -EFBIG)
		return command_fail(
		    -1, "%s: longer than %d bytes", path, LIMIT_CONFIG_BYTES);
	return command_fail(-1, "%s: cannot read: %s%s", path, strerror(-r),
	    r == -ENOENT ? " (sandcastle init makes a first one)" : "");
}

static void
print_errors(const struct config_errors *errors)
{
	for (size_t i = 0; i < errors->n_lines; i++)
		(void)fprintf(stderr, "%s\n", errors->lines[i]);
	if (errors->n > errors->n_lines)
		(void)fprintf(
		    stderr, "and %zu more\n", errors->n - errors->n_lines);
}

int
config_file_read(
    const char *path, bool needs_source, struct config_file *ret_file)
{
	struct config_file file = { 0 };
	struct config_errors errors;
	int r;

	if (slurp(path, needs_source, &file) < 0)
		return -1;
	r = needs_source
	    ? config_parse(file.bytes, file.n, path, &file.config, &errors)
	    : config_parse_for_boxes(
		  file.bytes, file.n, path, &file.config, &errors);
	if (r < 0) {
		print_errors(&errors);
		free(file.bytes);
		return -1;
	}
	*ret_file = file;
	return 0;
}

void
config_file_done(struct config_file *file)
{
	free(file->bytes);
	config_free(file->config);
	*file = (struct config_file){ 0 };
}
