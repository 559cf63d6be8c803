/* SPDX-License-Identifier: ISC
 *
 * Types by first bytes. Input: the bytes.
 */
#include "driver/magic.h"
#include "fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	enum magic magic = magic_of(bytes, n);
	size_t used = n < MAGIC_BYTES ? n : MAGIC_BYTES;
	uint32_t width = 0;
	uint32_t height = 0;

	must(magic <= MAGIC_OTHER);
	must(!magic_is_image(magic) || n >= 3);
	must(magic_of(bytes, used) == magic);
	if (magic_png_size(bytes, n, &width, &height) == 0)
		must(magic == MAGIC_PNG && n >= 24);
	else
		must(width == 0 && height == 0);
	width = 0;
	height = 0;
	if (magic_jpeg_size(bytes, n, &width, &height) == 0)
		must(magic == MAGIC_JPEG && width <= 65535 && height <= 65535);
	else
		must(width == 0 && height == 0);
	if (magic_is_whole_pgm(bytes, n, n))
		must(n > 10 && memcmp(bytes, "P5\n", 3) == 0);
	return 0;
}
