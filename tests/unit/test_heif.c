/* SPDX-License-Identifier: ISC
 *
 * Thumbnails that are untied from a HEIF, and files that are none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "driver/heif.h"

#define TYPE         \
	"\0\0\0\x0C" \
	"ftypheic"
#define REFERENCE "\0\2\0\1\0\1"
#define NO_FLAGS  "\0\0\0\0"

struct harm {
	const char *from;
	const char *to; /* NULL: no HEIF */
	size_t n;
};

#define CASE(from, to)                     \
	{                                  \
		from, to, sizeof(from) - 1 \
	}

static const struct harm cases[] = {
	/* One reference that is a thumbnail's and one that is not. */
	CASE(TYPE "\0\0\0\x34meta" NO_FLAGS "\0\0\0\x28iref" NO_FLAGS
		  "\0\0\0\x0Ethmb" REFERENCE "\0\0\0\x0E"
		  "cdsc" REFERENCE,
	    TYPE "\0\0\0\x34meta" NO_FLAGS "\0\0\0\x28iref" NO_FLAGS
		 "\0\0\0\x0Enone" REFERENCE "\0\0\0\x0E"
		 "cdsc" REFERENCE),
	/* Sizes of eight bytes, and one that says: to the end. */
	CASE(TYPE "\0\0\0\1meta\0\0\0\0\0\0\0\x3E" NO_FLAGS
		  "\0\0\0\1iref\0\0\0\0\0\0\0\x2A" NO_FLAGS
		  "\0\0\0\1thmb\0\0\0\0\0\0\0\x16" REFERENCE,
	    TYPE "\0\0\0\1meta\0\0\0\0\0\0\0\x3E" NO_FLAGS
		 "\0\0\0\1iref\0\0\0\0\0\0\0\x2A" NO_FLAGS
		 "\0\0\0\1none\0\0\0\0\0\0\0\x16" REFERENCE),
	CASE(TYPE "\0\0\0\0meta" NO_FLAGS "\0\0\0\0iref" NO_FLAGS
		  "\0\0\0\0thmb" REFERENCE,
	    TYPE "\0\0\0\0meta" NO_FLAGS "\0\0\0\0iref" NO_FLAGS
		 "\0\0\0\0none" REFERENCE),
	/* The second index, the second list. */
	CASE(TYPE "\0\0\0\x0Cmeta" NO_FLAGS "\0\0\0\x32meta" NO_FLAGS
		  "\0\0\0\x0Ciref" NO_FLAGS "\0\0\0\x1Airef" NO_FLAGS
		  "\0\0\0\x0Ethmb" REFERENCE,
	    TYPE "\0\0\0\x0Cmeta" NO_FLAGS "\0\0\0\x32meta" NO_FLAGS
		 "\0\0\0\x0Ciref" NO_FLAGS "\0\0\0\x1Airef" NO_FLAGS
		 "\0\0\0\x0Enone" REFERENCE),
	/* The name where it means nothing; what a camera leaves behind. */
	CASE(TYPE "\0\0\0\x0Cmeta" NO_FLAGS "\0\0\0\x10mdatthmbthmb\xFF\xFF",
	    TYPE "\0\0\0\x0Cmeta" NO_FLAGS "\0\0\0\x10mdatthmbthmb\xFF\xFF"),
	/* No index; one that is cut, or too short for its flags. */
	CASE(TYPE, NULL),
	CASE("", NULL),
	CASE(TYPE "\0\0\0\x0D"
		  "meta" NO_FLAGS,
	    NULL),
	CASE(TYPE "\0\0\0\x08meta", NULL),
	CASE(TYPE "\0\0\0\x14meta" NO_FLAGS "\0\0\0\x08iref", NULL),
	/* A box longer than the one it is in, shorter than its own head, and
	 * one whose size would turn over. */
	CASE(TYPE "\0\0\0\x18meta" NO_FLAGS "\0\0\0\x0Diref" NO_FLAGS, NULL),
	CASE(TYPE "\0\0\0\x14meta" NO_FLAGS "\0\0\0\7iref", NULL),
	CASE(TYPE "\0\0\0\x1Cmeta" NO_FLAGS
		  "\0\0\0\1iref\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xF8",
	    NULL),
	CASE(TYPE "\0\0\0\1meta\0\0\0\0\0\0\0\x0F" NO_FLAGS, NULL),
	/* A second index that is broken spoils the first. */
	CASE(TYPE "\0\0\0\x0Cmeta" NO_FLAGS "\0\0\0\x14meta" NO_FLAGS
		  "\0\0\0\x09iref",
	    NULL),
};

static int
file_of(const char *bytes, size_t n)
{
	int file = file_memory("heif");

	assert_true(file >= 0);
	assert_int_equal(file_pwrite_all(file, bytes, n, 0), 0);
	return file;
}

static void
test_thumbnails(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char got[256];
		int file = file_of(cases[i].from, cases[i].n);
		int r = heif_untie_thumbnails(file);

		if (r != (cases[i].to == NULL ? -1 : 0))
			fail_msg("case %zu gives %d", i, r);
		assert_int_equal(
		    file_pread_all(file, got, sizeof(got), 0), cases[i].n);
		if (cases[i].to != NULL &&
		    memcmp(got, cases[i].to, cases[i].n) != 0)
			fail_msg("case %zu differs", i);
		close(file);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_thumbnails),
	};

	return cmocka_run_group_tests_name("heif", tests, NULL, NULL);
}
