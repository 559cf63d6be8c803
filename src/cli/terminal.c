/* SPDX-License-Identifier: ISC
 *
 * What may be shown on a terminal, in the command (`try`, `status --json`):
 * text of a box or of another process is data to a program that reads it, and
 * commands to a terminal.
 */
#include "cli/terminal.h"

#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "base/text.h"

static uint32_t
code_point(const unsigned char *at, size_t length)
{
	uint32_t c = length == 1 ? at[0] : at[0] & (0xFFu >> (length + 1));

	for (size_t i = 1; i < length; i++)
		c = c << 6 | (at[i] & 0x3F);
	return c;
}

static void
print_number(uint32_t c)
{
	if (c < 0x10000)
		(void)printf("\\u%04x", c);
	else
		(void)printf("\\u%04x\\u%04x", 0xD800 + ((c - 0x10000) >> 10),
		    0xDC00 + ((c - 0x10000) & 0x3FF));
}

/* In JSON everything below U+0020 is escaped already, but between its values;
 * what else a terminal acts on, or that hides text, base/text knows. */
static void
print_character(const unsigned char *at, size_t length)
{
	char shown[16];

	text_printable(shown, sizeof(shown), (const char *)at, length);
	if (at[0] == '\\' || at[0] == '\n' || shown[0] != '\\')
		(void)fwrite(at, 1, length, stdout);
	else if (at[0] < 0x20)
		(void)putchar(' ');
	else
		print_number(code_point(at, length));
}

size_t
terminal_put(const char *bytes, size_t n)
{
	const unsigned char *at = (const unsigned char *)bytes;
	size_t done = 0;

	if (isatty(STDOUT_FILENO) != 1)
		return fwrite(bytes, 1, n, stdout);
	while (done < n) {
		size_t length = text_utf8_length(at + done, n - done);

		if (length == 0)
			break;
		print_character(at + done, length);
		done += length;
	}
	return done;
}
