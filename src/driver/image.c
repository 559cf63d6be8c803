/* SPDX-License-Identifier: ISC
 *
 * The guarded way to vips. Runs in the driver; the image is hostile.
 */
#include "driver/image.h"

#include <fcntl.h>
#include <string.h>

#include "base/cleanup.h"
#include "driver/heif.h"
#include "driver/magic.h"
#include "driver/run.h"
#include "driver/tiff.h"

/* Where an image may bring pictures that are not it. */
static enum error_code
leave_one(const char *path, int (*make)(int file))
{
	cleanup_fd int file = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);

	if (file < 0)
		return ERROR_CRASHED;
	return make(file) < 0 ? ERROR_BAD_CONTENT : ERROR_NONE;
}

enum error_code
image_check(const char *path)
{
	enum magic magic = magic_of_file(path);

	if (magic == MAGIC_UNKNOWN)
		return ERROR_BAD_CONTENT;
	if (magic == MAGIC_TIFF)
		return leave_one(path, tiff_keep_first);
	if (magic == MAGIC_HEIF)
		return leave_one(path, heif_untie_thumbnails);
	return magic_is_image(magic) ? ERROR_NONE : ERROR_UNSUPPORTED_TYPE;
}

/* arguments: what vips is told besides; NULL at its end. Many programs leave
 * the profile of its colours in a picture that they made grey. */
static enum error_code
shrink(const struct job *job, unsigned int tool, const char *const *arguments,
    bool *ret_has_misfit)
{
	struct run run = { .tool = tool,
		.arguments = arguments,
		.file = -1,
		.max_output = 4096 };
	enum error_code error = run_tool(job, &run);

	if (error == ERROR_NONE && run.status != 0)
		error = ERROR_BAD_CONTENT;
	*ret_has_misfit = error == ERROR_BAD_CONTENT &&
	    run_has_note(&run, "compatible input profile");
	run_done(&run);
	return error;
}

enum error_code
image_shrink(const struct job *job, unsigned int tool, const char *target,
    const char *side)
{
	const char *arguments[] = { "vips", "thumbnail", JOB_FILE, target, side,
		"--height", side, "--size", "down", "--fail-on", "truncated",
		"--export-profile", "srgb", NULL };
	const size_t n = sizeof(arguments) / sizeof(arguments[0]);
	bool has_misfit;
	enum error_code error = shrink(job, tool, arguments, &has_misfit);

	if (!has_misfit)
		return error;
	arguments[n - 3] = NULL;
	return shrink(job, tool, arguments, &has_misfit);
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
