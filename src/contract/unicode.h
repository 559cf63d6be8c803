/* SPDX-License-Identifier: ISC
 *
 * The inside of a JSON string: runs of characters that stand for themselves,
 * and characters given by number.
 */
#ifndef CONTRACT_UNICODE_H
#define CONTRACT_UNICODE_H

#include <stddef.h>
#include <stdint.h>

/*
 * The end of the run of characters that stand for themselves: no quote, no
 * backslash, no control, and valid, whole UTF-8.
 */
const unsigned char *unicode_run(
    const unsigned char *at, const unsigned char *end);

/* Writes a code point (no surrogate, at most U+10FFFF) as UTF-8. Gives its
 * length. */
size_t unicode_put(unsigned char to[4], uint32_t code_point);

#endif
