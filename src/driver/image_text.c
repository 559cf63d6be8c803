/* SPDX-License-Identifier: ISC
 *
 * image.text: vips makes a PNG of the image, tesseract reads it. Runs in the
 * driver; the detour keeps hostile bytes from tesseract, which would take
 * them for a list of files, and bounds the pixels.
 */
#include <stdio.h>

#include "driver/image.h"
#include "driver/job.h"
#include "driver/magic.h"
#include "driver/ocr.h"
#include "driver/output.h"

/* The order of the capability table. */
enum {
	TOOL_VIPS,
	TOOL_TESSERACT
};

#define PICTURE "/tmp/picture.png"

/* Little compression: the file is read once and gone. */
#define PICTURE_OPTIONS "[strip,compression=1]"

static enum error_code
make_picture(const struct job *job, uint32_t *ret_width, uint32_t *ret_height)
{
	unsigned char bytes[32];
	char side[16];
	uint32_t width = 0;
	uint32_t height = 0;
	enum error_code error;
	ssize_t n;

	(void)snprintf(side, sizeof(side), "%d", LIMIT_PICTURE_SIDE);
	error = image_shrink(job, TOOL_VIPS, PICTURE PICTURE_OPTIONS, side);
	if (error != ERROR_NONE)
		return error;
	n = magic_read(PICTURE, bytes, sizeof(bytes));
	if (n < 0 || magic_png_size(bytes, (size_t)n, &width, &height) < 0)
		return ERROR_BAD_CONTENT;
	if (width == 0 || width > LIMIT_PICTURE_SIDE || height == 0 ||
	    height > LIMIT_PICTURE_SIDE)
		return ERROR_CRASHED;
	*ret_width = width;
	*ret_height = height;
	return ERROR_NONE;
}

static enum error_code
write_output(const struct job *job, const struct table *table, uint32_t width,
    uint32_t height)
{
	struct output output;

	output_init(&output, job->output, job->order->max_output);
	output_open(&output, '{');
	output_name(&output, "text");
	output_text(&output, table->text.text, table->text.n);
	output_name(&output, "confidence");
	output_tenths(&output, table_confidence(table));
	output_name(&output, "width");
	output_integer(&output, width);
	output_name(&output, "height");
	output_integer(&output, height);
	output_close(&output, '}');
	return output_finish(&output);
}

enum error_code
image_text(const struct job *job)
{
	const struct field *text =
	    capability_field(job->capability->output, "text");
	struct ocr ocr = { .tool = TOOL_TESSERACT,
		.image = PICTURE,
		.max_text = (size_t)text->max };
	struct table table;
	uint32_t width = 0;
	uint32_t height = 0;
	enum error_code error = image_check(JOB_FILE);

	if (error == ERROR_NONE)
		error = ocr_choose_languages(job, &ocr);
	if (error == ERROR_NONE)
		error = make_picture(job, &width, &height);
	if (error == ERROR_NONE)
		error = ocr_read(job, &ocr, &table);
	if (error != ERROR_NONE)
		return error;
	error = table.is_whole ? write_output(job, &table, width, height)
			       : ERROR_OUTPUT_TOO_LARGE;
	table_done(&table);
	return error;
}
