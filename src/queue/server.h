/* SPDX-License-Identifier: ISC
 *
 * The listening side: HTTP or HTTPS on one socket, driven by its owner's poll
 * loop.
 */
#ifndef QUEUE_SERVER_H
#define QUEUE_SERVER_H

#include <stdbool.h>

#include "base/fault.h"
#include "queue/store.h"
#include "queue/tokens.h"

struct server;

struct server_settings {
	int listener; /* a listening socket; the server takes it over */
	const char *certificate; /* PEM, must outlive the server; NULL: HTTP */
	const char *key;
	uint64_t max_body;
	struct store *store; /* borrowed */
};

/* *ret_server is owned by the caller (server_stop). 0, or -1 with a fault. */
int server_start(const struct server_settings *settings,
    struct server **ret_server, struct fault *fault);

/* Replaces the tokens; the server owns them from now on. */
void server_set_tokens(struct server *server, struct tokens *tokens);

/*
 * Waits until server_run has something to do, the other fd is readable, or a
 * second or so is over. 0 or -errno.
 */
int server_wait(struct server *server, int other);

/* Does what can be done without waiting. */
void server_run(struct server *server);

/* Takes no more connections. */
void server_close_door(struct server *server);

/* Whether a request is between its head and the end of its answer. */
bool server_is_busy(const struct server *server);

void server_stop(struct server *server);

#endif
