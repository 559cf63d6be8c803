/* SPDX-License-Identifier: ISC
 *
 * When a source is asked. Runs in the core; pure. Whatever a source does, it
 * moves only its own next ask, never past ten minutes.
 */
#include "core/source.h"

#include <stdio.h>

#include "base/must.h"

#define BUSY_RETRY_MS 20
#define BUSY_RETRIES  8

static uint64_t
later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void
hour_advance(struct hour *hour, uint64_t now_ms)
{
	uint64_t second = now_ms / 1000;

	if (second <= hour->second)
		return;
	if (hour->used == 0)
		hour->second = second;
	for (uint32_t i = 0; hour->second < second && i < HOUR_BUCKETS; i++) {
		uint16_t *count = &hour->counts[++hour->second % HOUR_BUCKETS];

		hour->used -= *count;
		*count = 0;
	}
	hour->second = second;
}

void
hour_add(struct hour *hour, uint64_t age_ms, uint64_t now_ms)
{
	uint64_t second = age_ms < now_ms ? (now_ms - age_ms) / 1000 : 0;
	uint16_t *count = &hour->counts[second % HOUR_BUCKETS];

	hour_advance(hour, now_ms);
	if (second + HOUR_BUCKETS <= hour->second || *count == UINT16_MAX)
		return;
	(*count)++;
	hour->used++;
	hour->shut_ms = 0;
}

uint32_t
hour_used(struct hour *hour, uint64_t now_ms)
{
	hour_advance(hour, now_ms);
	return hour->used;
}

uint64_t
hour_free_ms(struct hour *hour, uint32_t cap, uint64_t now_ms)
{
	uint32_t used;
	uint64_t oldest;

	/* A full hour is asked for often, and stays as full until then. */
	if (now_ms < hour->shut_ms && cap == hour->shut_cap)
		return hour->shut_ms;
	used = hour_used(hour, now_ms);
	if (used < cap)
		return 0;
	oldest = hour->second + 1;
	hour->shut_cap = cap;
	/* Buckets in the order in which they end. */
	for (uint64_t i = 0; i < HOUR_BUCKETS; i++) {
		used -= hour->counts[(oldest + i) % HOUR_BUCKETS];
		if (used < cap) {
			hour->shut_ms = (oldest + i) * 1000;
			return hour->shut_ms;
		}
	}
	must(0 && "an hour that never ends");
	return TIME_NEVER;
}

uint64_t
source_backoff_ms(uint64_t poll_ms, uint32_t n, uint32_t random)
{
	uint64_t delay = n < 24 ? poll_ms << n : LIMIT_BACKOFF_MS;

	if (delay > LIMIT_BACKOFF_MS)
		delay = LIMIT_BACKOFF_MS;
	/* 0.8 to 1 of it, so that sources do not fall into step. */
	delay -= delay / 5 * (random % 1024) / 1024;
	return later(poll_ms, delay);
}

static uint64_t
clamp_retry_ms(const struct source *source, uint32_t retry_after_s)
{
	uint64_t ms = (uint64_t)retry_after_s * 1000;

	if (ms == 0)
		return 0;
	if (ms > LIMIT_BACKOFF_MS)
		ms = LIMIT_BACKOFF_MS;
	return later(ms, source->rule.poll_ms);
}

static void
set_trouble(struct source *source, struct trouble trouble)
{
	source->trouble = trouble;
	source->busy = 0;
}

void
source_well(struct source *source, uint32_t retry_after_s, uint64_t now_ms)
{
	uint64_t asked_again = source->claimed_ms + source->rule.poll_ms;
	uint64_t retry_ms = clamp_retry_ms(source, retry_after_s);

	set_trouble(source, (struct trouble){ TROUBLE_NONE, 0 });
	source->failures = 0;
	source->delay_ms = 0;
	source->last_ok_ms = now_ms;
	source->due_ms = later(now_ms + retry_ms, asked_again);
}

void
source_fail(struct source *source, struct trouble trouble,
    uint32_t retry_after_s, uint32_t random, uint64_t now_ms)
{
	uint64_t delay;

	set_trouble(source, trouble);
	source->failures++;
	delay =
	    source_backoff_ms(source->rule.poll_ms, source->failures, random);
	source->delay_ms = later(delay, clamp_retry_ms(source, retry_after_s));
	source->due_ms = now_ms + source->delay_ms;
}

void
source_skip(struct source *source, struct trouble trouble, uint64_t now_ms)
{
	set_trouble(source, trouble);
	source->due_ms = now_ms + source->rule.poll_ms;
}

void
source_retry_soon(struct source *source, uint64_t now_ms)
{
	struct trouble trouble = { TROUBLE_KEEP, KEEP_RESULT_BUSY };

	if (source->busy == BUSY_RETRIES) {
		source_skip(source, trouble, now_ms);
		return;
	}
	source->due_ms = now_ms + (BUSY_RETRY_MS << source->busy);
	source->busy++;
}

bool
source_is_parked(const struct source *source)
{
	return source->parked >= LIMIT_PARKED ||
	    source->parked_bytes >= LIMIT_PARKED_BYTES;
}

void
source_trouble_text(const struct trouble *trouble, char *to, size_t size)
{
	to[0] = '\0';
	switch (trouble->kind) {
	case TROUBLE_NONE:
		break;
	case TROUBLE_KEEP_DOWN:
		(void)snprintf(to, size, "the keep is down");
		break;
	case TROUBLE_KEEP:
		(void)snprintf(to, size, "%s%s",
		    trouble->what >= KEEP_RESULT_MISSING
			? "its secret cannot be used: "
			: "",
		    keep_result_text(trouble->what));
		break;
	case TROUBLE_COURIER:
		(void)snprintf(
		    to, size, "%s", courier_trouble_text(trouble->what));
		break;
	case TROUBLE_HTTP:
		(void)snprintf(to, size, "it answers with status %u%s",
		    trouble->what,
		    trouble->what == 401 || trouble->what == 403
			? ": is its token right?"
			: "");
		break;
	case TROUBLE_LOST:
		(void)snprintf(to, size, "its courier ended unexpectedly");
		break;
	case TROUBLE_LATE:
		(void)snprintf(to, size, "it did not answer in time");
		break;
	}
}
