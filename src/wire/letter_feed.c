/* SPDX-License-Identifier: ISC
 *
 * A letter that is looked into, in driver, courier and `try`; apart from
 * letter.c, since the core links no reader of JSON. Nothing is allocated from
 * a size that somebody wrote.
 */
#include "wire/letter.h"

#include <errno.h>

#include "contract/shape.h"

int
letter_feed(int letter, uint64_t n, struct shape *shape)
{
	char piece[8192];
	uint64_t at = 0;

	while (at < n) {
		uint64_t left = n - at;
		ssize_t got = letter_read(letter, piece,
		    left < sizeof(piece) ? left : sizeof(piece), at);

		if (got <= 0)
			return got < 0 ? (int)got : -EIO;
		if (shape_feed(shape, piece, (size_t)got) != SHAPE_OK)
			break;
		at += (uint64_t)got;
	}
	return 0;
}
