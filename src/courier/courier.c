/* SPDX-License-Identifier: ISC
 *
 * How a courier begins: everything it needs is taken, in an order that puts
 * the walls up before the token comes and the token before the first byte of
 * the source. Whatever is out of order ends it.
 */
#include "courier/courier.h"

#include <curl/curl.h>
#include <errno.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "confine/process.h"
#include "courier/dialing.h"
#include "courier/lockdown.h"

int
courier_narrow(void)
{
	const struct sigaction ignored = { .sa_handler = SIG_IGN };

	/* libcurl and OpenSSL would take a proxy, a file for the TLS keys and
	 * modules to load from it. */
	if (clearenv() != 0)
		return -1;
	/* Above the letter's limit: -EFBIG, not a signal. */
	if (sigaction(SIGXFSZ, &ignored, NULL) < 0 ||
	    sigaction(SIGPIPE, &ignored, NULL) < 0)
		return -1;
	if (process_undumpable() < 0 || process_no_new_privileges() < 0)
		return -1;
	/* A keep that ended before this call has closed its link. */
	return process_die_with_parent(getppid()) < 0 ? -1 : 0;
}

static bool
place_is_whole(const struct dial_order *place)
{
	const char *scheme = place->is_tls ? "https://" : "http://";

	return strncmp(place->url, scheme, strlen(scheme)) == 0 &&
	    place->host[0] != '\0';
}

int
courier_learn_place(struct courier *courier)
{
	int fds[PACKET_FDS];

	if (dialing_wait(COURIER_FD_KEEP, UINT64_MAX) < 0 ||
	    packet_receive(COURIER_FD_KEEP, &courier->place,
		sizeof(courier->place), fds) != PACKET_GOT)
		return -1;
	if (dial_order_decode(&courier->place, packet_count_fds(fds)) < 0)
		return -1;
	return place_is_whole(&courier->place) ? 0 : -1;
}

int
courier_prepare(struct courier *courier)
{
	SSL_CTX *warm;

	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK ||
	    ticket_maker_init(&courier->tickets) < 0)
		return -1;
	/* The first one loads OpenSSL's configuration and its algorithms. */
	warm = SSL_CTX_new(TLS_client_method());
	if (warm == NULL)
		return -1;
	SSL_CTX_free(warm);
	if (courier->place.is_tls &&
	    trust_read(COURIER_FD_TRUST, &courier->trust) < 0)
		return -1;
	(void)close(COURIER_FD_TRUST);
	return 0;
}

int
courier_shut(const struct courier *courier)
{
	return lockdown_enter(courier->place.max_body + LETTER_TICKET_BYTES) < 0
	    ? -1
	    : 0;
}

/* Reads until n bytes or the end, from a pipe that may be non-blocking. */
static ssize_t
read_pipe(int pipe, void *to, size_t n)
{
	size_t got = 0;

	while (got < n) {
		ssize_t step;

		if (dialing_wait(pipe, UINT64_MAX) < 0)
			return -1;
		step = read(pipe, (char *)to + got, n - got);
		if (step == 0)
			break;
		if (step > 0)
			got += (size_t)step;
		else if (errno != EINTR && errno != EAGAIN)
			return -1;
	}
	return (ssize_t)got;
}

int
courier_take_token(struct courier *courier)
{
	struct token_msg *token = &courier->token;

	if (read_pipe(COURIER_FD_TOKEN, token, sizeof(*token)) !=
	    sizeof(*token))
		return -1;
	(void)close(COURIER_FD_TOKEN);
	if (token_msg_decode(token) < 0)
		return -1;
	memcpy(courier->tickets.key, token->ticket_key,
	    sizeof(courier->tickets.key));
	return 0;
}

int
courier_take_order(struct courier_order *ret_order, int *ret_letter)
{
	struct courier_order order;
	int fds[PACKET_FDS];

	if (dialing_wait(COURIER_FD_CORE, UINT64_MAX) < 0 ||
	    packet_receive(COURIER_FD_CORE, &order, sizeof(order), fds) !=
		PACKET_GOT)
		return -1;
	if (courier_order_decode(&order, packet_count_fds(fds)) < 0) {
		packet_close_fds(fds);
		return -1;
	}
	*ret_order = order;
	*ret_letter = fds[0];
	return 0;
}
