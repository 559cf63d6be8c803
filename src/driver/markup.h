/* SPDX-License-Identifier: ISC
 *
 * The documents that pandoc reads: DOCX, ODT, EPUB, RTF, HTML.
 */
#ifndef DRIVER_MARKUP_H
#define DRIVER_MARKUP_H

#include "driver/job.h"
#include "driver/pages.h"

/*
 * Has pandoc (the tool of that index) read JOB_FILE as the type of that name
 * in the contract, which its bytes must bear out. ERROR_NONE fills the document
 * and its text as one page, cut where a job's may end; both are the
 * caller's (document_done, pages_done).
 */
enum error_code markup_read(const struct job *job, unsigned int tool,
    const char *type, struct document *ret_document, struct pages *ret_pages);

#endif
