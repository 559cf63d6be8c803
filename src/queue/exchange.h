/* SPDX-License-Identifier: ISC
 *
 * One request and its answer, as HTTP.
 */
#ifndef QUEUE_EXCHANGE_H
#define QUEUE_EXCHANGE_H

#include <microhttpd.h>

#include "queue/seat.h"
#include "queue/store.h"
#include "queue/tokens.h"

/* What all exchanges of a server share. */
struct desk {
	struct store *store;
	struct tokens *tokens; /* may be replaced between two calls */
	uint64_t max_body;
	struct seats seats;
};

struct exchange;

/* A head came in. Owned by the caller (exchange_free). */
struct exchange *exchange_new(struct desk *desk, struct seat *seat);
void exchange_free(struct exchange *exchange);

/*
 * Judges the head: path, method, sender, body announced. When it is refused,
 * or no body is to come, the answer is queued at once.
 */
enum MHD_Result exchange_begin(struct exchange *exchange,
    struct MHD_Connection *connection, const char *path, const char *method);

/* Takes a piece of the body. MHD_NO: cut the connection. */
enum MHD_Result exchange_take(
    struct exchange *exchange, const char *bytes, size_t n);

/* The body is over: answers. */
enum MHD_Result exchange_finish(
    struct exchange *exchange, struct MHD_Connection *connection);

#endif
