/* SPDX-License-Identifier: ISC
 *
 * What the driver does to files of pictures: no preview with metadata passes
 * as one without, a WebP that was stripped has none, a TIFF has one picture
 * and its size. Judged by a second, plain reading of the formats.
 * Input: the file.
 */
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/file.h"
#include "driver/metadata.h"
#include "driver/tiff.h"
#include "fuzz.h"

static int
make_file(const uint8_t *bytes, size_t n)
{
	int file = memfd_create("picture", MFD_CLOEXEC);

	must(file >= 0 && file_pwrite_all(file, bytes, n, 0) == 0);
	return file;
}

static size_t
size_of(int file)
{
	struct stat about;

	must(fstat(file, &about) == 0);
	return (size_t)about.st_size;
}

static uint32_t
little(const uint8_t *b)
{
	return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 |
	    (uint32_t)b[3] << 24;
}

static uint32_t
big(const uint8_t *b)
{
	return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 |
	    (uint32_t)b[2] << 8 | b[3];
}

/* All chunks, to the end of the file. */
static bool
webp_has_metadata(const uint8_t *b, size_t n)
{
	for (size_t at = 12; at + 8 <= n;) {
		uint64_t size = little(b + at + 4);

		if (memcmp(b + at, "EXIF", 4) == 0 ||
		    memcmp(b + at, "XMP ", 4) == 0 ||
		    memcmp(b + at, "ICCP", 4) == 0)
			return true;
		at += (size_t)(8 + size + (size & 1));
	}
	return false;
}

static bool
png_has_metadata(const uint8_t *b, size_t n)
{
	for (size_t at = 8; at + 8 <= n; at += (size_t)big(b + at) + 12) {
		const char *name = (const char *)b + at + 4;

		if (memcmp(name, "eXIf", 4) == 0 ||
		    memcmp(name, "iTXt", 4) == 0 ||
		    memcmp(name, "tEXt", 4) == 0 ||
		    memcmp(name, "zTXt", 4) == 0 ||
		    memcmp(name, "iCCP", 4) == 0 ||
		    memcmp(name, "tIME", 4) == 0)
			return true;
	}
	return false;
}

/* Markers that stand between scans, too: anything that is neither part of
 * the picture's data nor of its tables. */
static bool
jpeg_has_metadata(const uint8_t *b, size_t n)
{
	size_t at = 2;

	while (at + 4 <= n) {
		if (b[at] != 0xFF || b[at + 1] == 0 ||
		    (b[at + 1] >= 0xD0 && b[at + 1] <= 0xD7)) {
			at++;
			continue;
		}
		if (b[at + 1] == 0xD9)
			return false;
		if ((b[at + 1] >= 0xE1 && b[at + 1] <= 0xED) ||
		    b[at + 1] == 0xEF || b[at + 1] == 0xFE)
			return true;
		at += 2u + (size_t)(b[at + 2] << 8 | b[at + 3]);
	}
	return false;
}

static void
check_preview(const uint8_t *bytes, size_t n)
{
	cleanup_fd int file = make_file(bytes, n);
	enum magic magic = magic_of(bytes, n);

	if (!metadata_is_absent(file, magic))
		return;
	must(n >= 8);
	if (magic == MAGIC_JPEG)
		must(!jpeg_has_metadata(bytes, n));
	else if (magic == MAGIC_PNG)
		must(!png_has_metadata(bytes, n));
	else
		must(magic == MAGIC_WEBP && !webp_has_metadata(bytes, n));
}

static void
check_strip(const uint8_t *bytes, size_t n)
{
	cleanup_fd int file = make_file(bytes, n);

	if (metadata_strip_webp(file) < 0)
		return;

	size_t size = size_of(file);
	cleanup_free uint8_t *after = memory_new(size, 1);

	must(
	    size <= n && file_pread_all(file, after, size, 0) == (ssize_t)size);
	must(!webp_has_metadata(after, size));
	must(metadata_is_absent(file, MAGIC_WEBP));
	must(size >= 12 && little(after + 4) == size - 8);
}

static void
check_tiff(const uint8_t *bytes, size_t n)
{
	cleanup_fd int file = make_file(bytes, n);
	uint8_t head[8];
	uint8_t one[8];
	bool is_kept = tiff_keep_first(file) == 0;

	must(size_of(file) == n);
	if (!is_kept || n < 8 || memcmp(bytes, "II*", 4) != 0)
		return;
	/* The plain kind, read again: no entry leads below, none behind. */
	must(file_pread_all(file, head, 8, 0) == 8);

	off_t at = (off_t)little(head + 4);

	must(file_pread_all(file, one, 2, at) == 2);
	for (unsigned int i = one[0] | (unsigned int)one[1] << 8; i > 0; i--) {
		uint8_t tag[2];

		must(file_pread_all(
			 file, tag, 2, at + 2 + (off_t)(i - 1) * 12) == 2);
		must((tag[0] | tag[1] << 8) != 330);
	}
	at += 2 + (off_t)(one[0] | one[1] << 8) * 12;
	must(file_pread_all(file, one, 4, at) == 4 && little(one) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	check_preview(bytes, n);
	check_strip(bytes, n);
	check_tiff(bytes, n);
	return 0;
}
