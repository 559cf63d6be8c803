/* SPDX-License-Identifier: ISC
 *
 * The pages of a document as they come out of pdfinfo and pdftotext, or all
 * at once out of pandoc, and as OCR fills them in.
 */
#ifndef DRIVER_PAGES_H
#define DRIVER_PAGES_H

#include <stdint.h>

#include "driver/prose.h"

/* What it tells of itself. */
struct document {
	struct prose title; /* n of 0: none */
	int64_t pages;
};

/* -1 when there is no count of pages, or none that can be true. ret_document
 * is the caller's (document_done) either way. */
int document_read(const char *info, size_t n, struct document *ret_document);

void document_done(struct document *document);

struct pages {
	struct prose *list; /* owned (pages_done) */
	uint32_t n;
	size_t bytes; /* of all pages together */
	size_t max_bytes;
	bool is_whole; /* every page has all of its text */
};

/*
 * Splits pdftotext's output at its form feeds into at most max pages of
 * together at most max_bytes. ret_pages is the caller's (pages_done).
 */
void pages_split(const char *text, size_t n, uint32_t max, size_t max_bytes,
    struct pages *ret_pages);

/*
 * Splits pandoc's output: a title up to the first form feed, and a page of at
 * most max_bytes. Both are the caller's (document_done, pages_done).
 */
void document_split(const char *text, size_t n, size_t max_bytes,
    struct document *ret_document, struct pages *ret_pages);

/* Puts other text in the place of a page's, cut when it does not fit. */
void pages_replace(
    struct pages *pages, uint32_t index, const struct prose *text);

void pages_done(struct pages *pages);

#endif
