/* SPDX-License-Identifier: ISC
 *
 * Unties the thumbnails of a HEIF. Runs in the driver; the file is hostile,
 * and nothing but names in it is changed.
 *
 * For a preview that is smaller than the thumbnail, vips decodes that instead
 * of the image. It is a picture of its own, which may show anything.
 *
 * The way there: a box "meta" of the file, in it "iref", in it one box for
 * each reference, whose type is its name.
 */
#include "driver/heif.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

/* Of one level; libheif itself takes no more than 20000. */
#define BOXES_MAX 20000

#define FLAGS_BYTES 4 /* version and flags, before the contents of both */

static const char no_reference[] = { 'n', 'o', 'n', 'e' };

struct span {
	uint64_t at;
	uint64_t end;
};

struct box {
	struct span whole;
	struct span contents;
	unsigned char type[4];
};

static uint64_t
big_endian(const unsigned char *bytes, size_t n)
{
	uint64_t value = 0;

	for (size_t i = 0; i < n; i++)
		value = value << 8 | bytes[i];
	return value;
}

static bool
take(int file, const struct span *from, unsigned char *to, size_t n)
{
	return from->end - from->at >= n &&
	    file_pread_all(file, to, n, (off_t)from->at) == (ssize_t)n;
}

/* The box at the front of a span, which it must not be longer than. */
static int
read_box(int file, const struct span *from, struct box *ret_box)
{
	struct box box = { .whole = *from };
	unsigned char head[16];
	uint64_t n = 8;
	uint64_t size;

	if (!take(file, from, head, 8))
		return -1;
	size = big_endian(head, 4);
	if (size == 1) {
		n = 16;
		if (!take(file, from, head, 16))
			return -1;
		size = big_endian(head + 8, 8);
	} else if (size == 0) {
		size = from->end - from->at;
	}
	if (size < n || size > from->end - from->at)
		return -1;
	box.whole.end = from->at + size;
	box.contents = (struct span){ from->at + n, box.whole.end };
	memcpy(box.type, head + 4, sizeof(box.type));
	*ret_box = box;
	return 0;
}

/*
 * Goes through the boxes of a span, each of the one type to visit. Gives how
 * many these were, or -1 at the first that is not as it should be.
 */
static int
each_box(int file, struct span span, const char *type,
    int (*visit)(int file, const struct box *box))
{
	int n = 0;

	for (int i = 0; span.at < span.end; i++) {
		struct box box;

		if (i == BOXES_MAX || read_box(file, &span, &box) < 0)
			return -1;
		if (memcmp(box.type, type, sizeof(box.type)) == 0) {
			if (visit(file, &box) < 0)
				return -1;
			n++;
		}
		span.at = box.whole.end;
	}
	return n;
}

static int
untie(int file, const struct box *box)
{
	return file_pwrite_all(
	    file, no_reference, sizeof(no_reference), (off_t)box->whole.at + 4);
}

static int
visit_references(int file, const struct box *box)
{
	struct span inside = box->contents;

	if (inside.end - inside.at < FLAGS_BYTES)
		return -1;
	inside.at += FLAGS_BYTES;
	return each_box(file, inside, "thmb", untie);
}

static int
visit_index(int file, const struct box *box)
{
	struct span inside = box->contents;

	if (inside.end - inside.at < FLAGS_BYTES)
		return -1;
	inside.at += FLAGS_BYTES;
	return each_box(file, inside, "iref", visit_references);
}

int
heif_untie_thumbnails(int file)
{
	struct span all = { 0, 0 };
	struct box box;
	off_t size = lseek(file, 0, SEEK_END);
	bool has_index = false;

	if (size < 0)
		return -1;
	all.end = (uint64_t)size;
	/* Cameras leave what they like behind the last box. */
	for (int i = 0; i < BOXES_MAX && read_box(file, &all, &box) == 0; i++) {
		if (memcmp(box.type, "meta", sizeof(box.type)) == 0) {
			if (visit_index(file, &box) < 0)
				return -1;
			has_index = true;
		}
		all.at = box.whole.end;
	}
	return has_index ? 0 : -1;
}
