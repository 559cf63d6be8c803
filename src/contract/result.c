/* SPDX-License-Identifier: ISC
 *
 * The frame of a result, in the courier. Everything in it is ours or of an
 * alphabet that JSON needs no escape for, so it is put together as text; the
 * must()s hold that.
 */
#include "contract/result.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/must.h"
#include "base/text.h"
#include "contract/outcome.h"

__attribute__((format(printf, 2, 3))) static void
put(struct result_frame *to, const char *format, ...)
{
	size_t room = sizeof(to->head) - to->n_head;
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = vsnprintf(to->head + to->n_head, room, format, arguments);
	va_end(arguments);
	must(n >= 0 && (size_t)n < room);
	to->n_head += (size_t)n;
}

static void
put_failed(struct result_frame *to, const struct result *result)
{
	must(result->error != ERROR_NONE && result->error < ERROR_COUNT);
	put(to, ",\"error\":{\"code\":\"%s\",\"message\":\"%s\"}",
	    error_name(result->error), error_message(result->error));
}

static void
put_released(struct result_frame *to, const struct result *result)
{
	must(result->reason != RELEASE_NONE && result->reason < RELEASE_COUNT);
	must(result->retry_after_s <= LIMIT_RETRY_AFTER_S);
	put(to, ",\"reason\":\"%s\"", release_name(result->reason));
	if (result->retry_after_s > 0)
		put(to, ",\"retry_after\":%u", result->retry_after_s);
}

void
result_frame(struct result_frame *to, const struct result *result)
{
	must(text_is_id(result->id));
	must(result->lease[0] == '\0' || text_is_id(result->lease));
	must(outcome_name(result->outcome) != NULL);
	memset(to, 0, sizeof(*to));
	put(to, "{\"id\":\"%s\"", result->id);
	if (result->lease[0] != '\0')
		put(to, ",\"lease\":\"%s\"", result->lease);
	put(to, ",\"outcome\":\"%s\"", outcome_name(result->outcome));
	if (result->outcome == OUTCOME_SUCCEEDED)
		put(to, ",\"output\":");
	else if (result->outcome == OUTCOME_FAILED)
		put_failed(to, result);
	else
		put_released(to, result);
	to->n_tail = 1;
	(void)text_copy(to->tail, sizeof(to->tail), "}");
}
