/* SPDX-License-Identifier: ISC
 *
 * Log lines of every process that has a stderr. One write(2) per line, so
 * that lines of several processes do not mix.
 */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"

static const char *log_program = "sandcastle";
static enum log_level log_level = LOG_LEVEL_INFO;
static bool log_plain;

void
log_open(const char *program)
{
	log_program = program;
	log_plain = isatty(STDERR_FILENO) == 1;
}

void
log_set_level(enum log_level level)
{
	log_level = level;
}

static void __attribute__((format(printf, 2, 0)))
log_put(enum log_level level, const char *format, va_list arguments)
{
	char raw[1024];
	char safe[1024];
	char line[1200];
	char priority[8] = "";
	int n;

	if (level > log_level)
		return;
	(void)vsnprintf(raw, sizeof(raw), format, arguments);
	text_printable(safe, sizeof(safe), raw, strlen(raw));
	if (!log_plain)
		(void)snprintf(priority, sizeof(priority), "<%d>", (int)level);
	n = snprintf(
	    line, sizeof(line), "%s%s: %s\n", priority, log_program, safe);
	if (n > 0)
		(void)!write(STDERR_FILENO, line, (size_t)n);
}

#define LOG_FUNCTION(name, level)                  \
	void name(const char *format, ...)         \
	{                                          \
		va_list arguments;                 \
                                                   \
		va_start(arguments, format);       \
		log_put(level, format, arguments); \
		va_end(arguments);                 \
	}

LOG_FUNCTION(log_error, LOG_LEVEL_ERROR)
LOG_FUNCTION(log_warning, LOG_LEVEL_WARNING)
LOG_FUNCTION(log_notice, LOG_LEVEL_NOTICE)
LOG_FUNCTION(log_info, LOG_LEVEL_INFO)
LOG_FUNCTION(log_debug, LOG_LEVEL_DEBUG)
