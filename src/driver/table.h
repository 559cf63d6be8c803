/* SPDX-License-Identifier: ISC
 *
 * The table of words that tesseract writes (TSV), read back into text.
 */
#ifndef DRIVER_TABLE_H
#define DRIVER_TABLE_H

#include <stdint.h>

#include "driver/prose.h"

struct table {
	struct prose text; /* lines; an empty one between paragraphs */
	size_t words;
	int64_t confidence; /* tenths of a percent, all words together */
	bool is_whole; /* all text fitted into max */
};

/* Reads a terminated TSV. Lines that are no row of a word are passed over.
 * ret_table is the caller's (table_done). */
void table_read(const char *tsv, size_t max, struct table *ret_table);

/* Mean confidence in tenths, 0 to 1000; 0 when there are no words. */
int64_t table_confidence(const struct table *table);

void table_done(struct table *table);

#endif
