/* SPDX-License-Identifier: ISC
 *
 * What a worker may do: ask for a job, bring its result. A worker learns of no
 * job but the one it was given.
 */
#include "queue/api.h"

#include "base/log.h"
#include "contract/outcome.h"

void
api_trouble(const struct api_request *request, struct reply *reply, int r)
{
	log_error("%s", store_trouble(request->store));
	if (r == STORE_FULL)
		reply_error(reply, HTTP_NO_ROOM, "no room on the disk");
	else
		reply_error(reply, HTTP_UNAVAILABLE,
		    "the database failed; see the log");
}

/*
 * The job, its input byte for byte. A failure here costs nothing: the worker
 * repeats its claim_id and is given the same job.
 */
static void
put_grant(const struct api_request *request, const struct store_grant *grant,
    struct reply *reply)
{
	int r;

	if (reply_put(reply,
		"{\"id\":\"%s\",\"lease\":\"%s\",\"capability\":\"%s\",%s"
		"\"input\":",
		grant->job.id, grant->lease, grant->job.capability,
		grant->more ? "\"more\":true," : "") < 0) {
		api_trouble(request, reply, STORE_FULL);
		return;
	}
	r = store_copy(
	    request->store, grant->job.number, STORE_INPUT, &reply->body);
	if (r == STORE_OK && reply_put(reply, "}\n") < 0)
		r = STORE_FULL;
	if (r != STORE_OK)
		api_trouble(request, reply, r);
	else
		reply->status = HTTP_OK;
	log_info("job %s: held by %s", grant->job.id, request->name);
}

void
api_claim(struct api_request *request, struct reply *reply)
{
	struct store_grant grant;
	int r =
	    store_claim(request->store, request->name, &request->body, &grant);

	if (r < 0)
		api_trouble(request, reply, r);
	else if (r == STORE_NONE)
		reply->status = HTTP_NO_CONTENT;
	else
		put_grant(request, &grant, reply);
}

void
api_result(struct api_request *request, struct reply *reply)
{
	int r = store_result(
	    request->store, request->name, &request->body, &request->spool);

	if (r < 0)
		api_trouble(request, reply, r);
	else if (r == STORE_TAKEN)
		reply_error(reply, HTTP_CONFLICT,
		    "this worker does not hold the job any more");
	else if (r == STORE_NONE)
		reply_error(reply, HTTP_GONE,
		    "no job that this worker held under this id and lease");
	else
		reply->status = HTTP_NO_CONTENT;
	if (r == STORE_OK)
		log_info("job %s: %s by %s", request->body.id,
		    outcome_name(request->body.outcome), request->name);
}
