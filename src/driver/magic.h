/* SPDX-License-Identifier: ISC
 *
 * What a file is by its first bytes. Looked at before a tool meets hostile
 * content, and again after a tool says it made something.
 */
#ifndef DRIVER_MAGIC_H
#define DRIVER_MAGIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum magic {
	MAGIC_UNKNOWN = 0,
	MAGIC_JPEG,
	MAGIC_PNG,
	MAGIC_WEBP,
	MAGIC_TIFF,
	MAGIC_GIF,
	MAGIC_HEIF, /* HEIC and AVIF */
	MAGIC_PDF,
	MAGIC_OTHER, /* known, and nothing that is taken here */
};

/* As many bytes as matter. */
#define MAGIC_BYTES 1024

enum magic magic_of(const unsigned char *bytes, size_t n);

/* Of a file; MAGIC_UNKNOWN too when it cannot be read. */
enum magic magic_of_file(const char *path);

bool magic_is_image(enum magic magic);

/* The size that a PNG's first chunk declares. -1 when this is no PNG. */
int magic_png_size(const unsigned char *bytes, size_t n, uint32_t *ret_width,
    uint32_t *ret_height);

/* The size that a JPEG's frame declares, if it stands in these bytes. -1 when
 * it does not, or this is no JPEG. */
int magic_jpeg_size(const unsigned char *bytes, size_t n, uint32_t *ret_width,
    uint32_t *ret_height);

/*
 * Whether bytes begin a binary grey image (PGM of one byte a pixel) that is
 * whole in total bytes.
 */
bool magic_is_whole_pgm(const unsigned char *bytes, size_t n, uint64_t total);

/* The first bytes of a file, up to n. The number read, or -errno. */
ssize_t magic_read(const char *path, unsigned char *to, size_t n);

#endif
