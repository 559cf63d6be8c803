/* SPDX-License-Identifier: ISC
 *
 * Header lines of honest and of lying sources.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "courier/header.h"

/* Feeds a text line by line, as libcurl does: a line ends behind its \n. */
static enum header_result
feed(struct header *header, const char *text, size_t n)
{
	header_init(header);
	while (n > 0) {
		const char *end = memchr(text, '\n', n);
		size_t step = end != NULL ? (size_t)(end - text) + 1 : n;

		(void)header_take(header, text, step);
		text += step;
		n -= step;
	}
	return header->result;
}

#define OK	 HEADER_OK
#define PROTOCOL HEADER_PROTOCOL
#define OK_LINE	 "HTTP/1.1 200 OK\r\n"

static const struct {
	const char *text;
	enum header_result result;
} cases[] = {
	/* status lines */
	{ OK_LINE "\r\n", OK },
	{ "HTTP/1.0 200 OK\r\n\r\n", OK },
	{ "HTTP/1.1 200\r\n\r\n", OK },
	{ "HTTP/1.1 200 \r\n\r\n", OK },
	{ "HTTP/1.1 599 \xC3\xA9t\xE9\r\n\r\n", OK },
	{ "HTTP/1.1 200OK\r\n\r\n", PROTOCOL },
	{ "HTTP/1.1  200 OK\r\n\r\n", PROTOCOL },
	{ "HTTP/1.2 200 OK\r\n\r\n", PROTOCOL },
	{ "HTTP/1.7 200 OK\r\n\r\n", PROTOCOL },
	{ "HTTP/2 200\r\n\r\n", PROTOCOL },
	{ "HTTP/1.10 200 OK\r\n\r\n", PROTOCOL },
	{ "http/1.1 200 OK\r\n\r\n", PROTOCOL },
	{ " HTTP/1.1 200 OK\r\n\r\n", PROTOCOL },
	{ "HTTP/1.1 000 OK\r\n\r\n", PROTOCOL },
	{ "HTTP/1.1 099 OK\r\n\r\n", PROTOCOL },
	{ "HTTP/1.1 600 OK\r\n\r\n", PROTOCOL },
	{ "HTTP/1.1 999 OK\r\n\r\n", PROTOCOL },
	{ "HTTP/1.1 20 OK\r\n\r\n", PROTOCOL },
	{ "HTTP/1.1 2000 OK\r\n\r\n", PROTOCOL },
	{ "HTTP/1.1 +20 OK\r\n\r\n", PROTOCOL },
	{ "HTTP/1.1 101 Switching\r\n\r\n", PROTOCOL },
	{ "HTTP/1.1 ", PROTOCOL },
	{ "\r\n" OK_LINE "\r\n", PROTOCOL },
	{ "HTTP/1.1 200 O\033[31mK\r\n\r\n", PROTOCOL },
	/* interim responses */
	{ "HTTP/1.1 100 Go\r\n\r\n" OK_LINE "\r\n", OK },
	{ "HTTP/1.1 103 Hints\r\nLink: </x>\r\n\r\n" OK_LINE "\r\n", OK },
	{ "HTTP/1.1 100 Go\r\nContent-Length: 3\r\n\r\n", PROTOCOL },
	{ "HTTP/1.1 100 Go\r\nTransfer-Encoding: chunked\r\n\r\n", PROTOCOL },
	/* ends of lines */
	{ "HTTP/1.1 200 OK\n\n", PROTOCOL },
	{ OK_LINE "A: b\n\r\n", PROTOCOL },
	{ OK_LINE "A: b\rc\r\n\r\n", PROTOCOL },
	{ OK_LINE "A: b\r\r\n\r\n", PROTOCOL },
	{ OK_LINE "\n", PROTOCOL },
	{ OK_LINE "A: b", PROTOCOL },
	/* fields */
	{ OK_LINE "Server: x\r\nX-A:\r\nX-B:\tc\t\r\n\r\n", OK },
	{ OK_LINE "A: b\r\n c\r\n\r\n", PROTOCOL },
	{ OK_LINE "A: b\r\n\tc\r\n\r\n", PROTOCOL },
	{ OK_LINE " A: b\r\n\r\n", PROTOCOL },
	{ OK_LINE "A : b\r\n\r\n", PROTOCOL },
	{ OK_LINE ": b\r\n\r\n", PROTOCOL },
	{ OK_LINE "no colon\r\n\r\n", PROTOCOL },
	{ OK_LINE "A\r\n\r\n", PROTOCOL },
	{ OK_LINE "A(: b\r\n\r\n", PROTOCOL },
	{ OK_LINE "\xC3\xA9: b\r\n\r\n", PROTOCOL },
	{ OK_LINE "A: b\033c\r\n\r\n", PROTOCOL },
	{ OK_LINE "A: b\177c\r\n\r\n", PROTOCOL },
	/* framing */
	{ OK_LINE "Content-Length: 0\r\n\r\n", OK },
	{ OK_LINE "content-length:\t12 \r\n\r\n", OK },
	{ OK_LINE "Content-Length: 999999999999999999\r\n\r\n", OK },
	{ OK_LINE "Content-Length: 1000000000000000000\r\n\r\n", PROTOCOL },
	{ OK_LINE "Content-Length: 10000000000000000000000\r\n\r\n", PROTOCOL },
	{ OK_LINE "Content-Length: -1\r\n\r\n", PROTOCOL },
	{ OK_LINE "Content-Length: +1\r\n\r\n", PROTOCOL },
	{ OK_LINE "Content-Length: 0x10\r\n\r\n", PROTOCOL },
	{ OK_LINE "Content-Length: 1 2\r\n\r\n", PROTOCOL },
	{ OK_LINE "Content-Length: 5, 5\r\n\r\n", PROTOCOL },
	{ OK_LINE "Content-Length:\r\n\r\n", PROTOCOL },
	{ OK_LINE "Content-Length: 5\r\nContent-Length: 5\r\n\r\n", PROTOCOL },
	{ OK_LINE "Content-Length: 5\r\nCONTENT-LENGTH: 6\r\n\r\n", PROTOCOL },
	{ OK_LINE "Transfer-Encoding: chunked\r\n\r\n", OK },
	{ OK_LINE "transfer-encoding: CHUNKED\r\n\r\n", OK },
	{ OK_LINE "Transfer-Encoding: gzip, chunked\r\n\r\n", PROTOCOL },
	{ OK_LINE "Transfer-Encoding: gzip\r\n\r\n", PROTOCOL },
	{ OK_LINE "Transfer-Encoding: identity\r\n\r\n", PROTOCOL },
	{ OK_LINE "Transfer-Encoding: chunked, chunked\r\n\r\n", PROTOCOL },
	{ OK_LINE "Transfer-Encoding: xchunked\r\n\r\n", PROTOCOL },
	{ OK_LINE "Transfer-Encoding: chunked;a=b\r\n\r\n", PROTOCOL },
	{ OK_LINE "Transfer-Encoding:\r\n\r\n", PROTOCOL },
	{ OK_LINE "Transfer-Encoding: chunked\r\n"
		  "Transfer-Encoding: chunked\r\n\r\n",
	    PROTOCOL },
	{ OK_LINE "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
	    PROTOCOL },
	{ OK_LINE "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n",
	    PROTOCOL },
	{ "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", PROTOCOL },
	{ OK_LINE "Content-Encoding: gzip\r\n\r\n", PROTOCOL },
	{ OK_LINE "Content-Encoding: identity\r\n\r\n", PROTOCOL },
	{ "HTTP/1.1 103 E\r\nContent-Encoding: gzip\r\n\r\n", PROTOCOL },
	/* behind the body */
	{ OK_LINE "\r\nTrailer: x\r\n", PROTOCOL },
	{ OK_LINE "\r\n\r\n", PROTOCOL },
	{ OK_LINE "\r\n" OK_LINE "\r\n", PROTOCOL },
};

static void
every_line_meets_its_rule(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct header header;
		enum header_result result =
		    feed(&header, cases[i].text, strlen(cases[i].text));

		if (result != cases[i].result)
			fail_msg("case %zu gives %d: %s", i, (int)result,
			    cases[i].text);
		if (result == HEADER_OK)
			assert_int_equal(header.part, HEADER_END);
	}
}

static void
a_nul_byte_is_refused(void **state)
{
	static const char text[] = OK_LINE "A: b\0c\r\n\r\n";
	static const char name[] = OK_LINE "A\0: b\r\n\r\n";
	struct header header;

	(void)state;
	assert_int_equal(feed(&header, text, sizeof(text) - 1), PROTOCOL);
	assert_int_equal(feed(&header, name, sizeof(name) - 1), PROTOCOL);
}

static void
feed_text(struct header *header, const char *text)
{
	assert_int_equal(feed(header, text, strlen(text)), HEADER_OK);
}

static void
the_facts_are_those_of_the_final_response(void **state)
{
	struct header header;

	(void)state;
	feed_text(&header,
	    "HTTP/1.1 103 E\r\nContent-Type: text/html\r\n"
	    "Retry-After: 9\r\n\r\n"
	    "HTTP/1.1 503 No\r\nContent-Length: 12\r\n\r\n");
	assert_int_equal(header.status, 503);
	assert_true(header.has_length);
	assert_int_equal(header.length, 12);
	assert_false(header.has_type);
	assert_int_equal(header.retry_after_s, 0);
}

static void
types_are_read_with_their_parameters(void **state)
{
	static const struct {
		const char *field;
		bool is_json;
	} types[] = {
		{ "Content-Type: application/json", true },
		{ "content-type: Application/JSON; charset=utf-8", true },
		{ "Content-Type: application/json ;x", true },
		{ "Content-Type: application/jsonx", false },
		{ "Content-Type: application/problem+json", false },
		{ "Content-Type: text/html; application/json", false },
		{ "Content-Type:", false },
		{ "X: application/json", false },
		{ "Content-Type: text/html\r\nContent-Type: "
		  "application/json",
		    false },
		{ "Content-Type: application/json\r\nContent-Type: "
		  "text/html",
		    false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		struct header header;
		char text[256];

		(void)snprintf(
		    text, sizeof(text), OK_LINE "%s\r\n\r\n", types[i].field);
		feed_text(&header, text);
		if (header.is_json != types[i].is_json)
			fail_msg("%s", types[i].field);
	}
}

static void
retry_after_is_seconds_within_bounds(void **state)
{
	static const struct {
		const char *value;
		uint32_t seconds;
	} values[] = {
		{ "0", 0 },
		{ "1", 1 },
		{ "60", 60 },
		{ "600", LIMIT_RETRY_AFTER_S },
		{ "601", LIMIT_RETRY_AFTER_S },
		{ "999999999999999999", LIMIT_RETRY_AFTER_S },
		{ "99999999999999999999999", 0 },
		{ "-5", 0 },
		{ "5.5", 0 },
		{ "Wed, 21 Oct 2026 07:28:00 GMT", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		struct header header;
		char text[256];

		(void)snprintf(text, sizeof(text),
		    "HTTP/1.1 429 No\r\nRetry-After: %s\r\n\r\n",
		    values[i].value);
		feed_text(&header, text);
		assert_int_equal(header.retry_after_s, values[i].seconds);
	}
}

static void
take_text(struct header *header, const char *line)
{
	(void)header_take(header, line, strlen(line));
}

static void
lines_bytes_and_interims_are_counted(void **state)
{
	struct header header;
	char *line = malloc(LIMIT_HEADER_BYTES);

	(void)state;
	assert_non_null(line);
	header_init(&header);
	take_text(&header, OK_LINE);
	for (int i = 1; i < LIMIT_HEADER_LINES; i++)
		take_text(&header, "A: b\r\n");
	assert_int_equal(header.result, HEADER_OK);
	take_text(&header, "\r\n");
	assert_int_equal(header.result, HEADER_TOO_LONG);

	memset(line, 'a', LIMIT_HEADER_BYTES);
	memcpy(line, "A:", 2);
	memcpy(line + LIMIT_HEADER_BYTES - 2, "\r\n", 2);
	header_init(&header);
	take_text(&header, OK_LINE);
	(void)header_take(&header, line, LIMIT_HEADER_BYTES);
	assert_int_equal(header.result, HEADER_TOO_LONG);
	free(line);

	header_init(&header);
	for (int i = 0; i < LIMIT_INTERIM_RESPONSES; i++) {
		take_text(&header, "HTTP/1.1 102\r\n");
		take_text(&header, "\r\n");
	}
	assert_int_equal(header.result, HEADER_OK);
	take_text(&header, "HTTP/1.1 100\r\n");
	take_text(&header, "\r\n");
	assert_int_equal(header.result, HEADER_TOO_LONG);
}

static void
a_failure_stays(void **state)
{
	struct header header;

	(void)state;
	header_init(&header);
	take_text(&header, "nonsense\r\n");
	assert_int_equal(
	    header_take(&header, OK_LINE, strlen(OK_LINE)), HEADER_PROTOCOL);
	assert_int_equal(header.status, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_line_meets_its_rule),
		cmocka_unit_test(a_nul_byte_is_refused),
		cmocka_unit_test(the_facts_are_those_of_the_final_response),
		cmocka_unit_test(types_are_read_with_their_parameters),
		cmocka_unit_test(retry_after_is_seconds_within_bounds),
		cmocka_unit_test(lines_bytes_and_interims_are_counted),
		cmocka_unit_test(a_failure_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
