/* SPDX-License-Identifier: ISC
 *
 * One POST to the courier's source, by libcurl with every knob shut. Nothing
 * of what a source says ever decides where, what or how often something is
 * sent.
 */
#ifndef COURIER_HTTP_H
#define COURIER_HTTP_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "courier/header.h"
#include "courier/trust.h"
#include "wire/courier_msg.h"

/* Where a courier sends: all of it the operator's. */
struct http_place {
	const char *url; /* without the call's path, no slash at its end */
	const char *host;
	uint32_t port;
	bool is_tls;
	struct trust *trust; /* is_tls only */
	const char *token;
};

/* What is sent: head, the contents of a letter, tail. */
struct http_body {
	const char *head;
	size_t n_head;
	int letter; /* -1: none */
	uint64_t n_letter;
	const char *tail;
	size_t n_tail;
};

/* Gets the body of a 200 of type application/json. 0, or negative to stop. */
typedef int http_sink(
    void *context, const struct header *header, const char *bytes, size_t n);

struct http_call {
	const char *path; /* "/v1/claim" */
	struct http_body body;
	int socket; /* connected; the exchange closes it */
	uint32_t timeout_ms;
	uint64_t max_body; /* of the answer, as far as the sink wants it */
	http_sink *sink; /* NULL: no body of the answer is wanted */
	void *sink_context;
};

struct http_reply {
	struct header header;
	/* NONE: the answer is whole, or as much of it as was wanted came. */
	enum courier_trouble trouble;
	uint64_t uploaded;
	uint64_t n_body; /* bytes of the answer's body that came */
};

/* What a transfer showed besides its libcurl code. */
struct http_end {
	CURLcode code;
	long verify_result; /* X509_V_…, for CURLE_PEER_FAILED_VERIFICATION */
	bool is_stopped; /* by us: no more of the body was wanted */
	bool is_over_wire; /* by us: above the wire's cap */
	bool is_letter_lost; /* by us: what is to be sent cannot be read */
};

/* Does the exchange and fills *ret_reply whatever happens. */
void http_post(const struct http_place *place, const struct http_call *call,
    struct http_reply *ret_reply);

/* What the end of a transfer means. */
enum courier_trouble http_trouble(
    const struct http_end *end, const struct header *header);

#endif
