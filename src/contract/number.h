/* SPDX-License-Identifier: ISC
 *
 * Number tokens: JSON's grammar of them, byte by byte, and what the contract
 * needs to know of a number token: whether it is an integer, and whether its
 * value lies in a range. Decided on the digits, exactly; nothing here is
 * floating point.
 */
#ifndef CONTRACT_NUMBER_H
#define CONTRACT_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum number_place {
	NUMBER_BEGIN,
	NUMBER_MINUS,
	NUMBER_ZERO,
	NUMBER_INTEGER,
	NUMBER_POINT,
	NUMBER_FRACTION,
	NUMBER_E,
	NUMBER_E_SIGN,
	NUMBER_EXPONENT,
	NUMBER_ENDED, /* the byte does not belong to it */
	NUMBER_BAD, /* the byte cannot stand here, and it cannot end here */
};

/* The place behind one more byte. */
enum number_place number_next(enum number_place place, unsigned char byte);

/* Whether a number can end at this place. */
bool number_may_end(enum number_place place);

/*
 * Reads a token of SCAN_NUMBER that is plain digits with an optional minus.
 * -1 when it has a fraction or an exponent (even one that changes nothing), or
 * does not fit.
 */
int number_integer(const char *token, size_t n, int64_t *ret_value);

/*
 * Whether min <= value <= max for any token of SCAN_NUMBER: 0 and the integer
 * part (towards zero) in *ret_whole, else -1.
 */
int number_within(
    const char *token, size_t n, const int64_t range[2], int64_t *ret_whole);

#endif
