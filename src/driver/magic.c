/* SPDX-License-Identifier: ISC
 *
 * Types by first bytes. Runs in the driver, on hostile bytes; decides which
 * decoder may see them at all. No tool is ever left to guess a type.
 */
#include "driver/magic.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"

struct mark {
	size_t at;
	const char *bytes;
	size_t n;
	enum magic magic;
};

#define MARK(at, text, magic)                     \
	{                                         \
		at, text, sizeof(text) - 1, magic \
	}

static const struct mark marks[] = {
	MARK(0, "\xFF\xD8\xFF", MAGIC_JPEG),
	MARK(0, "\x89PNG\r\n\x1A\n", MAGIC_PNG),
	MARK(8, "WEBPVP8", MAGIC_WEBP),
	MARK(0, "II*\0", MAGIC_TIFF),
	MARK(0, "MM\0*", MAGIC_TIFF),
	MARK(0, "II+\0", MAGIC_TIFF),
	MARK(0, "MM\0+", MAGIC_TIFF),
	MARK(0, "GIF87a", MAGIC_GIF),
	MARK(0, "GIF89a", MAGIC_GIF),
	MARK(4, "ftypheic", MAGIC_HEIF),
	MARK(4, "ftypheix", MAGIC_HEIF),
	MARK(4, "ftypmif1", MAGIC_HEIF),
	MARK(4, "ftypavif", MAGIC_HEIF),
	MARK(0, "%PDF-", MAGIC_PDF),
	/* Kinds that a source may send in good faith, and no decoder here may
	 * be shown. */
	MARK(4, "ftyp", MAGIC_OTHER),
	MARK(0, "BM", MAGIC_OTHER),
	MARK(0, "8BPS", MAGIC_OTHER),
	MARK(0, "\0\0\1\0", MAGIC_OTHER),
	MARK(0, "\xFF\x0A", MAGIC_OTHER),
	MARK(0, "\0\0\0\x0CJXL ", MAGIC_OTHER),
	MARK(0, "\0\0\0\x0CjP  ", MAGIC_OTHER),
	MARK(0, "\x76\x2F\x31\x01", MAGIC_OTHER),
	MARK(0, "PK\3\4", MAGIC_OTHER),
	MARK(0, "%!PS", MAGIC_OTHER),
	MARK(0, "{\\rtf", MAGIC_OTHER),
	MARK(0, "RIFF", MAGIC_OTHER),
	MARK(0, "\xD0\xCF\x11\xE0", MAGIC_OTHER),
	MARK(0, "\x1A\x45\xDF\xA3", MAGIC_OTHER),
};

static bool
has_mark(const unsigned char *bytes, size_t n, const struct mark *mark)
{
	/* "WEBP" alone would also be text that says so. */
	if (mark->magic == MAGIC_WEBP && (n < 4 || memcmp(bytes, "RIFF", 4)))
		return false;
	return n >= mark->at + mark->n &&
	    memcmp(bytes + mark->at, mark->bytes, mark->n) == 0;
}

/* An SVG is text; its element stands somewhere near the front. */
static bool
is_svg(const unsigned char *bytes, size_t n)
{
	return (bytes[0] == '<' || bytes[0] == 0xEF) &&
	    memmem(bytes, n, "<svg", 4) != NULL;
}

enum magic
magic_of(const unsigned char *bytes, size_t n)
{
	if (bytes == NULL || n == 0)
		return MAGIC_UNKNOWN;
	if (n > MAGIC_BYTES)
		n = MAGIC_BYTES;
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		if (has_mark(bytes, n, &marks[i]))
			return marks[i].magic;
	}
	if (is_svg(bytes, n))
		return MAGIC_OTHER;
	/* Readers of PDF forgive a preface, and some writers rely on it. */
	return memmem(bytes, n, "%PDF-", 5) != NULL ? MAGIC_PDF : MAGIC_UNKNOWN;
}

ssize_t
magic_read(const char *path, unsigned char *to, size_t n)
{
	cleanup_fd int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : file_read_all(fd, to, n);
}

enum magic
magic_of_file(const char *path)
{
	unsigned char bytes[MAGIC_BYTES];
	ssize_t n = magic_read(path, bytes, sizeof(bytes));

	return n < 0 ? MAGIC_UNKNOWN : magic_of(bytes, (size_t)n);
}

bool
magic_is_image(enum magic magic)
{
	return magic >= MAGIC_JPEG && magic <= MAGIC_HEIF;
}

static uint32_t
big_endian(const unsigned char *b)
{
	return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 |
	    (uint32_t)b[2] << 8 | b[3];
}

int
magic_png_size(const unsigned char *bytes, size_t n, uint32_t *ret_width,
    uint32_t *ret_height)
{
	if (n < 24 || magic_of(bytes, n) != MAGIC_PNG ||
	    memcmp(bytes + 12, "IHDR", 4) != 0)
		return -1;
	*ret_width = big_endian(bytes + 16);
	*ret_height = big_endian(bytes + 20);
	return 0;
}

/* A frame's marker; three of its range are tables and the like. */
static bool
is_frame(unsigned char marker)
{
	return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 &&
	    marker != 0xC8 && marker != 0xCC;
}

int
magic_jpeg_size(const unsigned char *bytes, size_t n, uint32_t *ret_width,
    uint32_t *ret_height)
{
	size_t at = 2;

	if (magic_of(bytes, n) != MAGIC_JPEG)
		return -1;
	while (at + 9 <= n && bytes[at] == 0xFF) {
		const unsigned char *b = bytes + at;

		if (is_frame(b[1])) {
			*ret_height = (uint32_t)b[5] << 8 | b[6];
			*ret_width = (uint32_t)b[7] << 8 | b[8];
			return 0;
		}
		at += 2 + ((size_t)b[2] << 8 | b[3]);
	}
	return -1;
}

/* One number of a PNM header and the white space behind it. */
static int
pgm_number(const unsigned char *bytes, size_t n, size_t *at)
{
	int value = 0;
	size_t begin = *at;

	while (*at < n && bytes[*at] >= '0' && bytes[*at] <= '9') {
		if (value > 100000)
			return -1;
		value = value * 10 + (bytes[(*at)++] - '0');
	}
	if (*at == begin || *at == n ||
	    (bytes[*at] != ' ' && bytes[*at] != '\n'))
		return -1;
	(*at)++;
	return value;
}

bool
magic_is_whole_pgm(const unsigned char *bytes, size_t n, uint64_t total)
{
	size_t at = 3;
	int width;
	int height;

	if (n < 3 || memcmp(bytes, "P5\n", 3) != 0)
		return false;
	width = pgm_number(bytes, n, &at);
	height = pgm_number(bytes, n, &at);
	return width > 0 && height > 0 && pgm_number(bytes, n, &at) == 255 &&
	    total == at + (uint64_t)width * (uint64_t)height;
}
