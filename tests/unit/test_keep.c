/* SPDX-License-Identifier: ISC
 *
 * The running keep: the real program with this test around it, as supervisor,
 * core and courier. What a captured core, courier or dialer could try is
 * tried here.
 */
#include "keep_stage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/limits.h"

#define REST "    capabilities: [image.preview]\n"
#define ONE  "sources:\n  one:\n    url: http://127.0.0.1:7\n" REST

static int
begin(void **state)
{
	*state = stage_new(false);
	return 0;
}

static int
begin_mad(void **state)
{
	*state = stage_new(true);
	return 0;
}

/* Whatever happened, a keep whose supervisor is gone ends with 0. */
static int
end(void **state)
{
	return stage_free(*state) == 0 ? 0 : -1;
}

/* One source of each kind: 0 plain, 1 TLS with its own CA, 2 over IPv6. */
static void
begin_with_sources(struct stage *stage, const uint32_t ports[3])
{
	char config[2048];
	char ca[96];
	char origin[64];
	cleanup_fd int fd = -1;

	(void)snprintf(ca, sizeof(ca), "%s/ca.pem", stage->dir);
	fd = open(ca, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_int_equal(file_write_all(fd, "certificates", 12), 0);
	(void)snprintf(config, sizeof(config),
	    "sources:\n"
	    "  alpha:\n"
	    "    url: http://127.0.0.1:%u/a/b\n" REST "  beta:\n"
	    "    url: https://localhost:%u\n"
	    "    ca_file: %s\n"
	    "    secret: shared\n" REST "  gamma:\n"
	    "    url: http://[::1]:%u\n"
	    "    max_input: 1MiB\n" REST,
	    ports[0], ports[1], ca, ports[2]);
	(void)snprintf(origin, sizeof(origin), "http://127.0.0.1:%u", ports[0]);
	stage_secret(stage, "alpha", origin);
	(void)snprintf(
	    origin, sizeof(origin), "https://localhost:%u", ports[1]);
	stage_secret(stage, "shared", origin);
	(void)snprintf(origin, sizeof(origin), "http://[::1]:%u", ports[2]);
	stage_secret(stage, "gamma", origin);
	stage_ready(stage, config);
}

static const uint32_t some_ports[3] = { 1, 2, 3 };

/* -- config ------------------------------------------------------------- */

static void
takes_a_config_whole_or_not(void **state)
{
	struct stage *stage = *state;
	struct super_answer answer;

	stage_link(stage);
	assert_int_equal(stage_open_as(stage, 0, 0), KEEP_RESULT_STALE);
	stage_commit(stage, 1, &answer);
	assert_int_equal(answer.head.verb, SUPER_REFUSED);
	stage_config(stage, 1, "sources:\n  a: [\n", &answer);
	assert_int_equal(answer.head.verb, SUPER_REFUSED);
	assert_memory_equal(answer.text, "config.yaml:", 12);
	stage_commit(stage, 1, &answer);
	assert_int_equal(answer.head.verb, SUPER_REFUSED);
	stage_config(stage, 2, ONE, &answer);
	assert_int_equal(answer.head.verb, SUPER_OK);
	stage_commit(stage, 1, &answer);
	assert_int_equal(answer.head.verb, SUPER_REFUSED);
	stage_commit(stage, 2, &answer);
	assert_int_equal(answer.head.verb, SUPER_OK);
	/* A refused config takes the pending one with it, not the one in
	 * force. */
	stage_config(stage, 3, ONE, &answer);
	stage_config(stage, 4, "nonsense", &answer);
	assert_int_equal(answer.head.verb, SUPER_REFUSED);
	stage_commit(stage, 3, &answer);
	assert_int_equal(answer.head.verb, SUPER_REFUSED);
	assert_int_equal(
	    stage_open_as(stage, 0, stage->generation + 1), KEEP_RESULT_STALE);
}

static void
reads_sealed_configs_only(void **state)
{
	struct stage *stage = *state;
	struct super_order order;
	struct super_answer answer;
	int fds[PACKET_FDS];
	cleanup_fd int fd = file_memory("open");

	assert_int_equal(file_write_all(fd, ONE, strlen(ONE)), 0);
	super_order_encode(&order, SUPER_CONFIG, 1, 1);
	assert_int_equal(
	    packet_send(stage->supervisor, &order, sizeof(order), &fd, 1), 0);
	assert_int_equal(stage_receive(stage->supervisor, &answer,
			     sizeof(answer), fds, 5000),
	    PACKET_GOT);
	assert_int_equal(answer.head.verb, SUPER_REFUSED);
}

/* -- the token's way ---------------------------------------------------- */

static void
hands_a_courier_what_is_its_own(void **state)
{
	struct stage *stage = *state;
	struct play_report report;
	struct token_msg expected;
	char token[64];

	memset(&expected, 0, sizeof(expected));
	begin_with_sources(stage, some_ports);
	assert_int_equal(stage_open(stage, 0), KEEP_RESULT_OK);
	assert_int_equal(
	    stage_ask(stage, 0, PLAY_REPORT, &report, NULL), PACKET_GOT);
	stage_token(token, "alpha");
	assert_true(report.token_is_valid);
	assert_string_equal(report.token.token, token);
	assert_false(report.has_extra_fd);
	assert_false(report.has_environment);
	assert_int_equal(report.ca_type, S_IFCHR);
	assert_string_equal(report.place.url, "http://127.0.0.1:1/a/b");
	assert_string_equal(report.place.host, "127.0.0.1");
	assert_int_equal(report.place.port, 1);
	assert_int_equal(report.place.is_tls, 0);
	assert_int_equal(report.place.may_be_special, 1);
	assert_int_equal(report.place.head.generation, stage->generation);

	assert_int_equal(stage_open(stage, 1), KEEP_RESULT_OK);
	assert_int_equal(
	    stage_ask(stage, 1, PLAY_REPORT, &report, NULL), PACKET_GOT);
	stage_token(token, "shared");
	assert_string_equal(report.token.token, token);
	assert_int_equal(report.ca_type, S_IFREG);
	assert_int_equal(report.ca_bytes, 12);
	assert_int_equal(report.place.is_tls, 1);

	assert_int_equal(stage_open(stage, 2), KEEP_RESULT_OK);
	assert_int_equal(
	    stage_ask(stage, 2, PLAY_REPORT, &report, NULL), PACKET_GOT);
	assert_string_equal(report.place.host, "::1");
	assert_int_equal(report.place.max_body, 1 << 20);
}

static void
gives_the_ticket_key_of_the_source(void **state)
{
	struct stage *stage = *state;
	cleanup_secret struct token_msg *message =
	    secret_memory(sizeof(*message));
	struct secret_id id = { .name = "shared",
		.origin = "https://localhost:2",
		.source = "beta" };
	struct secret_store store;
	struct play_report report;

	begin_with_sources(stage, some_ports);
	assert_int_equal(secret_store_open(stage->state, &store, NULL), 0);
	assert_int_equal(secret_read(&store, &id, message, NULL), 0);
	secret_store_close(&store);
	assert_int_equal(stage_open(stage, 1), KEEP_RESULT_OK);
	assert_int_equal(
	    stage_ask(stage, 1, PLAY_REPORT, &report, NULL), PACKET_GOT);
	assert_memory_equal(report.token.ticket_key, message->ticket_key,
	    TOKEN_TICKET_KEY_BYTES);
}

/*
 * With couriers alive: a courier has its own token in memory (that is the
 * control: the scanner finds it), no other's, and no key; the keep has none
 * of them. Who may not look gets EACCES, which is a wall as well.
 */
static void
holds_no_secret_itself(void **state)
{
	struct stage *stage = *state;
	static struct play_report reports[2];
	cleanup_free char *key = NULL;
	char tokens[2][64];
	char path[96];
	size_t n;

	begin_with_sources(stage, some_ports);
	stage_token(tokens[0], "alpha");
	stage_token(tokens[1], "shared");
	(void)snprintf(path, sizeof(path), "%s/key", stage->state);
	assert_int_equal(file_slurp(AT_FDCWD, path, 64, &key, &n), 0);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(stage_open(stage, i), KEEP_RESULT_OK);
		assert_int_equal(
		    stage_ask(stage, i, PLAY_REPORT, &reports[i], NULL),
		    PACKET_GOT);
	}
	for (uint32_t i = 0; i < 2; i++) {
		pid_t pid = (pid_t)reports[i].pid;

		assert_int_equal(
		    stage_scan(pid, tokens[i], strlen(tokens[i])), 1);
		assert_int_equal(
		    stage_scan(pid, tokens[1 - i], strlen(tokens[1 - i])), 0);
		assert_int_equal(stage_scan(pid, key, 32), 0);
	}
	if (geteuid() != 0) {
		assert_int_equal(stage_scan(stage->keep, key, 32), -EACCES);
		return;
	}
	assert_int_equal(stage_scan(stage->keep, "beta", 4), 1);
	assert_int_equal(stage_scan(stage->keep, key, 32), 0);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(
		    stage_scan(stage->keep, tokens[i], strlen(tokens[i])), 0);
}

/* Nor in what anyone may read of a process, nor in the log. */
static void
shows_no_token(void **state)
{
	struct stage *stage = *state;
	struct play_report report;
	char token[64];

	begin_with_sources(stage, some_ports);
	stage_token(token, "alpha");
	assert_int_equal(stage_open(stage, 0), KEEP_RESULT_OK);
	assert_int_equal(
	    stage_ask(stage, 0, PLAY_REPORT, &report, NULL), PACKET_GOT);
	for (int i = 0; i < 2; i++) {
		pid_t pid = i == 0 ? stage->keep : (pid_t)report.pid;
		const char *names[] = { "cmdline", "environ" };

		for (int k = 0; k < 2; k++) {
			cleanup_free char *text = NULL;
			char path[64];
			size_t n;

			(void)snprintf(path, sizeof(path), "/proc/%d/%s",
			    (int)pid, names[k]);
			if (file_slurp(AT_FDCWD, path, 65536, &text, &n) < 0)
				continue;
			assert_null(memmem(text, n, token + 3, 8));
		}
	}
	assert_int_equal(stage_count_log(stage, token), 0);
}

/* -- the core's verbs --------------------------------------------------- */

static void
opens_one_courier_for_a_source(void **state)
{
	struct stage *stage = *state;
	struct play_report report;

	begin_with_sources(stage, some_ports);
	assert_int_equal(stage_open(stage, 0), KEEP_RESULT_OK);
	assert_int_equal(stage_open(stage, 0), KEEP_RESULT_BUSY);
	assert_int_equal(stage_open(stage, 1), KEEP_RESULT_OK);
	assert_int_equal(
	    stage_open_as(stage, 2, stage->generation + 1), KEEP_RESULT_STALE);
	assert_int_equal(
	    stage_open_as(stage, 2, stage->generation - 1), KEEP_RESULT_STALE);
	/* Neither harmed the first. */
	assert_int_equal(
	    stage_ask(stage, 0, PLAY_REPORT, &report, NULL), PACKET_GOT);
}

static void
drops_a_courier(void **state)
{
	struct stage *stage = *state;
	struct play_report report;
	struct play_report other;

	begin_with_sources(stage, some_ports);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(stage_open(stage, i), KEEP_RESULT_OK);
	assert_int_equal(
	    stage_ask(stage, 0, PLAY_REPORT, &report, NULL), PACKET_GOT);
	stage_drop(stage, 0, stage->generation);
	assert_true(stage_has_ended(stage->couriers[0]));
	assert_true(stage_is_gone((pid_t)report.pid));
	/* At once there is room for the next; the other source's lives. */
	for (int i = 0; i < 20; i++) {
		assert_int_equal(stage_open(stage, 0), KEEP_RESULT_OK);
		stage_drop(stage, 0, stage->generation);
	}
	stage_drop(stage, 2, stage->generation);
	assert_int_equal(
	    stage_ask(stage, 1, PLAY_REPORT, &other, NULL), PACKET_GOT);
}

/* The core sees a courier's end before the keep does and asks again. */
static void
has_room_when_a_courier_has_left(void **state)
{
	struct stage *stage = *state;
	struct play_report report;

	begin_with_sources(stage, some_ports);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(stage_open(stage, 0), KEEP_RESULT_OK);
		assert_int_equal(
		    stage_ask(stage, 0, PLAY_EXIT, &report, NULL), PACKET_LOST);
	}
}

static void
ends_all_couriers_with_their_core(void **state)
{
	struct stage *stage = *state;
	static struct play_report reports[3];

	begin_with_sources(stage, some_ports);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(stage_open(stage, i), KEEP_RESULT_OK);
		assert_int_equal(
		    stage_ask(stage, i, PLAY_REPORT, &reports[i], NULL),
		    PACKET_GOT);
	}
	assert_int_equal(close(stage->core), 0);
	stage->core = -1;
	for (uint32_t i = 0; i < 3; i++)
		assert_true(stage_is_gone((pid_t)reports[i].pid));
	stage_link(stage);
	assert_int_equal(stage_open(stage, 0), KEEP_RESULT_OK);
	assert_int_equal(
	    stage_ask(stage, 0, PLAY_REPORT, &reports[0], NULL), PACKET_GOT);
	/* A new link takes the place of the old one and of its couriers. */
	stage_link(stage);
	assert_true(stage_is_gone((pid_t)reports[0].pid));
	assert_int_equal(stage_open(stage, 0), KEEP_RESULT_OK);
}

/* Each costs the core its link, and the keep nothing. */
static void
takes_no_nonsense_from_a_core(void **state)
{
	struct stage *stage = *state;
	struct keep_order orders[6];
	cleanup_fd int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int pair[2];

	begin_with_sources(stage, some_ports);
	assert_int_equal(packet_pair(pair), 0);
	for (size_t i = 0; i < 6; i++)
		keep_order_encode(
		    &orders[i], KEEP_OPEN, 1, stage->generation, 0);
	orders[0].head.magic++;
	orders[1].head.verb = KEEP_OPENED;
	orders[2].source = LIMIT_SOURCES;
	orders[3].source = 3; /* one more than there are */
	orders[4].reserved = 1;
	orders[5].head.verb = KEEP_DROP; /* with an fd */
	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(packet_send(stage->core, &orders[i],
				     sizeof(orders[i]), pair, 1),
		    0);
		assert_true(stage_has_ended(stage->core));
		stage_link(stage);
	}
	/* Not a packet pair: a file, no fd, two fds; and other sizes. */
	keep_order_encode(&orders[0], KEEP_OPEN, 1, stage->generation, 0);
	assert_int_equal(
	    packet_send(stage->core, &orders[0], sizeof(orders[0]), &file, 1),
	    0);
	assert_true(stage_has_ended(stage->core));
	stage_link(stage);
	assert_int_equal(
	    packet_write(stage->core, &orders[0], sizeof(orders[0])), 0);
	assert_true(stage_has_ended(stage->core));
	stage_link(stage);
	assert_int_equal(
	    packet_send(stage->core, &orders[0], sizeof(orders[0]), pair, 2),
	    0);
	assert_true(stage_has_ended(stage->core));
	stage_link(stage);
	assert_int_equal(send(stage->core, orders, sizeof(orders[0]) + 1, 0),
	    sizeof(orders[0]) + 1);
	assert_true(stage_has_ended(stage->core));
	stage_link(stage);
	assert_int_equal(send(stage->core, orders, 0, 0), 0);
	assert_true(stage_has_ended(stage->core));
	stage_link(stage);
	assert_int_equal(stage_open(stage, 0), KEEP_RESULT_OK);
	assert_int_equal(close(pair[0]), 0);
	assert_int_equal(close(pair[1]), 0);
}

static void
has_a_limit_of_couriers(void **state)
{
	struct stage *stage = *state;
	static char config[16384];
	size_t n = 0;

	stage_secret(stage, "one", "http://127.0.0.1:7");
	n += (size_t)snprintf(config, sizeof(config), "sources:\n");
	for (int i = 0; i <= LIMIT_COURIERS; i++)
		n += (size_t)snprintf(config + n, sizeof(config) - n,
		    "  s%d:\n    url: http://127.0.0.1:7\n"
		    "    secret: one\n" REST,
		    i);
	stage_ready(stage, config);
	for (uint32_t i = 0; i < LIMIT_COURIERS; i++)
		assert_int_equal(stage_open(stage, i), KEEP_RESULT_OK);
	assert_int_equal(stage_open(stage, LIMIT_COURIERS), KEEP_RESULT_BUSY);
	stage_drop(stage, 5, stage->generation);
	assert_int_equal(stage_open(stage, LIMIT_COURIERS), KEEP_RESULT_OK);
	assert_int_equal(stage_open(stage, 5), KEEP_RESULT_BUSY);
}

/* -- secrets and certificates ------------------------------------------- */

/* Each trouble of the store reaches the core as its reason, and the log once
 * for each change. */
static void
says_why_a_secret_cannot_be_used(void **state)
{
	struct stage *stage = *state;
	char secret[112], key[96], aside[128];

	begin_with_sources(stage, some_ports);
	(void)snprintf(
	    secret, sizeof(secret), "%s/secrets/alpha", stage->state);
	(void)snprintf(key, sizeof(key), "%s/key", stage->state);
	(void)snprintf(aside, sizeof(aside), "%s/aside", stage->dir);

	assert_int_equal(chmod(secret, 0640), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(stage_open(stage, 0), KEEP_RESULT_MODE);
	assert_int_equal(
	    stage_count_log(stage, keep_result_text(KEEP_RESULT_MODE)), 1);
	assert_int_equal(stage_count_log(stage,
			     "source alpha: secret alpha "
			     "cannot be used"),
	    1);
	assert_int_equal(chmod(secret, 0600), 0);
	assert_int_equal(rename(key, aside), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(stage_open(stage, 0), KEEP_RESULT_NO_KEY);
	assert_int_equal(symlink(aside, key), 0);
	assert_int_equal(stage_open(stage, 0), KEEP_RESULT_NOT_FILE);
	assert_int_equal(unlink(key), 0);
	assert_int_equal(rename(aside, key), 0);
	assert_int_equal(rename(secret, aside), 0);
	assert_int_equal(stage_open(stage, 0), KEEP_RESULT_MISSING);
	stage_secret(stage, "alpha", "http://127.0.0.1:99");
	assert_int_equal(stage_open(stage, 0), KEEP_RESULT_ORIGIN);
	assert_int_equal(truncate(secret, 0), 0);
	assert_int_equal(stage_open(stage, 0), KEEP_RESULT_SIZE);
	assert_int_equal(truncate(secret, 60), 0);
	assert_int_equal(stage_open(stage, 0), KEEP_RESULT_CORRUPT);
	assert_int_equal(rename(aside, secret), 0);
	assert_int_equal(stage_open(stage, 0), KEEP_RESULT_OK);
	assert_int_equal(
	    stage_count_log(stage, "secret alpha cannot be used"), 7);
	assert_int_equal(
	    stage_count_log(stage, "secret alpha is usable again"), 1);
}

static void
says_that_certificates_are_missing(void **state)
{
	struct stage *stage = *state;
	char ca[96];

	begin_with_sources(stage, some_ports);
	(void)snprintf(ca, sizeof(ca), "%s/ca.pem", stage->dir);
	assert_int_equal(unlink(ca), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(stage_open(stage, 1), KEEP_RESULT_NO_CA);
	/* A pipe would hang who reads it. */
	assert_int_equal(mkfifo(ca, 0644), 0);
	assert_int_equal(stage_open(stage, 1), KEEP_RESULT_NO_CA);
	assert_int_equal(stage_count_log(stage, ca), 1);
	assert_int_equal(unlink(ca), 0);
	assert_int_equal(symlink("/etc/passwd", ca), 0);
	assert_int_equal(stage_open(stage, 1), KEEP_RESULT_OK);
}

/* -- dialing ------------------------------------------------------------ */

static void
dials_for_a_courier(void **state)
{
	struct stage *stage = *state;
	uint32_t ports[3];
	int listeners[3];
	struct play_report report;

	for (int i = 0; i < 3; i++)
		listeners[i] = stage_listen(i == 2, &ports[i]);
	begin_with_sources(stage, ports);
	for (uint32_t i = 0; i < 3; i++) {
		/* Twice: the courier may lose a connection. */
		assert_int_equal(stage_open(stage, i), KEEP_RESULT_OK);
		for (int k = 0; k < 2; k++) {
			cleanup_fd int socket = -1;
			cleanup_fd int other = -1;
			char byte = 0;

			assert_int_equal(
			    stage_ask(stage, i, PLAY_DIAL, &report, &socket),
			    PACKET_GOT);
			assert_int_equal(report.dialed.result, DIAL_RESULT_OK);
			assert_int_equal(report.dialed.n_refused, 0);
			assert_int_equal(
			    dial_socket_check(socket, ports[i]), 0);
			other = accept4(listeners[i], NULL, NULL, SOCK_CLOEXEC);
			assert_true(other >= 0);
			assert_int_equal(write(other, "x", 1), 1);
			(void)fcntl(socket, F_SETFL, 0);
			assert_int_equal(read(socket, &byte, 1), 1);
			assert_int_equal(byte, 'x');
		}
		assert_int_equal(close(listeners[i]), 0);
	}
	/* And no connection but the asked ones. */
	assert_int_equal(
	    stage_ask(stage, 0, PLAY_DIAL, &report, NULL), PACKET_GOT);
	assert_int_equal(report.dialed.result, DIAL_RESULT_REFUSED);
}

static void
dials_no_more_than_an_exchange_needs(void **state)
{
	struct stage *stage = *state;
	struct play_report report;

	begin_with_sources(stage, some_ports);
	assert_int_equal(stage_open(stage, 0), KEEP_RESULT_OK);
	for (int i = 0; i < LIMIT_COURIER_DIALS; i++)
		assert_int_equal(
		    stage_ask(stage, 0, PLAY_DIAL, &report, NULL), PACKET_GOT);
	/* It may yet say that nothing came. */
	if (stage_ask(stage, 0, PLAY_DIAL, &report, NULL) == PACKET_GOT)
		assert_int_equal(report.dialed.result, 99);
	assert_true(stage_is_gone((pid_t)report.pid));
	/* That is its own trouble. */
	assert_int_equal(stage_open(stage, 0), KEEP_RESULT_OK);
	assert_int_equal(
	    stage_ask(stage, 0, PLAY_DIAL, &report, NULL), PACKET_GOT);
}

static void
lets_a_courier_hang_up(void **state)
{
	struct stage *stage = *state;
	struct play_report report;
	int old;

	begin_with_sources(stage, some_ports);
	assert_int_equal(stage_open(stage, 0), KEEP_RESULT_OK);
	assert_int_equal(
	    stage_ask(stage, 0, PLAY_HANG_UP, &report, NULL), PACKET_GOT);
	assert_int_equal(stage_open(stage, 1), KEEP_RESULT_OK);
	assert_int_equal(
	    stage_ask(stage, 0, PLAY_REPORT, &report, NULL), PACKET_GOT);
	/* But it is no longer the courier of its source. */
	old = stage->couriers[0];
	stage->couriers[0] = -1;
	assert_int_equal(stage_open(stage, 0), KEEP_RESULT_OK);
	assert_true(stage_has_ended(old));
	assert_true(stage_is_gone((pid_t)report.pid));
	assert_int_equal(close(old), 0);
}

/* -- a dialer that lies ------------------------------------------------- */

static const char *const mad[] = { "honest", "forbidden", "no-socket",
	"needless-socket", "not-a-socket", "unix", "udp", "unconnected",
	"other-port", "other-result", "cut", "silent", "mute" };
#define MADS   (sizeof(mad) / sizeof(mad[0]))
#define SILENT 11

static void
begin_with_mad_dialer(struct stage *stage, uint32_t port)
{
	char config[4096] = "sources:\n";
	size_t n = strlen(config);

	for (size_t i = 0; i < MADS; i++) {
		uint32_t p = port + (strcmp(mad[i], "other-port") == 0);
		char origin[96];

		n += (size_t)snprintf(config + n, sizeof(config) - n,
		    "  %s:\n    url: http://%s.test:%u\n"
		    "    allow_http: true\n" REST,
		    mad[i], mad[i], p);
		(void)snprintf(
		    origin, sizeof(origin), "http://%s.test:%u", mad[i], p);
		stage_secret(stage, mad[i], origin);
	}
	stage_ready(stage, config);
}

static void
believes_no_dialer(void **state)
{
	struct stage *stage = *state;
	struct play_report report;
	uint32_t port;
	cleanup_fd int listener = stage_listen(false, &port);

	begin_with_mad_dialer(stage, port);
	for (uint32_t i = 0; i < MADS; i++) {
		cleanup_fd int socket = -1;
		uint32_t wanted = i == 0 ? DIAL_RESULT_OK
		    : i == 1		 ? DIAL_RESULT_FORBIDDEN
					 : DIAL_RESULT_FAILED;

		if (strcmp(mad[i], "silent") == 0)
			continue;
		assert_int_equal(stage_open(stage, i), KEEP_RESULT_OK);
		assert_int_equal(
		    stage_ask(stage, i, PLAY_DIAL, &report, &socket),
		    PACKET_GOT);
		if (report.dialed.result != wanted)
			fail_msg("%s: %u", mad[i], report.dialed.result);
		assert_true((socket >= 0) == (i == 0));
	}
}

static void
names_forbidden_addresses_once(void **state)
{
	struct stage *stage = *state;
	struct play_report report;
	uint32_t port;
	cleanup_fd int listener = stage_listen(false, &port);

	begin_with_mad_dialer(stage, port);
	assert_int_equal(stage_open(stage, 1), KEEP_RESULT_OK);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(
		    stage_ask(stage, 1, PLAY_DIAL, &report, NULL), PACKET_GOT);
		assert_int_equal(report.dialed.result, DIAL_RESULT_FORBIDDEN);
	}
	assert_int_equal(
	    stage_count_log(stage,
		"source forbidden: forbidden.test resolves only to special "
		"addresses (127.0.0.1, ::1)"),
	    1);
	assert_int_equal(
	    stage_count_log(stage, "addresses: [127.0.0.1, ::1]"), 1);
	assert_int_equal(stage_count_log(stage, "\n"), 1);
}

static void
ends_a_courier_that_talks_nonsense(void **state)
{
	static const enum play_verb verbs[] = { PLAY_NONSENSE,
		PLAY_DIAL_TWICE };
	struct stage *stage = *state;
	struct play_report report;

	begin_with_mad_dialer(stage, 7);
	for (size_t i = 0; i < 2; i++) {
		struct play_order order = { { PACKET_MAGIC, verbs[i], 0, 0 } };

		assert_int_equal(stage_open(stage, SILENT), KEEP_RESULT_OK);
		assert_int_equal(
		    stage_ask(stage, SILENT, PLAY_REPORT, &report, NULL),
		    PACKET_GOT);
		assert_int_equal(packet_write(stage->couriers[SILENT], &order,
				     sizeof(order)),
		    0);
		assert_true(stage_is_gone((pid_t)report.pid));
	}
	assert_int_equal(stage_open(stage, SILENT), KEEP_RESULT_OK);
}

/* Answered for after LIMIT_DIAL_MS, and not waited for meanwhile. */
static void
gives_a_dialer_its_time_and_no_more(void **state)
{
	struct stage *stage = *state;
	struct play_order order = { { PACKET_MAGIC, PLAY_DIAL, 0, 0 } };
	struct play_report report;
	uint64_t begin_ms = clock_boot_ms();
	uint64_t took_ms;
	uint32_t port;
	int fds[PACKET_FDS];
	cleanup_fd int listener = stage_listen(false, &port);

	begin_with_mad_dialer(stage, port);
	assert_int_equal(stage_open(stage, SILENT), KEEP_RESULT_OK);
	assert_int_equal(
	    packet_write(stage->couriers[SILENT], &order, sizeof(order)), 0);
	assert_int_equal(stage_open(stage, 0), KEEP_RESULT_OK);
	assert_int_equal(
	    stage_ask(stage, 0, PLAY_DIAL, &report, NULL), PACKET_GOT);
	assert_int_equal(report.dialed.result, DIAL_RESULT_OK);
	assert_true(clock_boot_ms() - begin_ms < LIMIT_DIAL_MS / 2);
	assert_int_equal(stage_receive(stage->couriers[SILENT], &report,
			     sizeof(report), fds, LIMIT_DIAL_MS + 2000),
	    PACKET_GOT);
	took_ms = clock_boot_ms() - begin_ms;
	assert_int_equal(report.dialed.result, DIAL_RESULT_TIMEOUT);
	assert_true(took_ms >= LIMIT_DIAL_MS);
	assert_true(took_ms < LIMIT_DIAL_MS + 2000);
}

/* -- reload ------------------------------------------------------------- */

static void
keeps_couriers_of_unchanged_sources(void **state)
{
	static const char before[] = "sources:\n"
				     "  a:\n    url: http://127.0.0.1:1\n" REST
				     "  b:\n    url: http://127.0.0.1:2\n" REST
				     "  c:\n    url: http://127.0.0.1:3\n" REST
				     "  d:\n    url: http://127.0.0.1:4\n" REST;
	/* a is gone, b is as it was, c has another path, d another secret. */
	static const char after[] =
	    "sources:\n"
	    "  d:\n    url: http://127.0.0.1:4\n    secret: d2\n" REST
	    "  c:\n    url: http://127.0.0.1:3/x\n" REST
	    "  b:\n    url: http://127.0.0.1:2\n    poll_interval: 1s\n" REST;
	struct stage *stage = *state;
	static struct play_report reports[4];
	struct super_answer answer;
	char origin[64];

	for (uint32_t i = 0; i < 4; i++) {
		char name[2] = { (char)('a' + i), '\0' };

		(void)snprintf(
		    origin, sizeof(origin), "http://127.0.0.1:%u", i + 1);
		stage_secret(stage, name, origin);
	}
	stage_ready(stage, before);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(stage_open(stage, i), KEEP_RESULT_OK);
		assert_int_equal(
		    stage_ask(stage, i, PLAY_REPORT, &reports[i], NULL),
		    PACKET_GOT);
	}
	stage_config(stage, 2, after, &answer);
	assert_int_equal(answer.head.verb, SUPER_OK);
	/* Nothing has happened yet. */
	assert_int_equal(
	    stage_ask(stage, 0, PLAY_REPORT, &reports[0], NULL), PACKET_GOT);
	stage_commit(stage, 2, &answer);
	assert_int_equal(answer.head.verb, SUPER_OK);
	assert_true(stage_is_gone((pid_t)reports[0].pid));
	assert_true(stage_is_gone((pid_t)reports[2].pid));
	assert_true(stage_is_gone((pid_t)reports[3].pid));
	assert_int_equal(
	    stage_ask(stage, 1, PLAY_REPORT, &reports[1], NULL), PACKET_GOT);
	/* b is 2 now; what was sent under the old number still finds it. */
	assert_int_equal(stage_open(stage, 2), KEEP_RESULT_BUSY);
	stage_drop(stage, 2, 1); /* that was c */
	assert_int_equal(stage_open(stage, 2), KEEP_RESULT_BUSY);
	stage_drop(stage, 1, 1);
	assert_true(stage_is_gone((pid_t)reports[1].pid));
	assert_int_equal(stage_open(stage, 2), KEEP_RESULT_OK);
}

/* -- walls and ends ----------------------------------------------------- */

/* The same attempts by a process that is no child of a keep do succeed, as
 * far as this machine and user can go without one. */
static void
succeeds_outside(void)
{
	const uint32_t wanted = 1u << WALL_LISTEN | 1u << WALL_SHELL |
	    1u << WALL_NEW_FILE | 1u << WALL_PTRACE | 1u << WALL_READ_MEMORY;
	pid_t child = fork();
	int status = -1;

	if (child == 0)
		_exit((stage_try_walls() & wanted) == wanted ? 0 : 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void
shuts_its_children_in(void **state)
{
	struct stage *stage = *state;
	struct play_report report;

	succeeds_outside();
	begin_with_sources(stage, some_ports);
	assert_int_equal(stage_open(stage, 0), KEEP_RESULT_OK);
	assert_int_equal(
	    stage_ask(stage, 0, PLAY_WALLS, &report, NULL), PACKET_GOT);
	assert_int_equal(report.fell, 0);
}

static void
hears_no_signal_of_a_terminal(void **state)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT,
		SIGPIPE };
	struct stage *stage = *state;

	begin_with_sources(stage, some_ports);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(kill(stage->keep, numbers[i]), 0);
	assert_int_equal(stage_open(stage, 0), KEEP_RESULT_OK);
}

static void
stop(struct stage *stage, bool is_urgent)
{
	struct super_order order;

	super_order_encode(&order, SUPER_STOP, ++stage->sequence, 0);
	order.is_urgent = is_urgent;
	assert_int_equal(
	    packet_write(stage->supervisor, &order, sizeof(order)), 0);
}

static void
stops_when_its_couriers_have_finished(void **state)
{
	struct stage *stage = *state;
	struct play_report report;

	begin_with_sources(stage, some_ports);
	assert_int_equal(stage_open(stage, 0), KEEP_RESULT_OK);
	stop(stage, false);
	assert_int_equal(stage_open(stage, 1), KEEP_RESULT_BUSY);
	assert_int_equal(
	    stage_ask(stage, 0, PLAY_REPORT, &report, NULL), PACKET_GOT);
	assert_int_equal(
	    stage_ask(stage, 0, PLAY_EXIT, &report, NULL), PACKET_LOST);
	assert_true(stage_has_ended(stage->supervisor));
}

static void
stops_at_once(void **state)
{
	struct stage *stage = *state;
	struct play_report report;

	begin_with_sources(stage, some_ports);
	assert_int_equal(stage_open(stage, 0), KEEP_RESULT_OK);
	assert_int_equal(
	    stage_ask(stage, 0, PLAY_REPORT, &report, NULL), PACKET_GOT);
	stop(stage, true);
	assert_true(stage_has_ended(stage->supervisor));
	assert_true(stage_is_gone((pid_t)report.pid));
}

static void
ends_with_its_supervisor(void **state)
{
	struct stage *stage = *state;
	struct play_report report;

	begin_with_sources(stage, some_ports);
	assert_int_equal(stage_open(stage, 0), KEEP_RESULT_OK);
	assert_int_equal(
	    stage_ask(stage, 0, PLAY_REPORT, &report, NULL), PACKET_GOT);
	assert_int_equal(shutdown(stage->supervisor, SHUT_RDWR), 0);
	assert_true(stage_is_gone((pid_t)report.pid));
}

/* Whatever way it ends: a child need not have asked for it itself. */
static void
takes_its_children_along_when_killed(void **state)
{
	struct stage *stage = *state;
	struct play_order order = { { PACKET_MAGIC, PLAY_HANG, 0, 0 } };
	struct play_report report;

	begin_with_sources(stage, some_ports);
	assert_int_equal(stage_open(stage, 0), KEEP_RESULT_OK);
	assert_int_equal(
	    stage_ask(stage, 0, PLAY_REPORT, &report, NULL), PACKET_GOT);
	assert_int_equal(
	    packet_write(stage->couriers[0], &order, sizeof(order)), 0);
	assert_int_equal(kill(stage->keep, SIGKILL), 0);
	assert_true(stage_is_gone((pid_t)report.pid));
}

/* A killed keep has no good end. */
static int
end_killed(void **state)
{
	int status = stage_free(*state);

	return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? 0 : -1;
}

#define STAGED(f)     cmocka_unit_test_setup_teardown(f, begin, end)
#define STAGED_MAD(f) cmocka_unit_test_setup_teardown(f, begin_mad, end)

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		STAGED(takes_a_config_whole_or_not),
		STAGED(reads_sealed_configs_only),
		STAGED(hands_a_courier_what_is_its_own),
		STAGED(gives_the_ticket_key_of_the_source),
		STAGED(holds_no_secret_itself),
		STAGED(shows_no_token),
		STAGED(opens_one_courier_for_a_source),
		STAGED(drops_a_courier),
		STAGED(has_room_when_a_courier_has_left),
		STAGED(ends_all_couriers_with_their_core),
		STAGED(takes_no_nonsense_from_a_core),
		STAGED(has_a_limit_of_couriers),
		STAGED(says_why_a_secret_cannot_be_used),
		STAGED(says_that_certificates_are_missing),
		STAGED(dials_for_a_courier),
		STAGED_MAD(ends_a_courier_that_talks_nonsense),
		STAGED(dials_no_more_than_an_exchange_needs),
		STAGED(lets_a_courier_hang_up),
		STAGED_MAD(believes_no_dialer),
		STAGED_MAD(names_forbidden_addresses_once),
		STAGED_MAD(gives_a_dialer_its_time_and_no_more),
		STAGED(keeps_couriers_of_unchanged_sources),
		STAGED(shuts_its_children_in),
		STAGED(hears_no_signal_of_a_terminal),
		STAGED(stops_when_its_couriers_have_finished),
		STAGED(stops_at_once),
		STAGED(ends_with_its_supervisor),
		cmocka_unit_test_setup_teardown(
		    takes_its_children_along_when_killed, begin, end_killed),
	};
	int played = argc > 0 ? stage_play(argv[0]) : -1;

	if (played >= 0)
		return played;
	if (sodium_init() < 0)
		return 1;
	(void)signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests_name("keep", tests, NULL, NULL);
}
