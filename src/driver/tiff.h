/* SPDX-License-Identifier: ISC
 *
 * Only the first picture of a TIFF is the image.
 */
#ifndef DRIVER_TIFF_H
#define DRIVER_TIFF_H

/*
 * Cuts off what follows the first picture of a TIFF, in the file itself: the
 * directories behind its own and those below it. -1 when it has no directory
 * that can be read.
 */
int tiff_keep_first(int file);

#endif
