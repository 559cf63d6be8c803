/* SPDX-License-Identifier: ISC
 *
 * Every message of every border: what its encoder makes its decoder takes; a
 * field one step outside its range, or fds that do not fit, are refused; and
 * random bytes never get past a decoder with a field out of range.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "contract/outcome.h"
#include "wire/box_msg.h"
#include "wire/courier_msg.h"
#include "wire/dial_msg.h"
#include "wire/keep_msg.h"
#include "wire/super_msg.h"
#include "wire/token_msg.h"
#include "wire/yard_msg.h"

static void
test_super(void **state)
{
	struct super_order o;
	struct super_answer a;

	(void)state;
	super_order_encode(&o, SUPER_CONFIG, 1, 2);
	assert_int_equal(super_order_decode(&o, 1), 0);
	assert_int_equal(super_order_decode(&o, 0), -1);
	o.peer = SUPER_PEER_CORE;
	assert_int_equal(super_order_decode(&o, 1), -1);
	super_order_encode(&o, SUPER_LINK, 1, 2);
	assert_int_equal(super_order_decode(&o, 1), -1);
	o.peer = SUPER_PEER_YARD;
	assert_int_equal(super_order_decode(&o, 1), 0);
	o.peer = SUPER_PEER_END;
	assert_int_equal(super_order_decode(&o, 1), -1);
	super_order_encode(&o, SUPER_STOP, 1, 2);
	o.is_urgent = 1;
	assert_int_equal(super_order_decode(&o, 0), 0);
	o.is_urgent = 2;
	assert_int_equal(super_order_decode(&o, 0), -1);
	super_order_encode(&o, SUPER_VERB_END, 1, 2);
	assert_int_equal(super_order_decode(&o, 0), -1);

	super_answer_encode(&a, &o, NULL);
	assert_int_equal(a.head.verb, SUPER_OK);
	assert_int_equal(super_answer_decode(&a, 0), 0);
	assert_int_equal(super_answer_decode(&a, 1), -1);
	super_answer_encode(&a, &o, "config.yaml:1:1: no");
	assert_int_equal(super_answer_decode(&a, 0), 0);
	memset(a.text, 'x', sizeof(a.text));
	assert_int_equal(super_answer_decode(&a, 0), -1);
}

static void
test_keep(void **state)
{
	struct keep_order o;
	struct keep_answer a;

	(void)state;
	keep_order_encode(&o, KEEP_OPEN, 1, 2, LIMIT_SOURCES - 1);
	assert_int_equal(keep_order_decode(&o, 1), 0);
	assert_int_equal(keep_order_decode(&o, 0), -1);
	o.source = LIMIT_SOURCES;
	assert_int_equal(keep_order_decode(&o, 1), -1);
	keep_order_encode(&o, KEEP_DROP, 1, 2, 0);
	assert_int_equal(keep_order_decode(&o, 0), 0);
	assert_int_equal(keep_order_decode(&o, 1), -1);
	keep_answer_encode(&a, &o, KEEP_RESULT_ALPHABET);
	assert_int_equal(keep_answer_decode(&a, 0), 0);
	a.result = KEEP_RESULT_COUNT;
	assert_int_equal(keep_answer_decode(&a, 0), -1);
	for (uint32_t i = 0; i < KEEP_RESULT_COUNT; i++)
		assert_non_null(keep_result_text(i));
}

static void
test_dial(void **state)
{
	struct dial_order o = { .port = 443, .n_addresses = 1 };
	struct dialed d = { .result = DIAL_RESULT_OK };
	struct dial dial;

	(void)state;
	strcpy(o.host, "photos.example.org");
	o.addresses[0].family = AF_INET;
	dial_order_encode(&o, 1);
	assert_int_equal(dial_order_decode(&o, 0), 0);
	assert_int_equal(dial_order_decode(&o, 1), -1);
	o.port = 65536;
	assert_int_equal(dial_order_decode(&o, 0), -1);
	o.port = 0;
	assert_int_equal(dial_order_decode(&o, 0), -1);
	o.port = 1;
	o.addresses[0].family = AF_UNIX;
	assert_int_equal(dial_order_decode(&o, 0), -1);
	o.n_addresses = LIMIT_ADDRESSES + 1;
	assert_int_equal(dial_order_decode(&o, 0), -1);
	o.n_addresses = 0;
	o.max_body = LIMIT_BODY_BYTES + 1u;
	assert_int_equal(dial_order_decode(&o, 0), -1);
	dial_encode(&dial, 1);
	assert_int_equal(dial_decode(&dial, 0), 0);
	dialed_encode(&d, 1);
	assert_int_equal(dialed_decode(&d, 1), 0);
	assert_int_equal(dialed_decode(&d, 0), -1);
	d.result = DIAL_RESULT_TIMEOUT;
	assert_int_equal(dialed_decode(&d, 0), 0);
	assert_int_equal(dialed_decode(&d, 1), -1);
	d.result = DIAL_RESULT_COUNT;
	assert_int_equal(dialed_decode(&d, 0), -1);
	assert_int_equal(dial_socket_check(0, 1), -1);
}

static void
test_courier_orders(void **state)
{
	struct courier_order o = {
		.capabilities = 1, .max_job_seconds = 1, .deadline_ms = 1000
	};

	(void)state;
	strcpy(o.claim_id, "0123456789abcdef0123456789abcdef");
	courier_order_encode(&o, COURIER_CLAIM, 1, 1);
	assert_int_equal(courier_order_decode(&o, 1), 0);
	assert_int_equal(courier_order_decode(&o, 0), -1);
	o.claim_id[3] = 'G';
	assert_int_equal(courier_order_decode(&o, 1), -1);
	o.claim_id[3] = '0';
	o.capabilities = CAPABILITY_ALL + 1;
	assert_int_equal(courier_order_decode(&o, 1), -1);
	o.capabilities = 0;
	assert_int_equal(courier_order_decode(&o, 1), -1);

	memset(&o, 0, sizeof(o));
	o.deadline_ms = 1000;
	strcpy(o.id, "job-1");
	o.outcome = OUTCOME_SUCCEEDED;
	courier_order_encode(&o, COURIER_RESULT, 1, 1);
	assert_int_equal(courier_order_decode(&o, 1), 0);
	assert_int_equal(courier_order_decode(&o, 0), -1);
	o.outcome = OUTCOME_FAILED;
	assert_int_equal(courier_order_decode(&o, 0), -1);
	o.error = ERROR_COUNT - 1;
	assert_int_equal(courier_order_decode(&o, 0), 0);
	assert_int_equal(courier_order_decode(&o, 1), -1);
	o.error = ERROR_COUNT;
	assert_int_equal(courier_order_decode(&o, 0), -1);
	o.error = 0;
	o.outcome = OUTCOME_RELEASED;
	o.reason = RELEASE_BUSY;
	o.retry_after_s = LIMIT_RETRY_AFTER_S;
	assert_int_equal(courier_order_decode(&o, 0), 0);
	o.retry_after_s++;
	assert_int_equal(courier_order_decode(&o, 0), -1);
	o.retry_after_s = 0;
	strcpy(o.id, "a b");
	assert_int_equal(courier_order_decode(&o, 0), -1);
	memset(o.id, 'a', sizeof(o.id));
	assert_int_equal(courier_order_decode(&o, 0), -1);
	memset(o.id + LIMIT_ID_BYTES, 0, sizeof(o.id) - LIMIT_ID_BYTES);
	assert_int_equal(courier_order_decode(&o, 0), 0);
}

static void
test_courier_answers(void **state)
{
	struct courier_answer a = { .status = COURIER_JOB,
		.http_status = 200,
		.capability = 0,
		.input_bytes = LIMIT_BODY_BYTES };
	struct courier_order o = { 0 };

	(void)state;
	strcpy(a.id, "job-1");
	courier_answer_encode(&a, &o);
	assert_int_equal(courier_answer_decode(&a, 0), 0);
	assert_int_equal(courier_answer_decode(&a, 1), -1);
	a.input_bytes++;
	assert_int_equal(courier_answer_decode(&a, 0), -1);
	a.input_bytes = 1;
	a.capability = CAPABILITY_COUNT;
	assert_int_equal(courier_answer_decode(&a, 0), -1);
	a.capability = CAPABILITY_NONE;
	assert_int_equal(courier_answer_decode(&a, 0), 0);
	a.http_status = 600;
	assert_int_equal(courier_answer_decode(&a, 0), -1);
	a.http_status = 199;
	assert_int_equal(courier_answer_decode(&a, 0), -1);
	a.http_status = 200;
	a.more = 2;
	assert_int_equal(courier_answer_decode(&a, 0), -1);
	a.more = 0;
	a.status = COURIER_NOTHING;
	assert_int_equal(courier_answer_decode(&a, 0), -1);
	memset(a.id, 0, sizeof(a.id));
	a.input_bytes = 0;
	assert_int_equal(courier_answer_decode(&a, 0), 0);
	a.status = COURIER_BAD_JOB;
	assert_int_equal(courier_answer_decode(&a, 0), -1);
	strcpy(a.id, "x");
	a.error = ERROR_TOO_LARGE;
	assert_int_equal(courier_answer_decode(&a, 0), 0);
	a.error = ERROR_GAVE_UP;
	assert_int_equal(courier_answer_decode(&a, 0), -1);
	a.error = ERROR_BAD_JOB;
	a.retry_after_s = LIMIT_RETRY_AFTER_S + 1;
	assert_int_equal(courier_answer_decode(&a, 0), -1);
}

static void
test_yard(void **state)
{
	struct yard_order o;
	struct yard_answer a = { .capability = 0, .end = YARD_END_VERDICT };

	(void)state;
	yard_order_encode(&o, YARD_MAKE, 1, 1, CAPABILITY_COUNT - 1);
	assert_int_equal(yard_order_decode(&o, 2), 0);
	assert_int_equal(yard_order_decode(&o, 1), -1);
	o.capability = CAPABILITY_COUNT;
	assert_int_equal(yard_order_decode(&o, 2), -1);
	yard_order_encode(&o, YARD_KILL, 1, 1, 0);
	assert_int_equal(yard_order_decode(&o, 0), 0);
	assert_int_equal(yard_order_decode(&o, 1), -1);
	yard_answer_encode(&a, YARD_ENDED, &o);
	assert_int_equal(yard_answer_decode(&a, 0), 0);
	/* Only a verdict carries a code, and only one a box may say. */
	a.verdict = ERROR_NOT_ASKED;
	assert_int_equal(yard_answer_decode(&a, 0), -1);
	a.verdict = ERROR_GAVE_UP;
	assert_int_equal(yard_answer_decode(&a, 0), 0);
	a.end = YARD_END_TIME;
	assert_int_equal(yard_answer_decode(&a, 0), -1);
	memset(&a, 0, sizeof(a));
	a.walls = WALL_ALL;
	yard_answer_encode(&a, YARD_LISTED, &o);
	assert_int_equal(yard_answer_decode(&a, 0), 0);
	a.walls = WALL_ALL + 1;
	assert_int_equal(yard_answer_decode(&a, 0), -1);
	a.walls = 0;
	a.usable[0] = YARD_UNUSABLE_COUNT;
	assert_int_equal(yard_answer_decode(&a, 0), -1);
}

static void
test_box(void **state)
{
	struct box_order o = { .n_languages = 1 };
	struct box_answer a;

	(void)state;
	strcpy(o.languages[0], "eng");
	box_order_encode(&o, BOX_JOB);
	assert_int_equal(box_order_decode(&o, 2), 0);
	assert_int_equal(box_order_decode(&o, 0), -1);
	o.n_languages = LIMIT_LANGUAGES + 1;
	assert_int_equal(box_order_decode(&o, 2), -1);
	box_answer_encode(&a, BOX_VERDICT, ERROR_BAD_CONTENT);
	assert_int_equal(box_answer_decode(&a, 0), 0);
	assert_int_equal(box_answer_decode(&a, 1), -1);
	box_answer_encode(&a, BOX_VERDICT, ERROR_CRASHED_WORKER);
	assert_int_equal(box_answer_decode(&a, 0), -1);
	box_answer_encode(&a, BOX_WALLS, WALL_ALL + 1);
	assert_int_equal(box_answer_decode(&a, 0), -1);
}

static void
test_token(void **state)
{
	struct token_msg m = { 0 };

	(void)state;
	strcpy(m.token, "abc.DEF-123_~+/==");
	token_msg_encode(&m);
	assert_int_equal(token_msg_decode(&m), 0);
	m.n--;
	assert_int_equal(token_msg_decode(&m), -1);
	assert_false(token_is_valid(""));
	assert_false(token_is_valid("="));
	assert_false(token_is_valid("a b"));
	assert_false(token_is_valid("a\r\nX: y"));
	assert_false(token_is_valid("a=b"));
	memset(m.token, 'a', LIMIT_TOKEN_BYTES);
	assert_true(token_is_valid(m.token));
	m.token[LIMIT_TOKEN_BYTES] = 'a';
	assert_false(token_is_valid(m.token));
}

/* Random packets, most bytes zero so that some get far. */
static void
test_random(void **state)
{
	unsigned int seed = (unsigned int)time(NULL);
	union {
		struct courier_answer courier;
		struct yard_answer yard;
		struct box_answer box;
		unsigned char bytes[1024];
	} p;

	(void)state;
	if (getenv("SEED") != NULL)
		(void)sscanf(getenv("SEED"), "%u", &seed);
	print_message("seed %u\n", seed);
	srandom(seed);
	for (int i = 0; i < 200000; i++) {
		memset(&p, 0, sizeof(p));
		for (long k = random() % 12; k >= 0; k--)
			p.bytes[random() % 128] = (unsigned char)(random() % 8);
		p.courier.head.verb =
		    random() % 2 ? COURIER_ANSWER : YARD_ENDED;
		if (courier_answer_decode(&p.courier, 0) == 0) {
			assert_true(p.courier.http_status <= 599);
			assert_true(
			    p.courier.retry_after_s <= LIMIT_RETRY_AFTER_S);
		}
		if (yard_answer_decode(&p.yard, 0) == 0 &&
		    p.yard.head.verb == YARD_ENDED) {
			assert_true(p.yard.capability < CAPABILITY_COUNT);
			assert_true(p.yard.verdict < ERROR_NOT_ASKED);
		}
		if (box_answer_decode(&p.box, 0) == 0)
			assert_true(p.box.verdict < ERROR_NOT_ASKED);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_super),
		cmocka_unit_test(test_keep),
		cmocka_unit_test(test_dial),
		cmocka_unit_test(test_courier_orders),
		cmocka_unit_test(test_courier_answers),
		cmocka_unit_test(test_yard),
		cmocka_unit_test(test_box),
		cmocka_unit_test(test_token),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
