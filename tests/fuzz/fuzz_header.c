/* SPDX-License-Identifier: ISC
 *
 * Header lines of an answer. Input: the bytes of a head, cut at newlines.
 */
#include "base/limits.h"
#include "courier/header.h"
#include "fuzz.h"

static void
check(const struct header *header, size_t n_lines)
{
	must(header->status == 0 ||
	    (header->status >= 200 && header->status <= 599));
	must(header->retry_after_s <= LIMIT_RETRY_AFTER_S);
	if (header->result != HEADER_OK)
		return;
	must(!(header->has_length && header->is_chunked));
	must(!header->is_json || header->has_type);
	must(n_lines <= LIMIT_HEADER_LINES);
	must(header->length < UINT64_C(1000000000000000000));
	if (header->part == HEADER_END)
		must(header->status != 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	enum header_result result = HEADER_OK;
	struct header header;
	size_t n_lines = 0;

	header_init(&header);
	while (n > 0) {
		const uint8_t *end = memchr(bytes, '\n', n);
		size_t length = end == NULL ? n : (size_t)(end - bytes) + 1;
		cleanup_free char *line =
		    pieces_copy((const char *)bytes, length);
		bool is_over = header.part == HEADER_END;
		enum header_result r = header_take(&header, line, length);

		must(r == header.result);
		must(result == HEADER_OK || r == result);
		must(!is_over || r != HEADER_OK);
		result = r;
		check(&header, ++n_lines);
		bytes += length;
		n -= length;
	}
	return 0;
}
