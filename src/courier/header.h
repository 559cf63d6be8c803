/* SPDX-License-Identifier: ISC
 *
 * The header lines of an HTTP/1 answer, by stricter rules than libcurl's: one
 * framing of the body and only one, no encoding, no trailer, bounded in every
 * direction. Pure: lines go in, facts come out.
 */
#ifndef COURIER_HEADER_H
#define COURIER_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum header_result {
	HEADER_OK = 0,
	HEADER_PROTOCOL = -1, /* a line that is not allowed */
	HEADER_TOO_LONG = -2, /* too many lines, bytes or interim responses */
};

enum header_part {
	HEADER_STATUS_LINE,
	HEADER_FIELDS,
	HEADER_END, /* of the final response */
};

struct header {
	uint32_t status; /* 200 … 599 of the final response; 0 before it */
	bool has_length;
	uint64_t length;
	bool is_chunked;
	bool has_type;
	bool is_json; /* its type is application/json */
	uint32_t retry_after_s; /* 0, or 1 … LIMIT_RETRY_AFTER_S */
	enum header_result result;
	enum header_part part;
	/* private from here */
	bool is_interim;
	bool is_http_1_0;
	uint32_t n_interim;
	uint32_t n_lines;
	size_t n_bytes;
};

void header_init(struct header *header);

/*
 * Takes one line as it came, its end of line included: status lines, fields,
 * blank lines and trailers, of interim responses and of the final one. Gives
 * header->result; after a failure every further call gives the same.
 */
enum header_result header_take(
    struct header *header, const char *line, size_t n);

#endif
