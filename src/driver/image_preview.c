/* SPDX-License-Identifier: ISC
 *
 * image.preview: vips makes a small, upright copy without metadata. Runs in
 * the driver, which lets vips see only what its own look at the first bytes
 * allows, and looks at what vips made before it calls that a preview.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "driver/image.h"
#include "driver/job.h"
#include "driver/magic.h"
#include "driver/metadata.h"
#include "driver/output.h"
#include "driver/run.h"

/* The order of the capability table. */
enum {
	TOOL_VIPS,
	TOOL_VIPSHEADER
};

struct format {
	const char *name; /* the word of the contract */
	const char *file;
	const char *target; /* with the options of vips' writer */
	enum magic magic;
};

/* What is transparent becomes white in a JPEG; black would swallow the black
 * text of a transparent drawing. */
static const struct format formats[] = {
	{ "jpeg", "/tmp/out.jpg", "/tmp/out.jpg[Q=80,strip,background=255]",
	    MAGIC_JPEG },
	{ "webp", "/tmp/out.webp", "/tmp/out.webp[Q=80,strip]", MAGIC_WEBP },
	{ "png", "/tmp/out.png", "/tmp/out.png[strip]", MAGIC_PNG },
};

struct preview {
	const struct format *format;
	int64_t size; /* asked for */
	uint32_t width;
	uint32_t height;
	uint32_t source_width;
	uint32_t source_height;
};

static enum error_code
shrink(const struct job *job, const struct preview *preview)
{
	char side[24];

	(void)snprintf(side, sizeof(side), "%lld", (long long)preview->size);
	return image_shrink(job, TOOL_VIPS, preview->format->target, side);
}

static enum error_code
measure(const struct job *job, struct preview *preview)
{
	const char *const arguments[] = { "vipsheader", JOB_FILE,
		preview->format->file, NULL };
	struct run run = { .tool = TOOL_VIPSHEADER,
		.arguments = arguments,
		.file = -1,
		.max_output = 4096 };
	enum error_code error = run_tool(job, &run);
	const char *second;

	if (error != ERROR_NONE)
		goto out;
	error = ERROR_BAD_CONTENT;
	if (run.status != 0 || run.is_cut)
		goto out;
	second = strchr(run.text, '\n');
	if (second != NULL &&
	    image_size_parse(run.text, &preview->source_width,
		&preview->source_height) == 0 &&
	    image_size_parse(second + 1, &preview->width, &preview->height) ==
		0)
		error = ERROR_NONE;
out:
	run_done(&run);
	return error;
}

/* An exit status proves nothing: is it there, of the right type and size, and
 * nothing but a picture? */
static enum error_code
check(const struct preview *preview, int file, int64_t max)
{
	enum magic magic = preview->format->magic;
	struct stat st;

	if (fstat(file, &st) < 0 || st.st_size <= 0 ||
	    magic_of_file(preview->format->file) != magic)
		return ERROR_BAD_CONTENT;
	if (st.st_size > max)
		return ERROR_OUTPUT_TOO_LARGE;
	if (preview->width > preview->size || preview->height > preview->size)
		return ERROR_CRASHED;
	if (magic == MAGIC_WEBP && metadata_strip_webp(file) < 0)
		return ERROR_CRASHED;
	if (!metadata_is_absent(file, magic))
		return ERROR_CRASHED;
	return ERROR_NONE;
}

static enum error_code
write_output(const struct job *job, const struct preview *preview, int file)
{
	struct output output;

	output_init(&output, job->output, job->order->max_output);
	output_open(&output, '{');
	output_name(&output, "data");
	output_base64(&output, file);
	output_name(&output, "format");
	output_text(
	    &output, preview->format->name, strlen(preview->format->name));
	output_name(&output, "width");
	output_integer(&output, preview->width);
	output_name(&output, "height");
	output_integer(&output, preview->height);
	output_name(&output, "source_width");
	output_integer(&output, preview->source_width);
	output_name(&output, "source_height");
	output_integer(&output, preview->source_height);
	output_close(&output, '}');
	return output_finish(&output);
}

enum error_code
image_preview(const struct job *job)
{
	struct preview preview = {
		.format = &formats[shape_value(&job->shape, "format")->number],
		.size = shape_value(&job->shape, "size")->number,
	};
	int64_t max = capability_field(job->capability->output, "data")->max;
	cleanup_fd int file = -1;
	enum error_code error = image_check(JOB_FILE);

	if (error == ERROR_NONE)
		error = shrink(job, &preview);
	if (error == ERROR_NONE)
		error = measure(job, &preview);
	if (error != ERROR_NONE)
		return error;
	file = open(preview.format->file, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (file < 0)
		return ERROR_BAD_CONTENT;
	error = check(&preview, file, max);
	return error == ERROR_NONE ? write_output(job, &preview, file) : error;
}
