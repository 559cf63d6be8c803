/* SPDX-License-Identifier: ISC
 *
 * Reads an image that we made by tesseract.
 */
#ifndef DRIVER_OCR_H
#define DRIVER_OCR_H

#include "driver/job.h"
#include "driver/table.h"

struct ocr {
	unsigned int tool; /* index of tesseract */
	const char *image; /* file */
	size_t max_text; /* bytes */
	char languages[FIELD_LANGUAGES_N * 16]; /* "eng+deu" */
};

/*
 * Fills ocr->languages from the job's (default: eng). Each must be allowed by
 * the operator and stand in the box: tesseract itself passes over a language
 * it does not find. ERROR_NONE or ERROR_UNSUPPORTED_LANGUAGE.
 */
enum error_code ocr_choose_languages(const struct job *job, struct ocr *ocr);

/*
 * The image must be one that another tool made and we looked at: given
 * anything else, tesseract takes it for a list of files to open. ret_table is
 * the caller's (table_done) when this gives ERROR_NONE.
 */
enum error_code ocr_read(
    const struct job *job, const struct ocr *ocr, struct table *ret_table);

#endif
