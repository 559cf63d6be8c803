/* SPDX-License-Identifier: ISC
 *
 * The command line of the queue.
 */
#ifndef QUEUE_OPTIONS_H
#define QUEUE_OPTIONS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"
#include "queue/store.h"

union options_address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

struct options {
	union options_address address;
	const char *certificate; /* file names; NULL: not given */
	const char *key;
	const char *db;
	const char *tokens;
	uint64_t max_body;
	struct store_rules rules;
	bool wants_help;
	bool wants_version;
};

/* Reads argv. 0, or -1 with a fault that names the option. */
int options_parse(int argc, char *const *argv, struct options *ret_options,
    struct fault *fault);

/* What --help shows. */
extern const char options_help[];

#endif
