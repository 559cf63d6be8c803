/* SPDX-License-Identifier: ISC
 *
 * Answers of the queue to clients it does not trust: they are told what was
 * wrong with their request, in our words and never in their bytes.
 */
#include "queue/reply.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void
reply_error(
    struct reply *reply, enum http_status status, const char *format, ...)
{
	char text[256];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	for (char *p = text; *p != '\0'; p++) {
		if (*p < ' ' || *p > '~' || *p == '"' || *p == '\\')
			*p = '?';
	}
	spool_done(&reply->body);
	reply->status = status;
	/* Small: it stays in memory and cannot fail. */
	(void)reply_put(reply, "{\"error\":\"%s\"}\n", text);
}

int
reply_put(struct reply *reply, const char *format, ...)
{
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return spool_put_text(&reply->body, text);
}
