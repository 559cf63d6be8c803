/* SPDX-License-Identifier: ISC
 *
 * A source that answers a request with TLS messages and nothing else: what no
 * time-out inside a TLS library ends. Serves one connection on a port of its
 * own choice, which it prints. Usage: tls_flood CERTIFICATE KEY MODE, where
 * MODE is update (KeyUpdate), request (KeyUpdate that asks for one back) or
 * hello (HelloRequest, TLS 1.2).
 */
#include <arpa/inet.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* It ends by itself, whoever started it. */
#define LIFE_S 40

static int
send_one(SSL *ssl, const char *mode)
{
	int r;

	if (strcmp(mode, "hello") == 0) {
		(void)usleep(1000);
		r = SSL_renegotiate(ssl);
	} else {
		r = SSL_key_update(ssl,
		    strcmp(mode, "request") == 0
			? SSL_KEY_UPDATE_REQUESTED
			: SSL_KEY_UPDATE_NOT_REQUESTED);
	}
	return r == 1 ? SSL_do_handshake(ssl) : r;
}

static int
listen_on_loopback(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, n) < 0 ||
	    listen(fd, 1) < 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &n) < 0)
		return -1;
	(void)printf("%u\n", (unsigned int)ntohs(address.sin_port));
	return fflush(stdout) == 0 ? fd : -1;
}

static SSL_CTX *
context_new(char **argv)
{
	SSL_CTX *context = SSL_CTX_new(TLS_server_method());

	if (context == NULL ||
	    SSL_CTX_use_certificate_chain_file(context, argv[1]) != 1 ||
	    SSL_CTX_use_PrivateKey_file(context, argv[2], SSL_FILETYPE_PEM) !=
		1)
		return NULL;
	if (strcmp(argv[3], "hello") == 0)
		(void)SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION);
	return context;
}

int
main(int argc, char **argv)
{
	SSL_CTX *context;
	SSL *ssl;
	char request[8192];
	unsigned long sent = 0;
	int listener;
	int client;

	(void)alarm(LIFE_S);
	(void)signal(SIGPIPE, SIG_IGN);
	if (argc != 4)
		return 2;
	context = context_new(argv);
	listener = listen_on_loopback();
	if (context == NULL || listener < 0)
		return 1;
	client = accept(listener, NULL, NULL);
	ssl = SSL_new(context);
	if (client < 0 || ssl == NULL || SSL_set_fd(ssl, client) != 1 ||
	    SSL_accept(ssl) != 1)
		return 1;
	(void)SSL_read(ssl, request, sizeof(request));
	while (send_one(ssl, argv[3]) == 1)
		sent++;
	(void)printf("%lu\n", sent);
	return 0;
}
