/* SPDX-License-Identifier: ISC
 *
 * poppler's tools. Runs in the driver; the document is hostile, and what the
 * tools say of it is believed as far as it does no harm.
 */
#include "driver/pdf.h"

#include <fcntl.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "driver/magic.h"

#define INFO_BYTES (256u * 1024)

enum error_code
pdf_judge(const struct run *run)
{
	if (run->is_cut || run->status == 0)
		return ERROR_NONE;
	return run_has_note(run, "Incorrect password") ? ERROR_ENCRYPTED
						       : ERROR_BAD_CONTENT;
}

enum error_code
pdf_read(
    const struct job *job, unsigned int tool, struct document *ret_document)
{
	static const char *const arguments[] = { "pdfinfo", "-enc", "UTF-8",
		"-isodates", JOB_FILE, NULL };
	struct run run = { .tool = tool,
		.arguments = arguments,
		.file = -1,
		.max_output = INFO_BYTES };
	enum error_code error;

	*ret_document = (struct document){ 0 };
	if (magic_of_file(JOB_FILE) != MAGIC_PDF)
		return ERROR_BAD_CONTENT;
	error = run_tool(job, &run);
	if (error == ERROR_NONE)
		error = pdf_judge(&run);
	if (error == ERROR_NONE && document_read(run.text, run.n, ret_document))
		error = ERROR_BAD_CONTENT;
	run_done(&run);
	return error;
}

/* The side is given in pixels: of a resolution, a page of 200000 points would
 * make a picture that no memory holds. */
enum error_code
pdf_draw(const struct job *job, struct drawing *drawing)
{
	char page[24];
	char side[24];
	const char *const arguments[] = { "pdftoppm", "-q", drawing->format,
		"-scale-to", side, "-f", page, "-l", page, "-singlefile",
		JOB_FILE, NULL };
	struct run run = { .tool = drawing->tool,
		.arguments = arguments,
		.max_output = drawing->max };
	cleanup_fd int file = open(drawing->path,
	    O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	enum error_code error;

	if (file < 0)
		return ERROR_TOO_HEAVY;
	(void)snprintf(page, sizeof(page), "%lld", (long long)drawing->page);
	(void)snprintf(side, sizeof(side), "%lld", (long long)drawing->side);
	run.file = file;
	error = run_tool(job, &run);
	if (error == ERROR_NONE)
		error = pdf_judge(&run);
	if (error == ERROR_NONE && run.is_cut)
		error = ERROR_OUTPUT_TOO_LARGE;
	drawing->n = run.n;
	return error;
}
