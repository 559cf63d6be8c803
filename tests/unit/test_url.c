/* SPDX-License-Identifier: ISC
 *
 * URLs of sources: what is taken, in which normal form, and what is refused
 * with which words.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "config/url.h"

struct url_case {
	const char *text;
	const char *url; /* normal form; NULL: refused */
	const char *detail; /* origin, or words of the refusal */
};

static const struct url_case urls[] = {
	{ "https://h", "https://h", "https://h:443" },
	{ "https://h/", "https://h", "https://h:443" },
	{ "HTTPS://Host.Example:443/A/b/", "https://host.example/A/b",
	    "https://host.example:443" },
	{ "https://h:8443", "https://h:8443", "https://h:8443" },
	{ "http://127.0.0.1:80/x", "http://127.0.0.1/x",
	    "http://127.0.0.1:80" },
	{ "https://[2001:DB8:0::1]/", "https://[2001:db8::1]",
	    "https://[2001:db8::1]:443" },
	{ "https://my_nas", "https://my_nas", "https://my_nas:443" },
	{ "https://xn--bcher-kva.example", "https://xn--bcher-kva.example",
	    "https://xn--bcher-kva.example:443" },
	{ "https://h/a%20b", "https://h/a%20b", "https://h:443" },
	{ "https://3com.example", "https://3com.example",
	    "https://3com.example:443" },
	{ "", NULL, "does not begin with https://" },
	{ "h", NULL, "does not begin with https://" },
	{ "//h", NULL, "does not begin with https://" },
	{ "file:///etc/passwd", NULL, "does not begin with https://" },
	{ "https:/h", NULL, "does not begin with https://" },
	{ " https://h", NULL, "does not begin with https://" },
	{ "https://", NULL, "no host" },
	{ "https:///a", NULL, "no host" },
	{ "https://:1", NULL, "no host" },
	{ "https://u@h", NULL, "user name" },
	{ "https://u:p@h", NULL, "user name" },
	{ "https://h?a", NULL, "query" },
	{ "https://h/?", NULL, "query" },
	{ "https://h#a", NULL, "fragment" },
	{ "https://h/#", NULL, "fragment" },
	{ "https://b\xC3\xBC"
	  "cher.example",
	    NULL, "punycode" },
	{ "https://h:", NULL, "port" },
	{ "https://h:0", NULL, "port" },
	{ "https://h:65536", NULL, "port" },
	{ "https://h:080", NULL, "port" },
	{ "https://h:+1", NULL, "port" },
	{ "https://h: 1", NULL, "port" },
	{ "https://::1", NULL, "brackets" },
	{ "https://[::1", NULL, "closing" },
	{ "https://[::1]x", NULL, "behind the address" },
	{ "https://[::1%25eth0]", NULL, "no IPv6 address" },
	{ "https://[127.0.0.1]", NULL, "no IPv6 address" },
	{ "https://[]", NULL, "no IPv6 address" },
	{ "https://127.1", NULL, "number for a host" },
	{ "https://2130706433", NULL, "number for a host" },
	{ "https://0x7f.0.0.1", NULL, "number for a host" },
	{ "https://0x7f000001", NULL, "number for a host" },
	{ "https://0177.0.0.1", NULL, "number for a host" },
	{ "https://256.1.1.1", NULL, "number for a host" },
	{ "https://a.1", NULL, "number for a host" },
	{ "https://h.", NULL, "ends with a dot" },
	{ "https://.h", NULL, "empty part" },
	{ "https://a..b", NULL, "empty part" },
	{ "https://-a", NULL, "hyphen" },
	{ "https://a-", NULL, "hyphen" },
	{ "https://a b", NULL, "character in its host" },
	{ "https://a%2eb", NULL, "character in its host" },
	{ "https://a\\@b", NULL, "character in its path" },
	{ "https://h\\x", NULL, "character in its path" },
	{ "https://h/a b", NULL, "character in its path" },
	{ "https://h/\xC3\xA4", NULL, "character in its path" },
	{ "https://h/a\r\nX: y", NULL, "character in its path" },
	{ "https://h/%", NULL, "percent" },
	{ "https://h/%2", NULL, "percent" },
	{ "https://h/%2e%2e", NULL, "percent" },
	{ "https://h/a%2Fb", NULL, "percent" },
	{ "https://h/%00", NULL, "percent" },
	{ "https://h//", NULL, "two slashes" },
	{ "https://h/a//b", NULL, "two slashes" },
	{ "https://h/.", NULL, ". or .." },
	{ "https://h/../a", NULL, ". or .." },
	{ "https://h/a/..", NULL, ". or .." },
	{ "https://h/a/../", NULL, ". or .." },
};

static void
urls_have_one_reading(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
		const struct url_case *u = &urls[i];
		struct source_config s = { 0 };
		struct fault fault = { 0 };
		int r = url_parse(u->text, &s, &fault);

		if ((r == 0) != (u->url != NULL))
			fail_msg("%s: %s", u->text,
			    r == 0 ? "accepted" : fault.text);
		if (r == 0) {
			assert_string_equal(s.url, u->url);
			assert_string_equal(s.origin, u->detail);
		} else if (strstr(fault.text, u->detail) == NULL) {
			fail_msg("%s: %s", u->text, fault.text);
		}
	}
}

static void
long_urls_are_refused(void **state)
{
	char text[4096] = "https://h";
	struct source_config s;
	struct fault fault;

	(void)state;
	for (size_t n = 9; n < sizeof(text) - 1; n++) {
		int r = url_parse(text, &s, &fault);

		assert_int_equal(r, n <= 511 ? 0 : -1);
		if (r == 0)
			assert_int_equal(strlen(s.url), n - (n == 10));
		else
			assert_non_null(strstr(fault.text, "too long"));
		text[n] = n == 9 ? '/' : 'a';
		text[n + 1] = '\0';
	}
	memset(text, 0, sizeof(text));
	(void)snprintf(text, sizeof(text), "https://%0254d", 0);
	assert_int_equal(url_parse(text, &s, &fault), -1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(urls_have_one_reading),
		cmocka_unit_test(long_urls_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
