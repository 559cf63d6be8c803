/* SPDX-License-Identifier: ISC
 *
 * From tesseract's rows of words to text with its lines and paragraphs. Runs
 * in the driver; the rows come out of a tool that saw hostile pixels.
 */
#include "driver/table.h"

#include <string.h>

/* level page block paragraph line word left top width height conf text */
#define COLUMNS	   12
#define LEVEL_WORD 5

enum {
	COLUMN_BLOCK = 2,
	COLUMN_PARAGRAPH,
	COLUMN_LINE,
	COLUMN_CONF = 10,
	COLUMN_TEXT
};

struct row {
	int64_t columns[COLUMNS - 1];
	const char *text;
	size_t n;
};

/* A number in tenths: "95", "95.4", "95.38", "-1". */
static int
parse_tenths(const char *text, size_t n, int64_t *ret_value)
{
	int64_t value = 0;
	size_t i = 0;
	bool is_negative = n > 0 && text[0] == '-';

	i += is_negative;
	if (i == n)
		return -1;
	for (; i < n && text[i] >= '0' && text[i] <= '9'; i++) {
		if (value > 100000000)
			return -1;
		value = value * 10 + (text[i] - '0');
	}
	value *= 10;
	if (i + 1 < n && text[i] == '.' && text[i + 1] >= '0' &&
	    text[i + 1] <= '9')
		value += text[i + 1] - '0';
	else if (i < n)
		return -1;
	*ret_value = is_negative ? -value : value;
	return 0;
}

/* -1 when this line is not twelve columns, eleven of them numbers. */
static int
parse_row(const char *line, size_t n, struct row *ret_row)
{
	const char *end = line + n;

	for (size_t i = 0; i < COLUMNS - 1; i++) {
		const char *tab = memchr(line, '\t', (size_t)(end - line));

		if (tab == NULL ||
		    parse_tenths(
			line, (size_t)(tab - line), &ret_row->columns[i]) < 0)
			return -1;
		line = tab + 1;
	}
	ret_row->text = line;
	ret_row->n = (size_t)(end - line);
	return 0;
}

static bool
is_same(const struct row *a, const struct row *b, size_t last)
{
	for (size_t i = 1; i <= last; i++) {
		if (a->columns[i] != b->columns[i])
			return false;
	}
	return true;
}

static const char *
gap_between(
    const struct table *table, const struct row *last, const struct row *row)
{
	if (table->words == 0)
		return "";
	if (!is_same(last, row, COLUMN_PARAGRAPH))
		return "\n\n";
	return is_same(last, row, COLUMN_LINE) ? " " : "\n";
}

static void
add_word(struct table *table, const struct row *last, const struct row *row,
    size_t max)
{
	const char *gap = gap_between(table, last, row);
	int64_t conf = row->columns[COLUMN_CONF];

	if (!prose_add(&table->text, gap, strlen(gap), max) ||
	    !prose_add(&table->text, row->text, row->n, max))
		table->is_whole = false;
	table->words++;
	if (conf > 0)
		table->confidence += conf > 1000 ? 1000 : conf;
}

static bool
is_word(const struct row *row)
{
	return row->columns[0] == LEVEL_WORD * 10 &&
	    strspn(row->text, " \r") < row->n;
}

void
table_read(const char *tsv, size_t max, struct table *ret_table)
{
	struct table table = { .is_whole = true };
	struct row last = { 0 };

	while (*tsv != '\0' && table.is_whole) {
		size_t n = strcspn(tsv, "\n");
		struct row row;

		if (parse_row(tsv, n, &row) == 0 && is_word(&row)) {
			add_word(&table, &last, &row, max);
			last = row;
		}
		tsv += n + (tsv[n] == '\n');
	}
	*ret_table = table;
}

int64_t
table_confidence(const struct table *table)
{
	return table->words == 0 ? 0
				 : table->confidence / (int64_t)table->words;
}

void
table_done(struct table *table)
{
	prose_done(&table->text);
}
