/* SPDX-License-Identifier: ISC
 *
 * tesseract and its languages. Runs in the driver; the job names languages,
 * and those are the only words of a job that ever reach an argv: the shape
 * checker let only [a-z_] through, and each is looked up in the operator's
 * list besides.
 */
#include "driver/ocr.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "driver/run.h"

#define TRAINED "/usr/share/tesseract-ocr/5/tessdata/%s.traineddata"

/* Rows of about eighty bytes a word; more than any page of real text. */
#define ROWS_BYTES (16u * 1024 * 1024)

static const char fallback[] = "eng";

static bool
is_allowed(const struct box_order *order, const char *language)
{
	for (uint32_t i = 0; i < order->n_languages; i++) {
		if (strcmp(order->languages[i], language) == 0)
			return true;
	}
	return false;
}

static bool
is_installed(const char *language)
{
	char path[128];
	int n = snprintf(path, sizeof(path), TRAINED, language);

	return n > 0 && (size_t)n < sizeof(path) && access(path, R_OK) == 0;
}

enum error_code
ocr_choose_languages(const struct job *job, struct ocr *ocr)
{
	const struct shape_value *asked = shape_value(&job->shape, "languages");
	uint32_t n = asked->n_languages == 0 ? 1 : asked->n_languages;
	size_t used = 0;

	for (uint32_t i = 0; i < n; i++) {
		const char *language =
		    asked->n_languages == 0 ? fallback : asked->languages[i];

		if (!is_allowed(job->order, language) ||
		    !is_installed(language))
			return ERROR_UNSUPPORTED_LANGUAGE;
		used += (size_t)snprintf(ocr->languages + used,
		    sizeof(ocr->languages) - used, "%s%s", i == 0 ? "" : "+",
		    language);
	}
	return ERROR_NONE;
}

enum error_code
ocr_read(const struct job *job, const struct ocr *ocr, struct table *ret_table)
{
	const char *const arguments[] = { "tesseract", ocr->image, "stdout",
		"-l", ocr->languages, "--psm", "3", "--dpi", "200", "-c",
		"tessedit_create_tsv=1", NULL };
	struct run run = { .tool = ocr->tool,
		.arguments = arguments,
		.file = -1,
		.max_output = ROWS_BYTES };
	enum error_code error = run_tool(job, &run);

	/* Without memory it may read nothing, and call that a success. */
	if (error == ERROR_NONE && run_is_heavy(&run))
		error = ERROR_TOO_HEAVY;
	else if (error == ERROR_NONE && run.is_cut)
		error = ERROR_OUTPUT_TOO_LARGE;
	else if (error == ERROR_NONE && run.status != 0)
		error = ERROR_BAD_CONTENT;
	if (error == ERROR_NONE)
		table_read(run.text, ocr->max_text, ret_table);
	run_done(&run);
	return error;
}
