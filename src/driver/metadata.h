/* SPDX-License-Identifier: ISC
 *
 * Whether a picture that we are about to give away is only a picture.
 */
#ifndef DRIVER_METADATA_H
#define DRIVER_METADATA_H

#include <stdbool.h>

#include "driver/magic.h"

/*
 * Whether a JPEG, PNG or WebP file has nothing but what is needed to show it:
 * no EXIF, no XMP, no comment, no colour profile, no segment or chunk that is
 * not known here, nothing behind its end. False too when it is cut or is none
 * of these.
 */
bool metadata_is_absent(int file, enum magic magic);

/*
 * Takes every chunk out of a WebP file that is not the picture's, in place.
 * 0, or -1: it is no whole WebP, or cannot be written.
 */
int metadata_strip_webp(int file);

#endif
