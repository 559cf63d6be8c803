/* SPDX-License-Identifier: ISC
 *
 * Strict readings of text. Runs in every process and is handed bytes by all of
 * them; nothing here trusts a terminator it was not promised.
 */
#include "base/text.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"

struct unit {
	const char *suffix;
	uint64_t factor;
};

static const struct unit duration_units[] = {
	{ "ms", 1 },
	{ "s", 1000 },
	{ "m", 60 * 1000 },
	{ "h", 60 * 60 * 1000 },
	{ "d", 24 * 60 * 60 * 1000 },
	{ NULL, 0 },
};

static const struct unit size_units[] = {
	{ "", 1 },
	{ "KiB", 1024 },
	{ "MiB", 1024 * 1024 },
	{ "GiB", 1024 * 1024 * 1024 },
	{ NULL, 0 },
};

int
text_copy(char *to, size_t size, const char *from)
{
	size_t n = strnlen(from, size);

	if (n == size) {
		to[0] = '\0';
		return -1;
	}
	memcpy(to, from, n + 1);
	return 0;
}

int
text_u64(const char *text, uint64_t max, uint64_t *ret_value)
{
	uint64_t value = 0;

	if (text[0] == '\0' || (text[0] == '0' && text[1] != '\0'))
		return -1;
	for (const char *p = text; *p != '\0'; p++) {
		if (*p < '0' || *p > '9')
			return -1;
		uint64_t digit = (uint64_t)(*p - '0');

		if (value > (max - digit) / 10 || digit > max)
			return -1;
		value = value * 10 + digit;
	}
	*ret_value = value;
	return 0;
}

static int
text_with_unit(const char *text, const struct unit *units, uint64_t *ret)
{
	char digits[20];
	size_t n = strspn(text, "0123456789");
	uint64_t number;

	if (n == 0 || n >= sizeof(digits))
		return -1;
	memcpy(digits, text, n);
	digits[n] = '\0';
	for (const struct unit *u = units; u->suffix != NULL; u++) {
		if (strcmp(text + n, u->suffix) != 0)
			continue;
		if (text_u64(digits, UINT64_MAX / u->factor, &number) < 0)
			return -1;
		*ret = number * u->factor;
		return 0;
	}
	return -1;
}

int
text_duration_ms(const char *text, uint64_t *ret_ms)
{
	return text_with_unit(text, duration_units, ret_ms);
}

int
text_size(const char *text, uint64_t *ret_bytes)
{
	return text_with_unit(text, size_units, ret_bytes);
}

static void
put_with_unit(char *to, size_t size, uint64_t value, const struct unit *units)
{
	const struct unit *best = units;

	for (const struct unit *u = units; u->suffix != NULL; u++) {
		if (value != 0 && value % u->factor == 0)
			best = u;
	}
	(void)snprintf(to, size, "%llu%s",
	    (unsigned long long)(value / best->factor), best->suffix);
}

void
text_put_duration(char *to, size_t size, uint64_t ms)
{
	put_with_unit(to, size, ms, duration_units);
}

void
text_put_size(char *to, size_t size, uint64_t bytes)
{
	put_with_unit(to, size, bytes, size_units);
}

static bool
is_continuation(unsigned char byte)
{
	return (byte & 0xC0) == 0x80;
}

size_t
text_utf8_length(const unsigned char *b, size_t n)
{
	if (n == 0)
		return 0;
	if (b[0] < 0x80)
		return 1;
	if (b[0] >= 0xC2 && b[0] <= 0xDF)
		return n >= 2 && is_continuation(b[1]) ? 2 : 0;
	if (b[0] >= 0xE0 && b[0] <= 0xEF) {
		if (n < 3 || !is_continuation(b[1]) || !is_continuation(b[2]))
			return 0;
		if (b[0] == 0xE0 && b[1] < 0xA0)
			return 0;
		return b[0] == 0xED && b[1] > 0x9F ? 0 : 3;
	}
	if (b[0] < 0xF0 || b[0] > 0xF4 || n < 4 || !is_continuation(b[1]) ||
	    !is_continuation(b[2]) || !is_continuation(b[3]))
		return 0;
	if (b[0] == 0xF0 && b[1] < 0x90)
		return 0;
	return b[0] == 0xF4 && b[1] > 0x8F ? 0 : 4;
}

bool
text_is_utf8(const char *bytes, size_t n)
{
	const unsigned char *b = (const unsigned char *)bytes;

	while (n > 0) {
		size_t length = text_utf8_length(b, n);

		if (length == 0)
			return false;
		b += length;
		n -= length;
	}
	return true;
}

static bool
is_invisible(uint32_t c)
{
	return c < 0xA0 || c == 0xAD || (c >= 0x200B && c <= 0x200F) ||
	    (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) ||
	    c == 0xFEFF || (c >= 0xFFF9 && c <= 0xFFFB) || c >= 0xE0000;
}

static uint32_t
code_point(const unsigned char *b, size_t length)
{
	static const unsigned char lead[] = { 0, 0x7F, 0x1F, 0x0F, 0x07 };
	uint32_t c = b[0] & lead[length];

	for (size_t i = 1; i < length; i++)
		c = c << 6 | (b[i] & 0x3F);
	return c;
}

void
text_printable(char *to, size_t size, const char *bytes, size_t n)
{
	const unsigned char *b = (const unsigned char *)bytes;
	size_t used = 0;

	while (n > 0) {
		size_t length = text_utf8_length(b, n);
		bool keep = length == 1
		    ? b[0] >= 0x20 && b[0] < 0x7F && b[0] != '\\'
		    : length > 1 && !is_invisible(code_point(b, length));
		size_t need = keep ? length : 4;

		if (used + need >= size)
			break;
		if (keep)
			memcpy(to + used, b, length);
		else
			(void)snprintf(to + used, 5, "\\x%02x", b[0]);
		used += need;
		b += keep ? length : 1;
		n -= keep ? length : 1;
	}
	to[used] = '\0';
}

bool
text_is_id(const char *text)
{
	size_t n = strspn(text,
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	    "0123456789._~:@+/=-");

	return n >= 1 && n <= LIMIT_ID_BYTES && text[n] == '\0';
}

bool
text_is_name(const char *text)
{
	size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_-");

	return n >= 1 && n <= 64 && text[n] == '\0' && text[0] != '_' &&
	    text[0] != '-';
}

bool
text_is_language(const char *text)
{
	static const char lower[] = "abcdefghijklmnopqrstuvwxyz";
	size_t tail;

	if (strspn(text, lower) != 3)
		return false;
	if (text[3] == '\0')
		return true;
	tail = text[3] == '_' ? strspn(text + 4, lower) : 0;
	return tail >= 2 && tail <= 8 && text[4 + tail] == '\0';
}

void
text_hex(char *to, const unsigned char *bytes, size_t n)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < n; i++) {
		to[2 * i] = digits[bytes[i] >> 4];
		to[2 * i + 1] = digits[bytes[i] & 15];
	}
	to[2 * n] = '\0';
}
