/* SPDX-License-Identifier: ISC
 *
 * document.preview: poppler draws a page of a PDF. Runs in the driver; what
 * leaves here of a hostile document is pixels and a number.
 */
#include <fcntl.h>
#include <string.h>

#include "base/cleanup.h"
#include "driver/job.h"
#include "driver/output.h"
#include "driver/pdf.h"
#include "driver/picture.h"

/* The order of the capability table. */
enum {
	TOOL_PDFINFO,
	TOOL_PDFTOPPM
};

struct format {
	const char *name; /* the word of the contract */
	const char *option;
	enum magic magic;
};

static const struct format formats[] = {
	{ "jpeg", "-jpeg", MAGIC_JPEG },
	{ "png", "-png", MAGIC_PNG },
};

#define PICTURE "/tmp/page"

static enum error_code
write_output(const struct job *job, const struct picture *picture,
    const struct format *format, int64_t pages, int file)
{
	struct output output;

	output_init(&output, job->output, job->order->max_output);
	output_open(&output, '{');
	output_name(&output, "data");
	output_base64(&output, file);
	output_name(&output, "format");
	output_text(&output, format->name, strlen(format->name));
	output_name(&output, "width");
	output_integer(&output, picture->width);
	output_name(&output, "height");
	output_integer(&output, picture->height);
	output_name(&output, "page_count");
	output_integer(&output, pages);
	output_close(&output, '}');
	return output_finish(&output);
}

static enum error_code
draw(const struct job *job, int64_t pages)
{
	const struct format *format =
	    &formats[shape_value(&job->shape, "format")->number];
	int64_t max = capability_field(job->capability->output, "data")->max;
	struct drawing drawing = { .tool = TOOL_PDFTOPPM,
		.format = format->option,
		.page = shape_value(&job->shape, "page")->number,
		.side = shape_value(&job->shape, "size")->number,
		.path = PICTURE,
		.max = (size_t)max };
	struct picture picture = {
		.magic = format->magic, .side = drawing.side, .max = max
	};
	cleanup_fd int file = -1;
	enum error_code error;

	if (drawing.page > pages)
		return ERROR_NO_SUCH_PAGE;
	error = pdf_draw(job, &drawing);
	if (error != ERROR_NONE)
		return error;
	file = open(PICTURE, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	error = file < 0 ? ERROR_CRASHED : picture_check(file, &picture);
	return error == ERROR_NONE
	    ? write_output(job, &picture, format, pages, file)
	    : error;
}

enum error_code
document_preview(const struct job *job)
{
	struct document document;
	enum error_code error = pdf_read(job, TOOL_PDFINFO, &document);

	if (error == ERROR_NONE)
		error = draw(job, document.pages);
	document_done(&document);
	return error;
}
