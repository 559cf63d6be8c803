/* SPDX-License-Identifier: ISC
 *
 * Cleans text. Runs in the driver, on bytes that a tool made from hostile
 * content; what leaves here is UTF-8 without controls and of bounded size.
 */
#include "driver/prose.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

static const char replacement[] = "\xEF\xBF\xBD";

static void
make_room(struct prose *prose, size_t n)
{
	size_t size = prose->size == 0 ? 4096 : prose->size;

	if (prose->n + n <= prose->size)
		return;
	while (prose->n + n > size)
		size *= 2;
	prose->text = memory_resize(prose->text, size, 1);
	prose->size = size;
}

static bool
put(struct prose *prose, const char *bytes, size_t n, size_t max)
{
	if (prose->n + n > max)
		return false;
	make_room(prose, n);
	memcpy(prose->text + prose->n, bytes, n);
	prose->n += n;
	return true;
}

static bool
is_dropped(unsigned char c)
{
	return c < 0x20 && c != '\n' && c != '\t';
}

bool
prose_add(struct prose *prose, const char *text, size_t n, size_t max)
{
	for (size_t i = 0; i < n;) {
		const unsigned char *b = (const unsigned char *)text + i;
		size_t length = text_utf8_length(b, n - i);
		bool fits = true;

		if (length == 0)
			fits = put(prose, replacement, 3, max);
		else if (!is_dropped(*b))
			fits = put(prose, text + i, length, max);
		if (!fits)
			return false;
		i += length == 0 ? 1 : length;
	}
	return true;
}

void
prose_trim(struct prose *prose)
{
	while (prose->n > 0 &&
	    (prose->text[prose->n - 1] == '\n' ||
		prose->text[prose->n - 1] == '\t' ||
		prose->text[prose->n - 1] == ' '))
		prose->n--;
}

static bool
is_letter(const unsigned char *b, size_t length)
{
	if (length == 1)
		return (*b >= '0' && *b <= '9') || (*b >= 'A' && *b <= 'Z') ||
		    (*b >= 'a' && *b <= 'z');
	/* Two bytes: from U+00C0. Three: not U+2000 to U+2FFF (punctuation,
	 * symbols), U+3000 to U+303F, U+E000 to U+FFFF. */
	if (length == 2)
		return b[0] >= 0xC3;
	if (length == 3)
		return b[0] != 0xE2 && b[0] < 0xEE &&
		    (b[0] != 0xE3 || b[1] != 0x80);
	return b[0] != 0xF0 || b[1] != 0x9F; /* emoji */
}

size_t
prose_letters(const char *text, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n;) {
		const unsigned char *b = (const unsigned char *)text + i;
		size_t length = text_utf8_length(b, n - i);

		if (length == 0)
			return count;
		count += is_letter(b, length);
		i += length;
	}
	return count;
}

void
prose_done(struct prose *prose)
{
	free(prose->text);
	*prose = (struct prose){ 0 };
}
