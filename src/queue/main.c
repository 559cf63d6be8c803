/* SPDX-License-Identifier: ISC
 *
 * sandcastle-queue: a ready-made source, for whom it is easier to hand a job
 * to a queue than to answer workers himself.
 *
 * Theory of operation. One process, one thread, one loop over the HTTP
 * library's sockets and a signalfd. Producers hand jobs in, workers
 * claim them and bring results, each with a token of its role. The books are
 * in SQLite; nothing is answered before it is durable, so the queue may be
 * killed at any moment: what was answered stands, what was not is asked again
 * by its client. Bodies are read by the same strict scanner a worker uses,
 * wait in files without names, and `input` and `output` are passed on byte for
 * byte and never understood.
 *
 * This is a server apart from the worker. It is the one program here that
 * listens, and links neither libcurl nor libsodium.
 *
 * SIGHUP reads the tokens again. SIGTERM and SIGINT let requests in flight
 * finish, then end the program with status 0.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/log.h"
#include "queue/options.h"
#include "queue/server.h"
#include "queue/store.h"
#include "queue/tokens.h"

#define TICK_MS 1000

struct queue {
	struct options options;
	struct store *store;
	struct server *server;
	char *certificate;
	char *key;
	size_t n_key;
	int signals;
	int listener; /* -1 once the server has it */
	bool is_stopping;
	bool is_troubled; /* the last tick failed, and that was told */
	uint64_t stop_ms;
	uint64_t tick_ms;
};

static int
open_signals(struct fault *fault)
{
	sigset_t set;
	int fd;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGHUP);
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGTERM);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return fault_set(
		    fault, FAULT_SYSTEM, "signals: %s", strerror(errno));
	(void)sigaction(
	    SIGPIPE, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
	/* A file at its size limit is a full disk, not an end. */
	(void)sigaction(
	    SIGXFSZ, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0
	    ? fault_set(fault, FAULT_SYSTEM, "signals: %s", strerror(errno))
	    : fd;
}

static int
open_listener(const union options_address *address, struct fault *fault)
{
	cleanup_fd int fd = socket(address->any.sa_family,
	    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	socklen_t size = address->any.sa_family == AF_INET6
	    ? sizeof(address->v6)
	    : sizeof(address->v4);
	const int yes = 1;

	if (fd < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) < 0 ||
	    bind(fd, &address->any, size) < 0 || listen(fd, SOMAXCONN) < 0)
		return fault_set(
		    fault, FAULT_CONFIG, "--listen: %s", strerror(errno));
	return take_fd(&fd);
}

/* The line a script waits for; says which port it became. */
static int
say_ready(const struct queue *queue, const union options_address *bound)
{
	char host[INET6_ADDRSTRLEN];
	const char *scheme = queue->certificate != NULL ? "https" : "http";
	bool is_v6 = bound->any.sa_family == AF_INET6;
	const void *address = is_v6 ? (const void *)&bound->v6.sin6_addr
				    : (const void *)&bound->v4.sin_addr;

	(void)inet_ntop(bound->any.sa_family, address, host, sizeof(host));
	if (printf("listening on %s://%s%s%s:%u\n", scheme, is_v6 ? "[" : "",
		host, is_v6 ? "]" : "",
		(unsigned int)ntohs(
		    is_v6 ? bound->v6.sin6_port : bound->v4.sin_port)) < 0 ||
	    fflush(stdout) != 0)
		return -1;
	return 0;
}

static int
read_pem(const char *option, const char *path, char **ret_text, size_t *ret_n,
    struct fault *fault)
{
	int r;

	if (path == NULL)
		return 0;
	r = file_slurp(AT_FDCWD, path, LIMIT_CA_BYTES, ret_text, ret_n);
	return r < 0 ? fault_set(fault, FAULT_CONFIG, "%s: %s: %s", option,
			   path, strerror(-r))
		     : 0;
}

static int
load_tokens(struct queue *queue, struct fault *fault)
{
	struct tokens *tokens;

	if (tokens_read(queue->options.tokens, &tokens, fault) < 0)
		return fault_wrap(fault, "--tokens");
	server_set_tokens(queue->server, tokens);
	return 0;
}

static int
start(struct queue *queue, struct fault *fault)
{
	const struct options *options = &queue->options;
	struct server_settings settings = { .max_body = options->max_body };
	union options_address bound;
	socklen_t size = sizeof(bound);
	size_t n;

	queue->signals = open_signals(fault);
	if (queue->signals < 0 ||
	    read_pem("--cert", options->certificate, &queue->certificate, &n,
		fault) < 0 ||
	    read_pem("--key", options->key, &queue->key, &queue->n_key, fault) <
		0 ||
	    store_open(options->db, &options->rules, &queue->store, fault) < 0)
		return -1;
	queue->listener = open_listener(&options->address, fault);
	if (queue->listener < 0)
		return -1;
	if (getsockname(queue->listener, &bound.any, &size) < 0)
		return fault_set(
		    fault, FAULT_SYSTEM, "--listen: %s", strerror(errno));
	settings.listener = queue->listener;
	settings.certificate = queue->certificate;
	settings.key = queue->key;
	settings.store = queue->store;
	if (server_start(&settings, &queue->server, fault) < 0)
		return -1;
	queue->listener = -1;
	if (load_tokens(queue, fault) < 0)
		return -1;
	return say_ready(queue, &bound) < 0
	    ? fault_set(fault, FAULT_SYSTEM, "stdout cannot be written")
	    : 0;
}

static void
reload(struct queue *queue)
{
	struct fault fault;

	if (load_tokens(queue, &fault) < 0)
		log_error("%s; the old tokens stay", fault.text);
	else
		log_notice("the tokens were read again");
}

static void
take_signals(struct queue *queue)
{
	struct signalfd_siginfo info;

	while (read(queue->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGHUP) {
			reload(queue);
		} else if (!queue->is_stopping) {
			log_notice("stopping");
			queue->is_stopping = true;
			queue->stop_ms = clock_boot_ms() + LIMIT_QUEUE_DRAIN_MS;
			server_close_door(queue->server);
		}
	}
}

/* Before requests are looked at, so that they see what has run out. */
static void
tick(struct queue *queue)
{
	uint64_t now_ms = clock_boot_ms();

	if (now_ms - queue->tick_ms < TICK_MS)
		return;
	queue->tick_ms = now_ms;
	if (store_tick(queue->store) >= 0) {
		queue->is_troubled = false;
	} else if (!queue->is_troubled) {
		log_error("%s", store_trouble(queue->store));
		queue->is_troubled = true;
	}
}

static bool
is_over(const struct queue *queue)
{
	return queue->is_stopping &&
	    (!server_is_busy(queue->server) ||
		clock_boot_ms() >= queue->stop_ms);
}

static int
run(struct queue *queue, struct fault *fault)
{
	while (!is_over(queue)) {
		int r = server_wait(queue->server, queue->signals);

		if (r < 0)
			return fault_set(
			    fault, FAULT_SYSTEM, "select: %s", strerror(-r));
		tick(queue);
		server_run(queue->server);
		take_signals(queue);
	}
	return 0;
}

static void
stop(struct queue *queue)
{
	server_stop(queue->server);
	store_close(queue->store);
	free(queue->certificate);
	if (queue->key != NULL)
		explicit_bzero(queue->key, queue->n_key);
	free(queue->key);
	if (queue->listener >= 0)
		(void)close(queue->listener);
	if (queue->signals >= 0)
		(void)close(queue->signals);
}

int
main(int argc, char **argv)
{
	struct queue queue = { .signals = -1, .listener = -1 };
	struct fault fault;
	int r;

	log_open("sandcastle-queue");
	(void)umask(077);
	/* Tokens and jobs are in this memory. */
	(void)setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
	/* What select(2) can hold. */
	(void)setrlimit(
	    RLIMIT_NOFILE, &(struct rlimit){ FD_SETSIZE, FD_SETSIZE });
	if (options_parse(argc, argv, &queue.options, &fault) < 0) {
		log_error("%s", fault.text);
		return 2;
	}
	if (queue.options.wants_help || queue.options.wants_version) {
		(void)fputs(queue.options.wants_help
			? options_help
			: "sandcastle-queue " SANDCASTLE_VERSION "\n",
		    stdout);
		return 0;
	}
	r = start(&queue, &fault);
	if (r == 0)
		r = run(&queue, &fault);
	if (r < 0)
		log_error("%s", fault.text);
	stop(&queue);
	return r < 0 ? 1 : 0;
}
