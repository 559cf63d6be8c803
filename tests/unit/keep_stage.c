/* SPDX-License-Identifier: ISC
 *
 * The test's side of a running keep: setting up, playing supervisor and core,
 * looking into processes.
 */
#include "keep_stage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
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

static void
find_build(char *to, size_t size)
{
	const char *build = getenv("SANDCASTLE_BUILD");
	ssize_t n;

	if (build != NULL) {
		(void)snprintf(to, size, "%s", build);
		return;
	}
	/* BUILD/tests/unit/test_keep */
	n = readlink("/proc/self/exe", to, size - 1);
	assert_true(n > 0);
	to[n] = '\0';
	for (int i = 0; i < 3; i++)
		*strrchr(to, '/') = '\0';
}

static void
copy_program(const char *from, const char *directory, const char *name)
{
	char to[128];
	static char buffer[65536];
	cleanup_fd int in = open(from, O_RDONLY | O_CLOEXEC);
	cleanup_fd int out = -1;
	ssize_t n;

	if (in < 0)
		fail_msg("%s is not there", from);
	(void)snprintf(to, sizeof(to), "%s/%s", directory, name);
	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	assert_true(out >= 0);
	while ((n = read(in, buffer, sizeof(buffer))) > 0)
		assert_int_equal(file_write_all(out, buffer, (size_t)n), 0);
	assert_int_equal(n, 0);
}

static void
start_keep(struct stage *stage)
{
	char path[128];
	int ends[2];
	cleanup_fd int log =
	    open(stage->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	assert_int_equal(packet_pair(ends), 0);
	(void)snprintf(path, sizeof(path), "%s/sandcastle-keep", stage->dir);
	stage->keep = fork();
	assert_true(stage->keep >= 0);
	if (stage->keep == 0) {
		char *environment[] = { NULL };

		(void)dup2(log, 2);
		if (ends[1] == 3 ? fcntl(3, F_SETFD, 0) < 0
				 : dup2(ends[1], 3) < 0)
			_exit(125);
		(void)execle(path, "sandcastle-keep", "serve", "--state",
		    stage->state, NULL, environment);
		_exit(127);
	}
	assert_int_equal(close(ends[1]), 0);
	stage->supervisor = ends[0];
}

struct stage *
stage_new(bool with_mad_dialer)
{
	static const char self[] = "/proc/self/exe";
	struct stage *stage = calloc(1, sizeof(*stage));
	char build[512];
	char path[600];

	assert_non_null(stage);
	(void)snprintf(
	    stage->dir, sizeof(stage->dir), "/tmp/sandcastle-keep-XXXXXX");
	assert_non_null(mkdtemp(stage->dir));
	(void)snprintf(
	    stage->state, sizeof(stage->state), "%s/state", stage->dir);
	(void)snprintf(stage->log, sizeof(stage->log), "%s/log", stage->dir);
	find_build(build, sizeof(build));
	(void)snprintf(path, sizeof(path), "%s/sandcastle-keep", build);
	copy_program(path, stage->dir, "sandcastle-keep");
	copy_program(self, stage->dir, "sandcastle-courier");
	(void)snprintf(path, sizeof(path), "%s/sandcastle-dialer", build);
	copy_program(
	    with_mad_dialer ? self : path, stage->dir, "sandcastle-dialer");
	stage->core = -1;
	for (size_t i = 0; i < STAGE_SOURCES; i++)
		stage->couriers[i] = -1;
	start_keep(stage);
	return stage;
}

static int
reap_keep(struct stage *stage)
{
	int status = -1;

	for (int i = 0; i < 200; i++) {
		if (waitpid(stage->keep, &status, WNOHANG) == stage->keep)
			return status;
		(void)usleep(10000);
	}
	(void)kill(stage->keep, SIGKILL);
	(void)waitpid(stage->keep, &status, 0);
	return status;
}

int
stage_free(struct stage *stage)
{
	char command[128];
	int status;

	(void)close(stage->supervisor);
	status = reap_keep(stage);
	if (stage->core >= 0)
		(void)close(stage->core);
	for (size_t i = 0; i < STAGE_SOURCES; i++) {
		if (stage->couriers[i] >= 0)
			(void)close(stage->couriers[i]);
	}
	(void)snprintf(command, sizeof(command), "rm -rf -- '%s'", stage->dir);
	assert_int_equal(system(command), 0);
	free(stage);
	return status;
}

/* -- supervisor --------------------------------------------------------- */

static void
tell(struct stage *stage, struct super_order *order, int fd,
    struct super_answer *ret_answer)
{
	int fds[PACKET_FDS];

	assert_int_equal(packet_send(stage->supervisor, order, sizeof(*order),
			     &fd, fd < 0 ? 0 : 1),
	    0);
	if (ret_answer == NULL)
		return;
	assert_int_equal(stage_receive(stage->supervisor, ret_answer,
			     sizeof(*ret_answer), fds, 5000),
	    PACKET_GOT);
	assert_int_equal(
	    super_answer_decode(ret_answer, packet_count_fds(fds)), 0);
	assert_int_equal(ret_answer->head.sequence, order->head.sequence);
}

void
stage_config(struct stage *stage, uint32_t generation, const char *config,
    struct super_answer *ret_answer)
{
	struct super_order order;
	cleanup_fd int fd = file_sealed_from("config", config, strlen(config));

	assert_true(fd >= 0);
	super_order_encode(&order, SUPER_CONFIG, ++stage->sequence, generation);
	tell(stage, &order, fd, ret_answer);
}

void
stage_commit(
    struct stage *stage, uint32_t generation, struct super_answer *ret_answer)
{
	struct super_order order;

	super_order_encode(&order, SUPER_COMMIT, ++stage->sequence, generation);
	tell(stage, &order, -1, ret_answer);
	if (ret_answer->head.verb == SUPER_OK)
		stage->generation = generation;
}

void
stage_link(struct stage *stage)
{
	struct super_order order;
	int ends[2];

	assert_int_equal(packet_pair(ends), 0);
	super_order_encode(&order, SUPER_LINK, ++stage->sequence, 0);
	order.peer = SUPER_PEER_CORE;
	tell(stage, &order, ends[1], NULL);
	assert_int_equal(close(ends[1]), 0);
	if (stage->core >= 0)
		assert_int_equal(close(stage->core), 0);
	stage->core = ends[0];
}

void
stage_ready(struct stage *stage, const char *config)
{
	struct super_answer answer;

	stage_config(stage, stage->generation + 1, config, &answer);
	if (answer.head.verb != SUPER_OK)
		fail_msg("%s", answer.text);
	stage_commit(stage, stage->generation + 1, &answer);
	assert_int_equal(answer.head.verb, SUPER_OK);
	stage_link(stage);
}

/* -- secrets ------------------------------------------------------------ */

/* The same for a name in every run of this process, and in no other. */
void
stage_token(char to[64], const char *name)
{
	static unsigned char salt[16];
	unsigned char hash[16];
	char hex[2 * sizeof(hash) + 1];

	if (sodium_is_zero(salt, sizeof(salt)))
		randombytes_buf(salt, sizeof(salt));
	(void)crypto_generichash(hash, sizeof(hash),
	    (const unsigned char *)name, strlen(name), salt, sizeof(salt));
	(void)sodium_bin2hex(hex, sizeof(hex), hash, sizeof(hash));
	(void)snprintf(to, 64, "SC-%s", hex);
}

void
stage_secret(const struct stage *stage, const char *name, const char *origin)
{
	struct secret_id id = { .name = name, .origin = origin };
	struct secret_store store;
	struct fault fault = { 0 };
	char token[64];

	stage_token(token, name);
	assert_int_equal(secret_store_change(stage->state, &store, &fault), 0);
	assert_int_equal(secret_write(&store, &id, token, &fault), 0);
	secret_store_close(&store);
}

/* -- core --------------------------------------------------------------- */

int
stage_receive(
    int link, void *packet, size_t size, int fds[PACKET_FDS], int timeout_ms)
{
	struct pollfd p = { link, POLLIN, 0 };

	if (poll(&p, 1, timeout_ms) != 1)
		fail_msg("nothing came within %d ms", timeout_ms);
	return packet_receive(link, packet, size, fds);
}

enum keep_result
stage_open_as(struct stage *stage, uint32_t source, uint32_t generation)
{
	struct keep_order order;
	struct keep_answer answer;
	int fds[PACKET_FDS];
	int ends[2];

	assert_int_equal(packet_pair(ends), 0);
	keep_order_encode(
	    &order, KEEP_OPEN, ++stage->sequence, generation, source);
	assert_int_equal(
	    packet_send(stage->core, &order, sizeof(order), &ends[1], 1), 0);
	assert_int_equal(close(ends[1]), 0);
	assert_int_equal(
	    stage_receive(stage->core, &answer, sizeof(answer), fds, 6000),
	    PACKET_GOT);
	assert_int_equal(keep_answer_decode(&answer, packet_count_fds(fds)), 0);
	assert_int_equal(answer.head.sequence, order.head.sequence);
	assert_int_equal(answer.source, source);
	if (answer.result != KEEP_RESULT_OK) {
		assert_true(stage_has_ended(ends[0]));
		assert_int_equal(close(ends[0]), 0);
		return (enum keep_result)answer.result;
	}
	if (source >= STAGE_SOURCES)
		return KEEP_RESULT_OK;
	if (stage->couriers[source] >= 0)
		assert_int_equal(close(stage->couriers[source]), 0);
	stage->couriers[source] = ends[0];
	return KEEP_RESULT_OK;
}

enum keep_result
stage_open(struct stage *stage, uint32_t source)
{
	return stage_open_as(stage, source, stage->generation);
}

void
stage_drop(struct stage *stage, uint32_t source, uint32_t generation)
{
	struct keep_order order;

	keep_order_encode(
	    &order, KEEP_DROP, ++stage->sequence, generation, source);
	assert_int_equal(packet_write(stage->core, &order, sizeof(order)), 0);
}

int
stage_ask(struct stage *stage, uint32_t source, enum play_verb verb,
    struct play_report *ret, int *ret_socket)
{
	struct play_order order = { { PACKET_MAGIC, verb, 0, 0 } };
	int fds[PACKET_FDS];
	int r;

	assert_int_equal(
	    packet_write(stage->couriers[source], &order, sizeof(order)), 0);
	r = stage_receive(
	    stage->couriers[source], ret, sizeof(*ret), fds, 20000);
	if (r == PACKET_GOT && ret_socket != NULL)
		*ret_socket = fds[0];
	else
		packet_close_fds(fds);
	return r;
}

/* -- looking ------------------------------------------------------------ */

bool
stage_has_ended(int link)
{
	struct pollfd p = { link, POLLIN, 0 };
	char byte;

	return poll(&p, 1, 1000) == 1 &&
	    recv(link, &byte, 1, MSG_DONTWAIT | MSG_PEEK) <= 0;
}

/* Dead and not yet reaped is gone as well: that is up to whoever is its parent
 * by then. */
static bool
is_dead(pid_t pid)
{
	cleanup_free char *text = NULL;
	char path[64];
	const char *end;
	size_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (file_slurp(AT_FDCWD, path, 4096, &text, &n) < 0)
		return true;
	end = strrchr(text, ')');
	return end == NULL || end[2] == 'Z' || end[2] == 'X';
}

bool
stage_is_gone(pid_t pid)
{
	for (int i = 0; i < 100; i++) {
		if (is_dead(pid))
			return true;
		(void)usleep(10000);
	}
	return false;
}

size_t
stage_count_log(const struct stage *stage, const char *text)
{
	cleanup_free char *log = NULL;
	size_t n, count = 0;

	assert_int_equal(
	    file_slurp(AT_FDCWD, stage->log, 1 << 20, &log, &n), 0);
	for (const char *at = log; (at = strstr(at, text)) != NULL; at++)
		count++;
	return count;
}

static int
scan_range(int memory, off_t from, off_t to, const void *bytes, size_t n)
{
	static char window[1 << 16];
	const off_t step = (off_t)(sizeof(window) - n);

	for (off_t at = from; at < to; at += step) {
		off_t left = to - at;
		size_t wanted = left < (off_t)sizeof(window) ? (size_t)left
							     : sizeof(window);
		ssize_t got = pread(memory, window, wanted, at);

		/* Guard pages and the like cannot be read by anyone. */
		if (got > 0 && memmem(window, (size_t)got, bytes, n) != NULL)
			return 1;
	}
	return 0;
}

int
stage_scan(pid_t pid, const void *bytes, size_t n)
{
	char path[64];
	char line[512];
	cleanup_fd int memory = -1;
	FILE *maps;
	int found = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	memory = open(path, O_RDONLY | O_CLOEXEC);
	if (memory < 0)
		return -errno;
	(void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	assert_non_null(maps);
	while (!found && fgets(line, sizeof(line), maps) != NULL) {
		unsigned long from, to;

		/* Of a sanitizer: terabytes set aside, never filled. */
		if (sscanf(line, "%lx-%lx", &from, &to) == 2 &&
		    strstr(line, "[vsyscall]") == NULL && to - from < 1ul << 32)
			found = scan_range(
			    memory, (off_t)from, (off_t)to, bytes, n);
	}
	assert_int_equal(fclose(maps), 0);
	return found;
}

int
stage_listen(bool is_v6, uint32_t *ret_port)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6,
		.sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct sockaddr *at =
	    is_v6 ? (struct sockaddr *)&v6 : (struct sockaddr *)&v4;
	socklen_t n = is_v6 ? sizeof(v6) : sizeof(v4);
	int fd = socket(
	    at->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, at, n), 0);
	assert_int_equal(listen(fd, 16), 0);
	assert_int_equal(getsockname(fd, at, &n), 0);
	*ret_port = ntohs(is_v6 ? v6.sin6_port : v4.sin_port);
	return fd;
}
