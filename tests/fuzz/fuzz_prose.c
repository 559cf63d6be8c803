/* SPDX-License-Identifier: ISC
 *
 * Text that tools printed: pages, a table of words, a title. What comes out
 * is UTF-8 without controls and within its max.
 * Input: how many bytes may come out (in 4), how many pages, the text.
 */
#include "base/limits.h"
#include "driver/pages.h"
#include "driver/table.h"
#include "fuzz.h"

static void
check_clean(const struct prose *prose)
{
	must(prose->n <= prose->size);
	must(text_is_utf8(prose->text, prose->n));
	for (size_t i = 0; i < prose->n; i++) {
		char c = prose->text[i];

		must((unsigned char)c >= 0x20 || c == '\n' || c == '\t');
	}
	must(prose_letters(prose->text, prose->n) <= prose->n);
}

static void
check_prose(const char *text, size_t n, size_t max)
{
	struct prose prose = { 0 };
	struct prose again = { 0 };
	bool is_whole = prose_add(&prose, text, n, max);

	must(prose.n <= max);
	check_clean(&prose);
	must(is_whole || prose.n + 4 > max);
	/* Clean text stays as it is. */
	must(prose_add(&again, prose.text, prose.n, max));
	must(again.n == prose.n &&
	    (prose.n == 0 || memcmp(again.text, prose.text, prose.n) == 0));
	prose_trim(&prose);
	must(prose.n == 0 || strchr("\n\t ", prose.text[prose.n - 1]) == NULL);
	prose_done(&prose);
	prose_done(&again);
}

static void
check_pages(const char *text, size_t n, uint32_t max, size_t max_bytes)
{
	struct pages pages;
	size_t bytes = 0;

	pages_split(text, n, max, max_bytes, &pages);
	must(pages.n <= max);
	for (uint32_t i = 0; i < pages.n; i++) {
		check_clean(&pages.list[i]);
		bytes += pages.list[i].n;
	}
	must(bytes == pages.bytes && bytes <= max_bytes);
	if (pages.n > 1) {
		pages_replace(&pages, 0, &pages.list[1]);
		must(pages.bytes <= max_bytes);
		check_clean(&pages.list[0]);
	}
	pages_done(&pages);
}

static void
check_document(const char *text, size_t n)
{
	struct document document;
	size_t characters = 0;

	if (document_read(text, n, &document) == 0)
		must(document.pages >= 0 && document.pages <= 10000000);
	check_clean(&document.title);
	for (size_t i = 0; i < document.title.n; i++)
		characters +=
		    ((unsigned char)document.title.text[i] & 0xC0) != 0x80;
	must(characters <= LIMIT_TITLE_CHARACTERS);
	document_done(&document);
}

static void
check_table(const char *tsv, size_t max)
{
	struct table table;

	table_read(tsv, max, &table);
	check_clean(&table.text);
	must(table.text.n <= max);
	must(table_confidence(&table) >= 0 && table_confidence(&table) <= 1000);
	must(table.words > 0 || table.text.n == 0);
	table_done(&table);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	size_t max = (size_t)4 * fuzz_byte(&bytes, &n);
	uint32_t pages = 1u + fuzz_byte(&bytes, &n) % 16;
	cleanup_free char *text = fuzz_text(bytes, n);

	check_prose((const char *)bytes, n, max);
	check_pages((const char *)bytes, n, pages, max);
	check_document((const char *)bytes, n);
	check_table(text, max);
	return 0;
}
