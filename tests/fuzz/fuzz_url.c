/* SPDX-License-Identifier: ISC
 *
 * The URL of a source: its normal form reads as itself, and host and port are
 * what stands in it. Input: the text.
 */
#include <arpa/inet.h>
#include <stdio.h>

#include "config/url.h"
#include "fuzz.h"

static void
check_address(const char *text)
{
	struct dial_address address = { 0 };
	struct dial_address again = { 0 };
	char shown[INET6_ADDRSTRLEN];

	if (address_parse(text, &address) < 0)
		return;
	must(inet_ntop((int)address.family, address.bytes, shown,
		 sizeof(shown)) != NULL);
	must(address_parse(shown, &again) == 0);
	must(memcmp(&address, &again, sizeof(address)) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	cleanup_free char *text = fuzz_text(bytes, n);
	struct source_config source = { 0 };
	struct source_config again = { 0 };
	struct fault fault = { 0 };
	char origin[sizeof(source.origin)];
	bool has_colon;

	check_address(text);
	if (url_parse(text, &source, &fault) < 0) {
		must(fault.code == FAULT_CONFIG && fault.text[0] != '\0');
		must(fuzz_is_printable(fault.text));
		return 0;
	}
	has_colon = strchr(source.host, ':') != NULL;
	(void)snprintf(origin, sizeof(origin), "%s://%s%s%s:%u",
	    source.is_tls ? "https" : "http", has_colon ? "[" : "", source.host,
	    has_colon ? "]" : "", source.port);
	must(strcmp(origin, source.origin) == 0);
	must(source.port >= 1 && source.port <= 65535);
	must(
	    source.host[0] != '\0' && strpbrk(source.host, "/@[]?# %") == NULL);
	must(source.url[strlen(source.url) - 1] != '/');
	must(!url_is_loopback(&source) || source.host_may_be_special);
	must(url_parse(source.url, &again, &fault) == 0);
	must(memcmp(&source, &again, sizeof(source)) == 0);
	return 0;
}
