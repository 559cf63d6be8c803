/* SPDX-License-Identifier: ISC
 *
 * One exchange, in the courier, with a source that it distrusts: any answer,
 * at any speed, of any length. libcurl is given a connected socket and no way
 * to another; what it does not bound by itself (trailers, bytes on the wire,
 * bodies without a length) is bounded here.
 */
#include "courier/http.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/limits.h"
#include "wire/letter.h"

struct transfer {
	const struct http_place *place;
	const struct http_call *call;
	struct http_reply *reply;
	struct http_end end;
	CURL *easy;
	struct curl_slist *headers;
	struct curl_slist *resolve;
	bool socket_is_given;
	uint64_t at; /* of the body that is sent */
};

/* An option or a list that fails ends the exchange before it begins. */
#define SET(transfer, option, value)                                           \
	do {                                                                   \
		if ((transfer)->end.code == CURLE_OK)                          \
			(transfer)->end.code =                                 \
			    curl_easy_setopt((transfer)->easy, option, value); \
	} while (0)

static const struct {
	CURLoption option;
	long value;
} numbers[] = {
	{ CURLOPT_NOSIGNAL, 1 },
	{ CURLOPT_BUFFERSIZE, 16384 },
	/* where: nowhere else */
	{ CURLOPT_FOLLOWLOCATION, 0 },
	{ CURLOPT_MAXREDIRS, 0 },
	{ CURLOPT_UNRESTRICTED_AUTH, 0 },
	{ CURLOPT_DISALLOW_USERNAME_IN_URL, 1 },
	{ CURLOPT_NETRC, CURL_NETRC_IGNORED },
	{ CURLOPT_FRESH_CONNECT, 1 },
	{ CURLOPT_FORBID_REUSE, 1 },
	/* TLS: always verified */
	{ CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2 },
	{ CURLOPT_SSL_VERIFYPEER, 1 },
	{ CURLOPT_SSL_VERIFYHOST, 2 },
	{ CURLOPT_SSL_SESSIONID_CACHE, 0 },
	/* HTTP: nothing is decoded */
	{ CURLOPT_POST, 1 },
	{ CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1 },
	{ CURLOPT_HTTP09_ALLOWED, 0 },
	{ CURLOPT_HTTP_CONTENT_DECODING, 0 },
	{ CURLOPT_TRANSFER_ENCODING, 0 },
	/* time */
	{ CURLOPT_CONNECTTIMEOUT_MS, LIMIT_HANDSHAKE_MS },
	{ CURLOPT_LOW_SPEED_TIME, LIMIT_STALL_S },
	{ CURLOPT_LOW_SPEED_LIMIT, LIMIT_STALL_BYTES_PER_S },
	{ CURLOPT_NOPROGRESS, 0 },
};

static const struct {
	CURLoption option;
	const char *value;
} strings[] = {
	{ CURLOPT_PROXY, "" },
	{ CURLOPT_NOPROXY, "*" },
	{ CURLOPT_CAINFO, NULL },
	{ CURLOPT_CAPATH, NULL },
};

static curl_socket_t
give_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct transfer *transfer = context;

	(void)purpose;
	(void)address;
	if (transfer->socket_is_given)
		return CURL_SOCKET_BAD;
	transfer->socket_is_given = true;
	return transfer->call->socket;
}

static int
say_connected(void *context, curl_socket_t socket, curlsocktype purpose)
{
	(void)context;
	(void)socket;
	(void)purpose;
	return CURL_SOCKOPT_ALREADY_CONNECTED;
}

static CURLcode
furnish_tls(CURL *easy, void *ctx, void *context)
{
	struct transfer *transfer = context;
	X509_STORE *store = trust_store(transfer->place->trust);

	(void)easy;
	if (!X509_STORE_up_ref(store))
		return CURLE_OUT_OF_MEMORY;
	SSL_CTX_set_cert_store(ctx, store);
	(void)SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION);
	return CURLE_OK;
}

/* Copies what stands at an offset of a part of n bytes, as far as it fits. */
static size_t
copy_part(char *to, size_t room, const char *from, uint64_t n, uint64_t at)
{
	size_t step = n - at < room ? (size_t)(n - at) : room;

	memcpy(to, from + at, step);
	return step;
}

static size_t
copy_letter(struct transfer *transfer, char *to, size_t room, uint64_t at)
{
	const struct http_body *body = &transfer->call->body;
	size_t step =
	    body->n_letter - at < room ? (size_t)(body->n_letter - at) : room;
	ssize_t n = letter_read(body->letter, to, step, at);

	if (n > 0)
		return (size_t)n;
	transfer->end.is_letter_lost = true;
	return CURL_READFUNC_ABORT;
}

static size_t
give_body(char *to, size_t size, size_t n, void *context)
{
	struct transfer *transfer = context;
	const struct http_body *body = &transfer->call->body;
	uint64_t at = transfer->at;
	size_t room = size * n;
	size_t step;

	if (at < body->n_head) {
		step = copy_part(to, room, body->head, body->n_head, at);
	} else if (at - body->n_head < body->n_letter) {
		step = copy_letter(transfer, to, room, at - body->n_head);
	} else {
		at -= body->n_head + body->n_letter;
		step = copy_part(to, room, body->tail, body->n_tail, at);
	}
	if (step != CURL_READFUNC_ABORT)
		transfer->at += step;
	return step;
}

static int
seek_body(void *context, curl_off_t offset, int origin)
{
	struct transfer *transfer = context;

	if (origin != SEEK_SET || offset < 0)
		return CURL_SEEKFUNC_FAIL;
	transfer->at = (uint64_t)offset;
	return CURL_SEEKFUNC_OK;
}

static size_t
take_header(char *line, size_t size, size_t n, void *context)
{
	struct transfer *transfer = context;

	return header_take(&transfer->reply->header, line, size * n) ==
		HEADER_OK
	    ? size * n
	    : 0;
}

/* Whether the answer's body is one that somebody reads. */
static bool
is_wanted(const struct transfer *transfer)
{
	const struct header *header = &transfer->reply->header;

	return transfer->call->sink != NULL && header->status == 200 &&
	    header->is_json;
}

static size_t
take_body(char *bytes, size_t size, size_t n, void *context)
{
	struct transfer *transfer = context;
	const struct http_call *call = transfer->call;
	bool goes_on;

	n *= size;
	transfer->reply->n_body += n;
	if (is_wanted(transfer))
		goes_on = call->sink(call->sink_context,
			      &transfer->reply->header, bytes, n) == 0;
	else
		goes_on = transfer->reply->n_body <= LIMIT_ANSWER_BYTES;
	transfer->end.is_stopped = !goes_on;
	return goes_on ? n : 0;
}

static uint64_t
wire_cap(const struct http_call *call)
{
	uint64_t body = LIMIT_ANSWER_BYTES;

	if (call->sink != NULL && call->max_body > body)
		body = call->max_body;
	return body + body / LIMIT_WIRE_SLACK_SHARE + LIMIT_WIRE_SLACK_BYTES;
}

/* libcurl calls this while it reads what no other function is told of. */
static int
watch_wire(void *context, curl_off_t down_total, curl_off_t down,
    curl_off_t up_total, curl_off_t up)
{
	struct transfer *transfer = context;
	struct tcp_info info;
	socklen_t n = sizeof(info);

	(void)down_total;
	(void)down;
	(void)up_total;
	(void)up;
	memset(&info, 0, sizeof(info));
	if (getsockopt(
		transfer->call->socket, IPPROTO_TCP, TCP_INFO, &info, &n) < 0)
		return 0;
	transfer->end.is_over_wire =
	    info.tcpi_bytes_received > wire_cap(transfer->call);
	return transfer->end.is_over_wire;
}

static void
add_line(struct transfer *transfer, struct curl_slist **list, const char *line)
{
	struct curl_slist *longer;

	if (transfer->end.code != CURLE_OK)
		return;
	longer = curl_slist_append(*list, line);
	if (longer == NULL)
		transfer->end.code = CURLE_OUT_OF_MEMORY;
	else
		*list = longer;
}

static void
set_headers(struct transfer *transfer)
{
	static char bearer[LIMIT_TOKEN_BYTES + 32];

	(void)snprintf(bearer, sizeof(bearer), "Authorization: Bearer %s",
	    transfer->place->token);
	add_line(transfer, &transfer->headers, bearer);
	add_line(
	    transfer, &transfer->headers, "Content-Type: application/json");
	add_line(transfer, &transfer->headers, "Accept: application/json");
	add_line(transfer, &transfer->headers, "User-Agent: sandcastle/1");
	/* No "Expect: 100-continue": a 417 would have the request repeated. */
	add_line(transfer, &transfer->headers, "Expect:");
	SET(transfer, CURLOPT_HTTPHEADER, transfer->headers);
}

static void
set_place(struct transfer *transfer)
{
	const struct http_place *place = transfer->place;
	const char *protocol = place->is_tls ? "https" : "http";
	char text[600];

	(void)snprintf(
	    text, sizeof(text), "%s%s", place->url, transfer->call->path);
	SET(transfer, CURLOPT_URL, text);
	SET(transfer, CURLOPT_PROTOCOLS_STR, protocol);
	SET(transfer, CURLOPT_REDIR_PROTOCOLS_STR, "https");
	/* Any address will do, as long as nobody looks for one. A literal of
	 * IPv6 cannot stand here, and none is looked for. */
	if (strchr(place->host, ':') == NULL) {
		(void)snprintf(text, sizeof(text), "%s:%u:192.0.2.1",
		    place->host, (unsigned int)place->port);
		add_line(transfer, &transfer->resolve, text);
		SET(transfer, CURLOPT_RESOLVE, transfer->resolve);
	}
	SET(transfer, CURLOPT_OPENSOCKETFUNCTION, give_socket);
	SET(transfer, CURLOPT_OPENSOCKETDATA, transfer);
	SET(transfer, CURLOPT_SOCKOPTFUNCTION, say_connected);
	if (place->is_tls) {
		SET(transfer, CURLOPT_SSL_CTX_FUNCTION, furnish_tls);
		SET(transfer, CURLOPT_SSL_CTX_DATA, transfer);
	}
}

static void
set_streams(struct transfer *transfer)
{
	const struct http_body *body = &transfer->call->body;
	uint64_t total = body->n_head + body->n_letter + body->n_tail;

	SET(transfer, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)total);
	SET(transfer, CURLOPT_READFUNCTION, give_body);
	SET(transfer, CURLOPT_READDATA, transfer);
	SET(transfer, CURLOPT_SEEKFUNCTION, seek_body);
	SET(transfer, CURLOPT_SEEKDATA, transfer);
	SET(transfer, CURLOPT_HEADERFUNCTION, take_header);
	SET(transfer, CURLOPT_HEADERDATA, transfer);
	SET(transfer, CURLOPT_WRITEFUNCTION, take_body);
	SET(transfer, CURLOPT_WRITEDATA, transfer);
	SET(transfer, CURLOPT_XFERINFOFUNCTION, watch_wire);
	SET(transfer, CURLOPT_XFERINFODATA, transfer);
	SET(transfer, CURLOPT_TIMEOUT_MS, (long)transfer->call->timeout_ms);
}

static void
set_knobs(struct transfer *transfer)
{
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		SET(transfer, numbers[i].option, numbers[i].value);
	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
		SET(transfer, strings[i].option, strings[i].value);
	SET(transfer, CURLOPT_HTTPAUTH, (long)CURLAUTH_NONE);
	SET(transfer, CURLOPT_PROXYAUTH, (long)CURLAUTH_NONE);
	set_place(transfer);
	set_headers(transfer);
	set_streams(transfer);
}

static void
note_end(struct transfer *transfer)
{
	struct http_reply *reply = transfer->reply;
	curl_off_t uploaded = 0;

	(void)curl_easy_getinfo(
	    transfer->easy, CURLINFO_SIZE_UPLOAD_T, &uploaded);
	(void)curl_easy_getinfo(transfer->easy, CURLINFO_SSL_VERIFYRESULT,
	    &transfer->end.verify_result);
	reply->uploaded = (uint64_t)uploaded;
	reply->trouble = http_trouble(&transfer->end, &reply->header);
}

void
http_post(const struct http_place *place, const struct http_call *call,
    struct http_reply *ret_reply)
{
	struct transfer transfer = {
		.place = place, .call = call, .reply = ret_reply
	};

	*ret_reply = (struct http_reply){ .trouble = COURIER_LOCAL };
	header_init(&ret_reply->header);
	transfer.easy = curl_easy_init();
	if (transfer.easy == NULL)
		return;
	set_knobs(&transfer);
	if (transfer.end.code == CURLE_OK) {
		transfer.end.code = curl_easy_perform(transfer.easy);
		note_end(&transfer);
	}
	if (!transfer.socket_is_given)
		(void)close(call->socket);
	curl_easy_cleanup(transfer.easy);
	curl_slist_free_all(transfer.headers);
	curl_slist_free_all(transfer.resolve);
}
