/* SPDX-License-Identifier: ISC
 *
 * Strict readings of text and safe forms of it. No function here looks at the
 * locale or at errno.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Copies a string. -1 and an empty *to when it does not fit. */
int text_copy(char *to, size_t size, const char *from);

/*
 * Reads a whole decimal number without sign, blank or leading zero.
 * -1 when it is anything else or above max.
 */
int text_u64(const char *text, uint64_t max, uint64_t *ret_value);

/* Reads "250ms", "10s", "5m", "1h", "7d" into milliseconds. -1 otherwise. */
int text_duration_ms(const char *text, uint64_t *ret_ms);

/* Reads "512", "64KiB", "64MiB", "1GiB" into bytes. -1 otherwise. */
int text_size(const char *text, uint64_t *ret_bytes);

/* Writes a duration or a size in the form the two above read. */
void text_put_duration(char *to, size_t size, uint64_t ms);
void text_put_size(char *to, size_t size, uint64_t bytes);

/*
 * The length of the valid UTF-8 character at the start of bytes (1 to 4), or
 * 0 when there is none: overlong forms, surrogates and values above U+10FFFF
 * are refused, a cut character too.
 */
size_t text_utf8_length(const unsigned char *bytes, size_t n);

/* Whether all n bytes are UTF-8. */
bool text_is_utf8(const char *bytes, size_t n);

/*
 * Writes bytes so that a terminal or a log can show them: printable ASCII and
 * valid UTF-8 above U+009F stay, the bidi and zero-width controls and all
 * other bytes become \xNN. Cut to size; always terminated.
 */
void text_printable(char *to, size_t size, const char *bytes, size_t n);

/* The contract's alphabet of ids and leases: 1..LIMIT_ID_BYTES of
 * [A-Za-z0-9._~:@+/=-]. */
bool text_is_id(const char *text);

/* A name of a source or a secret: [a-z0-9][a-z0-9_-]{0,63}. */
bool text_is_name(const char *text);

/* A language as Tesseract names it, eng or chi_sim:
 * [a-z]{3}(_[a-z]{2,8})?. */
bool text_is_language(const char *text);

/* Writes n bytes as 2n lower-case hex digits and a terminator. */
void text_hex(char *to, const unsigned char *bytes, size_t n);

#endif
