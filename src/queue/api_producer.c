/* SPDX-License-Identifier: ISC
 *
 * What a producer may do: hand in a job, look at its own jobs. Another
 * producer's job does not exist for it.
 */
#include "queue/api.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/text.h"

#define LIST_DEFAULT 100

enum api_argument
api_argument_find(const char *name)
{
	static const char *const names[] = {
		[API_STATE] = "state",
		[API_LIMIT] = "limit",
		[API_AFTER] = "after",
	};

	for (unsigned int i = 0; i < API_ARGUMENT_COUNT; i++) {
		if (strcmp(name, names[i]) == 0)
			return (enum api_argument)i;
	}
	return API_ARGUMENT_COUNT;
}

void
api_submit(struct api_request *request, struct reply *reply)
{
	const struct span *input = &request->body.input;
	char id[STORE_ID_BYTES];
	int r;

	if (input->end - input->begin >
	    LIMIT_BODY_BYTES - LIMIT_QUEUE_FRAME_BYTES) {
		reply_error(reply, HTTP_TOO_LARGE,
		    "body: input: is too large: no worker would take it");
		return;
	}
	r = store_submit(
	    request->store, request->name, &request->body, &request->spool, id);
	if (r < 0) {
		api_trouble(request, reply, r);
		return;
	}
	log_info(
	    "job %s: %s, from %s", id, request->body.capability, request->name);
	reply->status = HTTP_CREATED;
	(void)reply_put(reply, "{\"id\":\"%s\"}\n", id);
}

/* "2026-01-31T12:00:00Z" */
static void
put_time(char to[32], int64_t wall_s)
{
	time_t seconds = (time_t)wall_s;
	struct tm tm;

	if (gmtime_r(&seconds, &tm) == NULL ||
	    strftime(to, 32, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		to[0] = '\0';
}

/* Everything but output or error, and without the closing brace. */
static int
put_job(struct reply *reply, const struct job *job)
{
	char created[32];
	char changed[32];
	bool is_held = job->state == JOB_HELD;

	put_time(created, job->created_s);
	put_time(changed, job->changed_s);
	return reply_put(reply,
	    "{\"id\":\"%s\",\"capability\":\"%s\",\"state\":\"%s\","
	    "\"attempts\":%u,\"created\":\"%s\",\"changed\":\"%s\"%s%s%s",
	    job->id, job->capability, job_state_name(job->state), job->attempts,
	    created, changed, is_held ? ",\"worker\":\"" : "",
	    is_held ? job->worker : "", is_held ? "\"" : "");
}

static int
put_end(const struct api_request *request, const struct job *job,
    struct reply *reply)
{
	bool is_failed = job->state == JOB_FAILED;
	int r;

	if (!is_failed && job->state != JOB_SUCCEEDED)
		return STORE_OK;
	r = reply_put(reply, is_failed ? ",\"error\":" : ",\"output\":");
	if (r < 0)
		return STORE_FULL;
	return store_copy(
	    request->store, job->number, STORE_OUTPUT, &reply->body);
}

void
api_job(struct api_request *request, struct reply *reply)
{
	struct job job;
	int r = store_find(request->store, request->name, request->id, &job);

	if (r == STORE_NONE) {
		reply_error(reply, HTTP_NOT_FOUND, "no such job");
		return;
	}
	if (r == STORE_OK && put_job(reply, &job) < 0)
		r = STORE_FULL;
	if (r == STORE_OK)
		r = put_end(request, &job, reply);
	if (r == STORE_OK && reply_put(reply, "}\n") < 0)
		r = STORE_FULL;
	if (r != STORE_OK)
		api_trouble(request, reply, r);
	else
		reply->status = HTTP_OK;
}

struct listing {
	struct reply *reply;
	uint32_t n;
};

static int
put_listed(void *context, const struct job *job)
{
	struct listing *listing = context;

	if ((listing->n++ > 0 && reply_put(listing->reply, ",\n") < 0) ||
	    put_job(listing->reply, job) < 0 ||
	    reply_put(listing->reply, "}") < 0)
		return STORE_FULL;
	return STORE_OK;
}

static int
refuse_argument(struct reply *reply, const char *text)
{
	reply_error(reply, HTTP_BAD_REQUEST, "%s", text);
	return -1;
}

static int
read_state(const char *text, struct store_filter *to)
{
	for (uint32_t i = JOB_WAITING; i < JOB_STATE_COUNT; i++) {
		if (strcmp(text, job_state_name(i)) == 0)
			to->state = i;
	}
	return to->state != 0 ? 0 : -1;
}

static int
read_filter(const struct api_request *request, struct store_filter *to,
    struct reply *reply)
{
	const char *limit = request->arguments[API_LIMIT];
	const char *state = request->arguments[API_STATE];
	const char *after = request->arguments[API_AFTER];
	uint64_t number = LIST_DEFAULT;
	struct job job;
	int r;

	if (limit != NULL &&
	    (text_u64(limit, LIMIT_QUEUE_LIST, &number) < 0 || number == 0))
		return refuse_argument(reply, "limit: must be 1 to 1000");
	to->limit = (uint32_t)number;
	if (state != NULL && read_state(state, to) < 0)
		return refuse_argument(
		    reply, "state: must be waiting, held, succeeded or failed");
	if (after == NULL)
		return 0;
	r = store_find(request->store, request->name, after, &job);
	if (r == STORE_NONE)
		return refuse_argument(reply, "after: no such job");
	if (r < 0) {
		api_trouble(request, reply, r);
		return -1;
	}
	to->after = job.number;
	return 0;
}

void
api_jobs(struct api_request *request, struct reply *reply)
{
	struct store_filter filter = { 0 };
	struct listing listing = { .reply = reply };
	int r = STORE_OK;

	if (read_filter(request, &filter, reply) < 0)
		return;
	if (reply_put(reply, "{\"jobs\":[") < 0)
		r = STORE_FULL;
	if (r == STORE_OK)
		r = store_list(request->store, request->name, &filter,
		    put_listed, &listing);
	if (r == STORE_OK && reply_put(reply, "]}\n") < 0)
		r = STORE_FULL;
	if (r != STORE_OK)
		api_trouble(request, reply, r);
	else
		reply->status = HTTP_OK;
}
