/* SPDX-License-Identifier: ISC
 *
 * The output letter of `try`, checked as a courier checks it.
 */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <stdint.h>

/*
 * Seals the letter a box wrote and checks ticket, size and shape. 0, or an
 * enum error_code, with the reason in wrong.
 */
uint32_t output_check(int letter, uint32_t capability, char wrong[160]);

/*
 * Writes the contents of a checked letter and a line feed to stdout: byte for
 * byte, but on a terminal with characters that could command it as \uXXXX. 0
 * or -errno.
 */
int output_print(int letter);

#endif
