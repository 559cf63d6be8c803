/* SPDX-License-Identifier: ISC
 *
 * Writes the output as JSON into the output letter, behind its ticket, never
 * beyond the cap. The first failure stays; output_finish tells it.
 */
#ifndef DRIVER_OUTPUT_H
#define DRIVER_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "contract/outcome.h"

struct output {
	int letter;
	uint64_t at; /* bytes written to the letter, ticket included */
	uint64_t max; /* content bytes */
	enum error_code error;
	bool needs_comma;
	size_t used;
	char bytes[8192];
};

void output_init(struct output *output, int letter, uint64_t max);

/* '{' '[' and '}' ']'. */
void output_open(struct output *output, char bracket);
void output_close(struct output *output, char bracket);

/* A name of ours: no byte of it needs an escape. */
void output_name(struct output *output, const char *name);

void output_integer(struct output *output, int64_t value);

/* value / 10, with one digit behind the point; value is not negative. */
void output_tenths(struct output *output, int64_t value);

void output_boolean(struct output *output, bool value);
void output_null(struct output *output);

/* Text that prose_clean has cleaned. */
void output_text(struct output *output, const char *text, size_t n);

/* The rest of a file, as base64. */
void output_base64(struct output *output, int file);

/* Writes what is left. ERROR_NONE, ERROR_OUTPUT_TOO_LARGE or
 * ERROR_CRASHED. */
enum error_code output_finish(struct output *output);

#endif
