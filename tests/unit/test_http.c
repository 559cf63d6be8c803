/* SPDX-License-Identifier: ISC
 *
 * One POST: the bytes that go out, what is made of the ways in which it can
 * end, and what an answer's body meets. Plain HTTP over loopback; TLS and
 * lies at length are in tests/courier.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <openssl/x509_vfy.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "courier/http.h"
#include "wire/letter.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void
every_end_has_its_word(void **state)
{
	static const struct {
		struct http_end end;
		enum courier_trouble trouble;
	} cases[] = {
		{ { .code = CURLE_OK }, COURIER_TROUBLE_NONE },
		{ { .code = CURLE_OPERATION_TIMEDOUT }, COURIER_TIMEOUT },
		{ { .code = CURLE_SSL_CONNECT_ERROR }, COURIER_TLS },
		{ { .code = CURLE_PEER_FAILED_VERIFICATION },
		    COURIER_CERTIFICATE },
		{ { .code = CURLE_PEER_FAILED_VERIFICATION,
		      .verify_result = X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT },
		    COURIER_CERTIFICATE },
		{ { .code = CURLE_PEER_FAILED_VERIFICATION,
		      .verify_result = X509_V_ERR_CERT_HAS_EXPIRED },
		    COURIER_CERTIFICATE_TIME },
		{ { .code = CURLE_PEER_FAILED_VERIFICATION,
		      .verify_result = X509_V_ERR_CERT_NOT_YET_VALID },
		    COURIER_CERTIFICATE_TIME },
		{ { .code = CURLE_COULDNT_CONNECT }, COURIER_CLOSED },
		{ { .code = CURLE_GOT_NOTHING }, COURIER_CLOSED },
		{ { .code = CURLE_RECV_ERROR }, COURIER_CLOSED },
		{ { .code = CURLE_SEND_ERROR }, COURIER_CLOSED },
		{ { .code = CURLE_PARTIAL_FILE }, COURIER_CLOSED },
		{ { .code = CURLE_WEIRD_SERVER_REPLY }, COURIER_PROTOCOL },
		{ { .code = CURLE_UNSUPPORTED_PROTOCOL }, COURIER_PROTOCOL },
		{ { .code = CURLE_OUT_OF_MEMORY }, COURIER_LOCAL },
		{ { .code = CURLE_FAILED_INIT }, COURIER_LOCAL },
		{ { .code = CURLE_WRITE_ERROR, .is_stopped = true },
		    COURIER_TROUBLE_NONE },
		{ { .code = CURLE_ABORTED_BY_CALLBACK, .is_over_wire = true },
		    COURIER_TOO_LARGE },
		{ { .code = CURLE_ABORTED_BY_CALLBACK, .is_letter_lost = true },
		    COURIER_LOCAL },
	};
	const struct header whole = { .status = 200, .part = HEADER_END };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(
		    http_trouble(&cases[i].end, &whole), cases[i].trouble);
}

static void
the_header_has_the_first_word(void **state)
{
	const struct header wrong = { .result = HEADER_PROTOCOL };
	const struct header longer = { .result = HEADER_TOO_LONG };
	const struct header begun = { .part = HEADER_FIELDS };
	struct http_end end = { .code = CURLE_WRITE_ERROR };

	(void)state;
	assert_int_equal(http_trouble(&end, &wrong), COURIER_PROTOCOL);
	assert_int_equal(http_trouble(&end, &longer), COURIER_HEADERS);
	end.code = CURLE_OUT_OF_MEMORY;
	assert_int_equal(http_trouble(&end, &begun), COURIER_HEADERS);
	end.code = CURLE_OK;
	assert_int_equal(http_trouble(&end, &begun), COURIER_PROTOCOL);
}

/*
 * What the courier's filter does to libcurl's connect(): the socket is
 * connected already.
 */
__attribute__((visibility("default"))) int connect_already(
    int fd, const struct sockaddr *address, socklen_t n) __asm__("connect");

int
connect_already(int fd, const struct sockaddr *address, socklen_t n)
{
	(void)fd;
	(void)address;
	(void)n;
	return 0;
}

/* -- over loopback ------------------------------------------------------ */

struct served {
	pid_t pid;
	int socket; /* connected to it */
	uint32_t port;
	int request; /* pipe: what it was sent */
};

/* Whether the bytes are a request with all of its body. */
static bool
is_whole(const char *bytes, size_t n)
{
	static const char key[] = "Content-Length: ";
	const char *end = memmem(bytes, n, "\r\n\r\n", 4);
	const char *length = memmem(bytes, n, key, sizeof(key) - 1);

	return end != NULL && length != NULL &&
	    n >= (size_t)(end + 4 - bytes) +
		strtoul(length + sizeof(key) - 1, NULL, 10);
}

/* In the server: takes a request, passes it on and answers. */
static void
serve(int listener, int request, const char *answer)
{
	static char bytes[1 << 20];
	int client = accept(listener, NULL, NULL);
	size_t got = 0;

	(void)alarm(10);
	while (got < sizeof(bytes) && !is_whole(bytes, got)) {
		ssize_t n = read(client, bytes + got, sizeof(bytes) - got);

		if (n <= 0)
			break;
		got += (size_t)n;
	}
	(void)file_write_all(client, answer, strlen(answer));
	(void)close(client);
	(void)file_write_all(request, bytes, got);
	_exit(0);
}

static struct served
serve_start(int family, const char *answer)
{
	struct sockaddr_in6 address = { .sin6_family = AF_INET6,
		.sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct sockaddr_in v4 = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(address);
	int listener = socket(family, SOCK_STREAM, 0);
	struct served served;
	int request[2];

	if (family == AF_INET)
		memcpy(&address, &v4, sizeof(v4));
	assert_int_equal(bind(listener, (struct sockaddr *)&address,
			     family == AF_INET ? sizeof(v4) : n),
	    0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(
	    getsockname(listener, (struct sockaddr *)&address, &n), 0);
	assert_int_equal(pipe(request), 0);
	served.pid = fork();
	assert_true(served.pid >= 0);
	if (served.pid == 0)
		serve(listener, request[1], answer);
	(void)close(listener);
	(void)close(request[1]);
	served.request = request[0];
	served.port = ntohs(address.sin6_port);
	served.socket = socket(family, SOCK_STREAM, 0);
	assert_int_equal(syscall(SYS_connect, served.socket, &address, n), 0);
	return served;
}

static char *
served_request(const struct served *served)
{
	char *bytes = calloc(1 << 20, 1);

	assert_non_null(bytes);
	assert_true(file_read_all(served->request, bytes, (1 << 20) - 1) >= 0);
	(void)close(served->request);
	assert_int_equal(waitpid(served->pid, NULL, 0), served->pid);
	return bytes;
}

static void
post(const struct served *served, const char *host, struct http_call *call,
    struct http_reply *ret_reply)
{
	char url[128];
	struct http_place place = {
		.url = url, .host = host, .port = served->port, .token = "T0ken"
	};

	(void)snprintf(url, sizeof(url),
	    strchr(host, ':') ? "http://[%s]:%u/base" : "http://%s:%u/base",
	    host, (unsigned int)served->port);
	call->socket = served->socket;
	call->timeout_ms = 5000;
	http_post(&place, call, ret_reply);
}

#define HEAD_FORMAT                                                      \
	"POST /base/v1/claim HTTP/1.1\r\nHost: %s:%u\r\n"                \
	"Authorization: Bearer T0ken\r\n"                                \
	"Content-Type: application/json\r\nAccept: application/json\r\n" \
	"User-Agent: sandcastle/1\r\nContent-Length: %zu\r\n\r\n%s"

/* Posts a short body, and asserts that exactly these bytes went out. */
static void
assert_request(int family, const char *host, const char *shown)
{
	static const char body[] = "{\"a\":1}";
	struct http_call call = { .path = "/v1/claim",
		.body = {
		    .head = body, .n_head = sizeof(body) - 1, .letter = -1 } };
	struct http_reply reply;
	struct served served;
	char wanted[512];
	char *request;

	served = serve_start(family, "HTTP/1.1 204 No Content\r\n\r\n");
	post(&served, host, &call, &reply);
	assert_int_equal(reply.trouble, COURIER_TROUBLE_NONE);
	assert_int_equal(reply.header.status, 204);
	assert_int_equal(reply.uploaded, sizeof(body) - 1);
	(void)snprintf(wanted, sizeof(wanted), HEAD_FORMAT, shown,
	    (unsigned int)served.port, sizeof(body) - 1, body);
	request = served_request(&served);
	assert_string_equal(request, wanted);
	free(request);
}

static void
the_request_is_these_bytes(void **state)
{
	(void)state;
	assert_request(AF_INET, "127.0.0.1", "127.0.0.1");
	assert_request(AF_INET, "source.invalid", "source.invalid");
	assert_request(AF_INET6, "::1", "[::1]");
}

static void
a_letter_is_sent_between_head_and_tail(void **state)
{
	const size_t n = 300000;
	char *contents = malloc(n);
	int letter = letter_new("letter");
	struct http_call call = { .path = "/v1/result",
		.body = { .head = "head(",
		    .n_head = 5,
		    .letter = letter,
		    .n_letter = n,
		    .tail = ")tail",
		    .n_tail = 5 } };
	struct http_reply reply;
	struct served served;
	char *request;
	char *body;

	(void)state;
	assert_non_null(contents);
	for (size_t i = 0; i < n; i++)
		contents[i] = (char)('a' + i * 7 % 26);
	assert_int_equal(
	    file_pwrite_all(letter, contents, n, LETTER_TICKET_BYTES), 0);
	served = serve_start(AF_INET, "HTTP/1.1 200 OK\r\n\r\n");
	post(&served, "127.0.0.1", &call, &reply);
	assert_int_equal(reply.trouble, COURIER_TROUBLE_NONE);
	assert_int_equal(reply.uploaded, n + 10);
	request = served_request(&served);
	body = strstr(request, "\r\n\r\n");
	assert_non_null(body);
	body += 4;
	assert_int_equal(strlen(body), n + 10);
	assert_memory_equal(body, "head(", 5);
	assert_memory_equal(body + 5, contents, n);
	assert_string_equal(body + 5 + n, ")tail");
	free(request);
	free(contents);
	(void)close(letter);
}

static void
a_letter_that_is_shorter_ends_the_exchange(void **state)
{
	int letter = letter_new("letter");
	struct http_call call = { .path = "/v1/result",
		.body = { .letter = letter, .n_letter = 10 } };
	struct http_reply reply;
	struct served served;

	(void)state;
	assert_int_equal(
	    file_pwrite_all(letter, "abc", 3, LETTER_TICKET_BYTES), 0);
	served = serve_start(AF_INET, "");
	post(&served, "127.0.0.1", &call, &reply);
	assert_int_equal(reply.trouble, COURIER_LOCAL);
	free(served_request(&served));
	(void)close(letter);
}

struct taken {
	char bytes[64];
	size_t n;
	size_t max;
};

static int
take(void *context, const struct header *header, const char *bytes, size_t n)
{
	struct taken *taken = context;

	assert_int_equal(header->status, 200);
	for (size_t i = 0; i < n; i++) {
		if (taken->n == taken->max)
			return -1;
		taken->bytes[taken->n++] = bytes[i];
	}
	return 0;
}

static struct http_reply
reply_to(const char *answer, struct taken *taken)
{
	struct http_call call = { .path = "/v1/claim",
		.body = { .letter = -1 },
		.max_body = 64,
		.sink = take,
		.sink_context = taken };
	struct served served = serve_start(AF_INET, answer);
	struct http_reply reply;

	post(&served, "127.0.0.1", &call, &reply);
	free(served_request(&served));
	return reply;
}

#define JSON "Content-Type: application/json\r\n"

static void
only_a_json_200_reaches_the_sink(void **state)
{
	struct taken taken = { .max = 64 };
	struct http_reply reply;

	(void)state;
	reply = reply_to("HTTP/1.1 503 No\r\n" JSON "\r\n{\"id\":1}", &taken);
	assert_int_equal(reply.header.status, 503);
	assert_int_equal(reply.n_body, 8);
	reply = reply_to(
	    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>", &taken);
	assert_int_equal(reply.trouble, COURIER_TROUBLE_NONE);
	assert_int_equal(taken.n, 0);
	reply = reply_to("HTTP/1.1 200 OK\r\n" JSON
			 "Transfer-Encoding: chunked\r\n\r\n"
			 "3;a=b\r\n{\"a\r\n5\r\n\":12}\r\n0\r\n\r\n",
	    &taken);
	assert_int_equal(reply.trouble, COURIER_TROUBLE_NONE);
	assert_int_equal(taken.n, 8);
	assert_memory_equal(taken.bytes, "{\"a\":12}", 8);
}

static void
the_sink_can_stop_it(void **state)
{
	struct taken taken = { .max = 4 };
	struct http_reply reply;

	(void)state;
	reply = reply_to("HTTP/1.1 200 OK\r\n" JSON "\r\n{\"a\":12}", &taken);
	assert_int_equal(reply.trouble, COURIER_TROUBLE_NONE);
	assert_int_equal(taken.n, 4);
}

static void
a_trailer_is_refused(void **state)
{
	struct taken taken = { .max = 64 };
	struct http_reply reply;

	(void)state;
	reply = reply_to("HTTP/1.1 200 OK\r\n" JSON
			 "Transfer-Encoding: chunked\r\n\r\n"
			 "2\r\n{}\r\n0\r\nA: b\r\n\r\n",
	    &taken);
	assert_int_equal(reply.trouble, COURIER_PROTOCOL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_end_has_its_word),
		cmocka_unit_test(the_header_has_the_first_word),
		cmocka_unit_test(the_request_is_these_bytes),
		cmocka_unit_test(a_letter_is_sent_between_head_and_tail),
		cmocka_unit_test(a_letter_that_is_shorter_ends_the_exchange),
		cmocka_unit_test(only_a_json_200_reaches_the_sink),
		cmocka_unit_test(the_sink_can_stop_it),
		cmocka_unit_test(a_trailer_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
