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
	struct shape shape;
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
	shape_init(&shape, capability_at(capability)->output, NULL, NULL, 0);
	if (letter_feed(letter, (uint64_t)size, &shape) < 0)
		return bad(wrong, "it cannot be read", ERROR_BAD_OUTPUT);
	if (shape_finish(&shape) != SHAPE_OK)
		return bad(wrong, shape.wrong, ERROR_BAD_OUTPUT);
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
