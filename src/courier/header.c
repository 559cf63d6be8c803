/* SPDX-License-Identifier: ISC
 *
 * Header lines, in the courier, written by a source that may lie. Everything
 * that two readers could frame differently is refused; what libcurl would
 * decode, follow or keep never gets that far.
 */
#include "courier/header.h"

#include <string.h>
#include <strings.h>

#include "base/limits.h"

/* A piece of a line; not terminated. */
struct span {
	const char *at;
	size_t n;
};

/* Digits of a length: 10^18 - 1 fits 64 bits. */
#define LENGTH_DIGITS 18

static bool
span_is(struct span span, const char *word)
{
	return span.n == strlen(word) &&
	    strncasecmp(span.at, word, span.n) == 0;
}

static struct span
span_trim(struct span span)
{
	while (span.n > 0 && (span.at[0] == ' ' || span.at[0] == '\t')) {
		span.at++;
		span.n--;
	}
	while (span.n > 0 &&
	    (span.at[span.n - 1] == ' ' || span.at[span.n - 1] == '\t'))
		span.n--;
	return span;
}

static int
span_number(struct span span, uint64_t *ret_value)
{
	uint64_t value = 0;

	if (span.n == 0 || span.n > LENGTH_DIGITS)
		return -1;
	for (size_t i = 0; i < span.n; i++) {
		if (span.at[i] < '0' || span.at[i] > '9')
			return -1;
		value = value * 10 + (uint64_t)(span.at[i] - '0');
	}
	*ret_value = value;
	return 0;
}

static bool
is_name_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') ||
	    (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static bool
has_control_byte(struct span line)
{
	for (size_t i = 0; i < line.n; i++) {
		unsigned char c = (unsigned char)line.at[i];

		if ((c < ' ' && c != '\t') || c == 0x7F)
			return true;
	}
	return false;
}

static int
take_length(struct header *header, struct span value)
{
	if (header->has_length || header->is_chunked || header->is_interim)
		return -1;
	header->has_length = true;
	return span_number(value, &header->length);
}

static int
take_coding(struct header *header, struct span value)
{
	if (header->has_length || header->is_chunked || header->is_interim ||
	    header->is_http_1_0)
		return -1;
	header->is_chunked = true;
	return span_is(value, "chunked") ? 0 : -1;
}

static int
take_type(struct header *header, struct span value)
{
	const char *end = memchr(value.at, ';', value.n);
	struct span type = value;

	if (end != NULL)
		type.n = (size_t)(end - value.at);
	/* Of several, all have to agree. */
	header->is_json = span_is(span_trim(type), "application/json") &&
	    (header->is_json || !header->has_type);
	header->has_type = true;
	return 0;
}

static int
take_retry_after(struct header *header, struct span value)
{
	uint64_t seconds;

	/* A date is no mistake; it is not read. */
	if (span_number(value, &seconds) < 0)
		return 0;
	header->retry_after_s = seconds < LIMIT_RETRY_AFTER_S
	    ? (uint32_t)seconds
	    : LIMIT_RETRY_AFTER_S;
	return 0;
}

static int
take_field(struct header *header, struct span line)
{
	struct span name = { line.at, 0 };
	struct span value;

	while (name.n < line.n && is_name_byte(line.at[name.n]))
		name.n++;
	if (name.n == 0 || name.n == line.n || line.at[name.n] != ':')
		return -1;
	value.at = line.at + name.n + 1;
	value.n = line.n - name.n - 1;
	value = span_trim(value);
	if (span_is(name, "content-encoding"))
		return -1;
	if (span_is(name, "content-length"))
		return take_length(header, value);
	if (span_is(name, "transfer-encoding"))
		return take_coding(header, value);
	if (header->is_interim)
		return 0;
	if (span_is(name, "content-type"))
		return take_type(header, value);
	if (span_is(name, "retry-after"))
		return take_retry_after(header, value);
	return 0;
}

/* "HTTP/1.1 200", and a blank and the reason if there is one. */
static int
take_status_line(struct header *header, struct span line)
{
	static const char version[] = "HTTP/1.";
	const size_t n_version = sizeof(version) - 1;
	struct span digits = { line.at + n_version + 2, 3 };
	uint64_t status;

	if (line.n < n_version + 5 ||
	    memcmp(line.at, version, n_version) != 0 ||
	    (line.at[n_version] != '0' && line.at[n_version] != '1') ||
	    line.at[n_version + 1] != ' ')
		return -1;
	if (line.n > n_version + 5 && line.at[n_version + 5] != ' ')
		return -1;
	if (span_number(digits, &status) < 0)
		return -1;
	/* 101 would hand the connection to another protocol. */
	if (status < 100 || status > 599 || status == 101)
		return -1;
	header->is_http_1_0 = line.at[n_version] == '0';
	header->is_interim = status < 200;
	if (!header->is_interim)
		header->status = (uint32_t)status;
	return 0;
}

static enum header_result
end_response(struct header *header)
{
	if (!header->is_interim) {
		header->part = HEADER_END;
		return HEADER_OK;
	}
	header->part = HEADER_STATUS_LINE;
	return ++header->n_interim > LIMIT_INTERIM_RESPONSES ? HEADER_TOO_LONG
							     : HEADER_OK;
}

static enum header_result
take_line(struct header *header, struct span line)
{
	int r;

	if (header->part == HEADER_END || has_control_byte(line))
		return HEADER_PROTOCOL;
	if (header->part == HEADER_FIELDS && line.n == 0)
		return end_response(header);
	if (header->part == HEADER_FIELDS) {
		r = take_field(header, line);
	} else {
		r = take_status_line(header, line);
		header->part = HEADER_FIELDS;
	}
	return r < 0 ? HEADER_PROTOCOL : HEADER_OK;
}

void
header_init(struct header *header)
{
	*header = (struct header){ .part = HEADER_STATUS_LINE };
}

enum header_result
header_take(struct header *header, const char *line, size_t n)
{
	if (header->result != HEADER_OK)
		return header->result;
	header->n_bytes += n;
	header->n_lines++;
	if (header->n_bytes > LIMIT_HEADER_BYTES ||
	    header->n_lines > LIMIT_HEADER_LINES)
		header->result = HEADER_TOO_LONG;
	else if (n < 2 || memcmp(line + n - 2, "\r\n", 2) != 0)
		header->result = HEADER_PROTOCOL;
	else
		header->result =
		    take_line(header, (struct span){ line, n - 2 });
	return header->result;
}
