/* SPDX-License-Identifier: ISC
 *
 * The way to poppler, which document.text and document.preview share.
 */
#ifndef DRIVER_PDF_H
#define DRIVER_PDF_H

#include "driver/job.h"
#include "driver/pages.h"
#include "driver/run.h"

/* What the end of one of poppler's tools means: ERROR_NONE (or it was cut),
 * ERROR_ENCRYPTED or ERROR_BAD_CONTENT. */
enum error_code pdf_judge(const struct run *run);

/*
 * Looks at the first bytes of JOB_FILE, then asks pdfinfo (the tool of that
 * index). ret_document is the caller's (document_done) whatever this gives.
 */
enum error_code pdf_read(
    const struct job *job, unsigned int tool, struct document *ret_document);

struct drawing {
	unsigned int tool; /* index of pdftoppm */
	const char *format; /* its option: "-gray", "-png", "-jpeg" */
	int64_t page; /* from 1 */
	int64_t side; /* of the longer side, pixels */
	const char *path; /* file to make */
	size_t max; /* bytes of it; more is ERROR_OUTPUT_TOO_LARGE */

	size_t n; /* bytes of it, filled by pdf_draw */
};

/* Has a page drawn. Whether it is a picture is for the caller to see. */
enum error_code pdf_draw(const struct job *job, struct drawing *drawing);

#endif
