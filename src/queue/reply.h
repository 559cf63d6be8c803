/* SPDX-License-Identifier: ISC
 *
 * An answer in the making. Every body is one JSON object.
 */
#ifndef QUEUE_REPLY_H
#define QUEUE_REPLY_H

#include "queue/spool.h"

enum http_status {
	HTTP_OK = 200,
	HTTP_CREATED = 201,
	HTTP_NO_CONTENT = 204,
	HTTP_BAD_REQUEST = 400,
	HTTP_UNAUTHORIZED = 401,
	HTTP_FORBIDDEN = 403,
	HTTP_NOT_FOUND = 404,
	HTTP_METHOD_NOT_ALLOWED = 405,
	HTTP_CONFLICT = 409,
	HTTP_GONE = 410,
	HTTP_LENGTH_REQUIRED = 411,
	HTTP_TOO_LARGE = 413,
	HTTP_UNSUPPORTED_TYPE = 415,
	HTTP_UNAVAILABLE = 503,
	HTTP_NO_ROOM = 507,
};

struct reply {
	enum http_status status;
	const char *allow; /* of a 405; NULL otherwise */
	struct spool body; /* empty: no body */
};

/*
 * Makes it a status with {"error":"..."}; what was in the body before is
 * dropped. The text must be our own words.
 */
void reply_error(struct reply *reply, enum http_status status,
    const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Appends formatted text to the body; foreign text must not be in it. 0 or
 * -errno. */
int reply_put(struct reply *reply, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
