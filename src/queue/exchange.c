/* SPDX-License-Identifier: ISC
 *
 * From HTTP to the calls and back, in the queue. The head is judged before a
 * byte of the body is read: who has no token can make us store nothing. After
 * a mistake in a body the rest of it is swallowed, since the library can
 * answer only behind it.
 */
#include "queue/exchange.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "queue/api.h"

#define JOBS_PATH   "/v1/jobs/"
#define ANSWER_STEP (32u * 1024)

struct route {
	const char *path; /* one that ends with / has an id behind it */
	const char *method;
	const char *allow; /* all methods of the path */
	enum role role;
	api_call *call;
	bool has_body;
	enum body_call body;
	bool has_arguments;
};

static const struct route routes[] = {
	{ "/v1/claim", "POST", "POST", ROLE_WORKER, api_claim, true, BODY_CLAIM,
	    false },
	{ "/v1/result", "POST", "POST", ROLE_WORKER, api_result, true,
	    BODY_RESULT, false },
	{ "/v1/jobs", "POST", "GET, POST", ROLE_PRODUCER, api_submit, true,
	    BODY_SUBMIT, false },
	{ "/v1/jobs", "GET", "GET, POST", ROLE_PRODUCER, api_jobs, false, 0,
	    true },
	{ JOBS_PATH, "GET", "GET", ROLE_PRODUCER, api_job, false, 0, false },
};

#define N_ROUTES (sizeof(routes) / sizeof(routes[0]))

struct exchange {
	struct desk *desk;
	struct seat *seat;
	const struct route *route;
	bool is_refused;
	uint64_t taken;
	uint64_t max_swallow;
	struct api_request request;
	struct reply reply;
};

struct exchange *
exchange_new(struct desk *desk, struct seat *seat)
{
	struct exchange *exchange = memory_new(1, sizeof(*exchange));
	int directory = store_directory(desk->store);

	exchange->desk = desk;
	exchange->seat = seat;
	exchange->max_swallow = LIMIT_QUEUE_STRANGER_BYTES;
	exchange->request.store = desk->store;
	spool_init(&exchange->request.spool, directory);
	spool_init(&exchange->reply.body, directory);
	return exchange;
}

void
exchange_free(struct exchange *exchange)
{
	if (exchange == NULL)
		return;
	spool_done(&exchange->request.spool);
	spool_done(&exchange->reply.body);
	free(exchange);
}

static int
refuse(struct exchange *exchange, enum http_status status, const char *text)
{
	reply_error(&exchange->reply, status, "%s", text);
	exchange->is_refused = true;
	return -1;
}

static const char *
header(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* Whether the path is the route's; its id goes to *id. */
static bool
is_path(const struct route *route, const char *path, char id[STORE_ID_BYTES])
{
	size_t n = strlen(route->path);

	if (route->path[n - 1] != '/')
		return strcmp(route->path, path) == 0;
	if (strncmp(route->path, path, n) != 0 ||
	    strlen(path + n) != STORE_ID_BYTES - 1 ||
	    strspn(path + n, "0123456789abcdef") != STORE_ID_BYTES - 1)
		return false;
	memcpy(id, path + n, STORE_ID_BYTES);
	return true;
}

static int
find_route(struct exchange *exchange, const char *path, const char *method)
{
	const char *allow = NULL;

	for (size_t i = 0; i < N_ROUTES; i++) {
		if (!is_path(&routes[i], path, exchange->request.id))
			continue;
		allow = routes[i].allow;
		if (strcmp(routes[i].method, method) == 0) {
			exchange->route = &routes[i];
			return 0;
		}
	}
	if (allow == NULL)
		return refuse(exchange, HTTP_NOT_FOUND,
		    "no such path; there are /v1/claim, /v1/result, /v1/jobs "
		    "and /v1/jobs/ID");
	exchange->reply.allow = allow;
	return refuse(exchange, HTTP_METHOD_NOT_ALLOWED,
	    "this path does not take that method");
}

/* A guesser must not fill the log. */
static void
log_stranger(void)
{
	static uint64_t last_ms;
	uint64_t now_ms = clock_boot_ms();

	if (last_ms == 0 || now_ms - last_ms >= 1000)
		log_warning("a request with a wrong token was refused");
	last_ms = now_ms;
}

static int
find_sender(struct exchange *exchange, struct MHD_Connection *connection)
{
	static const char scheme[] = "Bearer ";
	const size_t n = sizeof(scheme) - 1;
	const char *value = header(connection, "Authorization");
	const struct bearer *bearer = NULL;

	if (value == NULL)
		return refuse(exchange, HTTP_UNAUTHORIZED,
		    "Authorization: Bearer TOKEN is missing");
	if (strncasecmp(value, scheme, n) == 0)
		bearer = tokens_find(
		    exchange->desk->tokens, value + n, strlen(value + n));
	if (bearer == NULL) {
		log_stranger();
		return refuse(exchange, HTTP_UNAUTHORIZED,
		    "Authorization: no such token");
	}
	if (bearer->role != exchange->route->role)
		return refuse(exchange, HTTP_FORBIDDEN,
		    bearer->role == ROLE_WORKER
			? "this is a worker's token; the path is for producers"
			: "this is a producer's token; the path is for "
			  "workers");
	exchange->max_swallow = LIMIT_QUEUE_SWALLOW_BYTES;
	memcpy(exchange->request.name, bearer->name, sizeof(bearer->name));
	return 0;
}

/* application/json, with or without a charset of UTF-8. */
static bool
is_json(const char *type)
{
	static const char json[] = "application/json";
	const char *rest;

	if (type == NULL || strncasecmp(type, json, sizeof(json) - 1) != 0)
		return false;
	rest = type + sizeof(json) - 1;
	rest += strspn(rest, " \t");
	if (*rest == '\0')
		return true;
	if (*rest != ';')
		return false;
	rest += 1 + strspn(rest + 1, " \t");
	return strcasecmp(rest, "charset=utf-8") == 0 ||
	    strcasecmp(rest, "charset=\"utf-8\"") == 0;
}

static int
check_length(struct exchange *exchange, const char *length, const char *coding)
{
	uint64_t n = exchange->desk->max_body;

	if (length != NULL && coding != NULL)
		return refuse(exchange, HTTP_BAD_REQUEST,
		    "Content-Length and Transfer-Encoding exclude each other");
	if (length == NULL && coding == NULL)
		return refuse(exchange, HTTP_LENGTH_REQUIRED,
		    "Content-Length is missing");
	if (length != NULL && text_u64(length, UINT64_MAX, &n) < 0)
		return refuse(exchange, HTTP_BAD_REQUEST,
		    "Content-Length must be a number");
	return n <= exchange->desk->max_body
	    ? 0
	    : refuse(exchange, HTTP_TOO_LARGE, "the body is too large");
}

static int
check_body(struct exchange *exchange, struct MHD_Connection *connection)
{
	const char *length = header(connection, "Content-Length");
	const char *coding = header(connection, "Transfer-Encoding");
	const char *content = header(connection, "Content-Encoding");

	if (!exchange->route->has_body)
		return (length == NULL || strcmp(length, "0") == 0) &&
			coding == NULL
		    ? 0
		    : refuse(exchange, HTTP_BAD_REQUEST,
			  "this request takes no body");
	if (content != NULL && strcasecmp(content, "identity") != 0)
		return refuse(exchange, HTTP_UNSUPPORTED_TYPE,
		    "Content-Encoding: only plain bodies are read");
	if (!is_json(header(connection, "Content-Type")))
		return refuse(exchange, HTTP_UNSUPPORTED_TYPE,
		    "Content-Type must be application/json");
	if (check_length(exchange, length, coding) < 0)
		return -1;
	body_init(&exchange->request.body, exchange->route->body);
	return 0;
}

static enum MHD_Result
take_argument(
    void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct exchange *exchange = context;
	enum api_argument at = api_argument_find(name);

	(void)kind;
	if (!exchange->route->has_arguments || at == API_ARGUMENT_COUNT ||
	    exchange->request.arguments[at] != NULL) {
		(void)refuse(exchange, HTTP_BAD_REQUEST,
		    "an argument behind ? that is unknown here or given twice");
		return MHD_NO;
	}
	exchange->request.arguments[at] = value != NULL ? value : "";
	return MHD_YES;
}

static int
check_arguments(struct exchange *exchange, struct MHD_Connection *connection)
{
	(void)MHD_get_connection_values(
	    connection, MHD_GET_ARGUMENT_KIND, take_argument, exchange);
	return exchange->is_refused ? -1 : 0;
}

static ssize_t
give_body(void *context, uint64_t at, char *to, size_t max)
{
	const struct spool *body = context;
	size_t n = max;

	if (at >= body->n)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (n > body->n - at)
		n = (size_t)(body->n - at);
	return spool_get(body, at, to, n) < 0
	    ? MHD_CONTENT_READER_END_WITH_ERROR
	    : (ssize_t)n;
}

/* The exchange, and with it the body, outlives the answer. */
static struct MHD_Response *
make_response(struct reply *reply)
{
	struct MHD_Response *response = reply->body.n == 0
	    ? MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT)
	    : MHD_create_response_from_callback(
		  reply->body.n, ANSWER_STEP, give_body, &reply->body, NULL);
	enum MHD_Result ok = MHD_YES;

	if (response == NULL)
		return NULL;
	if (reply->body.n > 0)
		ok &= MHD_add_response_header(
		    response, "Content-Type", "application/json");
	ok &= MHD_add_response_header(response, "Cache-Control", "no-store");
	if (reply->allow != NULL)
		ok &= MHD_add_response_header(response, "Allow", reply->allow);
	if (reply->status == HTTP_UNAUTHORIZED)
		ok &= MHD_add_response_header(
		    response, "WWW-Authenticate", "Bearer");
	if (ok == MHD_YES)
		return response;
	MHD_destroy_response(response);
	return NULL;
}

static enum MHD_Result
answer(struct exchange *exchange, struct MHD_Connection *connection)
{
	struct MHD_Response *response = make_response(&exchange->reply);
	enum MHD_Result queued;

	if (response == NULL)
		return MHD_NO;
	seat_begin(
	    &exchange->desk->seats, exchange->seat, exchange->reply.body.n);
	queued = MHD_queue_response(
	    connection, (unsigned int)exchange->reply.status, response);
	MHD_destroy_response(response);
	return queued;
}

/*
 * How much of a body is announced; UINT64_MAX: no one knows. A client that
 * waits for a word before it sends has announced nothing yet.
 */
static uint64_t
announced(struct MHD_Connection *connection)
{
	const char *length = header(connection, "Content-Length");
	uint64_t n;

	if (header(connection, "Transfer-Encoding") != NULL)
		return UINT64_MAX;
	if (length == NULL)
		return 0;
	return text_u64(length, UINT64_MAX, &n) < 0 ? UINT64_MAX : n;
}

/* Whether a refusal can wait for the end of the body it refuses. */
static bool
may_swallow(const struct exchange *exchange, struct MHD_Connection *connection)
{
	return header(connection, "Expect") == NULL &&
	    announced(connection) <= exchange->max_swallow;
}

enum MHD_Result
exchange_begin(struct exchange *exchange, struct MHD_Connection *connection,
    const char *path, const char *method)
{
	uint64_t n = announced(connection);

	if ((find_route(exchange, path, method) < 0 ||
		find_sender(exchange, connection) < 0 ||
		check_arguments(exchange, connection) < 0 ||
		check_body(exchange, connection) < 0) &&
	    !may_swallow(exchange, connection))
		return answer(exchange, connection);
	seat_begin(&exchange->desk->seats, exchange->seat,
	    n < exchange->max_swallow ? n : exchange->max_swallow);
	return MHD_YES;
}

static int
take_body(struct exchange *exchange, const char *bytes, size_t n)
{
	struct api_request *request = &exchange->request;
	int r;

	if (exchange->taken > exchange->desk->max_body)
		return refuse(
		    exchange, HTTP_TOO_LARGE, "the body is too large");
	if (body_feed(&request->body, bytes, n) < 0)
		return refuse(exchange, HTTP_BAD_REQUEST, request->body.wrong);
	r = spool_put(&request->spool, bytes, n);
	if (r == 0)
		return 0;
	log_error("a body cannot be put on the disk: %s", strerror(-r));
	return refuse(exchange, HTTP_NO_ROOM, "no room on the disk");
}

enum MHD_Result
exchange_take(struct exchange *exchange, const char *bytes, size_t n)
{
	exchange->taken += n;
	if (!exchange->is_refused && take_body(exchange, bytes, n) < 0)
		spool_done(&exchange->request.spool);
	return exchange->taken > exchange->max_swallow ? MHD_NO : MHD_YES;
}

enum MHD_Result
exchange_finish(struct exchange *exchange, struct MHD_Connection *connection)
{
	struct api_request *request = &exchange->request;

	if (!exchange->is_refused && exchange->route->has_body &&
	    body_finish(&request->body) < 0)
		(void)refuse(exchange, HTTP_BAD_REQUEST, request->body.wrong);
	if (!exchange->is_refused)
		exchange->route->call(request, &exchange->reply);
	spool_done(&request->spool);
	return answer(exchange, connection);
}
