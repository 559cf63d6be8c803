/* SPDX-License-Identifier: ISC
 *
 * Text that a tool read out of hostile content, on its way into an output.
 */
#ifndef DRIVER_PROSE_H
#define DRIVER_PROSE_H

#include <stdbool.h>
#include <stddef.h>

/* Grows as text is added; zeroed is empty. */
struct prose {
	char *text; /* owned (prose_done); not terminated */
	size_t n;
	size_t size;
};

/*
 * Adds text: bytes that are no UTF-8 become U+FFFD, C0 controls other than
 * \n and \t go. False when max bytes in all were not enough; then what fits
 * is there, cut between characters.
 */
bool prose_add(struct prose *prose, const char *text, size_t n, size_t max);

/* Takes white space off the end. */
void prose_trim(struct prose *prose);

/* How many letters and digits are in valid UTF-8; for what lies outside
 * ASCII a rough guess that leaves out punctuation, symbols and private use. */
size_t prose_letters(const char *text, size_t n);

void prose_done(struct prose *prose);

#endif
