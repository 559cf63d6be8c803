/* SPDX-License-Identifier: ISC
 *
 * Takes all pictures but the first out of a TIFF. Runs in the driver; the
 * file is hostile, and nothing but a few of its own bytes is changed.
 *
 * A TIFF may hold smaller copies of its picture, as pages or below the first.
 * Told never to enlarge, vips (8.14) takes the smallest of them for an image
 * of any size, and OCR of 51 by 73 pixels finds a page to be empty. Nor need
 * they be copies: a preview would show what the image does not.
 */
#include "driver/tiff.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/file.h"

#define TAG_SUBDIRECTORIES 330
/* Of the range that anyone may use for anything. */
#define TAG_OF_NOBODY 65000

/* More than any writer's; libtiff itself takes no more than 4096. */
#define ENTRIES_MAX 4096

/* Where things stand in the two kinds of TIFF, and how wide they are. */
struct layout {
	bool is_big_endian;
	size_t first; /* offset of the first directory's offset */
	size_t offset_bytes;
	size_t count_bytes;
	size_t entry_bytes;
};

static uint64_t
number(const struct layout *layout, const unsigned char *bytes, size_t n)
{
	uint64_t value = 0;

	for (size_t i = 0; i < n; i++)
		value =
		    value << 8 | bytes[layout->is_big_endian ? i : n - 1 - i];
	return value;
}

static int
read_number(const struct layout *layout, int file, uint64_t at, size_t n,
    uint64_t *ret_value)
{
	unsigned char bytes[8];

	if (at > INT64_MAX ||
	    file_pread_all(file, bytes, n, (off_t)at) != (ssize_t)n)
		return -1;
	*ret_value = number(layout, bytes, n);
	return 0;
}

static int
read_layout(int file, struct layout *ret_layout)
{
	unsigned char head[4];

	if (file_pread_all(file, head, sizeof(head), 0) != sizeof(head))
		return -1;
	ret_layout->is_big_endian = head[0] == 'M';
	if (number(ret_layout, head + 2, 2) == 43)
		*ret_layout = (struct layout){ head[0] == 'M', 8, 8, 8, 20 };
	else
		*ret_layout = (struct layout){ head[0] == 'M', 4, 4, 2, 12 };
	return 0;
}

/* Gives an entry a tag that means nothing, if it leads to directories. */
static int
disarm(const struct layout *layout, int file, uint64_t entry)
{
	unsigned char nobody[2] = { TAG_OF_NOBODY & 0xFF, TAG_OF_NOBODY >> 8 };
	uint64_t tag;

	if (read_number(layout, file, entry, 2, &tag) < 0)
		return -1;
	if (tag != TAG_SUBDIRECTORIES)
		return 0;
	if (layout->is_big_endian) {
		nobody[0] = TAG_OF_NOBODY >> 8;
		nobody[1] = TAG_OF_NOBODY & 0xFF;
	}
	return file_pwrite_all(file, nobody, sizeof(nobody), (off_t)entry);
}

int
tiff_keep_first(int file)
{
	static const unsigned char none[8];
	struct layout layout;
	uint64_t at;
	uint64_t entries;
	uint64_t next;

	if (read_layout(file, &layout) < 0 ||
	    read_number(&layout, file, layout.first, layout.offset_bytes, &at) <
		0 ||
	    read_number(&layout, file, at, layout.count_bytes, &entries) < 0 ||
	    entries == 0 || entries > ENTRIES_MAX)
		return -1;
	at += layout.count_bytes;
	for (uint64_t i = 0; i < entries; i++) {
		if (disarm(&layout, file, at) < 0)
			return -1;
		at += layout.entry_bytes;
	}
	/* It is no TIFF that ends before this; and must not become longer. */
	if (read_number(&layout, file, at, layout.offset_bytes, &next) < 0)
		return -1;
	return file_pwrite_all(file, none, layout.offset_bytes, (off_t)at);
}
