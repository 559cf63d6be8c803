/* SPDX-License-Identifier: ISC
 *
 * Letters, in core, courier, driver and `try`. Always pread and pwrite: the
 * file offset is shared by everyone who holds the fd.
 */
#include "wire/letter.h"

#include <errno.h>

#include "base/file.h"

int
letter_new(const char *name)
{
	return file_memory(name);
}

int
letter_seal(int letter)
{
	return file_seal(letter);
}

ssize_t
letter_size(int letter, size_t max)
{
	ssize_t n = file_sealed_size(letter, max + LETTER_TICKET_BYTES);

	if (n < 0)
		return n;
	return n < LETTER_TICKET_BYTES ? -EBADMSG : n - LETTER_TICKET_BYTES;
}

ssize_t
letter_read(int letter, void *to, size_t n, uint64_t at)
{
	return file_pread_all(letter, to, n, (off_t)at + LETTER_TICKET_BYTES);
}

int
letter_get_ticket(int letter, unsigned char ret[LETTER_TICKET_BYTES])
{
	unsigned char ticket[LETTER_TICKET_BYTES];
	ssize_t n = file_pread_all(letter, ticket, sizeof(ticket), 0);

	if (n < 0)
		return (int)n;
	if (n != LETTER_TICKET_BYTES)
		return -EBADMSG;
	__builtin_memcpy(ret, ticket, sizeof(ticket));
	return 0;
}

int
letter_put_ticket(int letter, const unsigned char ticket[LETTER_TICKET_BYTES])
{
	return file_pwrite_all(letter, ticket, LETTER_TICKET_BYTES, 0);
}
