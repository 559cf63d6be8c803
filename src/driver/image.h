/* SPDX-License-Identifier: ISC
 *
 * What image.preview and image.text share.
 */
#ifndef DRIVER_IMAGE_H
#define DRIVER_IMAGE_H

#include <stdint.h>

#include "driver/job.h"

/* Whether a file is of a type that vips may see: ERROR_NONE,
 * ERROR_UNSUPPORTED_TYPE (known, but not taken) or ERROR_BAD_CONTENT. Leaves a
 * TIFF with its first picture only, and a HEIF without thumbnails. */
enum error_code image_check(const char *path);

/*
 * Has vips (the tool of that index) make of JOB_FILE an upright sRGB copy
 * that fits into a square of that side and is never larger than the original.
 * A colour profile that does not fit its pixels is taken for none.
 * target is a file name with vips' options for its writer. A damaged image is
 * ERROR_BAD_CONTENT, not a half-grey copy.
 */
enum error_code image_shrink(const struct job *job, unsigned int tool,
    const char *target, const char *side);

/* Reads "NAME: WIDTHxHEIGHT ", a line of vipsheader. -1 when it is not. */
int image_size_parse(
    const char *line, uint32_t *ret_width, uint32_t *ret_height);

#endif
