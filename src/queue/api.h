/* SPDX-License-Identifier: ISC
 *
 * The calls, apart from HTTP: a request that was read whole and whose sender
 * is known goes in, an answer comes out.
 */
#ifndef QUEUE_API_H
#define QUEUE_API_H

#include "queue/body.h"
#include "queue/reply.h"
#include "queue/spool.h"
#include "queue/store.h"
#include "queue/tokens.h"

enum api_argument {
	API_STATE,
	API_LIMIT,
	API_AFTER,
	API_ARGUMENT_COUNT,
};

/* The argument of that name, or API_ARGUMENT_COUNT. */
enum api_argument api_argument_find(const char *name);

struct api_request {
	struct store *store;
	char name[TOKENS_NAME_BYTES]; /* of the worker or producer */
	char id[STORE_ID_BYTES]; /* of the job in the path */
	const char *arguments[API_ARGUMENT_COUNT]; /* NULL: not given */
	struct body body;
	struct spool spool; /* the body's bytes */
};

typedef void api_call(struct api_request *request, struct reply *reply);

/* Of workers. */
api_call api_claim;
api_call api_result;

/* Of producers. */
api_call api_submit;
api_call api_job;
api_call api_jobs;

/* Answers for a store that could not: r is STORE_FULL or STORE_BROKEN. */
void api_trouble(const struct api_request *request, struct reply *reply, int r);

#endif
