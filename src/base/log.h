/* SPDX-License-Identifier: ISC
 *
 * One line per event on stderr: "<N>program: text". The <N> is the priority
 * that journald understands; it is left out when stderr is a terminal. Every
 * line is made printable on its way out. What must never be in a line: a
 * token, a header, a body, anything a source or a box wrote except an id of
 * the contract's alphabet.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>

enum log_level {
	LOG_LEVEL_ERROR = 3,
	LOG_LEVEL_WARNING = 4,
	LOG_LEVEL_NOTICE = 5,
	LOG_LEVEL_INFO = 6,
	LOG_LEVEL_DEBUG = 7,
};

/* Names the program; lines above the level are dropped (default: info). */
void log_open(const char *program);
void log_set_level(enum log_level level);

void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_notice(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
