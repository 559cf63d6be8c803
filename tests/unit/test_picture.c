/* SPDX-License-Identifier: ISC
 *
 * What the driver sees in files: their type by first bytes, sizes, and
 * whether a picture is only a picture.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "driver/image.h"
#include "driver/magic.h"
#include "driver/metadata.h"
#include "driver/picture.h"
#include "driver/tiff.h"

static void
test_magic(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
		enum magic magic;
	} cases[] = {
#define CASE(text, magic) { text, sizeof(text) - 1, magic }
		CASE("", MAGIC_UNKNOWN),
		CASE("\xFF\xD8", MAGIC_UNKNOWN),
		CASE("\xFF\xD8\xFF", MAGIC_JPEG),
		CASE("\x89PNG\r\n\x1A\n", MAGIC_PNG),
		CASE("\x89PNG\n\n\x1A\n", MAGIC_UNKNOWN),
		CASE("RIFF....WEBPVP8 ", MAGIC_WEBP),
		CASE("RIFF....WEBPVP8L", MAGIC_WEBP),
		CASE("RIFF....WAVEfmt ", MAGIC_OTHER),
		CASE("XXXX....WEBPVP8 ", MAGIC_UNKNOWN),
		CASE("II*\0", MAGIC_TIFF),
		CASE("MM\0*", MAGIC_TIFF),
		CASE("II+\0", MAGIC_TIFF),
		CASE("II*", MAGIC_UNKNOWN),
		CASE("GIF87a", MAGIC_GIF),
		CASE("GIF89a", MAGIC_GIF),
		CASE("GIF88a", MAGIC_UNKNOWN),
		CASE("\0\0\0\x18"
		     "ftypheic",
		    MAGIC_HEIF),
		CASE("\0\0\0\x18"
		     "ftypavif",
		    MAGIC_HEIF),
		CASE("\0\0\0\x18"
		     "ftypmif1",
		    MAGIC_HEIF),
		CASE("\0\0\0\x18"
		     "ftypmp42",
		    MAGIC_OTHER),
		CASE("%PDF-1.7", MAGIC_PDF),
		CASE("a preface\n%PDF-1.7", MAGIC_PDF),
		CASE("PK\3\4", MAGIC_OTHER),
		CASE("<?xml version='1.0'?><svg", MAGIC_OTHER),
		CASE("<html><body>", MAGIC_UNKNOWN),
		CASE("/etc/hostname\n", MAGIC_UNKNOWN),
		CASE("P5\n1 1\n255\n ", MAGIC_UNKNOWN),
#undef CASE
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		enum magic got =
		    magic_of((const unsigned char *)cases[i].bytes, cases[i].n);

		if (got != cases[i].magic)
			fail_msg("case %zu: %d, not %d", i, (int)got,
			    (int)cases[i].magic);
	}
}

static void
test_magic_far_pdf(void **state)
{
	unsigned char bytes[2048];

	(void)state;
	memset(bytes, ' ', sizeof(bytes));
	memcpy(bytes + 1019, "%PDF-", 5);
	assert_int_equal(magic_of(bytes, sizeof(bytes)), MAGIC_PDF);
	memset(bytes, ' ', sizeof(bytes));
	memcpy(bytes + 1020, "%PDF-", 5);
	assert_int_equal(magic_of(bytes, sizeof(bytes)), MAGIC_UNKNOWN);
}

static void
test_picture_heads(void **state)
{
	static const char png[] = "\x89PNG\r\n\x1A\n\0\0\0\x0DIHDR"
				  "\0\0\x01\x02\0\0\0\x03";
	static const struct {
		const char *head;
		uint64_t total;
		bool is_whole;
	} pgms[] = {
		{ "P5\n3 2\n255\n", 11 + 6, true },
		{ "P5\n3 2\n255\n", 11 + 5, false },
		{ "P5\n3 2\n255\n", 11 + 7, false },
		{ "P5\n0 2\n255\n", 11, false },
		{ "P5\n3 2\n65535\n", 13 + 12, false },
		{ "P6\n3 2\n255\n", 11 + 18, false },
		{ "P5\n#c\n3 2\n255\n", 14 + 6, false },
		{ "P5\n99999999999 2\n255\n", 21, false },
		{ "P5\n3 2", 6, false },
		{ "", 0, false },
	};
	uint32_t width = 7;
	uint32_t height = 7;

	(void)state;
	assert_int_equal(
	    magic_png_size((const unsigned char *)png, 23, &width, &height),
	    -1);
	assert_int_equal(width, 7);
	assert_int_equal(
	    magic_png_size((const unsigned char *)png, 24, &width, &height), 0);
	assert_int_equal(width, 0x102);
	assert_int_equal(height, 3);
	for (size_t i = 0; i < sizeof(pgms) / sizeof(pgms[0]); i++)
		assert_int_equal(
		    magic_is_whole_pgm((const unsigned char *)pgms[i].head,
			strlen(pgms[i].head), pgms[i].total),
		    pgms[i].is_whole);
}

static void
test_image_size(void **state)
{
	static const char *const wrong[] = { "", "\n", "in",
		"in:", "in: ", "in: 800", "in: 800x", "in: 800x600",
		"in: 0x600 uchar", "in: 800x0 uchar", "in: -1x600 uchar",
		"in: 1234567890x600 uchar", "in\n: 800x600 uchar", NULL };
	uint32_t width = 0;
	uint32_t height = 0;

	(void)state;
	assert_int_equal(image_size_parse("/tmp/in: 800x600 uchar, 3 bands\n",
			     &width, &height),
	    0);
	assert_int_equal(width, 800);
	assert_int_equal(height, 600);
	for (const char *const *line = wrong; *line != NULL; line++)
		assert_int_equal(image_size_parse(*line, &width, &height), -1);
}

/* A file of these bytes. */
static int
file_of(const char *bytes, size_t n)
{
	int file = memfd_create("file", MFD_CLOEXEC);

	assert_int_equal(file_pwrite_all(file, bytes, n, 0), 0);
	return file;
}

static void
test_metadata(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
		enum magic magic;
		bool is_absent;
	} cases[] = {
#define CASE(text, magic, is_absent) \
	{ text, sizeof(text) - 1, magic, is_absent }
#define SOI  "\xFF\xD8"
#define JFIF "\xFF\xE0\0\4JF"
#define SOS  "\xFF\xDA\0\2"
#define EOI  "\xFF\xD9"
		CASE(SOI JFIF "\xFF\xDB\0\3x\xFF\xC0\0\2" SOS "x" EOI,
		    MAGIC_JPEG, true),
		CASE(SOI JFIF SOS "x\xFF\0y\xFF\xD0z\xFF\xC4\0\2" SOS "x" EOI,
		    MAGIC_JPEG, true),
		CASE(SOI JFIF SOS "x\xFF\xE1\0\4Ex" SOS "x" EOI, MAGIC_JPEG,
		    false),
		CASE(SOI JFIF SOS "x" EOI "\xFF\xE1\0\4Ex", MAGIC_JPEG, false),
		CASE(SOI JFIF SOS "x", MAGIC_JPEG, false),
		CASE(SOI JFIF EOI, MAGIC_JPEG, false),
		CASE(SOI JFIF "\xFF\xE1\0\4Ex" SOS EOI, MAGIC_JPEG, false),
		CASE(SOI JFIF "\xFF\xE2\0\4IC" SOS EOI, MAGIC_JPEG, false),
		CASE(SOI JFIF "\xFF\xED\0\4IP" SOS EOI, MAGIC_JPEG, false),
		CASE(SOI JFIF "\xFF\xFE\0\4co" SOS EOI, MAGIC_JPEG, false),
		CASE(SOI JFIF "x\xDB\0\2" SOS EOI, MAGIC_JPEG, false),
		/* A length of 0 stands still. */
		CASE(SOI "\xFF\xE0\0\0" SOS EOI, MAGIC_JPEG, false),
		CASE(SOI JFIF, MAGIC_JPEG, false),
#define PNG  "\x89PNG\r\n\x1A\n"
#define IHDR "\0\0\0\1IHDRxcccc"
#define IEND "\0\0\0\0IENDcccc"
		CASE(PNG IHDR "\0\0\0\2IDATxxcccc" IEND, MAGIC_PNG, true),
		CASE(PNG IHDR IEND "\0\0\0\2tEXtxxcccc", MAGIC_PNG, false),
		CASE(PNG IHDR "\0\0\0\2eXIfxxcccc" IEND, MAGIC_PNG, false),
		CASE(PNG IHDR "\0\0\0\2tEXtxxcccc" IEND, MAGIC_PNG, false),
		CASE(PNG IHDR "\0\0\0\2iCCPxxcccc" IEND, MAGIC_PNG, false),
		CASE(PNG IHDR "\xFF\xFF\xFF\xFFIDATxxcccc" IEND, MAGIC_PNG,
		    false),
		CASE(PNG IHDR, MAGIC_PNG, false),
		CASE("RIFF....WEBPVP8 \2\0\0\0xx", MAGIC_WEBP, true),
		CASE("RIFF....WEBPVP8 \1\0\0\0xx", MAGIC_WEBP, true),
		CASE("RIFF....WEBPVP8 \2\0\0\0xxEXIF\2\0\0\0xx", MAGIC_WEBP,
		    false),
		CASE("RIFF....WEBPVP8 \2\0\0\0xxEX", MAGIC_WEBP, false),
		CASE("RIFF....WEBP", MAGIC_WEBP, false),
		CASE("GIF89a", MAGIC_GIF, false),
		CASE("", MAGIC_PNG, false),
#undef CASE
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int file = file_of(cases[i].bytes, cases[i].n);

		if (metadata_is_absent(file, cases[i].magic) !=
		    cases[i].is_absent)
			fail_msg("case %zu", i);
		close(file);
	}
}

static void
test_strip_webp(void **state)
{
	static const char from[] =
	    "RIFF\x99\0\0\0WEBPVP8X\x0A\0\0\0\x3E\0\0\0......"
	    "ICCP\3\0\0\0icc\0ALPH\1\0\0\0a\0VP8 \4\0\0\0pict"
	    "EXIF\2\0\0\0exXMP \4\0\0\0xmp!";
	static const char to[] =
	    "RIFF\x2C\0\0\0WEBPVP8X\x0A\0\0\0\x12\0\0\0......"
	    "ALPH\1\0\0\0a\0VP8 \4\0\0\0pict";
	unsigned char got[sizeof(from)];
	int file = file_of(from, sizeof(from) - 1);

	(void)state;
	assert_false(metadata_is_absent(file, MAGIC_WEBP));
	assert_int_equal(metadata_strip_webp(file), 0);
	assert_int_equal(
	    file_pread_all(file, got, sizeof(got), 0), sizeof(to) - 1);
	assert_memory_equal(got, to, sizeof(to) - 1);
	assert_true(metadata_is_absent(file, MAGIC_WEBP));
	close(file);
	/* No picture in it; a chunk that is not whole. */
	file = file_of("RIFF....WEBPEXIF\2\0\0\0ex", 22);
	assert_int_equal(metadata_strip_webp(file), -1);
	close(file);
	file = file_of("RIFF....WEBPVP8 \4\0\0\0ex", 22);
	assert_int_equal(metadata_strip_webp(file), -1);
	close(file);
}

static void
test_jpeg_size(void **state)
{
	static const char jpeg[] = SOI JFIF "\xFF\xC4\0\3x"
					    "\xFF\xC2\0\x0B\x08\1\2\3\4";
	static const char *const wrong[] = { "\xFF\xD8\xFF\xDA\0\2........",
		"\xFF\xD8\xFF\xDB\xFF\xFF........", "\x89PNG\r\n\x1A\n......",
		"\xFF\xD8\xFF\xDBxxxxxxxxxxxxx" };
	const unsigned char *bytes = (const unsigned char *)jpeg;
	uint32_t width = 7;
	uint32_t height = 7;

	(void)state;
	for (size_t n = 0; n < sizeof(jpeg) - 1; n++)
		assert_int_equal(
		    magic_jpeg_size(bytes, n, &width, &height), -1);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(
		    magic_jpeg_size(
			(const unsigned char *)wrong[i], 14, &width, &height),
		    -1);
	assert_int_equal(width, 7);
	assert_int_equal(
	    magic_jpeg_size(bytes, sizeof(jpeg) - 1, &width, &height), 0);
	assert_int_equal(width, 0x304);
	assert_int_equal(height, 0x102);
}

static void
test_picture_check(void **state)
{
#define FRAME(height, width) "\xFF\xC0\0\x08\x08\0" height "\0" width "\1"
	static const struct {
		const char *bytes;
		size_t n;
		enum magic magic;
		int64_t max;
		enum error_code error;
	} cases[] = {
#define CASE(text, magic, max, error) \
	{ text, sizeof(text) - 1, magic, max, error }
		CASE(SOI JFIF FRAME("\5", "\6") SOS EOI, MAGIC_JPEG, 99,
		    ERROR_NONE),
		CASE(SOI JFIF FRAME("\5", "\6") SOS EOI, MAGIC_PNG, 99,
		    ERROR_BAD_CONTENT),
		CASE(SOI JFIF FRAME("\5", "\6") SOS EOI, MAGIC_JPEG, 12,
		    ERROR_OUTPUT_TOO_LARGE),
		CASE(SOI JFIF FRAME("\7", "\6") SOS EOI, MAGIC_JPEG, 99,
		    ERROR_CRASHED),
		CASE(SOI JFIF FRAME("\5", "\7") SOS EOI, MAGIC_JPEG, 99,
		    ERROR_CRASHED),
		CASE(SOI JFIF FRAME("\0", "\6") SOS EOI, MAGIC_JPEG, 99,
		    ERROR_CRASHED),
		CASE(SOI JFIF FRAME("\5", "\6") "\xFF\xE1\0\4Ex" SOS EOI,
		    MAGIC_JPEG, 99, ERROR_CRASHED),
		CASE(SOI JFIF SOS EOI, MAGIC_JPEG, 99, ERROR_BAD_CONTENT),
		CASE("", MAGIC_JPEG, 99, ERROR_BAD_CONTENT),
#undef CASE
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int file = file_of(cases[i].bytes, cases[i].n);
		struct picture picture = {
			.magic = cases[i].magic, .side = 6, .max = cases[i].max
		};
		enum error_code error = picture_check(file, &picture);

		if (error != cases[i].error)
			fail_msg("case %zu: %d", i, (int)error);
		close(file);
	}
}

/* Two entries, the second of which leads below, and a directory behind. */
static void
test_tiff_first(void **state)
{
	static const struct {
		const char *from;
		const char *to; /* NULL: no TIFF */
		size_t n;
	} cases[] = {
#define CASE(from, to) { from, to, sizeof(from) - 1 }
		CASE("II*\0\x0A\0\0\0..\2\0ab..........\x4A\1........zz"
		     "\x99\0\0\0..",
		    "II*\0\x0A\0\0\0..\2\0ab..........\xE8\xFD........zz"
		    "\0\0\0\0.."),
		CASE("MM\0*\0\0\0\x08\0\2ab..........\1\x4A........zz"
		     "\0\0\0\x99",
		    "MM\0*\0\0\0\x08\0\2ab..........\xFD\xE8........zz"
		    "\0\0\0\0"),
		CASE("II+\0\x08\0\0\0\x10\0\0\0\0\0\0\0"
		     "\1\0\0\0\0\0\0\0\x4A\1..................12345678",
		    "II+\0\x08\0\0\0\x10\0\0\0\0\0\0\0"
		    "\1\0\0\0\0\0\0\0\xE8\xFD.................."
		    "\0\0\0\0\0\0\0\0"),
		/* Cut, empty, too many, nowhere, before the beginning. */
		CASE("II*\0\x08\0\0\0\1\0ab..........\0\0\0", NULL),
		CASE("II*\0\x08\0\0\0\0\0\0\0\0\0", NULL),
		CASE("II*\0\x08\0\0\0\xFF\xFFxx", NULL),
		CASE("II*\0\xFF\xFF\xFF\xFF", NULL),
		CASE("II+\0\x08\0\0\0\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", NULL),
		CASE("II*", NULL),
#undef CASE
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned char got[128];
		int file = file_of(cases[i].from, cases[i].n);

		assert_int_equal(
		    tiff_keep_first(file), cases[i].to == NULL ? -1 : 0);
		assert_int_equal(
		    file_pread_all(file, got, sizeof(got), 0), cases[i].n);
		if (cases[i].to != NULL &&
		    memcmp(got, cases[i].to, cases[i].n) != 0)
			fail_msg("case %zu", i);
		close(file);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_magic),
		cmocka_unit_test(test_magic_far_pdf),
		cmocka_unit_test(test_picture_heads),
		cmocka_unit_test(test_image_size),
		cmocka_unit_test(test_metadata),
		cmocka_unit_test(test_strip_webp),
		cmocka_unit_test(test_jpeg_size),
		cmocka_unit_test(test_picture_check),
		cmocka_unit_test(test_tiff_first),
	};

	return cmocka_run_group_tests_name("picture", tests, NULL, NULL);
}
