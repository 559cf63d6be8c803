/* SPDX-License-Identifier: ISC
 *
 * The last look at a picture. Runs in the driver; the tool that made it had
 * met hostile content, and its exit status proves nothing.
 */
#include "driver/picture.h"

#include <sys/stat.h>

#include "base/file.h"
#include "driver/metadata.h"

static int
read_size(int file, struct picture *picture)
{
	unsigned char bytes[MAGIC_BYTES];
	ssize_t n = file_pread_all(file, bytes, sizeof(bytes), 0);

	if (n <= 0 || magic_of(bytes, (size_t)n) != picture->magic)
		return -1;
	return picture->magic == MAGIC_PNG
	    ? magic_png_size(
		  bytes, (size_t)n, &picture->width, &picture->height)
	    : magic_jpeg_size(
		  bytes, (size_t)n, &picture->width, &picture->height);
}

enum error_code
picture_check(int file, struct picture *picture)
{
	struct stat st;

	if (fstat(file, &st) < 0 || read_size(file, picture) < 0)
		return ERROR_BAD_CONTENT;
	if (st.st_size > picture->max)
		return ERROR_OUTPUT_TOO_LARGE;
	if (picture->width == 0 || picture->height == 0 ||
	    picture->width > picture->side || picture->height > picture->side)
		return ERROR_CRASHED;
	return metadata_is_absent(file, picture->magic) ? ERROR_NONE
							: ERROR_CRASHED;
}
