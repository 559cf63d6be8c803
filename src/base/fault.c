/* SPDX-License-Identifier: ISC
 *
 * Faults and broken invariants. Runs in every process; the texts may carry
 * foreign bytes, so they are made printable here, once.
 */
#include "base/fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "base/text.h"

static void
fault_format(char *to, size_t size, const char *format, va_list arguments)
{
	char raw[512];

	(void)vsnprintf(raw, sizeof(raw), format, arguments);
	text_printable(to, size, raw, strlen(raw));
}

int
fault_set(struct fault *fault, enum fault_code code, const char *format, ...)
{
	va_list arguments;

	if (fault == NULL)
		return -1;
	fault->code = code;
	va_start(arguments, format);
	fault_format(fault->text, sizeof(fault->text), format, arguments);
	va_end(arguments);
	return -1;
}

int
fault_wrap(struct fault *fault, const char *format, ...)
{
	char prefix[256];
	char whole[sizeof(fault->text) + sizeof(prefix) + 2];
	va_list arguments;

	if (fault == NULL)
		return -1;
	va_start(arguments, format);
	fault_format(prefix, sizeof(prefix), format, arguments);
	va_end(arguments);
	(void)snprintf(whole, sizeof(whole), "%s: %s", prefix, fault->text);
	whole[sizeof(fault->text) - 1] = '\0';
	memcpy(fault->text, whole, sizeof(fault->text));
	return -1;
}

void
must_fail(const char *what, const char *file, int line)
{
	(void)fprintf(
	    stderr, "<2>bug: %s:%d: must hold: %s\n", file, line, what);
	abort();
}
