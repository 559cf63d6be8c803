/* SPDX-License-Identifier: ISC
 *
 * URLs of sources, in every process that reads config.yaml. Where a token is
 * sent is decided here, so a URL has one reading only: what libcurl, the
 * resolver and a person could read differently (127.1, 0x7f000001, dot
 * segments, user names, raw Unicode) is refused instead of guessed at.
 */
#include "config/url.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

#define LOWER  "abcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"
#define UPPER  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

struct authority {
	char text[300]; /* host[:port], lower-case */
	char *host; /* without brackets */
	const char *port; /* NULL: none given */
	bool is_bracketed;
};

static int
refuse(struct fault *fault, const char *what)
{
	return fault_set(fault, FAULT_CONFIG, "%s", what);
}

static const char *
after_scheme(const char *text, struct source_config *source)
{
	if (strncasecmp(text, "https://", 8) == 0) {
		source->is_tls = true;
		return text + 8;
	}
	if (strncasecmp(text, "http://", 7) == 0) {
		source->is_tls = false;
		return text + 7;
	}
	return NULL;
}

static int
split_port(struct authority *a, char *colon, struct fault *fault)
{
	if (*colon == '\0')
		return 0;
	if (*colon != ':')
		return refuse(fault,
		    "has something behind the address in brackets, write "
		    "https://[address]:port");
	if (strchr(colon + 1, ':') != NULL)
		return refuse(fault,
		    "has more than one colon behind the host; an IPv6 "
		    "address stands in brackets: https://[::1]:8443");
	*colon = '\0';
	a->port = colon + 1;
	return 0;
}

static int
split_authority(
    struct authority *a, const char *text, size_t n, struct fault *fault)
{
	char *end;

	if (n >= sizeof(a->text))
		return refuse(fault, "has a host that is too long");
	for (size_t i = 0; i < n; i++) {
		char c = text[i];

		a->text[i] = (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
	}
	a->text[n] = '\0';
	a->port = NULL;
	a->is_bracketed = a->text[0] == '[';
	a->host = a->text + a->is_bracketed;
	if (!a->is_bracketed)
		return split_port(a, a->text + strcspn(a->text, ":"), fault);
	end = strchr(a->text, ']');
	if (end == NULL)
		return refuse(fault,
		    "has an opening bracket and no closing "
		    "one, write https://[address]:port");
	*end = '\0';
	return split_port(a, end + 1, fault);
}

static int
read_port(const struct authority *a, struct source_config *source,
    struct fault *fault)
{
	uint64_t port;

	source->port = source->is_tls ? 443 : 80;
	if (a->port == NULL)
		return 0;
	if (text_u64(a->port, 65535, &port) < 0 || port == 0)
		return refuse(
		    fault, "has a port that is not a number from 1 to 65535");
	source->port = (uint32_t)port;
	return 0;
}

/* A last label of digits, or 0x…, is an IPv4 address to a resolver. */
static bool
looks_like_ipv4(const char *host)
{
	const char *dot = strrchr(host, '.');
	const char *last = dot == NULL ? host : dot + 1;

	return (last[0] != '\0' && last[strspn(last, DIGITS)] == '\0') ||
	    (last[0] == '0' && last[1] == 'x' &&
		last[2 + strspn(last + 2, DIGITS "abcdef")] == '\0');
}

static int
check_labels(const char *host, struct fault *fault)
{
	const char *label = host;

	while (true) {
		size_t n = strcspn(label, ".");

		if (n == 0)
			return refuse(fault,
			    "has an empty part between dots "
			    "in its host");
		if (n > 63 || label[0] == '-' || label[n - 1] == '-')
			return refuse(fault,
			    "has a host with a part that is longer than 63 "
			    "letters or begins or ends with a hyphen");
		if (label[n] == '\0')
			return 0;
		label += n + 1;
		if (label[0] == '\0')
			return refuse(fault,
			    "has a host that ends with a dot, leave "
			    "the dot out");
	}
}

static int
read_name(const char *host, struct source_config *source, struct fault *fault)
{
	for (const char *p = host; *p != '\0'; p++) {
		if ((unsigned char)*p >= 0x80)
			return refuse(fault,
			    "has a host with letters outside ASCII, write it "
			    "in punycode (xn--...)");
	}
	if (host[0] == '\0')
		return refuse(
		    fault, "has no host, write https://host[:port][/prefix]");
	if (host[strspn(host, LOWER DIGITS "-_.")] != '\0')
		return refuse(fault,
		    "has a character in its host that no "
		    "host name has");
	if (strlen(host) > 253)
		return refuse(fault, "has a host that is too long");
	if (check_labels(host, fault) < 0)
		return -1;
	source->host_may_be_special = strcmp(host, "localhost") == 0;
	return text_copy(source->host, sizeof(source->host), host);
}

static int
read_host(const struct authority *a, struct source_config *source,
    struct fault *fault)
{
	struct dial_address address;
	unsigned char six[16];

	if (a->is_bracketed) {
		if (inet_pton(AF_INET6, a->host, six) != 1)
			return refuse(fault,
			    "has no IPv6 address in its "
			    "brackets, write https://[::1]");
		source->host_may_be_special = true;
		(void)inet_ntop(
		    AF_INET6, six, source->host, sizeof(source->host));
		return 0;
	}
	if (!looks_like_ipv4(a->host))
		return read_name(a->host, source, fault);
	if (address_parse(a->host, &address) < 0)
		return refuse(fault,
		    "has a number for a host, write an IPv4 "
		    "address as four numbers: 127.0.0.1");
	source->host_may_be_special = true;
	return text_copy(source->host, sizeof(source->host), a->host);
}

static bool
is_dot_segment(const char *segment, size_t n)
{
	return (n == 1 && segment[0] == '.') ||
	    (n == 2 && segment[0] == '.' && segment[1] == '.');
}

static int
check_escapes(const char *path, struct fault *fault)
{
	for (const char *p = strchr(path, '%'); p != NULL;
	     p = strchr(p + 1, '%')) {
		if (strspn(p + 1, DIGITS "abcdefABCDEF") < 2)
			return refuse(fault,
			    "has a percent sign without two "
			    "hexadecimal digits behind it");
		if (strncasecmp(p, "%2e", 3) == 0 ||
		    strncasecmp(p, "%2f", 3) == 0 ||
		    strncasecmp(p, "%00", 3) == 0)
			return refuse(fault,
			    "has a dot, a slash or a NUL "
			    "written with a percent sign");
	}
	return 0;
}

/* Checks the prefix and gives its length without a slash at its end. */
static int
check_path(const char *path, size_t *ret_n, struct fault *fault)
{
	size_t n = strlen(path);

	if (path[strspn(path, LOWER UPPER DIGITS "-._~!$&'()*+,;=:@/%")] !=
	    '\0')
		return refuse(fault,
		    "has a character in its path that must "
		    "be written as %XX");
	if (check_escapes(path, fault) < 0)
		return -1;
	if (n > 0 && path[n - 1] == '/')
		n--;
	for (size_t i = 0; i < n;) {
		size_t length = strcspn(path + i + 1, "/");

		if (length == 0)
			return refuse(fault,
			    "has two slashes in a row in its "
			    "path, write one");
		if (is_dot_segment(path + i + 1, length))
			return refuse(
			    fault, "has . or .. in its path, write it out");
		i += length + 1;
	}
	*ret_n = n;
	return 0;
}

static int
put_normal_form(struct source_config *source, bool is_bracketed,
    const char *path, size_t n_path, struct fault *fault)
{
	const char *scheme = source->is_tls ? "https" : "http";
	const char *open = is_bracketed ? "[" : "";
	const char *close = is_bracketed ? "]" : "";
	char port[16] = "";

	if (source->port != (source->is_tls ? 443u : 80u))
		(void)snprintf(port, sizeof(port), ":%u", source->port);
	(void)snprintf(source->origin, sizeof(source->origin), "%s://%s%s%s:%u",
	    scheme, open, source->host, close, source->port);
	if (snprintf(source->url, sizeof(source->url), "%s://%s%s%s%s%.*s",
		scheme, open, source->host, close, port, (int)n_path,
		path) >= (int)sizeof(source->url))
		return refuse(fault, "is too long, at most 511 bytes");
	return 0;
}

int
url_parse(const char *text, struct source_config *source, struct fault *fault)
{
	const char *rest = after_scheme(text, source);
	struct authority authority;
	size_t n, n_path;

	if (rest == NULL)
		return refuse(fault,
		    "does not begin with https://, write "
		    "https://host[:port][/prefix]");
	if (strlen(rest) > 2048)
		return refuse(fault, "is too long, at most 511 bytes");
	n = strcspn(rest, "/?#\\");
	if (memchr(rest, '@', n) != NULL)
		return refuse(fault,
		    "has a user name before the host, leave it out (the "
		    "token is set by: sandcastle secret set NAME)");
	if (strchr(rest, '#') != NULL)
		return refuse(fault, "has a fragment (#), leave it out");
	if (strchr(rest, '?') != NULL)
		return refuse(fault, "has a query (?), leave it out");
	if (split_authority(&authority, rest, n, fault) < 0 ||
	    read_port(&authority, source, fault) < 0 ||
	    read_host(&authority, source, fault) < 0 ||
	    check_path(rest + n, &n_path, fault) < 0)
		return -1;
	return put_normal_form(
	    source, authority.is_bracketed, rest + n, n_path, fault);
}

bool
url_is_loopback(const struct source_config *source)
{
	struct dial_address address;
	static const unsigned char one[16] = { [15] = 1 };

	if (address_parse(source->host, &address) < 0)
		return false;
	if (address.family == AF_INET)
		return address.bytes[0] == 127;
	return memcmp(address.bytes, one, sizeof(one)) == 0;
}

int
address_parse(const char *text, struct dial_address *ret_address)
{
	struct dial_address address = { .family = AF_INET };

	if (inet_pton(AF_INET, text, address.bytes) != 1) {
		address.family = AF_INET6;
		if (inet_pton(AF_INET6, text, address.bytes) != 1)
			return -1;
	}
	*ret_address = address;
	return 0;
}
