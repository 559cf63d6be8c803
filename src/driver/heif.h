/* SPDX-License-Identifier: ISC
 *
 * Thumbnails that a HEIC or AVIF brings along.
 */
#ifndef DRIVER_HEIF_H
#define DRIVER_HEIF_H

/*
 * Unties the thumbnails from the images of a HEIF, in the file itself: nobody
 * will take one for the image. -1 when it has no index that can be read.
 */
int heif_untie_thumbnails(int file);

#endif
