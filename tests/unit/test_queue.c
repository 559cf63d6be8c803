/* SPDX-License-Identifier: ISC
 *
 * The queue's readers of what comes from outside: bodies cut at every place,
 * the tokens file, spools.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "contract/outcome.h"
#include "queue/body.h"
#include "queue/spool.h"
#include "queue/tokens.h"

/* Reads a text cut at one place, and byte by byte when cut is above it. */
static int
read_cut(struct body *body, enum body_call call, const char *text, size_t cut)
{
	size_t n = strlen(text);

	body_init(body, call);
	if (cut <= n) {
		if (body_feed(body, text, cut) < 0 ||
		    body_feed(body, text + cut, n - cut) < 0)
			return -1;
		return body_finish(body);
	}
	for (size_t i = 0; i < n; i++) {
		if (body_feed(body, text + i, 1) < 0)
			return -1;
	}
	return body_finish(body);
}

static void
a_claim_reads_the_same_however_it_is_cut(void **state)
{
	static const char text[] =
	    " {\"x\":[{\"claim_id\":1}],\"claim_id\":\"a\\u002dB~7\","
	    "\"max_job_seconds\":86400,"
	    "\"capabilities\" : [ \"image.text\",\"a.b\",\"image.text\" ]}\n";
	struct body body;

	(void)state;
	for (size_t cut = 0; cut <= sizeof(text); cut++) {
		assert_int_equal(read_cut(&body, BODY_CLAIM, text, cut), 0);
		assert_string_equal(body.claim_id, "a-B~7");
		assert_int_equal(body.max_job_seconds, 86400);
		assert_int_equal(body.n_capabilities, 2);
		assert_string_equal(body.capabilities[0], "image.text");
		assert_string_equal(body.capabilities[1], "a.b");
	}
}

static void
spans_are_exact_however_a_result_is_cut(void **state)
{
	static const char text[] =
	    "{\"output\" : {\"output\":{},\"id\":[{}]} ,\"outcome\":"
	    "\"succeeded\",\"lease\":\"l\",\"id\":\"i\"}";
	static const char output[] = "{\"output\":{},\"id\":[{}]}";
	struct body body;

	(void)state;
	for (size_t cut = 0; cut <= sizeof(text); cut++) {
		assert_int_equal(read_cut(&body, BODY_RESULT, text, cut), 0);
		assert_int_equal(body.outcome, OUTCOME_SUCCEEDED);
		assert_string_equal(body.id, "i");
		assert_string_equal(body.lease, "l");
		assert_int_equal(
		    body.output.end - body.output.begin, sizeof(output) - 1);
		assert_memory_equal(
		    text + body.output.begin, output, sizeof(output) - 1);
		assert_int_equal(body.error.end, 0);
	}
}

static void
what_is_refused_is_refused_however_it_is_cut(void **state)
{
	static const struct {
		enum body_call call;
		const char *text;
		const char *wrong;
	} cases[] = {
		{ BODY_CLAIM, "", "at byte 0" },
		{ BODY_CLAIM, "{\"claim_id\":\"a\",\"claim_id\":\"a\"}",
		    "claim_id: is there twice" },
		{ BODY_CLAIM, "{\"claim_id\":\"\\u0000\"}", "at byte" },
		{ BODY_CLAIM, "{\"claim_id\":[\"a\"]}", "must be a string" },
		{ BODY_CLAIM, "{\"capabilities\":[{}]}", "must be a string" },
		{ BODY_RESULT,
		    "{\"id\":\"i\",\"lease\":\"l\",\"outcome\":\"failed\","
		    "\"error\":{\"inner\":{\"code\":\"a\"}}}",
		    "code is missing" },
		{ BODY_RESULT,
		    "{\"id\":\"i\",\"lease\":\"l\",\"outcome\":\"failed\","
		    "\"error\":{\"code\":\"a\"},\"output\":{}}",
		    "output: belongs" },
		{ BODY_RESULT, "{\"outcome\":\"Failed\"}", "must be" },
		{ BODY_SUBMIT, "{\"input\":{},\"capability\":\"a.b.\"}",
		    "like image.text" },
		{ BODY_SUBMIT, "{\"input\":null,\"capability\":\"a.b\"}",
		    "must be an object" },
	};
	struct body body;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t n = strlen(cases[i].text);

		for (size_t cut = 0; cut <= n + 1; cut++) {
			assert_int_equal(
			    read_cut(&body, cases[i].call, cases[i].text, cut),
			    -1);
			if (strstr(body.wrong, cases[i].wrong) == NULL)
				fail_msg("%s: %s", cases[i].text, body.wrong);
		}
	}
}

static void
a_retry_after_is_clamped(void **state)
{
	static const char text[] =
	    "{\"id\":\"i\",\"lease\":\"l\",\"outcome\":\"released\","
	    "\"reason\":\"busy\",\"retry_after\":7000}";
	struct body body;

	(void)state;
	assert_int_equal(read_cut(&body, BODY_RESULT, text, 5), 0);
	assert_int_equal(body.retry_after_s, LIMIT_RETRY_AFTER_S);
}

static void
a_capability_is_two_words(void **state)
{
	static const char *const bad[] = { "", ".", "a", "a.", ".b", "a.b.c",
		"a.b ", "A.b", "a.b1", "a_b.c" };

	(void)state;
	assert_true(body_is_capability("image.text"));
	assert_true(body_is_capability("a.b"));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(body_is_capability(bad[i]));
}

#define TOKEN_A "aaaaaaaaaaaaaaaa"
#define TOKEN_B "bbbbbbbbbbbbbbbbbbbb"

static void
tokens_are_found_only_whole(void **state)
{
	static const char text[] =
	    "# comment\n\n  worker  one\t" TOKEN_A "\r\nproducer one " TOKEN_B;
	struct tokens *tokens = NULL;
	struct fault fault;
	const struct bearer *bearer;
	char long_one[LIMIT_QUEUE_TOKEN_BYTES + 1];

	(void)state;
	memset(long_one, 'a', sizeof(long_one));
	assert_int_equal(
	    tokens_parse(text, strlen(text), "t", &tokens, &fault), 0);
	assert_int_equal(tokens->n, 2);
	bearer = tokens_find(tokens, TOKEN_A, strlen(TOKEN_A));
	assert_non_null(bearer);
	assert_int_equal(bearer->role, ROLE_WORKER);
	bearer = tokens_find(tokens, TOKEN_B, strlen(TOKEN_B));
	assert_non_null(bearer);
	assert_int_equal(bearer->role, ROLE_PRODUCER);
	assert_null(tokens_find(tokens, TOKEN_B, strlen(TOKEN_B) - 1));
	assert_null(tokens_find(tokens, TOKEN_A "a", strlen(TOKEN_A) + 1));
	/* Zeros are what stands behind a token in memory. */
	assert_null(tokens_find(tokens, TOKEN_A "\0", strlen(TOKEN_A) + 1));
	assert_null(tokens_find(tokens, "", 0));
	assert_null(tokens_find(tokens, long_one, sizeof(long_one)));
	tokens_free(tokens);
}

static void
a_bad_tokens_file_gives_its_line_and_no_token(void **state)
{
	static const struct {
		const char *text;
		const char *wrong;
	} cases[] = {
		{ "", "has no token" },
		{ "worker a " TOKEN_A "\nworker a " TOKEN_B "\n", "t:2: " },
		{ "worker a " TOKEN_A "\nproducer b " TOKEN_A "\n", "t:2: " },
		{ "worker a " TOKEN_A " more\n", "t:1: must be" },
		{ "Worker a " TOKEN_A "\n", "t:1: the first word" },
		{ "worker a aaaaaaaaaaaaaaa\n", "t:1: a token is" },
		{ "worker a aaaaaaaaaaaaaaa\x7f\n", "t:1: a token is" },
		{ "worker \xc3\xa4 " TOKEN_A "\n", "t:1: a name is" },
	};
	struct tokens *tokens = NULL;
	struct fault fault;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(
		    tokens_parse(cases[i].text, strlen(cases[i].text), "t",
			&tokens, &fault),
		    -1);
		assert_null(tokens);
		assert_non_null(strstr(fault.text, cases[i].wrong));
		assert_null(strstr(fault.text, "aaaa"));
	}
}

static void
a_spool_is_the_same_in_memory_and_in_a_file(void **state)
{
	static const size_t sizes[] = { 1, LIMIT_QUEUE_MEMORY_BYTES,
		LIMIT_QUEUE_MEMORY_BYTES + 1, 300000 };
	char template[] = "/tmp/sandcastle-spool-XXXXXX";
	int directory;

	(void)state;
	assert_non_null(mkdtemp(template));
	directory = open(template, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(directory >= 0);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct spool spool;
		char *got = memory_new(sizes[i], 1);

		spool_init(&spool, directory);
		for (size_t n = 0; n < sizes[i]; n++) {
			char byte = (char)(n * 7 % 251);

			assert_int_equal(spool_put(&spool, &byte, 1), 0);
		}
		assert_int_equal(spool.n, sizes[i]);
		assert_int_equal(
		    spool.fd >= 0, sizes[i] > LIMIT_QUEUE_MEMORY_BYTES);
		assert_int_equal(spool_get(&spool, 0, got, sizes[i]), 0);
		for (size_t n = 0; n < sizes[i]; n++)
			assert_int_equal(got[n], (char)(n * 7 % 251));
		spool_done(&spool);
		free(got);
	}
	(void)close(directory);
	/* No file has a name: the directory is empty. */
	assert_int_equal(rmdir(template), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_claim_reads_the_same_however_it_is_cut),
		cmocka_unit_test(spans_are_exact_however_a_result_is_cut),
		cmocka_unit_test(what_is_refused_is_refused_however_it_is_cut),
		cmocka_unit_test(a_retry_after_is_clamped),
		cmocka_unit_test(a_capability_is_two_words),
		cmocka_unit_test(tokens_are_found_only_whole),
		cmocka_unit_test(a_bad_tokens_file_gives_its_line_and_no_token),
		cmocka_unit_test(a_spool_is_the_same_in_memory_and_in_a_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
