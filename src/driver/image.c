/* SPDX-License-Identifier: ISC
 *
 * The guarded way to vips. Runs in the driver; the image is hostile.
 */
#include "driver/image.h"

#include <string.h>

#include "driver/magic.h"
#include "driver/run.h"

enum error_code
image_check(const char *path)
{
	enum magic magic = magic_of_file(path);

	if (magic == MAGIC_UNKNOWN)
		return ERROR_BAD_CONTENT;
	return magic_is_image(magic) ? ERROR_NONE : ERROR_UNSUPPORTED_TYPE;
}

enum error_code
image_shrink(const struct job *job, unsigned int tool, const char *target,
    const char *side)
{
	const char *const arguments[] = { "vips", "thumbnail", JOB_FILE, target,
		side, "--height", side, "--size", "down", "--fail-on",
		"truncated", "--export-profile", "srgb", NULL };
	struct run run = { .tool = tool,
		.arguments = arguments,
		.file = -1,
		.max_output = 4096 };
	enum error_code error = run_tool(job, &run);

	if (error == ERROR_NONE && run.status != 0)
		error = ERROR_BAD_CONTENT;
	run_done(&run);
	return error;
}

/* A number of 1 to 9 digits; at its end in *text. */
static int
parse_side(const char **text, uint32_t *ret_side)
{
	size_t n = strspn(*text, "0123456789");
	uint32_t side = 0;

	if (n == 0 || n > 9)
		return -1;
	for (size_t i = 0; i < n; i++)
		side = side * 10 + (uint32_t)((*text)[i] - '0');
	*text += n;
	*ret_side = side;
	return side == 0 ? -1 : 0;
}

int
image_size_parse(const char *line, uint32_t *ret_width, uint32_t *ret_height)
{
	size_t name = strcspn(line, ":\n");
	uint32_t width;
	uint32_t height;

	if (line[name] != ':' || line[name + 1] != ' ')
		return -1;
	line += name + 2;
	if (parse_side(&line, &width) < 0 || *line++ != 'x' ||
	    parse_side(&line, &height) < 0 || *line != ' ')
		return -1;
	*ret_width = width;
	*ret_height = height;
	return 0;
}
