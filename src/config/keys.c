/* SPDX-License-Identifier: ISC
 *
 * The table of keys, and which of them a mistyped word may have meant. Plain
 * data for every process that reads config.yaml.
 */
#include "config/keys.h"

#include <string.h>

#include "config/config.h"

#define KIB    1024ull
#define MIB    (1024 * KIB)
#define GIB    (1024 * MIB)
#define SECOND 1000ull
#define HOUR   (3600 * SECOND)
#define DAY    (24 * HOUR)

#define AT_CONFIG(member)     offsetof(struct config, member)
#define AT_SOURCE(member)     offsetof(struct source_config, member)
#define AT_CAPABILITY(member) offsetof(struct capability_config, member)

static const struct key top[] = {
	{ .name = "sources",
	    .type = KEY_SOURCES,
	    .is_required = true,
	    .about = "who is asked for jobs: a map from a name to its keys" },
	{ .name = "capabilities",
	    .type = KEY_CAPABILITY_PARTS,
	    .fallback_about = "every capability with its own defaults",
	    .about = "settings of capabilities: a map from a capability to "
		     "its keys" },
	{ .name = "accept_missing",
	    .type = KEY_WALLS,
	    .fallback_about = "none",
	    .about = "walls that this machine lacks and you do without" },
	{ .name = "result_ttl",
	    .type = KEY_DURATION,
	    .min = HOUR,
	    .max = 90 * DAY,
	    .at = AT_CONFIG(result_ttl_ms),
	    .fallback = "7d",
	    .about = "how long a result is kept for a source that is away" },
	{ .name = "drain_timeout",
	    .type = KEY_DURATION,
	    .min = 0,
	    .max = HOUR,
	    .at = AT_CONFIG(drain_timeout_ms),
	    .fallback = "60s",
	    .about = "how long a running job may go on when sandcastle is "
		     "told to stop" },
	{ .name = "models", .type = KEY_LATER },
	{ .name = "metrics_file", .type = KEY_LATER },
};

static const struct key source[] = {
	{ .name = "url",
	    .type = KEY_URL,
	    .is_required = true,
	    .about = "where the source is: https://host[:port][/prefix]" },
	{ .name = "capabilities",
	    .type = KEY_CAPABILITIES,
	    .is_required = true,
	    .about = "what the source may ask for" },
	{ .name = "secret",
	    .type = KEY_NAME,
	    .at = AT_SOURCE(secret),
	    .fallback_about = "the name of the source",
	    .about = "name of the secret that holds its token" },
	{ .name = "poll_interval",
	    .type = KEY_DURATION,
	    .min = 100,
	    .max = HOUR,
	    .at = AT_SOURCE(poll_interval_ms),
	    .fallback = "10s",
	    .about = "how often the source is asked" },
	{ .name = "max_jobs_per_hour",
	    .type = KEY_COUNT,
	    .min = 1,
	    .max = 1000000,
	    .at = AT_SOURCE(max_jobs_per_hour),
	    .fallback_about = "no cap",
	    .about = "how many of its jobs are taken in any 60 minutes" },
	{ .name = "max_input",
	    .type = KEY_SIZE,
	    .min = KIB,
	    .max = LIMIT_BODY_BYTES,
	    .at = AT_SOURCE(max_input),
	    .fallback = "64MiB",
	    .about = "the longest answer to a claim that is read" },
	{ .name = "ca_file",
	    .type = KEY_FILE,
	    .at = AT_SOURCE(ca_file),
	    .fallback_about = "the certificates of the system",
	    .about = "certificates that vouch for the source, in PEM" },
	{ .name = "addresses",
	    .type = KEY_ADDRESSES,
	    .fallback_about = "none",
	    .about = "special addresses the name of the source may resolve "
		     "to" },
	{ .name = "allow_http",
	    .type = KEY_BOOLEAN,
	    .at = AT_SOURCE(allow_http),
	    .fallback = "false",
	    .about = "lets url begin with http:// where it is no loopback "
		     "address; the token then travels in clear" },
	{ .name = "follow_more", .type = KEY_LATER },
};

static const struct key capability[] = {
	{ .name = "enabled",
	    .type = KEY_BOOLEAN,
	    .at = AT_CAPABILITY(is_enabled),
	    .fallback = "true",
	    .about = "false turns the capability off for all sources" },
	{ .name = "program",
	    .type = KEY_PROGRAMS,
	    .fallback_about = "where Debian puts it",
	    .about = "where a program is: a map from its name to a path" },
	{ .name = "languages",
	    .type = KEY_LANGUAGES,
	    .fallback_about = "[eng]",
	    .about = "languages a job may ask for; only for a capability "
		     "that reads text from images" },
	{ .name = "time_limit",
	    .type = KEY_DURATION,
	    .min = SECOND,
	    .max = HOUR,
	    .at = AT_CAPABILITY(time_limit_ms),
	    .fallback_about = "the capability's own",
	    .about = "how long one job may run" },
	{ .name = "memory_limit",
	    .type = KEY_SIZE,
	    .min = 64 * MIB,
	    .max = 64 * GIB,
	    .at = AT_CAPABILITY(memory_limit),
	    .fallback_about = "the capability's own",
	    .about = "memory of each process of a box" },
	{ .name = "tmp_limit",
	    .type = KEY_SIZE,
	    .min = MIB,
	    .max = 4 * GIB,
	    .at = AT_CAPABILITY(tmp_limit),
	    .fallback_about = "the capability's own",
	    .about = "scratch space of a box" },
	{ .name = "max_input",
	    .type = KEY_SIZE,
	    .min = KIB,
	    .max = LIMIT_BODY_BYTES, /* and at most the capability's own */
	    .at = AT_CAPABILITY(max_input),
	    .fallback_about = "the capability's own, which is also the most",
	    .about = "the largest file a job may bring" },
	{ .name = "start", .type = KEY_LATER },
	{ .name = "model", .type = KEY_LATER },
	{ .name = "weights", .type = KEY_LATER },
	{ .name = "threads", .type = KEY_LATER },
};

struct room {
	const struct key *keys;
	size_t n;
};

#define ROOM(keys)                                     \
	{                                              \
		keys, sizeof(keys) / sizeof((keys)[0]) \
	}

static const struct room rooms[KEYS_ROOMS] = {
	[KEYS_TOP] = ROOM(top),
	[KEYS_SOURCE] = ROOM(source),
	[KEYS_CAPABILITY] = ROOM(capability),
};

const struct key *
keys_of(enum key_room room, size_t *ret_n)
{
	*ret_n = rooms[room].n;
	return rooms[room].keys;
}

const struct key *
key_find(enum key_room room, const char *name)
{
	for (size_t i = 0; i < rooms[room].n; i++) {
		if (strcmp(rooms[room].keys[i].name, name) == 0)
			return &rooms[room].keys[i];
	}
	return NULL;
}

/* Words longer than this are nobody's typing mistake. */
#define NEAREST_BYTES 32

/* How many letters must be added, dropped or changed (Levenshtein). */
static size_t
distance_between(const char *a, const char *b)
{
	size_t row[NEAREST_BYTES + 1];
	size_t n = strlen(b);

	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1] != '\0'; i++) {
		size_t corner = row[0];

		row[0] = i;
		for (size_t j = 1; j <= n; j++) {
			size_t best = corner + (a[i - 1] != b[j - 1]);

			corner = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[n];
}

void
nearest_init(struct nearest *nearest, const char *word)
{
	*nearest = (struct nearest){ word, NULL, 0 };
}

void
nearest_offer(struct nearest *nearest, const char *candidate)
{
	size_t n = strnlen(nearest->word, NEAREST_BYTES + 1);
	size_t allowed = n < 6 ? 1 : n / 3;
	size_t distance;

	if (n == 0 || n > NEAREST_BYTES || strlen(candidate) > NEAREST_BYTES)
		return;
	distance = distance_between(nearest->word, candidate);
	if (distance > allowed ||
	    (nearest->best != NULL && distance >= nearest->distance))
		return;
	nearest->best = candidate;
	nearest->distance = distance;
}
