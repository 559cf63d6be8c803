/* SPDX-License-Identifier: ISC
 *
 * Collects what is wrong with a configuration, in the order of the file.
 */
#ifndef CONFIG_REPORT_H
#define CONFIG_REPORT_H

#include "config/config.h"
#include "config/tree.h"

struct report_place {
	unsigned int line, column; /* from 1 */
};

struct report {
	const char *file; /* its name in messages */
	struct config_errors *errors;
	struct report_place places[CONFIG_ERROR_LINES];
};

/* Zeroes *errors. */
void report_init(
    struct report *report, const char *file, struct config_errors *errors);

/* "file:line:column: text". Foreign text among the arguments must have gone
 * through report_quote. */
void report_text(struct report *report, unsigned int line, unsigned int column,
    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* "file:line:column: key: text", where the value stands. */
void report_value(struct report *report, const struct node *node,
    const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The same where its key stands. */
void report_key(struct report *report, const struct node *node,
    const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The same for a member of map that has no node; at place. */
void report_member(struct report *report, const struct node *map,
    const char *key, struct report_place place, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

#define REPORT_QUOTE_BYTES 64

/* Writes text in double quotes, printable and cut; gives to. */
const char *report_quote(char to[REPORT_QUOTE_BYTES], const char *text);

#endif
