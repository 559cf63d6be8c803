/* SPDX-License-Identifier: ISC
 *
 * Reads what poppler's tools and pandoc print. Runs in the driver; a hostile
 * document chooses much of it, so nothing here depends on its being sensible.
 */
#include "driver/pages.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/memory.h"

/* Counts above are lies: such a file could not be sent. */
#define PAGES_MAX 10000000

static const char *
value_of(const char *line, size_t n, const char *name, size_t *ret_n)
{
	size_t used = strlen(name);

	if (n < used || memcmp(line, name, used) != 0)
		return NULL;
	while (used < n && line[used] == ' ')
		used++;
	*ret_n = n - used;
	return line + used;
}

static int64_t
parse_count(const char *text, size_t n)
{
	int64_t count = 0;

	if (n == 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (text[i] < '0' || text[i] > '9')
			return -1;
		count = count * 10 + (text[i] - '0');
		if (count > PAGES_MAX)
			return -1;
	}
	return count;
}

/* Cut after so many characters. */
static void
set_title(struct prose *title, const char *text, size_t n)
{
	size_t characters = 0;
	size_t end = 0;

	prose_done(title);
	(void)prose_add(title, text, n, 4 * 4 * LIMIT_TITLE_CHARACTERS);
	prose_trim(title);
	while (end < title->n) {
		bool begins = ((unsigned char)title->text[end] & 0xC0) != 0x80;

		if (begins && characters++ == LIMIT_TITLE_CHARACTERS)
			break;
		end++;
	}
	title->n = end;
}

int
document_read(const char *info, size_t n, struct document *ret_document)
{
	struct document document = { .pages = -1 };
	const char *end = info + n;
	bool has_title = false;

	while (info < end) {
		const char *stop = memchr(info, '\n', (size_t)(end - info));
		size_t line = (size_t)((stop == NULL ? end : stop) - info);
		size_t m = 0;
		const char *value = value_of(info, line, "Title:", &m);

		if (value != NULL && !has_title) {
			set_title(&document.title, value, m);
			has_title = true;
		}
		/* The last: a title may hold a line of this form. */
		value = value_of(info, line, "Pages:", &m);
		if (value != NULL)
			document.pages = parse_count(value, m);
		info += line + 1;
	}
	*ret_document = document;
	return document.pages < 0 ? -1 : 0;
}

void
document_done(struct document *document)
{
	prose_done(&document->title);
}

static void
add_page(struct pages *pages, const char *text, size_t n)
{
	struct prose *page = &pages->list[pages->n++];

	if (!prose_add(page, text, n, pages->max_bytes - pages->bytes))
		pages->is_whole = false;
	prose_trim(page);
	pages->bytes += page->n;
}

void
pages_split(const char *text, size_t n, uint32_t max, size_t max_bytes,
    struct pages *ret_pages)
{
	struct pages pages = { .list = memory_new(max, sizeof(struct prose)),
		.max_bytes = max_bytes,
		.is_whole = true };

	while (n > 0 && pages.n < max) {
		const char *feed = memchr(text, '\f', n);
		size_t page = feed == NULL ? n : (size_t)(feed - text);

		add_page(&pages, text, page);
		page += feed != NULL;
		text += page;
		n -= page;
	}
	*ret_pages = pages;
}

void
document_split(const char *text, size_t n, size_t max_bytes,
    struct document *ret_document, struct pages *ret_pages)
{
	const char *feed = memchr(text, '\f', n);
	struct document document = { .pages = 1 };
	struct pages pages = { .list = memory_new(1, sizeof(struct prose)),
		.max_bytes = max_bytes,
		.is_whole = true };

	if (feed != NULL) {
		set_title(&document.title, text, (size_t)(feed - text));
		n -= (size_t)(feed + 1 - text);
		text = feed + 1;
	}
	/* Without a title the text begins with the lines that part them. */
	while (n > 0 && *text == '\n') {
		text++;
		n--;
	}
	add_page(&pages, text, n);
	*ret_document = document;
	*ret_pages = pages;
}

void
pages_replace(struct pages *pages, uint32_t index, const struct prose *text)
{
	struct prose *page = &pages->list[index];

	pages->bytes -= page->n;
	page->n = 0;
	if (!prose_add(
		page, text->text, text->n, pages->max_bytes - pages->bytes))
		pages->is_whole = false;
	pages->bytes += page->n;
}

void
pages_done(struct pages *pages)
{
	for (uint32_t i = 0; i < pages->n; i++)
		prose_done(&pages->list[i]);
	free(pages->list);
	*pages = (struct pages){ 0 };
}
