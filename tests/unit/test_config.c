/* SPDX-License-Identifier: ISC
 *
 * config.yaml: good files, bad files with the exact words and places of their
 * errors, files that are out to do harm, and the documentation against the
 * table of keys.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "config/config.h"
#include "config/keys.h"
#include "wire/yard_msg.h"

#define SOURCE "sources: {a: {url: https://h, capabilities: [image.text]}}\n"

static void
config_free_at(struct config **config)
{
	config_free(*config);
}

#define cleanup_config cleanup_with(config_free_at)

static struct config *
parse_good(const char *text)
{
	struct config_errors errors;
	struct config *config = NULL;

	if (config_parse(text, strlen(text), "f", &config, &errors) < 0)
		fail_msg("%s\nrefused: %s", text, errors.lines[0]);
	return config;
}

/* Expects exactly these lines, each without the file's name. */
static void
expect_errors(const char *text, size_t n, const char *const *lines)
{
	struct config_errors errors;
	struct config *config = NULL;
	size_t n_lines = 0;

	if (config_parse(text, n, "f", &config, &errors) == 0) {
		config_free(config);
		fail_msg("accepted: %s", text);
	}
	assert_null(config);
	for (; lines[n_lines] != NULL; n_lines++) {
		const char *found = n_lines < errors.n_lines
		    ? errors.lines[n_lines]
		    : "f:(nothing)";

		if (strcmp(found + 2, lines[n_lines]) != 0)
			fail_msg("%s\nfound:  %s\nwanted: f:%s", text, found,
			    lines[n_lines]);
	}
	if (errors.n != n_lines)
		fail_msg("%s\nalso: %s", text, errors.lines[n_lines]);
}

static void
smallest_file_gets_the_defaults(void **state)
{
	cleanup_config struct config *c = parse_good(SOURCE);
	const struct source_config *s = &c->sources[0];
	const struct capability_config *k = c->capabilities;

	(void)state;
	assert_int_equal(c->n_sources, 1);
	assert_string_equal(s->name, "a");
	assert_string_equal(s->secret, "a");
	assert_string_equal(s->url, "https://h");
	assert_string_equal(s->origin, "https://h:443");
	assert_int_equal(s->capabilities, 1u << CAPABILITY_IMAGE_TEXT);
	assert_int_equal(s->poll_interval_ms, 10000);
	assert_int_equal(s->max_jobs_per_hour, 0);
	assert_int_equal(s->max_input, LIMIT_BODY_BYTES);
	assert_string_equal(s->ca_file, "");
	assert_int_equal(s->n_addresses, 0);
	assert_false(s->allow_http);
	assert_int_equal(c->result_ttl_ms, 7ull * 24 * 3600 * 1000);
	assert_int_equal(c->drain_timeout_ms, 60000);
	assert_int_equal(c->accept_missing, 0);
	for (uint32_t i = 0; i < CAPABILITY_COUNT; i++) {
		const struct capability *own = capability_at(i);

		assert_true(k[i].is_enabled);
		assert_int_equal(k[i].time_limit_ms, own->time_limit_ms);
		assert_int_equal(k[i].memory_limit, own->memory_limit);
		assert_int_equal(k[i].tmp_limit, own->tmp_limit);
		assert_int_equal(k[i].max_input, own->max_input);
		assert_int_equal(k[i].n_languages, own->has_languages);
		for (size_t t = 0; own->tools[t].name != NULL; t++)
			assert_string_equal(
			    k[i].program[t], own->tools[t].path);
	}
	assert_string_equal(k[CAPABILITY_IMAGE_TEXT].languages[0], "eng");
}

static const char every_key[] =
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
every_key_is_read(void **state)
{
	cleanup_config struct config *c = parse_good(every_key);
	const struct source_config *s = &c->sources[0];
	const struct capability_config *k =
	    &c->capabilities[CAPABILITY_IMAGE_TEXT];

	(void)state;
	assert_int_equal(c->n_sources, 2);
	assert_string_equal(s->url, "http://nas.example.org:8080/castle");
	assert_string_equal(s->origin, "http://nas.example.org:8080");
	assert_string_equal(s->host, "nas.example.org");
	assert_int_equal(s->port, 8080);
	assert_false(s->is_tls);
	assert_false(s->host_may_be_special);
	assert_string_equal(s->secret, "other");
	assert_int_equal(s->capabilities,
	    1u << CAPABILITY_IMAGE_PREVIEW | 1u << CAPABILITY_IMAGE_TEXT);
	assert_int_equal(s->poll_interval_ms, 250);
	assert_int_equal(s->max_jobs_per_hour, 600);
	assert_int_equal(s->max_input, 1 << 20);
	assert_string_equal(s->ca_file, "/etc/my ca.pem");
	assert_int_equal(s->n_addresses, 2);
	assert_int_equal(s->addresses[0].family, AF_INET);
	assert_int_equal(s->addresses[0].bytes[0], 127);
	assert_int_equal(s->addresses[1].family, AF_INET6);
	assert_int_equal(s->addresses[1].bytes[0], 0xFE);
	assert_string_equal(c->sources[1].host, "::1");
	assert_string_equal(c->sources[1].url, "https://[::1]:8443");
	assert_true(c->sources[1].host_may_be_special);
	assert_false(k->is_enabled);
	assert_int_equal(k->n_languages, 2);
	assert_string_equal(k->languages[1], "chi_sim");
	assert_string_equal(k->program[1], "/opt/t");
	assert_int_equal(k->time_limit_ms, 90000);
	assert_int_equal(k->memory_limit, 2ull << 30);
	assert_int_equal(k->tmp_limit, 1 << 20);
	assert_int_equal(k->max_input, 1 << 10);
	assert_int_equal(
	    c->accept_missing, 1u << WALL_LANDLOCK | 1u << WALL_TIME_NAMESPACE);
	assert_int_equal(c->result_ttl_ms, 90ull * 24 * 3600 * 1000);
	assert_int_equal(c->drain_timeout_ms, 0);
	assert_int_equal(config_find_source(c, "second"), 1);
	assert_int_equal(config_find_source(c, "third"), -1);
	/* 120 s of document.text + 30 held + 330 to deliver. */
	assert_int_equal(config_max_job_seconds(c, CAPABILITY_ALL), 480);
	assert_int_equal(
	    config_max_job_seconds(c, 1u << CAPABILITY_IMAGE_PREVIEW), 390);
}

struct bad {
	const char *text;
	const char *lines[8];
};

/* Between a source's braces, so that each case is about one key. */
#define IN_SOURCE(keys)                                                         \
	"sources:\n  a: {url: https://h, capabilities: [image.text],\n   " keys \
	"}\n"
#define IN_TEXT(keys) SOURCE "capabilities:\n  image.text: {" keys "}\n"

static const struct bad bads[] = {
	/* nothing to do */
	{ "",
	    { "1:1: sources: names no source, so there is nothing to do: "
	      "write one (sandcastle.yaml(5) has an example)" } },
	{ "# a\nsources:\n",
	    { "2:1: sources: names no source, so there is nothing to do: "
	      "write one (sandcastle.yaml(5) has an example)" } },
	/* unknown and not yet */
	{ SOURCE "source: 1\n",
	    { "2:1: source: is not a key here, did you mean sources?" } },
	{ SOURCE "whatever: 1\n",
	    { "2:1: whatever: is not a key here, leave it out "
	      "(sandcastle.yaml(5) lists them)" } },
	{ SOURCE "models: {}\nmetrics_file: /x\n",
	    { "2:1: models: is not supported yet, leave it out",
		"3:1: metrics_file: is not supported yet, leave it out" } },
	{ IN_SOURCE("pol_interval: 1s, follow_more: true"),
	    { "3:4: sources.a.pol_interval: is not a key here, did you mean "
	      "poll_interval?",
		"3:22: sources.a.follow_more: is not supported yet, leave "
		"it out" } },
	{ IN_TEXT("start: spare, model: m, weights: /w, threads: 2"),
	    { "3:16: capabilities.image.text.start: is not supported yet, "
	      "leave it out",
		"3:30: capabilities.image.text.model: is not supported yet, "
		"leave it out",
		"3:40: capabilities.image.text.weights: is not supported "
		"yet, leave it out",
		"3:53: capabilities.image.text.threads: is not supported "
		"yet, leave it out" } },
	{ SOURCE "capabilities:\n  text.label: {model: small}\n  foo: {}\n",
	    { "3:3: capabilities.text.label: \"text.label\" is not supported "
	      "yet, leave it out",
		"4:3: capabilities.foo: \"foo\" is not a capability, there "
		"are: image.preview, document.text, image.text, "
		"document.preview" } },
	/* sources and names */
	{ "sources:\n  Photos: {}\n",
	    { "2:3: sources.Photos: is not a name for a source, write 1 to "
	      "64 of a-z, 0-9, _ and -, a letter or digit first" } },
	{ "sources:\n  a: {}\n",
	    { "2:3: sources.a.url: is missing, write where the source is: "
	      "https://host[:port][/prefix]",
		"2:3: sources.a.capabilities: is missing, write what the "
		"source may ask for" } },
	{ "sources:\n  a: 7\n",
	    { "2:6: sources.a: is not a map of keys, write url: and "
	      "capabilities: below it" } },
	{ "sources:\n  a: {url: https://h, capabilities: [image.text]}\n"
	  "  b: {url: https://h, capabilities: [image.text]}\n"
	  "  a: {url: https://h, capabilities: [image.text]}\n",
	    { "4:3: sources.a: written twice (first on line 2), leave one "
	      "out" } },
	{ "- a\n", { "1:1: is not a map of keys, write sources: first" } },
	{ IN_SOURCE("secret: ../x"),
	    { "3:12: sources.a.secret: \"../x\" is not a name, write 1 to 64 "
	      "of a-z, 0-9, _ and -, a letter or digit first" } },
	/* capabilities of a source */
	{ "sources: {a: {url: https://h, capabilities: []}}\n",
	    { "1:45: sources.a.capabilities: names no capability, so the "
	      "source would never be asked: write a list like "
	      "[image.preview]" } },
	{ "sources:\n a:\n  url: https://h\n  capabilities:\n"
	  "   - image.text\n   - image.txt\n   - audio.text\n"
	  "   - image.text\n   - [x]\n",
	    { "6:6: sources.a.capabilities[2]: \"image.txt\" is not a "
	      "capability, there are: image.preview, document.text, "
	      "image.text, document.preview",
		"7:6: sources.a.capabilities[3]: \"audio.text\" is not "
		"supported yet, leave it out",
		"8:6: sources.a.capabilities[4]: \"image.text\" stands in "
		"the list twice, leave one out",
		"9:6: sources.a.capabilities[5]: is a list, write the name "
		"of a capability" } },
	{ "sources: {a: {url: https://h, capabilities: image.text}}\n",
	    { "1:45: sources.a.capabilities: is a single value, write a list "
	      "like [image.preview]" } },
	/* durations, sizes, counts */
	{ IN_SOURCE("poll_interval: 10"),
	    { "3:19: sources.a.poll_interval: \"10\" is not a duration, "
	      "write a number with ms, s, m, h or d, 100ms to 1h" } },
	{ IN_SOURCE("poll_interval: 99ms"),
	    { "3:19: sources.a.poll_interval: \"99ms\" is out of range, "
	      "write 100ms to 1h" } },
	{ IN_SOURCE("poll_interval: [10s]"),
	    { "3:19: sources.a.poll_interval: is a list, write a duration "
	      "like 10s" } },
	{ IN_SOURCE("poll_interval: "),
	    { "3:19: sources.a.poll_interval: has no value, write a "
	      "duration like 10s" } },
	{ IN_SOURCE("poll_interval: 99999999999999999999d"),
	    { "3:19: sources.a.poll_interval: \"99999999999999999999d\" is "
	      "not a duration, write a number with ms, s, m, h or d, 100ms "
	      "to 1h" } },
	{ IN_SOURCE("max_input: 65MiB"),
	    { "3:15: sources.a.max_input: \"65MiB\" is out of range, write "
	      "1KiB to 64MiB" } },
	{ IN_SOURCE("max_input: 1MB"),
	    { "3:15: sources.a.max_input: \"1MB\" is not a size, write a "
	      "number with KiB, MiB or GiB, 1KiB to 64MiB" } },
	{ IN_SOURCE("max_jobs_per_hour: 0"),
	    { "3:23: sources.a.max_jobs_per_hour: \"0\" is not right, write "
	      "a whole number, 1 to 1000000" } },
	{ IN_SOURCE("max_jobs_per_hour: 0600"),
	    { "3:23: sources.a.max_jobs_per_hour: \"0600\" is not right, "
	      "write a whole number, 1 to 1000000" } },
	{ IN_SOURCE("max_jobs_per_hour: 1e3"),
	    { "3:23: sources.a.max_jobs_per_hour: \"1e3\" is not right, "
	      "write a whole number, 1 to 1000000" } },
	{ IN_SOURCE("ca_file: ca.pem"),
	    { "3:13: sources.a.ca_file: \"ca.pem\" is not an absolute path, "
	      "write one that begins with /" } },
	{ IN_SOURCE("ca_file: \"/a\\x07\""),
	    { "3:13: sources.a.ca_file: \"/a\\x07\" has a control character "
	      "in it, leave it out" } },
	{ IN_SOURCE("addresses: [localhost, 10.0.0.0/8, \"::ffff:1.2.3.4\", "
		    "127.1]"),
	    { "3:16: sources.a.addresses[1]: \"localhost\" is not an "
	      "address, write one like 127.0.0.1 or fe80::1 (no name, port, "
	      "zone or range)",
		"3:27: sources.a.addresses[2]: \"10.0.0.0/8\" is not an "
		"address, write one like 127.0.0.1 or fe80::1 (no name, "
		"port, zone or range)",
		"3:39: sources.a.addresses[3]: \"::ffff:1.2.3.4\" is an IPv4 "
		"address in IPv6 clothes, write it as IPv4",
		"3:57: sources.a.addresses[4]: \"127.1\" is not an address, "
		"write one like 127.0.0.1 or fe80::1 (no name, port, zone or "
		"range)" } },
	/* Norway */
	{ IN_SOURCE("allow_http: no"),
	    { "3:16: sources.a.allow_http: \"no\" is neither true nor false, "
	      "write one of them" } },
	{ IN_TEXT("enabled: on"),
	    { "3:25: capabilities.image.text.enabled: \"on\" is neither true "
	      "nor false, write one of them" } },
	/* capabilities */
	{ IN_TEXT("time_limit: 2h, memory_limit: 1MiB, tmp_limit: 5GiB, "
		  "max_input: 17MiB"),
	    { "3:28: capabilities.image.text.time_limit: \"2h\" is out of "
	      "range, write 1s to 1h",
		"3:46: capabilities.image.text.memory_limit: \"1MiB\" is out "
		"of range, write 64MiB to 64GiB",
		"3:63: capabilities.image.text.tmp_limit: \"5GiB\" is out of "
		"range, write 1MiB to 4GiB",
		"3:80: capabilities.image.text.max_input: \"17MiB\" is out "
		"of range, write 1KiB to 16MiB" } },
	{ IN_TEXT("program: {vips: vips, ocr: /x}, languages: [english, "
		  "eng]"),
	    { "3:32: capabilities.image.text.program.vips: \"vips\" is not an "
	      "absolute path, write one that begins with /",
		"3:38: capabilities.image.text.program.ocr: image.text runs "
		"no such program, it runs: vips, tesseract",
		"3:60: capabilities.image.text.languages[1]: \"english\" is "
		"not a language, write three letters like eng or deu, or "
		"chi_sim" } },
	{ IN_TEXT("program: /usr/bin/tesseract, languages: []"),
	    { "3:25: capabilities.image.text.program: is a single value, "
	      "write a map from a program's name to its path, like "
	      "{ tesseract: /usr/bin/tesseract }",
		"3:56: capabilities.image.text.languages: is empty, write a "
		"list like [eng, deu]" } },
	{ SOURCE "capabilities:\n image.preview:\n  languages: [eng]\n",
	    { "4:3: capabilities.image.preview.languages: image.preview "
	      "reads no text from images, leave it out" } },
	{ SOURCE "accept_missing: [landlock, seccomp]\n",
	    { "2:28: accept_missing[2]: \"seccomp\" is not a wall one can do "
	      "without, these are: landlock, uts, cgroup_ns, time_ns" } },
	{ SOURCE "result_ttl: 59m\ndrain_timeout: 61m\n",
	    { "2:13: result_ttl: \"59m\" is out of range, write 1h to 90d",
		"3:16: drain_timeout: \"61m\" is out of range, write 0ms to "
		"1h" } },
	/* what YAML could do */
	{ "x: &a [*a]\n" SOURCE,
	    { "1:1: x: is not a key here, leave it out (sandcastle.yaml(5) "
	      "lists them)",
		"1:4: an anchor (&name) is not allowed, write the value out",
		"1:8: an alias (*name) is not allowed, write the value "
		"out" } },
	{ SOURCE "result_ttl: !!str 7d\n",
	    { "2:13: a tag (!name) is not allowed, leave it out" } },
	{ SOURCE "<<: {}\n",
	    { "2:1: <<: is not a key here, leave it out "
	      "(sandcastle.yaml(5) lists them)" } },
	{ SOURCE "---\n" SOURCE,
	    { "2:1: a second document begins, one file is one document" } },
	{ "%YAML 1.1\n---\n" SOURCE,
	    { "1:1: a directive (%YAML, %TAG) is not allowed, leave it "
	      "out" } },
	{ "? [a]\n: 1\n",
	    { "1:3: a key must be a plain word, not a list or a map" } },
	{ SOURCE "result_ttl: \"7d\\0\"\n",
	    { "2:13: result_ttl: has a NUL byte, leave it out" } },
	{ SOURCE "result_ttl: 7d\nresult_ttl: 8d\n",
	    { "3:1: result_ttl: written twice (first on line 2), leave one "
	      "out" } },
	{ "sources:\n  a: {url: https://h, capabilities: [image.text}\n",
	    { "2:48: not YAML: did not find expected ',' or ']' while "
	      "parsing a flow sequence" } },
	{ "sources:\n\ta: 1\n",
	    { "2:1: not YAML: found character that cannot start any token "
	      "while scanning for the next token (is it a tab? indent with "
	      "spaces)" } },
	{ SOURCE "# \xC3\xA4\xFF\n",
	    { "2:4: not a text in UTF-8: invalid leading UTF-8 octet" } },
	{ SOURCE "# \x07\n",
	    { "2:3: not a text in UTF-8: control characters are not "
	      "allowed" } },
	/* the order is that of the file */
	{ "drain_timeout: 2h\nbogus_key: 1\nsources:\n  a:\n"
	  "    url: ftp://h\n    capabilities: [image.text]\n"
	  "    secret: 'A'\n",
	    { "1:16: drain_timeout: \"2h\" is out of range, write 0ms to 1h",
		"2:1: bogus_key: is not a key here, leave it out "
		"(sandcastle.yaml(5) lists them)",
		"5:10: sources.a.url: does not begin with https://, write "
		"https://host[:port][/prefix]",
		"7:13: sources.a.secret: \"A\" is not a name, write 1 to 64 "
		"of a-z, 0-9, _ and -, a letter or digit first" } },
};

static void
bad_files_are_told_what_and_where(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bads) / sizeof(bads[0]); i++)
		expect_errors(
		    bads[i].text, strlen(bads[i].text), bads[i].lines);
}

static void
norway_is_a_name(void **state)
{
	cleanup_config struct config *c =
	    parse_good("sources:\n"
		       "  no: {url: https://no, capabilities: [image.text]}\n"
		       "  010: {url: https://h, capabilities: [image.text]}\n"
		       "  null: {url: https://h, capabilities: [image.text],\n"
		       "    secret: on}\n");

	(void)state;
	assert_string_equal(c->sources[0].name, "no");
	assert_string_equal(c->sources[0].host, "no");
	assert_string_equal(c->sources[1].name, "010");
	assert_string_equal(c->sources[2].name, "null");
	assert_string_equal(c->sources[2].secret, "on");
}

static void
boxes_need_no_source(void **state)
{
	struct config_errors errors;
	cleanup_config struct config *c = NULL;

	(void)state;
	assert_int_equal(config_parse_for_boxes("", 0, "f", &c, &errors), 0);
	assert_int_equal(c->n_sources, 0);
	assert_int_equal(config_find_source(c, "a"), -1);
	assert_int_equal(
	    c->capabilities[0].time_limit_ms, capability_at(0)->time_limit_ms);
}

static void
http_is_for_loopback(void **state)
{
	static const char *const good[] = { "http://127.0.0.1",
		"http://127.255.1.2:81", "http://[::1]:8080/x" };
	static const char *const bad[] = { "http://h", "http://localhost",
		"http://10.0.0.1", "http://[::2]", "http://[::ffff:127.0.0.1]",
		"http://128.0.0.1" };
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		cleanup_config struct config *c = NULL;

		(void)snprintf(text, sizeof(text),
		    "sources: {a: {url: '%s', capabilities: [image.text]}}",
		    good[i]);
		c = parse_good(text);
		assert_false(c->sources[0].is_tls);
		assert_true(c->sources[0].host_may_be_special);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		static const char *const lines[] = {
			"1:20: sources.a.url: http:// is for loopback "
			"addresses (127.0.0.1, [::1]): the token would travel "
			"in clear; write https://, or allow_http: true",
			NULL
		};
		cleanup_config struct config *c = NULL;

		(void)snprintf(text, sizeof(text),
		    "sources: {a: {url: '%s', capabilities: [image.text]}}",
		    bad[i]);
		expect_errors(text, strlen(text), lines);
		(void)snprintf(text, sizeof(text),
		    "sources: {a: {url: '%s', capabilities: [image.text], "
		    "allow_http: true}}",
		    bad[i]);
		c = parse_good(text);
		assert_true(c->sources[0].allow_http);
	}
}

static void
words_near_a_key(void **state)
{
	static const char *const pairs[][2] = {
		{ "sorces", "sources" },
		{ "urll", "url" },
		{ "uri", "url" },
		{ "", NULL },
		{ "zzz", NULL },
		{ "a_word_that_is_far_longer_than_any_key", NULL },
		{ "poll_intervall", "poll_interval" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct nearest nearest;

		nearest_init(&nearest, pairs[i][0]);
		nearest_offer(&nearest, "sources");
		nearest_offer(&nearest, "url");
		nearest_offer(&nearest, "poll_interval");
		if (pairs[i][1] == NULL)
			assert_null(nearest.best);
		else
			assert_string_equal(nearest.best, pairs[i][1]);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(smallest_file_gets_the_defaults),
		cmocka_unit_test(every_key_is_read),
		cmocka_unit_test(bad_files_are_told_what_and_where),
		cmocka_unit_test(norway_is_a_name),
		cmocka_unit_test(boxes_need_no_source),
		cmocka_unit_test(http_is_for_loopback),
		cmocka_unit_test(words_near_a_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
