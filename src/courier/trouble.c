/* SPDX-License-Identifier: ISC
 *
 * What the end of a transfer means, in the courier: from libcurl's codes, and
 * what our own functions saw, to the few words that the operator reads.
 */
#include <openssl/x509_vfy.h>

#include "courier/http.h"

static enum courier_trouble
certificate_trouble(long verify_result)
{
	switch (verify_result) {
	case X509_V_ERR_CERT_NOT_YET_VALID:
	case X509_V_ERR_CERT_HAS_EXPIRED:
		return COURIER_CERTIFICATE_TIME;
	default:
		return COURIER_CERTIFICATE;
	}
}

static const struct {
	CURLcode code;
	enum courier_trouble trouble;
} troubles[] = {
	{ CURLE_OK, COURIER_TROUBLE_NONE },
	{ CURLE_OPERATION_TIMEDOUT, COURIER_TIMEOUT },
	{ CURLE_SSL_CONNECT_ERROR, COURIER_TLS },
	{ CURLE_SSL_CIPHER, COURIER_TLS },
	/* The socket was connected, and is no longer. */
	{ CURLE_COULDNT_CONNECT, COURIER_CLOSED },
	{ CURLE_GOT_NOTHING, COURIER_CLOSED },
	{ CURLE_SEND_ERROR, COURIER_CLOSED },
	{ CURLE_RECV_ERROR, COURIER_CLOSED },
	{ CURLE_PARTIAL_FILE, COURIER_CLOSED },
	{ CURLE_SEND_FAIL_REWIND, COURIER_CLOSED },
	/* HTTP/0.9 is one of the protocols that are not spoken. */
	{ CURLE_UNSUPPORTED_PROTOCOL, COURIER_PROTOCOL },
	{ CURLE_WEIRD_SERVER_REPLY, COURIER_PROTOCOL },
	{ CURLE_BAD_CONTENT_ENCODING, COURIER_PROTOCOL },
	/* A chunk's size that is no number. */
	{ CURLE_BAD_FUNCTION_ARGUMENT, COURIER_PROTOCOL },
	{ CURLE_FILESIZE_EXCEEDED, COURIER_TOO_LARGE },
};

static enum courier_trouble
code_trouble(CURLcode code)
{
	for (size_t i = 0; i < sizeof(troubles) / sizeof(troubles[0]); i++) {
		if (troubles[i].code == code)
			return troubles[i].trouble;
	}
	return COURIER_LOCAL;
}

enum courier_trouble
http_trouble(const struct http_end *end, const struct header *header)
{
	if (header->result == HEADER_TOO_LONG)
		return COURIER_HEADERS;
	if (header->result == HEADER_PROTOCOL)
		return COURIER_PROTOCOL;
	if (end->is_letter_lost)
		return COURIER_LOCAL;
	if (end->is_over_wire)
		return COURIER_TOO_LARGE;
	if (end->is_stopped)
		return COURIER_TROUBLE_NONE;
	if (end->code == CURLE_PEER_FAILED_VERIFICATION)
		return certificate_trouble(end->verify_result);
	/* libcurl's words for one line longer than 100 KiB. */
	if (end->code == CURLE_OUT_OF_MEMORY && header->part != HEADER_END)
		return COURIER_HEADERS;
	/* Its verdict on a body that has neither a length nor an end. */
	if (end->code == CURLE_OK && header->part != HEADER_END)
		return COURIER_PROTOCOL;
	return code_trouble(end->code);
}
