/* SPDX-License-Identifier: ISC
 *
 * document.text: the text of a PDF, page by page; pages without text are read
 * by OCR when the job asks for it. Other types are one page, by pandoc. Runs
 * in the driver, on their word for what a hostile document holds.
 */
#include <stdio.h>
#include <string.h>

#include "driver/job.h"
#include "driver/magic.h"
#include "driver/markup.h"
#include "driver/ocr.h"
#include "driver/output.h"
#include "driver/pages.h"
#include "driver/pdf.h"
#include "driver/run.h"

/* The order of the capability table. */
enum {
	TOOL_PDFTOTEXT,
	TOOL_PDFINFO,
	TOOL_PDFTOPPM,
	TOOL_TESSERACT,
	TOOL_PANDOC
};

#define PICTURE "/tmp/page.pgm"

/* With the PGM's header. */
#define PICTURE_BYTES (LIMIT_PAGE_SIDE * LIMIT_PAGE_SIDE + 32)

struct text {
	struct document document;
	struct pages pages;
	uint32_t ocr_pages[LIMIT_OCR_PAGES];
	uint32_t n_ocr_pages;
	bool is_cut; /* pages or text were left out */
};

static enum error_code
read_pages(const struct job *job, struct text *text)
{
	int64_t max_pages = shape_value(&job->shape, "max_pages")->number;
	size_t max_text =
	    (size_t)capability_field(job->capability->output, "pages")->max;
	char last[24];
	const char *const arguments[] = { "pdftotext", "-q", "-enc", "UTF-8",
		"-l", last, JOB_FILE, "-", NULL };
	struct run run = { .tool = TOOL_PDFTOTEXT,
		.arguments = arguments,
		.file = -1,
		.max_output = max_text };
	enum error_code error;

	(void)snprintf(last, sizeof(last), "%lld", (long long)max_pages);
	error = run_tool(job, &run);
	if (error == ERROR_NONE)
		error = pdf_judge(&run);
	if (error == ERROR_NONE)
		pages_split(run.text, run.n, (uint32_t)max_pages, max_text,
		    &text->pages);
	text->is_cut = run.is_cut || !text->pages.is_whole ||
	    text->document.pages > max_pages;
	run_done(&run);
	return error;
}

/* Page numbers begin at 1. */
static enum error_code
draw_page(const struct job *job, uint32_t number)
{
	struct drawing drawing = { .tool = TOOL_PDFTOPPM,
		.format = "-gray",
		.page = number,
		.side = LIMIT_PAGE_SIDE,
		.path = PICTURE,
		.max = PICTURE_BYTES };
	enum error_code error = pdf_draw(job, &drawing);
	unsigned char head[32];
	ssize_t n;

	if (error != ERROR_NONE)
		return error;
	n = magic_read(PICTURE, head, sizeof(head));
	return n > 0 && magic_is_whole_pgm(head, (size_t)n, drawing.n)
	    ? ERROR_NONE
	    : ERROR_BAD_CONTENT;
}

/* A page that cannot be drawn or read keeps the little text it has: the other
 * pages are worth having. */
static enum error_code
read_picture(const struct job *job, const struct ocr *ocr, struct text *text,
    uint32_t index)
{
	struct pages *pages = &text->pages;
	struct table table;
	enum error_code error = draw_page(job, index + 1);

	if (error == ERROR_NONE)
		error = ocr_read(job, ocr, &table);
	if (error != ERROR_NONE)
		return error == ERROR_BAD_CONTENT ? ERROR_NONE : error;
	if (prose_letters(table.text.text, table.text.n) >
	    prose_letters(pages->list[index].text, pages->list[index].n))
		pages_replace(pages, index, &table.text);
	if (!table.is_whole || !pages->is_whole)
		text->is_cut = true;
	text->ocr_pages[text->n_ocr_pages++] = index + 1;
	table_done(&table);
	return ERROR_NONE;
}

static enum error_code
read_pictures(const struct job *job, struct text *text)
{
	struct ocr ocr = { .tool = TOOL_TESSERACT,
		.image = PICTURE,
		.max_text = text->pages.max_bytes };
	enum error_code error = ocr_choose_languages(job, &ocr);
	uint32_t tries = 0;

	for (uint32_t i = 0; i < text->pages.n && error == ERROR_NONE; i++) {
		const struct prose *page = &text->pages.list[i];

		if (prose_letters(page->text, page->n) >= LIMIT_PAGE_LETTERS)
			continue;
		if (tries++ == LIMIT_OCR_PAGES) {
			text->is_cut = true;
			break;
		}
		error = read_picture(job, &ocr, text, i);
	}
	return error;
}

static void
write_lists(struct output *output, const struct text *text)
{
	output_name(output, "pages");
	output_open(output, '[');
	for (uint32_t i = 0; i < text->pages.n; i++)
		output_text(
		    output, text->pages.list[i].text, text->pages.list[i].n);
	output_close(output, ']');
	output_name(output, "ocr_pages");
	output_open(output, '[');
	for (uint32_t i = 0; i < text->n_ocr_pages; i++)
		output_integer(output, text->ocr_pages[i]);
	output_close(output, ']');
}

static enum error_code
write_output(const struct job *job, const struct text *text)
{
	const struct prose *title = &text->document.title;
	struct output output;

	output_init(&output, job->output, job->order->max_output);
	output_open(&output, '{');
	write_lists(&output, text);
	output_name(&output, "page_count");
	output_integer(&output, text->document.pages);
	output_name(&output, "title");
	if (title->n == 0)
		output_null(&output);
	else
		output_text(&output, title->text, title->n);
	output_name(&output, "truncated");
	output_boolean(&output, text->is_cut);
	output_close(&output, '}');
	return output_finish(&output);
}

static enum error_code
read_pdf(const struct job *job, struct text *text)
{
	bool wants_ocr = shape_value(&job->shape, "ocr")->number != 0;
	enum error_code error = pdf_read(job, TOOL_PDFINFO, &text->document);

	if (error == ERROR_NONE)
		error = read_pages(job, text);
	if (error == ERROR_NONE && wants_ocr)
		error = read_pictures(job, text);
	return error;
}

static enum error_code
read_markup(const struct job *job, const char *type, struct text *text)
{
	enum error_code error =
	    markup_read(job, TOOL_PANDOC, type, &text->document, &text->pages);

	text->is_cut = !text->pages.is_whole;
	return error;
}

enum error_code
document_text(const struct job *job)
{
	struct text text = { 0 };
	int64_t choice = shape_value(&job->shape, "type")->number;
	const char *type =
	    capability_field(job->capability->input, "type")->choices[choice];
	enum error_code error = strcmp(type, "pdf") == 0
	    ? read_pdf(job, &text)
	    : read_markup(job, type, &text);

	if (error == ERROR_NONE)
		error = write_output(job, &text);
	pages_done(&text.pages);
	document_done(&text.document);
	return error;
}
