/* SPDX-License-Identifier: ISC
 *
 * Letters: sealed memfds that carry a job's input or output across processes
 * that must not read them. A letter begins with its ticket; the contents
 * follow. The core makes both letters of a job; the courier fills the input,
 * the box the output; the core seals each.
 */
#ifndef WIRE_LETTER_H
#define WIRE_LETTER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Keyed BLAKE2b of the job id, under a key only the source's courier has. */
#define LETTER_TICKET_BYTES 32

/* Makes an empty letter, writable and not sealed. The fd, or -errno. */
int letter_new(const char *name);

/* Seals a letter that was filled. 0 or -errno (-EBUSY: a writable mapping is
 * alive somewhere: what was written must not be believed). */
int letter_seal(int letter);

/*
 * The number of content bytes of a sealed letter of at most max content
 * bytes, or -errno: -EPERM not sealed, -EFBIG too large, -EBADMSG shorter than
 * a ticket.
 */
ssize_t letter_size(int letter, size_t max);

/* Reads contents at an offset behind the ticket. The number read or -errno. */
ssize_t letter_read(int letter, void *to, size_t n, uint64_t at);

struct shape;

/*
 * Lets the contents of n bytes stream through a shape's checker, as far as it
 * wants them. 0: shape_finish says what it thinks of them; or -errno.
 */
int letter_feed(int letter, uint64_t n, struct shape *shape);

/* Reads or writes the ticket. 0 or -errno. */
int letter_get_ticket(int letter, unsigned char ret[LETTER_TICKET_BYTES]);
int letter_put_ticket(
    int letter, const unsigned char ticket[LETTER_TICKET_BYTES]);

#endif
