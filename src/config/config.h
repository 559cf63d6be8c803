/* SPDX-License-Identifier: ISC
 *
 * config.yaml as a struct. The supervisor hands the same bytes to keep, yard
 * and core, and each reads them with this code: index 3 is the same source
 * everywhere.
 */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"
#include "base/limits.h"
#include "contract/capability.h"
#include "wire/dial_msg.h"

#define CONFIG_NAME_BYTES 68
#define CONFIG_PATH_BYTES 256
/* An operator mends the first screen full and looks again. */
#define CONFIG_ERROR_LINES 32

struct source_config {
	char name[CONFIG_NAME_BYTES];
	char secret[CONFIG_NAME_BYTES]; /* name of its secret */
	char url[512];	  /* normal form: lower-case scheme and host, no
			     default port, no slash at the end */
	char origin[320]; /* scheme://host:port, port always there */
	char host[256];	  /* without brackets */
	uint32_t port;
	bool is_tls;
	bool host_may_be_special; /* it is a literal address or localhost */
	bool allow_http;
	uint32_t capabilities; /* bits */
	uint64_t poll_interval_ms;
	uint32_t max_jobs_per_hour; /* 0: no cap */
	uint64_t max_input;	    /* cap of a claim's body */
	char ca_file[CONFIG_PATH_BYTES]; /* "": the system's */
	uint32_t n_addresses;
	struct dial_address addresses[LIMIT_ADDRESSES];
};

struct capability_config {
	bool is_enabled;
	char program[LIMIT_TOOLS][CONFIG_PATH_BYTES]; /* by tool; never "" for
							 a tool that exists */
	uint32_t n_languages;
	char languages[LIMIT_LANGUAGES][16];
	uint64_t time_limit_ms;
	uint64_t memory_limit;
	uint64_t tmp_limit;
	uint64_t max_input;
};

struct config {
	uint32_t n_sources;
	struct source_config *sources; /* in the order of the file */
	struct capability_config capabilities[CAPABILITY_COUNT];
	uint32_t accept_missing; /* bits of enum yard_wall */
	uint64_t result_ttl_ms;
	uint64_t drain_timeout_ms;
};

/* All that is wrong with a file: whole lines, each
 * "file:line:column: key: what is wrong, what would be right". */
struct config_errors {
	size_t n;	/* how many there were */
	size_t n_lines; /* how many are kept below */
	char lines[CONFIG_ERROR_LINES][400];
};

/*
 * Reads the n bytes of a configuration; name is the file's name in messages.
 * 0 with *ret_config owned by the caller (config_free), or -1 with at least
 * one error.
 */
int config_parse(const char *bytes, size_t n, const char *name,
    struct config **ret_config, struct config_errors *errors);

/*
 * The same without the demand for a source: for the yard, which needs none, so
 * that a job can be tried before the first source is set up. An empty file
 * gives the defaults.
 */
int config_parse_for_boxes(const char *bytes, size_t n, const char *name,
    struct config **ret_config, struct config_errors *errors);

/*
 * Either of the two, from the sealed memfd that the supervisor hands out. 0, or
 * -1 with a fault: the first error.
 */
int config_read(
    int fd, bool is_for_boxes, struct config **ret_config, struct fault *fault);

void config_free(struct config *config);

/* The index of the source of that name, or -1. */
int config_find_source(const struct config *config, const char *name);

/* max_job_seconds for a claim of these capabilities of a source: the longest
 * time limit among them, the time it may wait for its turn, and the time to
 * deliver. */
uint32_t config_max_job_seconds(
    const struct config *config, uint32_t capabilities);

#endif
