/* SPDX-License-Identifier: ISC
 *
 * status.json of a running core as a struct.
 */
#ifndef CLI_STATUS_FILE_H
#define CLI_STATUS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/limits.h"

#define STATUS_TEXT_BYTES 256

struct source_status {
	char name[72];
	char state[24];
	char trouble[STATUS_TEXT_BYTES]; /* "": none */
	int64_t last_ok; /* seconds since 1970; 0: never */
	int64_t next_ask_in_ms;
	int64_t hour_used;
	int64_t hour_cap; /* 0: none */
	int64_t backoff_ms;
	int64_t outbox;
	int64_t parked;
	int64_t succeeded;
	int64_t failed;
	int64_t released;
};

struct capability_status {
	char name[40];
	char reason[STATUS_TEXT_BYTES];
	bool is_usable;
	int64_t resting_for_s;
};

struct status_file {
	int64_t version;
	int64_t pid;
	int64_t written_at; /* seconds since 1970 */
	int64_t generation;
	char state[24];
	char keep[16];
	char yard[16];
	char journal[16]; /* "ok" or "full" */
	bool has_job;
	char job_source[72];
	char job_id[LIMIT_ID_BYTES + 4];
	char job_capability[40];
	int64_t job_since;
	size_t n_capabilities;
	struct capability_status capabilities[16];
	size_t n_sources;
	struct source_status *sources; /* owned */
};

/*
 * Reads the n bytes of a status.json. 0 with *ret_status (status_file_done),
 * or -1 with a fault. What it does not know it skips; text is made printable
 * and cut.
 */
int status_file_parse(const char *bytes, size_t n,
    struct status_file *ret_status, struct fault *fault);

void status_file_done(struct status_file *status);

#endif
