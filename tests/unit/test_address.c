/* SPDX-License-Identifier: ISC
 *
 * The dialer's address policy, address by address, and the dialer's way from a
 * name to a socket over loopback.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "dialer/address.h"
#include "dialer/reach.h"
#include "dialer/walls.h"

static struct dial_address
address(const char *text)
{
	struct dial_address a = { .family = AF_INET };

	if (inet_pton(AF_INET, text, a.bytes) != 1) {
		a.family = AF_INET6;
		assert_int_equal(inet_pton(AF_INET6, text, a.bytes), 1);
	}
	return a;
}

static const char *const special[] = {
	"0.0.0.0",
	"0.1.2.3",
	"0.255.255.255",
	"127.0.0.1",
	"127.0.0.0",
	"127.1.2.3",
	"127.255.255.255",
	"169.254.0.0",
	"169.254.0.1",
	"169.254.169.254",
	"169.254.255.255",
	"224.0.0.1",
	"239.255.255.255",
	"240.0.0.1",
	"254.1.1.1",
	"255.255.255.255",
	"::",
	"::1",
	"fe80::1",
	"fe80::a9fe:a9fe",
	"febf:ffff::1",
	"fec0::1",
	"feff::1",
	"ff00::",
	"ff02::1",
	"ff0e::1234",
	/* mapped, compatible, translated */
	"::ffff:127.0.0.1",
	"::ffff:0.0.0.0",
	"::ffff:169.254.169.254",
	"::ffff:224.0.0.1",
	"::ffff:255.255.255.255",
	"::127.0.0.1",
	"::169.254.169.254",
	"::2",
	"::0.255.0.1",
	"::ffff:0:127.0.0.1",
	"::ffff:0:169.254.169.254",
	/* 6to4 */
	"2002:7f00:1::",
	"2002:7f00:1::1",
	"2002:a9fe:a9fe::1",
	"2002::1",
	"2002:e000:1::",
	"2002:ffff:ffff::",
	/* NAT64 */
	"64:ff9b::7f00:1",
	"64:ff9b::127.0.0.1",
	"64:ff9b::169.254.169.254",
	"64:ff9b::",
	"64:ff9b::240.0.0.1",
	"64:ff9b:1::127.0.0.1",
	"64:ff9b:1:aaaa:bbbb:cccc:169.254.169.254",
	/* its local form, cut at /48, /56 and /64 */
	"64:ff9b:1:7f00:0:100::",
	"64:ff9b:1:7f:0:1::",
	"64:ff9b:1:0:7f:0:100:0",
	"64:ff9b:1:0:a9:fea9:fe00:0",
};

static const char *const plain[] = {
	"1.0.0.0",
	"1.1.1.1",
	"8.8.8.8",
	"126.255.255.255",
	"128.0.0.1",
	"169.253.255.255",
	"169.255.0.1",
	"223.255.255.255",
	"192.0.2.1",
	/* networks of one's own */
	"10.0.0.1",
	"172.16.0.1",
	"172.31.255.255",
	"192.168.0.1",
	"100.64.0.1",
	"2001:db8::1",
	"2606:4700::1111",
	"fc00::1",
	"fd00::1",
	"fdff::1",
	"fe00::1",
	"fe7f::1",
	"1::1",
	"::ffff:10.0.0.1",
	"::ffff:8.8.8.8",
	"::8.8.8.8",
	"::1.0.0.0",
	"2002:808:808::",
	"2002:a00:1::1",
	"2003:7f00:1::",
	"64:ff9b::8.8.8.8",
	"64:ff9b::192.168.1.1",
	"64:ff9b:1::8.8.8.8",
	"64:ff9c::127.0.0.1",
};

static void
knows_special_addresses(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); i++) {
		struct dial_address a = address(special[i]);

		if (!address_is_special(&a))
			fail_msg("%s passes for plain", special[i]);
	}
}

static void
lets_plain_addresses_be(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		struct dial_address a = address(plain[i]);

		if (address_is_special(&a))
			fail_msg("%s passes for special", plain[i]);
	}
}

/* Every IPv4 address by its first two bytes, alone and inside IPv6 forms. */
static void
agrees_with_itself_over_all_of_ipv4(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 65536; i++) {
		struct dial_address four = { .family = AF_INET,
			.bytes = {
			    (unsigned char)(i >> 8), (unsigned char)i, 3, 4 } };
		struct dial_address mapped = { .family = AF_INET6,
			.bytes = { [10] = 0xff,
			    0xff,
			    four.bytes[0],
			    four.bytes[1],
			    3,
			    4 } };
		struct dial_address nat64 = { .family = AF_INET6,
			.bytes = { 0, 0x64, 0xff, 0x9b, [12] = four.bytes[0],
			    four.bytes[1], 3, 4 } };
		unsigned int a = i >> 8;
		bool wanted = a == 0 || a == 127 || a >= 224 || i == 0xa9fe;

		assert_int_equal(address_is_special(&four), wanted);
		assert_int_equal(address_is_special(&mapped), wanted);
		assert_int_equal(address_is_special(&nat64), wanted);
	}
}

static void
allows_what_the_operator_wrote(void **state)
{
	struct dial_order order = { .n_addresses = 2 };
	struct dial_address a = address("127.0.0.1");
	struct dial_address mapped = address("::ffff:127.0.0.1");
	struct dial_address next = address("127.0.0.2");
	struct dial_address six = address("::1");

	(void)state;
	order.addresses[0] = a;
	order.addresses[1] = six;
	assert_true(address_is_allowed(&a, &order));
	assert_true(address_is_allowed(&six, &order));
	assert_false(address_is_allowed(&next, &order));
	assert_false(address_is_allowed(&mapped, &order));
	order.n_addresses = 0;
	assert_false(address_is_allowed(&a, &order));
	order.may_be_special = 1;
	assert_true(address_is_allowed(&a, &order));
	assert_true(address_is_allowed(&mapped, &order));
}

/* A listener on loopback, any port. Gives its fd. */
static int
listen_on(const char *text, uint32_t *ret_port)
{
	struct dial_address a = address(text);
	struct sockaddr_in v4 = { .sin_family = AF_INET };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
	struct sockaddr *at = a.family == AF_INET ? (struct sockaddr *)&v4
						  : (struct sockaddr *)&v6;
	socklen_t n = a.family == AF_INET ? sizeof(v4) : sizeof(v6);
	int fd = socket((int)a.family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	memcpy(&v4.sin_addr, a.bytes, 4);
	memcpy(&v6.sin6_addr, a.bytes, 16);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, at, n), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, at, &n), 0);
	*ret_port = ntohs(a.family == AF_INET ? v4.sin_port : v6.sin6_port);
	return fd;
}

static struct dial_order
order_for(const char *host, uint32_t port, uint32_t may_be_special)
{
	struct dial_order order = { .port = port,
		.may_be_special = may_be_special };

	(void)snprintf(order.host, sizeof(order.host), "%s", host);
	return order;
}

static void
reaches_both_families(void **state)
{
	static const char *const hosts[] = { "127.0.0.1", "::1" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct dialed dialed = { .result = 99 };
		struct dial_order order;
		uint32_t port;
		int listener = listen_on(hosts[i], &port);
		socklen_t n = sizeof(int);
		struct sockaddr_storage peer;
		socklen_t n_peer = sizeof(peer);
		int no_delay = 0;
		int fd;

		order = order_for(hosts[i], port, 1);
		fd = reach(&order, &dialed);
		assert_int_equal(dialed.result, DIAL_RESULT_OK);
		assert_int_equal(dial_socket_check(fd, port), 0);
		assert_int_equal(dial_socket_check(fd, port + 1), -1);
		assert_int_equal(
		    getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &no_delay, &n), 0);
		assert_int_not_equal(no_delay, 0);
		assert_int_not_equal(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
		/* Already connected, and knows it. */
		assert_int_equal(
		    getpeername(fd, (struct sockaddr *)&peer, &n_peer), 0);
		assert_int_equal(
		    connect(fd, (struct sockaddr *)&peer, n_peer), -1);
		assert_int_equal(errno, EISCONN);
		assert_int_equal(close(fd), 0);
		assert_int_equal(close(listener), 0);
	}
}

/* Spellings of 127.0.0.1 that the resolver takes for numbers. */
static void
refuses_spellings_of_loopback(void **state)
{
	static const char *const hosts[] = { "127.1", "2130706433",
		"0x7f000001", "0177.0.0.1", "::ffff:127.0.0.1", "localhost" };
	struct dial_address four = address("127.0.0.1");
	struct dial_address mapped = address("::ffff:127.0.0.1");
	uint32_t port;
	int listener = listen_on("127.0.0.1", &port);

	(void)state;
	assert_true(fcntl(listener, F_SETFL, O_NONBLOCK) == 0);
	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		struct dial_order order = order_for(hosts[i], port, 0);
		struct dialed dialed = { .result = 99 };

		assert_int_equal(reach(&order, &dialed), -1);
		assert_int_equal(dialed.result, DIAL_RESULT_FORBIDDEN);
		assert_true(dialed.n_refused >= 1);
		if (i < 4)
			assert_memory_equal(
			    &dialed.refused[0], &four, sizeof(four));
		else if (i == 4)
			assert_memory_equal(
			    &dialed.refused[0], &mapped, sizeof(mapped));
	}
	assert_int_equal(accept4(listener, NULL, NULL, SOCK_CLOEXEC), -1);
	assert_int_equal(close(listener), 0);
}

static void
reaches_a_listed_address(void **state)
{
	struct dialed dialed = { .result = 99 };
	struct dial_order order;
	uint32_t port;
	int listener = listen_on("127.0.0.1", &port);
	int fd;

	(void)state;
	order = order_for("localhost", port, 0);
	order.n_addresses = 1;
	order.addresses[0] = address("127.0.0.1");
	fd = reach(&order, &dialed);
	assert_int_equal(dialed.result, DIAL_RESULT_OK);
	assert_int_equal(dial_socket_check(fd, port), 0);
	assert_int_equal(close(fd), 0);
	assert_int_equal(close(listener), 0);
}

static void
tells_refusal_and_names_apart(void **state)
{
	struct dialed dialed = { .result = 99 };
	struct dial_order order;
	uint32_t port;

	(void)state;
	assert_int_equal(close(listen_on("127.0.0.1", &port)), 0);
	order = order_for("127.0.0.1", port, 1);
	assert_int_equal(reach(&order, &dialed), -1);
	assert_int_equal(dialed.result, DIAL_RESULT_REFUSED);
	order = order_for("no-such-name.invalid", 443, 0);
	assert_int_equal(reach(&order, &dialed), -1);
	assert_int_equal(dialed.result, DIAL_RESULT_NO_NAME);
}

/* Two connections fill a backlog of one; the next gets no answer. */
static void
gives_up_on_silence(void **state)
{
	struct dialed dialed = { .result = 99 };
	struct dial_order order;
	uint32_t port;
	int listener = listen_on("127.0.0.1", &port);
	int filling[4];

	(void)state;
	order = order_for("127.0.0.1", port, 1);
	for (size_t i = 0; i < 2; i++) {
		filling[i] = reach(&order, &dialed);
		assert_int_equal(dialed.result, DIAL_RESULT_OK);
	}
	assert_int_equal(reach(&order, &dialed), -1);
	assert_int_equal(dialed.result, DIAL_RESULT_TIMEOUT);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(close(filling[i]), 0);
	assert_int_equal(close(listener), 0);
}

/*
 * A port of this machine that no one listens on, tried often enough to be
 * given itself as its own port: never "connected".
 */
static void
never_meets_itself(void **state)
{
	FILE *f = fopen("/proc/sys/net/ipv4/ip_local_port_range", "re");
	unsigned int low = 0, high = 0;

	(void)state;
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%u %u", &low, &high), 2);
	assert_int_equal(fclose(f), 0);
	/* The kernel hands out every second port of its range in turn. */
	for (unsigned int i = 0; i < 4 * (high - low); i++) {
		struct dial_order order =
		    order_for("127.0.0.1", low + ((high - low) / 2 & ~1u), 1);
		struct dialed dialed = { .result = 99 };
		int fd = reach(&order, &dialed);
		struct sockaddr_in here = { 0 }, there = { 0 };
		socklen_t n = sizeof(here), m = sizeof(there);

		if (fd < 0)
			continue;
		assert_int_equal(
		    getsockname(fd, (struct sockaddr *)&here, &n), 0);
		assert_int_equal(
		    getpeername(fd, (struct sockaddr *)&there, &m), 0);
		assert_int_not_equal(here.sin_port, there.sin_port);
		assert_int_equal(close(fd), 0);
	}
}

static bool
can_open(const char *path, int flags)
{
	cleanup_fd int fd = open(path, flags | O_CLOEXEC, 0600);

	return fd >= 0;
}

/* Runs in a child: the exit status tells the step that was wrong. */
_Noreturn static void
try_the_walls(const char *secret)
{
	struct addrinfo *list = NULL;

	if (!can_open(secret, O_RDONLY) || !can_open("/etc/hosts", O_RDONLY))
		_exit(1);
	if (walls_enter() < 0)
		_exit(2);
	if (can_open(secret, O_RDONLY) || can_open("/", O_RDONLY))
		_exit(3);
	if (can_open(secret, O_WRONLY) || can_open("/tmp/x", O_CREAT | O_RDWR))
		_exit(4);
	if (!can_open("/etc/hosts", O_RDONLY))
		_exit(5);
	if (getaddrinfo("localhost", "80", NULL, &list) != 0)
		_exit(6);
	freeaddrinfo(list);
	if (execl("/bin/true", "true", (char *)NULL) == 0 || errno != EACCES)
		_exit(7);
	_exit(prctl(PR_GET_DUMPABLE) == 0 &&
		    prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1
		? 0
		: 8);
}

static void
stays_inside_its_walls(void **state)
{
	char secret[] = "/tmp/sandcastle-dialer-XXXXXX";
	int fd = mkostemp(secret, O_CLOEXEC);
	pid_t child;
	int status;

	(void)state;
	assert_true(fd >= 0);
	child = fork();
	if (child == 0)
		try_the_walls(secret);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(close(fd), 0);
	assert_int_equal(unlink(secret), 0);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_special_addresses),
		cmocka_unit_test(lets_plain_addresses_be),
		cmocka_unit_test(agrees_with_itself_over_all_of_ipv4),
		cmocka_unit_test(allows_what_the_operator_wrote),
		cmocka_unit_test(reaches_both_families),
		cmocka_unit_test(refuses_spellings_of_loopback),
		cmocka_unit_test(reaches_a_listed_address),
		cmocka_unit_test(tells_refusal_and_names_apart),
		cmocka_unit_test(gives_up_on_silence),
		cmocka_unit_test(never_meets_itself),
		cmocka_unit_test(stays_inside_its_walls),
	};

	return cmocka_run_group_tests_name("address", tests, NULL, NULL);
}
