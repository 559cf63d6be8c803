/* SPDX-License-Identifier: ISC
 *
 * Looks at a JPEG or PNG that a tool says it made, before it is given away.
 */
#ifndef DRIVER_PICTURE_H
#define DRIVER_PICTURE_H

#include <stdint.h>

#include "contract/outcome.h"
#include "driver/magic.h"

struct picture {
	enum magic magic; /* MAGIC_JPEG or MAGIC_PNG: what it must be */
	int64_t side; /* neither side may be longer, pixels */
	int64_t max; /* bytes */

	uint32_t width; /* filled by picture_check */
	uint32_t height;
};

/*
 * ERROR_NONE with its size; else ERROR_BAD_CONTENT (nothing was made, or not
 * of that type), ERROR_OUTPUT_TOO_LARGE, or ERROR_CRASHED: it is larger than
 * its maker was told, or more than a picture (metadata.h).
 */
enum error_code picture_check(int file, struct picture *picture);

#endif
