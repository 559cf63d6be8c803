/* SPDX-License-Identifier: ISC
 *
 * JSON of others on the operator's terminal.
 */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stddef.h>

/*
 * Writes JSON to stdout: byte for byte, but on a terminal with everything that
 * could command it, or hide text, as \uXXXX or a blank. Gives how many bytes
 * were taken: all but a character that is cut at the end, or is no UTF-8.
 */
size_t terminal_put(const char *bytes, size_t n);

#endif
