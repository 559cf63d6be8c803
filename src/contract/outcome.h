/* SPDX-License-Identifier: ISC
 *
 * The words of the contract that are numbers inside: outcomes, error codes,
 * reasons of a release. Their order is part of the wire and the journal: add
 * at the end only.
 */
#ifndef CONTRACT_OUTCOME_H
#define CONTRACT_OUTCOME_H

#include <stdint.h>

enum outcome {
	OUTCOME_SUCCEEDED = 1,
	OUTCOME_FAILED,
	OUTCOME_RELEASED,
	OUTCOME_COUNT,
};

enum error_code {
	ERROR_NONE = 0,
	/* said by a box */
	ERROR_BAD_INPUT,
	ERROR_TOO_LARGE,
	ERROR_UNSUPPORTED_TYPE,
	ERROR_BAD_CONTENT,
	ERROR_ENCRYPTED,
	ERROR_UNSUPPORTED_LANGUAGE,
	ERROR_NO_SUCH_PAGE,
	ERROR_NO_STREAM,
	ERROR_TIMEOUT,
	ERROR_TOO_HEAVY,
	ERROR_CRASHED,
	ERROR_OUTPUT_TOO_LARGE,
	ERROR_REFUSED,
	ERROR_BAD_REPLY,
	ERROR_GAVE_UP,
	/* said from outside the box */
	ERROR_NOT_ASKED,
	ERROR_BAD_JOB,
	ERROR_BAD_OUTPUT,
	ERROR_CRASHED_WORKER,
	ERROR_COUNT,
};

enum release_reason {
	RELEASE_NONE = 0,
	RELEASE_CAPABILITY_RESTING,
	RELEASE_STOPPING,
	RELEASE_RESTARTED,
	RELEASE_BUSY,
	RELEASE_COUNT,
};

/* The word of the contract; NULL when the number is none. */
const char *outcome_name(uint32_t outcome);
const char *error_name(uint32_t code);
const char *release_name(uint32_t reason);

/* The fixed English sentence sent as "message" beside an error code. */
const char *error_message(uint32_t code);

#endif
