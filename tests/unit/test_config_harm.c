/* SPDX-License-Identifier: ISC
 *
 * config.yaml that is out to do harm, or is broken in ways nobody thought of:
 * refused quickly, with whole, printable lines.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"
#include "config/config.h"

#define SOURCE "sources: {a: {url: https://h, capabilities: [image.text]}}\n"

static const char whole_file[] =
    "sources:\n"
    "  photos:\n"
    "    url: HTTP://NAS.Example.org:8080/castle/\n"
    "    secret: other\n"
    "    capabilities: [image.preview, image.text]\n"
    "    poll_interval: 250ms\n"
    "    max_jobs_per_hour: 600\n"
    "    max_input: 1MiB\n"
    "    ca_file: /etc/my ca.pem\n"
    "    addresses: [127.0.0.1, \"fe80::1\"]\n"
    "    allow_http: true\n"
    "  second:\n"
    "    url: https://[0:0::1]:8443\n"
    "    capabilities:\n"
    "      - document.text\n"
    "capabilities:\n"
    "  image.text: { enabled: false, languages: [eng, chi_sim],\n"
    "    program: {tesseract: /opt/t}, time_limit: 90s,\n"
    "    memory_limit: 2GiB, tmp_limit: 1MiB, max_input: 1KiB }\n"
    "accept_missing: [landlock, time_ns]\n"
    "result_ttl: 90d\n"
    "drain_timeout: 0s\n";

static void
parse_quickly(const char *text, size_t n, const char *first)
{
	uint64_t start = clock_boot_ms();
	struct config_errors errors;
	struct config *config = NULL;

	assert_int_equal(config_parse(text, n, "f", &config, &errors), -1);
	if (strcmp(errors.lines[0], first) != 0)
		fail_msg("found: %s\nwanted: %s", errors.lines[0], first);
	/* Measured: a few ms; libyaml alone takes seconds on some of them. */
	assert_true(clock_boot_ms() - start < 2000);
}

static void
harm_is_refused_quickly(void **state)
{
	static const char laughs[] = "a: &a [x,x,x,x,x,x,x,x,x]\n"
				     "b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
				     "c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n"
				     "d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"
				     "e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\n";
	cleanup_free char *large = memory_new(LIMIT_CONFIG_BYTES + 2, 1);

	(void)state;
	parse_quickly(laughs, strlen(laughs),
	    "f:1:1: a: is not a key here, leave it out (sandcastle.yaml(5) "
	    "lists them)");
	memset(large, '[', LIMIT_CONFIG_BYTES + 1);
	parse_quickly(large, LIMIT_CONFIG_BYTES,
	    "f:1:9: nested too deeply for this file");
	parse_quickly(large, LIMIT_CONFIG_BYTES + 1,
	    "f:1:1: the file has 65537 bytes, at most 65536 are right");
	for (size_t i = 0; i < LIMIT_CONFIG_BYTES; i += 2)
		memcpy(large + i, "? ", 2);
	parse_quickly(large, LIMIT_CONFIG_BYTES,
	    "f:1:3: a key must be a plain word, not a list or a map");
	for (size_t i = 0; i < LIMIT_CONFIG_BYTES; i += 8)
		(void)snprintf(large + i, 9, "k%05zu:\n", i / 8);
	parse_quickly(
	    large, LIMIT_CONFIG_BYTES, "f:513:1: too many keys in one place");
	memset(large, 'a', LIMIT_CONFIG_BYTES);
	parse_quickly(large, LIMIT_CONFIG_BYTES,
	    "f:1:1: is not a map of keys, write sources: first");
	parse_quickly("a\0b: 1", 6,
	    "f:1:2: not a text in UTF-8: control characters are not allowed");
	parse_quickly("\xFF\xFE"
		      "a\0",
	    4, "f:1:1: not a text in UTF-8: invalid leading UTF-8 octet");
}

static void
too_many_errors_are_counted(void **state)
{
	static char text[4096];
	size_t used = (size_t)snprintf(text, sizeof(text), "%s", SOURCE);
	struct config_errors errors;
	struct config *config = NULL;

	(void)state;
	for (int i = 0; i < 40; i++)
		used += (size_t)snprintf(
		    text + used, sizeof(text) - used, "unknown_%02d: 1\n", i);
	assert_int_equal(config_parse(text, used, "f", &config, &errors), -1);
	assert_int_equal(errors.n, 40);
	assert_int_equal(errors.n_lines, CONFIG_ERROR_LINES);
	assert_non_null(strstr(errors.lines[31], "f:33:1: unknown_31"));
}

/* A file that fills every part of a line still gives whole, printable lines. */
static void
long_and_foreign_text_is_cut(void **state)
{
	static struct config_errors errors;
	char key[600], text[2048], name[300];
	struct config *config = NULL;

	(void)state;
	memset(key, 'k', sizeof(key));
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	(void)snprintf(text, sizeof(text),
	    SOURCE "\"\\x1b[31m%.500s\": 1\nresult_ttl: '\xE2\x80\xAE%.500s'\n",
	    key, key);
	assert_int_equal(
	    config_parse(text, strlen(text), name, &config, &errors), -1);
	assert_int_equal(errors.n, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_true(strlen(errors.lines[i]) < 399);
		assert_null(strchr(errors.lines[i], 0x1b));
		assert_null(strstr(errors.lines[i], "\xE2\x80\xAE"));
	}
	assert_non_null(strstr(errors.lines[0], "\\x1b[31mkkk"));
	assert_non_null(strstr(errors.lines[1], "\\xe2\\x80\\xaekkk"));
	assert_non_null(strstr(errors.lines[1], "...\" is not a duration"));
}

/* The path of a key written twice, seven levels down, is longer than a line. */
static void
a_line_is_cut_between_characters(void **state)
{
	static struct config_errors errors;
	struct config *config = NULL;

	(void)state;
	for (int n = 1; n < 5; n++) {
		char text[1024] = "";
		size_t used = 0;

		for (int level = 0; level < 7; level++) {
			used += (size_t)sprintf(
			    text + used, "%*s%.*s", level, "", n, "kkkk");
			for (int i = 0; i < 29; i++)
				used +=
				    (size_t)sprintf(text + used, "\xC3\xA4");
			used += (size_t)sprintf(text + used, ":\n");
		}
		(void)sprintf(text + used, "%*sa: 1\n%*sa: 2\n", 7, "", 7, "");
		assert_int_equal(
		    config_parse(text, strlen(text), "f", &config, &errors),
		    -1);
		assert_true(strlen(errors.lines[1]) >= 397);
		assert_true(
		    text_is_utf8(errors.lines[1], strlen(errors.lines[1])));
	}
}

/* xorshift: the same files in every run. */
static uint32_t
next_random(uint32_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return *seed;
}

/* Changed at random, a file is read, or refused with whole lines. */
static void
changed_files_do_no_harm(void **state)
{
	static const char alphabet[] = "&*!|>%@`[]{},:?-#'\"\\ \t\n0a\xC3\xFF";
	static struct config_errors errors;
	size_t n = strlen(whole_file);
	cleanup_free char *text = memory_new(n + 1, 1);
	uint32_t seed = 2463534242u;
	int n_good = 0;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		uint32_t n_changes = next_random(&seed) % 4;
		struct config *config = NULL;

		memcpy(text, whole_file, n);
		for (uint32_t k = 0; k < n_changes; k++)
			text[next_random(&seed) % n] =
			    alphabet[next_random(&seed) %
				(sizeof(alphabet) - 1)];
		if (config_parse(text, n, "f", &config, &errors) == 0) {
			config_free(config);
			n_good++;
			continue;
		}
		assert_true(errors.n > 0 && errors.n_lines > 0);
		for (size_t k = 0; k < errors.n_lines; k++) {
			assert_memory_equal(errors.lines[k], "f:", 2);
			assert_true(text_is_utf8(
			    errors.lines[k], strlen(errors.lines[k])));
			assert_null(strpbrk(errors.lines[k], "\n\t"));
		}
	}
	/* Both ways were gone. */
	assert_true(n_good > 5000 && n_good < 15000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(harm_is_refused_quickly),
		cmocka_unit_test(too_many_errors_are_counted),
		cmocka_unit_test(long_and_foreign_text_is_cut),
		cmocka_unit_test(a_line_is_cut_between_characters),
		cmocka_unit_test(changed_files_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
