/* SPDX-License-Identifier: ISC
 *
 * Walks the containers of the three formats of a preview. Runs in the driver,
 * on what vips wrote. The promise "without metadata" is too dear to be left
 * to an option of a writer: libvips 8.14 takes "strip" for WebP, and writes
 * the EXIF with its GPS position all the same.
 */
#include "driver/metadata.h"

#include <string.h>
#include <unistd.h>

#include "base/file.h"

/* A container of more pieces than this is nothing vips writes. */
#define PIECES_MAX 100000

/* "RIFF", the size of what follows, "WEBP". */
#define WEBP_HEAD_BYTES 12
#define WEBP_PICTURE	"VP8XVP8 VP8LALPH"
/* In the first byte of VP8X: there is a profile, EXIF, XMP. */
#define WEBP_FLAGS (0x20 | 0x08 | 0x04)

struct walk {
	int file;
	off_t at;
};

static bool
take(struct walk *walk, unsigned char *to, size_t n)
{
	if (file_pread_all(walk->file, to, n, walk->at) != (ssize_t)n)
		return false;
	walk->at += (off_t)n;
	return true;
}

static uint32_t
big_endian(const unsigned char *b)
{
	return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 |
	    (uint32_t)b[2] << 8 | b[3];
}

/* Four-letter names, one after the other. */
static bool
is_listed(const unsigned char *name, const char *list)
{
	for (; *list != '\0'; list += 4) {
		if (memcmp(name, list, 4) == 0)
			return true;
	}
	return false;
}

static bool
is_at_end(const struct walk *walk)
{
	unsigned char byte;

	return file_pread_all(walk->file, &byte, 1, walk->at) == 0;
}

/* JFIF, Adobe's colour transform, tables, frames, restart interval, scan. */
static bool
is_jpeg_segment(unsigned char marker)
{
	return marker == 0xE0 || marker == 0xEE || marker == 0xDB ||
	    marker == 0xDD || marker == 0xDA ||
	    (marker >= 0xC0 && marker <= 0xCF);
}

/* Whether this byte behind 0xFF ends the data of a scan: it is neither
 * stuffed, nor a restart, nor one more 0xFF. */
static bool
is_jpeg_marker(unsigned char byte)
{
	return byte != 0 && byte != 0xFF && (byte < 0xD0 || byte > 0xD7);
}

/* From the data of a scan to the marker behind it. */
static bool
pass_scan(struct walk *walk)
{
	unsigned char bytes[4096];
	bool is_behind_ff = false;
	ssize_t n;

	while ((n = file_pread_all(
		    walk->file, bytes, sizeof(bytes), walk->at)) > 0) {
		for (ssize_t i = 0; i < n; i++) {
			if (is_behind_ff && is_jpeg_marker(bytes[i])) {
				walk->at += i - 1;
				return true;
			}
			is_behind_ff = bytes[i] == 0xFF;
		}
		walk->at += n;
	}
	return false;
}

/* To the end: a segment may stand between two scans as well. */
static bool
walk_jpeg(struct walk *walk)
{
	unsigned char head[4];
	bool has_scan = false;

	walk->at = 2;
	for (int i = 0; i < PIECES_MAX && take(walk, head, 2); i++) {
		if (head[0] != 0xFF)
			return false;
		if (head[1] == 0xD9)
			return has_scan && is_at_end(walk);
		if (!is_jpeg_segment(head[1]) || !take(walk, head + 2, 2))
			return false;
		walk->at += (head[2] << 8 | head[3]) - 2;
		if (head[1] != 0xDA)
			continue;
		has_scan = true;
		if (!pass_scan(walk))
			return false;
	}
	return false;
}

static bool
walk_png(struct walk *walk)
{
	unsigned char head[8];

	walk->at = 8;
	for (int i = 0; i < PIECES_MAX && take(walk, head, 8); i++) {
		walk->at += (off_t)big_endian(head) + 4;
		if (memcmp(head + 4, "IEND", 4) == 0)
			return is_at_end(walk);
		if (!is_listed(
			head + 4, "IHDRPLTEtRNSIDATgAMAcHRMsRGBsBITbKGDpHYs"))
			return false;
	}
	return false;
}

/* Of a chunk's contents, with the byte that makes it even. */
static off_t
webp_size(const unsigned char *head)
{
	off_t n = (off_t)head[7] << 24 | (off_t)head[6] << 16 |
	    (off_t)head[5] << 8 | head[4];

	return n + (n & 1);
}

static bool
walk_webp(struct walk *walk)
{
	unsigned char head[8];
	int pieces = 0;

	walk->at = WEBP_HEAD_BYTES;
	for (; pieces < PIECES_MAX && take(walk, head, 8); pieces++) {
		if (!is_listed(head, WEBP_PICTURE))
			return false;
		walk->at += webp_size(head);
	}
	return pieces > 0 && pieces < PIECES_MAX && is_at_end(walk);
}

bool
metadata_is_absent(int file, enum magic magic)
{
	struct walk walk = { .file = file };

	if (magic == MAGIC_JPEG)
		return walk_jpeg(&walk);
	if (magic == MAGIC_PNG)
		return walk_png(&walk);
	return magic == MAGIC_WEBP && walk_webp(&walk);
}

/* Moves a chunk of n bytes, its head included, towards the front. */
static int
move_chunk(int file, off_t from, off_t to, off_t n)
{
	unsigned char bytes[4096];

	while (n > 0) {
		size_t step =
		    n < (off_t)sizeof(bytes) ? (size_t)n : sizeof(bytes);

		if (file_pread_all(file, bytes, step, from) != (ssize_t)step ||
		    file_pwrite_all(file, bytes, step, to) < 0)
			return -1;
		from += (off_t)step;
		to += (off_t)step;
		n -= (off_t)step;
	}
	return 0;
}

static int
clear_flags(int file, off_t chunk)
{
	unsigned char flags;

	if (file_pread_all(file, &flags, 1, chunk + 8) != 1)
		return -1;
	flags &= (unsigned char)~WEBP_FLAGS;
	return file_pwrite_all(file, &flags, 1, chunk + 8);
}

static int
set_end(int file, off_t end)
{
	uint32_t n = (uint32_t)end - 8;
	unsigned char size[4] = { (unsigned char)n, (unsigned char)(n >> 8),
		(unsigned char)(n >> 16), (unsigned char)(n >> 24) };

	if (file_pwrite_all(file, size, sizeof(size), 4) < 0)
		return -1;
	return ftruncate(file, end);
}

int
metadata_strip_webp(int file)
{
	struct walk walk = { file, WEBP_HEAD_BYTES };
	off_t end = WEBP_HEAD_BYTES;
	unsigned char head[8];

	for (int i = 0; i < PIECES_MAX && take(&walk, head, 8); i++) {
		off_t n = webp_size(head) + 8;

		walk.at += n - 8;
		if (!is_listed(head, WEBP_PICTURE))
			continue;
		if (move_chunk(file, walk.at - n, end, n) < 0)
			return -1;
		if (memcmp(head, "VP8X", 4) == 0 && clear_flags(file, end) < 0)
			return -1;
		end += n;
	}
	return end > WEBP_HEAD_BYTES ? set_end(file, end) : -1;
}
