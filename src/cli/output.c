/* SPDX-License-Identifier: ISC
 *
 * What a box wrote, in `try`: the box may be anybody's by now. The check is
 * that of the courier: sealed, the ticket of its input, not too large, and of
 * the shape that the table gives. Only then is a byte of it printed.
 */
#include "cli/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/terminal.h"
#include "contract/outcome.h"
#include "contract/shape.h"
#include "wire/letter.h"

#define CHUNK_BYTES 4096

static enum shape_result
check_shape(int letter, uint32_t capability, char wrong[160])
{
	struct shape shape;
	char bytes[CHUNK_BYTES];
	enum shape_result r = SHAPE_OK;
	uint64_t at = 0;
	ssize_t n = 1;

	shape_init(&shape, capability_at(capability)->output, NULL, NULL, 0);
	while (n > 0 && r == SHAPE_OK) {
		n = letter_read(letter, bytes, sizeof(bytes), at);
		if (n > 0)
			r = shape_feed(&shape, bytes, (size_t)n);
		at += n > 0 ? (uint64_t)n : 0;
	}
	if (r == SHAPE_OK)
		r = shape_finish(&shape);
	(void)snprintf(wrong, 160, "%s", r == SHAPE_OK ? "" : shape.wrong);
	return n < 0 ? SHAPE_WRONG : r;
}

static uint32_t
bad(char wrong[160], const char *why, uint32_t code)
{
	(void)snprintf(wrong, 160, "%s", why);
	return code;
}

uint32_t
output_check(int letter, uint32_t capability, char wrong[160])
{
	static const unsigned char no_ticket[LETTER_TICKET_BYTES];
	unsigned char ticket[LETTER_TICKET_BYTES];
	ssize_t size;

	if (letter_seal(letter) < 0)
		return bad(wrong, "somebody still holds it open for writing",
		    ERROR_BAD_OUTPUT);
	size = letter_size(letter, LIMIT_OUTPUT_BYTES);
	if (size == -EFBIG)
		return bad(wrong, "it is too large", ERROR_OUTPUT_TOO_LARGE);
	if (size < 0 || letter_get_ticket(letter, ticket) < 0 ||
	    memcmp(ticket, no_ticket, sizeof(ticket)) != 0)
		return bad(wrong, "it has not the ticket of its input",
		    ERROR_BAD_OUTPUT);
	if (check_shape(letter, capability, wrong) != SHAPE_OK)
		return ERROR_BAD_OUTPUT;
	return 0;
}

int
output_print(int letter)
{
	char bytes[CHUNK_BYTES];
	uint64_t at = 0;
	ssize_t n;

	while ((n = letter_read(letter, bytes, sizeof(bytes), at)) > 0) {
		size_t done = terminal_put(bytes, (size_t)n);

		if (done == 0)
			return -EIO;
		at += done;
	}
	(void)putchar('\n');
	return n < 0 || fflush(stdout) != 0 ? -EIO : 0;
}
