/* SPDX-License-Identifier: ISC
 *
 * The address policy, in the dialer. It distrusts whoever answers for a name:
 * what counts is the resolved address, in every form in which one IPv4 address
 * can hide in an IPv6 one. An operator who means a special address writes it
 * as the URL's host or lists it; nothing else lets one through.
 */
#include "dialer/address.h"

#include <netinet/in.h>
#include <string.h>

struct prefix {
	unsigned char bytes[16];
	unsigned int bits;
};

static const struct prefix special_v4[] = {
	{ { 0 }, 8 }, /* "this network", 0.0.0.0 is this machine */
	{ { 127 }, 8 }, /* loopback */
	{ { 169, 254 }, 16 }, /* link-local, 169.254.169.254 among them */
	{ { 224 }, 4 }, /* multicast */
	{ { 240 }, 4 }, /* reserved, broadcast */
};

static const struct prefix special_v6[] = {
	{ { 0 }, 128 }, /* unspecified: this machine */
	{ { [15] = 1 }, 128 }, /* loopback */
	{ { 0xfe, 0x80 }, 10 }, /* link-local */
	{ { 0xfe, 0xc0 }, 10 }, /* site-local */
	{ { 0xff }, 8 }, /* multicast */
};

/* Prefixes below which an IPv4 address stands, and at which byte. */
static const struct carrier {
	struct prefix prefix;
	unsigned int at;
} carriers[] = {
	{ { { [10] = 0xff, 0xff }, 96 }, 12 }, /* mapped */
	{ { { 0 }, 96 }, 12 }, /* compatible */
	{ { { [8] = 0xff, 0xff }, 96 }, 12 }, /* translated */
	{ { { 0x20, 0x02 }, 16 }, 2 }, /* 6to4 */
	{ { { 0, 0x64, 0xff, 0x9b }, 96 }, 12 }, /* NAT64 */
	{ { { 0, 0x64, 0xff, 0x9b, 0, 1 }, 48 }, 12 }, /* its local form */
};

/* The local form of NAT64 may be cut at other places than /96 (RFC 6052, RFC
 * 8215); the address then ends in zeroes and its IPv4 part cannot be told. */
static const struct prefix local_nat64 = { { 0, 0x64, 0xff, 0x9b, 0, 1 }, 48 };

static bool
has_prefix(const unsigned char *bytes, const struct prefix *prefix)
{
	unsigned int whole = prefix->bits / 8;
	unsigned int rest = prefix->bits % 8;

	if (memcmp(bytes, prefix->bytes, whole) != 0)
		return false;
	return rest == 0 ||
	    (bytes[whole] ^ prefix->bytes[whole]) >> (8 - rest) == 0;
}

static bool
has_any(const unsigned char *bytes, const struct prefix *prefixes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (has_prefix(bytes, &prefixes[i]))
			return true;
	}
	return false;
}

static bool
v4_is_special(const unsigned char bytes[4])
{
	return has_any(
	    bytes, special_v4, sizeof(special_v4) / sizeof(special_v4[0]));
}

static bool
v6_is_special(const unsigned char bytes[16])
{
	if (has_any(
		bytes, special_v6, sizeof(special_v6) / sizeof(special_v6[0])))
		return true;
	if (has_prefix(bytes, &local_nat64) &&
	    (bytes[13] | bytes[14] | bytes[15]) == 0)
		return true;
	for (size_t i = 0; i < sizeof(carriers) / sizeof(carriers[0]); i++) {
		if (has_prefix(bytes, &carriers[i].prefix) &&
		    v4_is_special(bytes + carriers[i].at))
			return true;
	}
	return false;
}

int
address_from(const struct sockaddr *from, struct dial_address *ret)
{
	struct dial_address address = { .family = from->sa_family };

	if (from->sa_family == AF_INET) {
		struct sockaddr_in v4;

		memcpy(&v4, from, sizeof(v4));
		memcpy(address.bytes, &v4.sin_addr, 4);
	} else if (from->sa_family == AF_INET6) {
		struct sockaddr_in6 v6;

		memcpy(&v6, from, sizeof(v6));
		memcpy(address.bytes, &v6.sin6_addr, 16);
	} else {
		return -1;
	}
	*ret = address;
	return 0;
}

bool
address_is_special(const struct dial_address *address)
{
	return address->family == AF_INET ? v4_is_special(address->bytes)
					  : v6_is_special(address->bytes);
}

bool
address_is_allowed(
    const struct dial_address *address, const struct dial_order *order)
{
	size_t n = address->family == AF_INET ? 4 : 16;

	if (order->may_be_special || !address_is_special(address))
		return true;
	for (uint32_t i = 0; i < order->n_addresses; i++) {
		const struct dial_address *listed = &order->addresses[i];

		if (listed->family == address->family &&
		    memcmp(listed->bytes, address->bytes, n) == 0)
			return true;
	}
	return false;
}
