/* SPDX-License-Identifier: ISC
 *
 * Numbers to words of the contract, in every process that speaks or logs it.
 */
#include "contract/outcome.h"

#include <stddef.h>

struct word {
	const char *name;
	const char *message;
};

static const struct word errors[ERROR_COUNT] = {
	[ERROR_BAD_INPUT] = { "bad_input",
	    "the input does not have the fields this capability takes" },
	[ERROR_TOO_LARGE] = { "too_large", "the input is too large" },
	[ERROR_UNSUPPORTED_TYPE] = { "unsupported_type",
	    "this type of content is not supported here" },
	[ERROR_BAD_CONTENT] = { "bad_content",
	    "the content is damaged or not of the declared type" },
	[ERROR_ENCRYPTED] = { "encrypted", "the PDF needs a password" },
	[ERROR_UNSUPPORTED_LANGUAGE] = { "unsupported_language",
	    "a requested language is not installed here" },
	[ERROR_NO_SUCH_PAGE] = { "no_such_page",
	    "the document has no such page" },
	[ERROR_NO_STREAM] = { "no_stream",
	    "the file has no stream of the wanted kind" },
	[ERROR_TIMEOUT] = { "timeout", "the job hit its time limit" },
	[ERROR_TOO_HEAVY] = { "too_heavy",
	    "the job needs more memory or space than it may have" },
	[ERROR_CRASHED] = { "crashed", "the program crashed on this input" },
	[ERROR_OUTPUT_TOO_LARGE] = { "output_too_large",
	    "the output is too large" },
	[ERROR_REFUSED] = { "refused", "the model refused to answer" },
	[ERROR_BAD_REPLY] = { "bad_reply",
	    "the model's reply did not have the required form" },
	[ERROR_GAVE_UP] = { "gave_up",
	    "the job failed several times for no known reason" },
	[ERROR_NOT_ASKED] = { "not_asked",
	    "this worker does not take this capability from this source" },
	[ERROR_BAD_JOB] = { "bad_job",
	    "the answer to the claim is not a valid job" },
	[ERROR_BAD_OUTPUT] = { "bad_output",
	    "the job's output did not have the required form" },
	[ERROR_CRASHED_WORKER] = { "crashed_worker",
	    "the worker crashed several times with this job" },
};

const char *
outcome_name(uint32_t outcome)
{
	static const char *const names[OUTCOME_COUNT] = {
		[OUTCOME_SUCCEEDED] = "succeeded",
		[OUTCOME_FAILED] = "failed",
		[OUTCOME_RELEASED] = "released",
	};

	return outcome < OUTCOME_COUNT ? names[outcome] : NULL;
}

const char *
error_name(uint32_t code)
{
	return code < ERROR_COUNT ? errors[code].name : NULL;
}

const char *
error_message(uint32_t code)
{
	return code < ERROR_COUNT ? errors[code].message : NULL;
}

const char *
release_name(uint32_t reason)
{
	static const char *const names[RELEASE_COUNT] = {
		[RELEASE_CAPABILITY_RESTING] = "capability_resting",
		[RELEASE_STOPPING] = "stopping",
		[RELEASE_RESTARTED] = "restarted",
		[RELEASE_BUSY] = "busy",
	};

	return reason < RELEASE_COUNT ? names[reason] : NULL;
}
