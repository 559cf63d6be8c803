/* SPDX-License-Identifier: ISC
 *
 * Tickets against vectors of another implementation (Python's hashlib).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/text.h"
#include "courier/ticket.h"

static struct ticket_maker maker;

static int
set_up(void **state)
{
	(void)state;
	if (ticket_maker_init(&maker) < 0)
		return -1;
	for (unsigned char i = 0; i < sizeof(maker.key); i++)
		maker.key[i] = i;
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	ticket_maker_done(&maker);
	return 0;
}

static void
assert_ticket(const char *id, const char *wanted)
{
	unsigned char ticket[LETTER_TICKET_BYTES];
	char text[2 * LETTER_TICKET_BYTES + 1];

	assert_int_equal(ticket_make(&maker, id, ticket), 0);
	text_hex(text, ticket, sizeof(ticket));
	assert_string_equal(text, wanted);
	assert_true(ticket_is_of(&maker, id, ticket));
}

static void
tickets_are_keyed_blake2b(void **state)
{
	char longest[LIMIT_ID_BYTES + 1];

	(void)state;
	assert_ticket("a",
	    "84691b3bbd1807d0b242d61d1dfdaa4aa2714041c222a225e4521da5b158d14f");
	assert_ticket("job-1",
	    "a60fe5d97a2e4232f46c4c5cb7bd049ab418195b711bc184b8dbfb49240d7dac");
	memset(longest, 'x', LIMIT_ID_BYTES);
	longest[LIMIT_ID_BYTES] = '\0';
	assert_ticket(longest,
	    "b4d6b7c88bebfb5838b74ccf35a8679bebf51cb362cd38b8087bc701713e15e3");
}

static void
a_ticket_is_of_one_id_and_one_key(void **state)
{
	unsigned char ticket[LETTER_TICKET_BYTES];

	(void)state;
	assert_int_equal(ticket_make(&maker, "job-1", ticket), 0);
	assert_false(ticket_is_of(&maker, "job-2", ticket));
	assert_false(ticket_is_of(&maker, "job-", ticket));
	assert_false(ticket_is_of(&maker, "", ticket));
	for (size_t i = 0; i < sizeof(ticket); i++) {
		ticket[i] ^= 1;
		assert_false(ticket_is_of(&maker, "job-1", ticket));
		ticket[i] ^= 1;
	}
	assert_true(ticket_is_of(&maker, "job-1", ticket));
	maker.key[31] ^= 0x80;
	assert_false(ticket_is_of(&maker, "job-1", ticket));
	maker.key[31] ^= 0x80;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tickets_are_keyed_blake2b),
		cmocka_unit_test(a_ticket_is_of_one_id_and_one_key),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
