/* SPDX-License-Identifier: ISC
 *
 * Strict readings of text. Input: a size for what is written, the text.
 */
#include <stdio.h>

#include "fuzz.h"

static void
check_numbers(const char *text)
{
	char back[64];
	uint64_t value;
	uint64_t again;

	if (text_u64(text, UINT64_MAX, &value) == 0) {
		(void)snprintf(
		    back, sizeof(back), "%llu", (unsigned long long)value);
		must(strcmp(back, text) == 0);
		must(text_u64(text, value, &again) == 0);
		must(value == 0 || text_u64(text, value - 1, &again) < 0);
	}
	if (text_duration_ms(text, &value) == 0) {
		text_put_duration(back, sizeof(back), value);
		must(text_duration_ms(back, &again) == 0 && again == value);
	}
	if (text_size(text, &value) == 0) {
		text_put_size(back, sizeof(back), value);
		must(text_size(back, &again) == 0 && again == value);
	}
}

static void
check_names(const char *text)
{
	size_t n = strlen(text);
	char copy[65];

	if (text_is_id(text))
		must(n >= 1 && n <= 128 && strpbrk(text, " \"\\\n") == NULL);
	if (text_is_name(text))
		must(n >= 1 && n <= 64 && text_is_id(text) &&
		    strpbrk(text, "/.") == NULL);
	if (text_copy(copy, sizeof(copy), text) == 0)
		must(strcmp(copy, text) == 0);
	else
		must(n >= sizeof(copy) && copy[0] == '\0');
}

static void
check_printable(const char *bytes, size_t n, size_t size)
{
	cleanup_free char *small = memory_new(size, 1);
	cleanup_free char *large = memory_new(4 * n + 1, 1);

	text_printable(small, size, bytes, n);
	text_printable(large, 4 * n + 1, bytes, n);
	must(strlen(small) < size && fuzz_is_printable(small));
	must(fuzz_is_printable(large));
	must(strncmp(small, large, strlen(small)) == 0);
	must(n == 0 || strlen(large) >= 1);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	size_t size = 1u + fuzz_byte(&bytes, &n);
	cleanup_free char *text = fuzz_text(bytes, n);

	check_numbers(text);
	check_names(text);
	check_printable((const char *)bytes, n, size);
	return 0;
}
