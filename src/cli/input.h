/* SPDX-License-Identifier: ISC
 *
 * The input letter of `try`: what a source would have sent.
 */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "contract/capability.h"

/* More fields than any capability takes. */
#define INPUT_SETTINGS 16

struct input {
	uint32_t capability;
	const char *data; /* file for the field `data`; "-" is stdin; or NULL */
	const char *json; /* file with the whole input; or NULL */
	const char *settings[INPUT_SETTINGS]; /* "field=value" */
	size_t n_settings;
};

enum input_result {
	INPUT_OK = 0,
	INPUT_MISUSED = -1, /* no such field, or no value for it */
	INPUT_UNREADABLE = -2, /* a file */
	INPUT_TOO_LARGE = -3, /* more than any body may have */
};

/*
 * Writes the input behind an all-zero ticket into a new letter and seals it.
 * INPUT_OK with the letter's fd, owned by the caller; else a fault.
 */
enum input_result input_write(
    const struct input *input, int *ret_letter, struct fault *fault);

/* What is wrong with a sealed input, by the table; "" when nothing is. */
void input_explain(int letter, uint32_t capability, uint64_t max_data,
    char to[160]);

#endif
