/* SPDX-License-Identifier: ISC
 *
 * libmicrohttpd, in the queue's one thread: its settings and callbacks. Every
 * client is a stranger; what bounds it is set here: connections at once, bytes
 * of a head, time.
 */
#include "queue/server.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/memory.h"
#include "queue/exchange.h"
#include "queue/seat.h"

/* How often deadlines are looked at while there are connections. */
#define TICK_MS	     1000
#define IDLE_TICK_MS 10000

struct server {
	struct MHD_Daemon *daemon;
	fd_set readable;
	fd_set writable;
	fd_set failed;
	struct desk desk;
	char said[200]; /* the library's last complaint */
};

static void __attribute__((format(printf, 2, 0)))
keep_complaint(void *context, const char *format, va_list arguments)
{
	struct server *server = context;

	(void)vsnprintf(server->said, sizeof(server->said), format, arguments);
	server->said[strcspn(server->said, "\n")] = '\0';
	log_debug("http: %s", server->said);
}

static struct seat *
seat_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(
	    connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info != NULL ? info->socket_context : NULL;
}

static void
note_connection(void *context, struct MHD_Connection *connection,
    void **socket_context, enum MHD_ConnectionNotificationCode code)
{
	struct server *server = context;
	const union MHD_ConnectionInfo *info;

	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (*socket_context != NULL)
			seat_leave(&server->desk.seats, *socket_context);
		*socket_context = NULL;
		return;
	}
	info = MHD_get_connection_info(
	    connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	if (info != NULL)
		*socket_context =
		    seat_take(&server->desk.seats, info->connect_fd);
}

static void
note_completed(void *context, struct MHD_Connection *connection, void **at,
    enum MHD_RequestTerminationCode code)
{
	struct server *server = context;
	struct seat *seat = seat_of(connection);

	(void)code;
	exchange_free(*at);
	*at = NULL;
	if (seat != NULL)
		seat_end(&server->desk.seats, seat);
}

static enum MHD_Result
handle(void *context, struct MHD_Connection *connection, const char *path,
    const char *method, const char *version, const char *bytes, size_t *n,
    void **at)
{
	struct server *server = context;
	enum MHD_Result result;

	(void)version;
	if (*at == NULL) {
		struct seat *seat = seat_of(connection);

		if (seat == NULL)
			return MHD_NO;
		*at = exchange_new(&server->desk, seat);
		return exchange_begin(*at, connection, path, method);
	}
	if (*n == 0)
		return exchange_finish(*at, connection);
	result = exchange_take(*at, bytes, *n);
	*n = 0;
	return result;
}

static struct MHD_Daemon *
start_daemon(struct server *server, const struct server_settings *settings)
{
	const unsigned int flags = MHD_USE_ERROR_LOG |
	    (settings->certificate != NULL ? MHD_USE_TLS : 0);
	/* The first entry that is END ends them: without TLS the last three
	 * are not there. */
	const struct MHD_OptionItem options[] = {
		{ MHD_OPTION_CONNECTION_LIMIT, LIMIT_QUEUE_CONNECTIONS, NULL },
		{ MHD_OPTION_PER_IP_CONNECTION_LIMIT,
		    LIMIT_QUEUE_CONNECTIONS_ADDRESS, NULL },
		{ MHD_OPTION_CONNECTION_MEMORY_LIMIT, LIMIT_QUEUE_HEAD_BYTES,
		    NULL },
		{ MHD_OPTION_CONNECTION_TIMEOUT, LIMIT_QUEUE_IDLE_MS / 1000,
		    NULL },
		{ MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL },
		{ settings->certificate != NULL ? MHD_OPTION_HTTPS_MEM_CERT
						: MHD_OPTION_END,
		    0, (void *)(uintptr_t)settings->certificate },
		{ MHD_OPTION_HTTPS_MEM_KEY, 0,
		    (void *)(uintptr_t)settings->key },
		{ MHD_OPTION_HTTPS_PRIORITIES, 0,
		    (void *)(uintptr_t) "NORMAL:-VERS-ALL:+VERS-TLS1.3:"
					"+VERS-TLS1.2" },
		{ MHD_OPTION_END, 0, NULL },
	};

	return MHD_start_daemon(flags, 0, NULL, NULL, handle, server,
	    MHD_OPTION_EXTERNAL_LOGGER, keep_complaint, server,
	    MHD_OPTION_LISTEN_SOCKET, settings->listener,
	    MHD_OPTION_NOTIFY_CONNECTION, note_connection, server,
	    MHD_OPTION_NOTIFY_COMPLETED, note_completed, server,
	    MHD_OPTION_ARRAY, options, MHD_OPTION_END);
}

int
server_start(const struct server_settings *settings, struct server **ret_server,
    struct fault *fault)
{
	struct server *server = memory_new(1, sizeof(*server));

	server->desk.store = settings->store;
	server->desk.max_body = settings->max_body;
	server->daemon = start_daemon(server, settings);
	if (server->daemon == NULL) {
		(void)fault_set(fault, FAULT_CONFIG,
		    "the server cannot be started%s: %s",
		    settings->certificate != NULL
			? " with this --cert and --key"
			: "",
		    server->said[0] != '\0' ? server->said : "no reason");
		free(server);
		return -1;
	}
	*ret_server = server;
	return 0;
}

void
server_set_tokens(struct server *server, struct tokens *tokens)
{
	tokens_free(server->desk.tokens);
	server->desk.tokens = tokens;
}

static int
timeout_ms(const struct server *server)
{
	MHD_UNSIGNED_LONG_LONG wait_ms;
	int tick_ms = server->desk.seats.n > 0 ? TICK_MS : IDLE_TICK_MS;

	if (MHD_get_timeout(server->daemon, &wait_ms) == MHD_YES &&
	    wait_ms < (MHD_UNSIGNED_LONG_LONG)tick_ms)
		return (int)wait_ms;
	return tick_ms;
}

/*
 * select(2) and not the library's epoll: that one is edge-triggered and may
 * miss the end of a stream. The limits keep every fd below FD_SETSIZE.
 */
int
server_wait(struct server *server, int other)
{
	int wait_ms = timeout_ms(server);
	struct timeval time = { .tv_sec = wait_ms / 1000,
		.tv_usec = wait_ms % 1000 * 1000 };
	int max = other;

	FD_ZERO(&server->readable);
	FD_ZERO(&server->writable);
	FD_ZERO(&server->failed);
	if (MHD_get_fdset2(server->daemon, &server->readable, &server->writable,
		&server->failed, &max, FD_SETSIZE) == MHD_NO)
		log_warning("http: an fd does not fit");
	FD_SET(other, &server->readable);
	if (select(max + 1, &server->readable, &server->writable,
		&server->failed, &time) >= 0)
		return 0;
	FD_ZERO(&server->readable);
	FD_ZERO(&server->writable);
	FD_ZERO(&server->failed);
	return errno == EINTR ? 0 : -errno;
}

void
server_run(struct server *server)
{
	seats_cut(&server->desk.seats);
	(void)MHD_run_from_select(server->daemon, &server->readable,
	    &server->writable, &server->failed);
}

void
server_close_door(struct server *server)
{
	int listener = MHD_quiesce_daemon(server->daemon);

	if (listener >= 0)
		(void)close(listener);
}

bool
server_is_busy(const struct server *server)
{
	return server->desk.seats.n_busy > 0;
}

void
server_stop(struct server *server)
{
	if (server == NULL)
		return;
	MHD_stop_daemon(server->daemon);
	tokens_free(server->desk.tokens);
	free(server);
}
