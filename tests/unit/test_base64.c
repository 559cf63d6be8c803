/* SPDX-License-Identifier: ISC
 *
 * The decoder of base64: RFC 4648's own vectors, what is no base64, and its
 * reverse on random bytes and cuts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <string.h>

#include "contract/base64.h"

#include "pieces.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define BYTES_MAX (3 * BASE64_BUFFER_BYTES + 100)

static const char letters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

struct decoded {
	unsigned char bytes[BYTES_MAX];
	size_t n;
};

static enum base64_result
decode_piece(
    struct base64 *base64, struct decoded *to, const char *from, size_t n)
{
	const char *at = from;
	enum base64_result result;

	do {
		result = base64_feed(base64, &at, from + n);
		assert_true(base64->used <= sizeof(base64->bytes));
		memcpy(to->bytes + to->n, base64->bytes, base64->used);
		to->n += base64->used;
		base64->used = 0;
	} while (result == BASE64_FULL);
	if (result == BASE64_OK)
		assert_ptr_equal(at, from + n);
	return result;
}

static enum base64_result
decode(
    struct decoded *to, const char *text, size_t n, uint64_t max, enum cut cut)
{
	static struct base64 base64;
	enum base64_result result = BASE64_OK;
	size_t at = 0;

	to->n = 0;
	base64_init(&base64, max);
	while (at < n && result == BASE64_OK) {
		size_t length = pieces_next(cut, n - at);
		char *piece = pieces_copy(text + at, length);

		result = decode_piece(&base64, to, piece, length);
		free(piece);
		at += length;
	}
	return result == BASE64_OK ? base64_finish(&base64) : result;
}

struct base64_case {
	const char *text;
	const char *bytes; /* NULL: not base64 */
};

static const struct base64_case cases[] = {
	{ "", "" },
	{ "Zg==", "f" },
	{ "Zm8=", "fo" },
	{ "Zm9v", "foo" },
	{ "Zm9vYg==", "foob" },
	{ "Zm9vYmE=", "fooba" },
	{ "Zm9vYmFy", "foobar" },
	{ "+/+/", "\xfb\xff\xbf" },
	{ "Z", NULL },
	{ "Zg", NULL },
	{ "Zg=", NULL },
	{ "Zm8", NULL },
	{ "Zm9vY", NULL },
	{ "Zm9vYg", NULL },
	{ "=", NULL },
	{ "==", NULL },
	{ "====", NULL },
	{ "Z===", NULL },
	{ "Zg=g", NULL },
	{ "Zg==Zg==", NULL },
	{ "Zg==Zm9v", NULL },
	{ "Zm8=Zm9v", NULL },
	{ "Zg===", NULL },
	{ "Zm8==", NULL },
	{ "Zm9v=", NULL },
	{ "Zm9v====", NULL },
	{ "Zh==", NULL },
	{ "Zv==", NULL },
	{ "Zm9=", NULL },
	{ "Zm+=", NULL },
	{ "-_-_", NULL },
	{ " Zg==", NULL },
	{ "Zg== ", NULL },
	{ "Zg==\n", NULL },
	{ "Zm9v\nYmFy", NULL },
	{ "Zm9v\r\nYmFy", NULL },
	{ "Zm 9v", NULL },
	{ "Zm9\xC3\xA9", NULL },
	{ "Zm9!", NULL },
	{ "Zm.v", NULL },
	{ "Zm9vYmF\x7f", NULL },
};

static void
test_cases(void **state)
{
	static struct decoded got;
	char text[64];

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct base64_case *c = &cases[i];

		for (int k = 0; k < 6; k++) {
			enum base64_result result =
			    decode(&got, c->text, strlen(c->text), 1000,
				k == 0	     ? CUT_WHOLE
				    : k == 1 ? CUT_BYTES
					     : CUT_RANDOM);

			assert_int_equal(
			    result, c->bytes == NULL ? BASE64_BAD : BASE64_OK);
			if (c->bytes == NULL)
				continue;
			assert_int_equal(got.n, strlen(c->bytes));
			assert_memory_equal(got.bytes, c->bytes, got.n);
			assert_int_equal(base64_encode(text, got.bytes, got.n),
			    strlen(c->text));
			assert_memory_equal(text, c->text, strlen(c->text));
		}
	}
}

/* Each of the 256 bytes at each place of a quantum. */
static void
test_alphabet(void **state)
{
	static struct decoded got;

	(void)state;
	for (int byte = 1; byte < 256; byte++) {
		for (size_t at = 0; at < 8; at++) {
			char text[] = "AAAAAAAAAAAA";
			bool is_letter = strchr(letters, byte) != NULL;

			text[at] = (char)byte;
			assert_int_equal(decode(&got, text, 12, 100, CUT_WHOLE),
			    is_letter ? BASE64_OK : BASE64_BAD);
		}
	}
}

static size_t
make_random(unsigned char *bytes)
{
	size_t n = pieces_random() % 4 == 0 ? BYTES_MAX : 64;

	n = (size_t)(pieces_random() % n);
	for (size_t i = 0; i < n; i++)
		bytes[i] = (unsigned char)pieces_random();
	return n;
}

static void
test_reverse(void **state)
{
	static unsigned char bytes[BYTES_MAX];
	static char text[BYTES_MAX * 4 / 3 + 4];
	static struct decoded got;

	(void)state;
	for (int round = 0; round < 300; round++) {
		size_t n = make_random(bytes);
		size_t used = base64_encode(text, bytes, n);

		for (int cut = CUT_WHOLE; cut <= CUT_RANDOM; cut++) {
			assert_int_equal(
			    decode(&got, text, used, n, (enum cut)cut),
			    BASE64_OK);
			assert_int_equal(got.n, n);
			assert_memory_equal(got.bytes, bytes, n);
			if (n == 0)
				continue;
			assert_int_equal(
			    decode(&got, text, used, n - 1, (enum cut)cut),
			    BASE64_TOO_LARGE);
			assert_true(got.n <= n - 1);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_alphabet),
		cmocka_unit_test(test_reverse),
	};

	pieces_start();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
