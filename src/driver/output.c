/* SPDX-License-Identifier: ISC
 *
 * A writer of JSON. Runs in the driver; what it is given may be hostile text,
 * what it writes is whole and well-formed, or the job has failed.
 */
#include "driver/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "contract/base64.h"
#include "wire/letter.h"

void
output_init(struct output *output, int letter, uint64_t max)
{
	memset(output, 0, sizeof(*output));
	output->letter = letter;
	output->at = LETTER_TICKET_BYTES;
	output->max = max;
}

static void
flush(struct output *output)
{
	uint64_t room = output->max + LETTER_TICKET_BYTES - output->at;
	int r;

	if (output->error != ERROR_NONE)
		return;
	if (output->used > room) {
		output->error = ERROR_OUTPUT_TOO_LARGE;
		return;
	}
	r = file_pwrite_all(
	    output->letter, output->bytes, output->used, (off_t)output->at);
	if (r < 0)
		output->error =
		    r == -EFBIG ? ERROR_OUTPUT_TOO_LARGE : ERROR_CRASHED;
	output->at += output->used;
	output->used = 0;
}

static void
put(struct output *output, const char *bytes, size_t n)
{
	while (n > 0 && output->error == ERROR_NONE) {
		size_t room = sizeof(output->bytes) - output->used;
		size_t step = n < room ? n : room;

		memcpy(output->bytes + output->used, bytes, step);
		output->used += step;
		bytes += step;
		n -= step;
		if (output->used == sizeof(output->bytes))
			flush(output);
	}
}

/* Before every value and name but the first of its container. */
static void
put_comma(struct output *output)
{
	if (output->needs_comma)
		put(output, ",", 1);
	output->needs_comma = true;
}

void
output_open(struct output *output, char bracket)
{
	put_comma(output);
	put(output, &bracket, 1);
	output->needs_comma = false;
}

void
output_close(struct output *output, char bracket)
{
	put(output, &bracket, 1);
	output->needs_comma = true;
}

void
output_name(struct output *output, const char *name)
{
	put_comma(output);
	put(output, "\"", 1);
	put(output, name, strlen(name));
	put(output, "\":", 2);
	output->needs_comma = false;
}

void
output_integer(struct output *output, int64_t value)
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%lld", (long long)value);

	put_comma(output);
	put(output, digits, (size_t)n);
}

void
output_tenths(struct output *output, int64_t value)
{
	char digits[32];
	int n = snprintf(digits, sizeof(digits), "%lld.%lld",
	    (long long)(value / 10), (long long)(value % 10));

	put_comma(output);
	put(output, digits, (size_t)n);
}

void
output_boolean(struct output *output, bool value)
{
	put_comma(output);
	put(output, value ? "true" : "false", value ? 4 : 5);
}

void
output_null(struct output *output)
{
	put_comma(output);
	put(output, "null", 4);
}

static void
put_character(struct output *output, char c)
{
	char escape[8];

	if (c == '"' || c == '\\')
		(void)snprintf(escape, sizeof(escape), "\\%c", c);
	else if (c == '\n' || c == '\t')
		(void)snprintf(
		    escape, sizeof(escape), "\\%c", c == '\n' ? 'n' : 't');
	else
		(void)snprintf(escape, sizeof(escape), "\\u%04x",
		    (unsigned int)(unsigned char)c);
	put(output, escape, strlen(escape));
}

void
output_text(struct output *output, const char *text, size_t n)
{
	put_comma(output);
	put(output, "\"", 1);
	for (size_t i = 0; i < n;) {
		/* Nearly all of a text needs no escape: take it in runs. */
		size_t plain = 0;

		while (i + plain < n && text[i + plain] != '"' &&
		    text[i + plain] != '\\' &&
		    (unsigned char)text[i + plain] >= 0x20)
			plain++;
		put(output, text + i, plain);
		i += plain;
		if (i < n)
			put_character(output, text[i++]);
	}
	put(output, "\"", 1);
}

void
output_base64(struct output *output, int file)
{
	unsigned char raw[3 * 2048];
	char encoded[4 * 2048];
	ssize_t n;

	put_comma(output);
	put(output, "\"", 1);
	/* Whole groups every time but the last: only the end is padded. */
	do {
		n = file_read_all(file, raw, sizeof(raw));
		if (n < 0)
			output->error = ERROR_CRASHED;
		else
			put(output, encoded,
			    base64_encode(encoded, raw, (size_t)n));
	} while (n == (ssize_t)sizeof(raw) && output->error == ERROR_NONE);
	put(output, "\"", 1);
}

enum error_code
output_finish(struct output *output)
{
	flush(output);
	return output->error;
}
