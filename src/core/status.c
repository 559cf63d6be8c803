/* SPDX-License-Identifier: ISC
 *
 * The core's state as one JSON object. Runs in the core. Every string in it
 * is a name of the config's alphabet, an id of the contract's, or a sentence
 * of ours: nothing needs to be escaped.
 */
#include "core/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/must.h"
#include "contract/outcome.h"

struct text {
	char *bytes;
	size_t n;
	size_t size;
};

static void __attribute__((format(printf, 2, 3)))
put(struct text *text, const char *format, ...)
{
	va_list arguments;
	int n;

	if (text->size - text->n < 2048) {
		text->size = text->size * 2 + 4096;
		text->bytes = memory_resize(text->bytes, text->size, 1);
	}
	va_start(arguments, format);
	n = vsnprintf(
	    text->bytes + text->n, text->size - text->n, format, arguments);
	va_end(arguments);
	must(n >= 0 && n < 2048);
	text->n += (size_t)n;
}

static void
put_job(struct text *text, struct core *core, uint64_t now_ms, int64_t wall_s)
{
	uint32_t at = core->schedule.running;
	const struct job *job;

	put(text, "\"job\":");
	if (at == SLOT_NONE) {
		put(text, "null,");
		return;
	}
	job = &core->schedule.sources[at].job;
	put(text,
	    "{\"source\":\"%s\",\"id\":\"%s\",\"capability\":\"%s\","
	    "\"since\":%lld},",
	    core->slots[at].name, core->slots[at].row.id,
	    capability_at(job->capability)->name,
	    (long long)(wall_s - (int64_t)((now_ms - job->since_ms) / 1000)));
}

static const char *
reason_of(const struct core *core, uint32_t capability, uint64_t now_ms)
{
	const struct yard_link *yard = &core->yards[0];
	const struct rest *rest = &core->schedule.rests[capability];

	if (!yard->is_listed)
		return "the yard is down";
	if (yard->listed.usable[capability] == YARD_OFF)
		return "turned off in the config";
	if (yard->listed.usable[capability] == YARD_NO_PROGRAM)
		return "a program it needs is missing";
	if (yard->listed.usable[capability] == YARD_NO_WALLS)
		return "its box would lack a wall";
	if (rest->until_ms <= now_ms)
		return "";
	return rest->is_missing ? "a program it needs is missing"
				: "no box could be made for it";
}

static void
put_capabilities(struct text *text, struct core *core, uint64_t now_ms)
{
	put(text, "\"capabilities\":[");
	for (uint32_t i = 0; i < CAPABILITY_COUNT; i++) {
		uint64_t until = core->schedule.rests[i].until_ms;
		const char *reason = reason_of(core, i, now_ms);
		uint64_t rests = until > now_ms && until != TIME_NEVER
		    ? (until - now_ms + 999) / 1000
		    : 0;

		put(text,
		    "%s{\"name\":\"%s\",\"usable\":%s,\"resting_for\":%llu,"
		    "\"reason\":\"%s\"}",
		    i ? "," : "", capability_at(i)->name,
		    *reason ? "false" : "true", (unsigned long long)rests,
		    reason);
	}
	put(text, "],");
}

static const char *
state_of(struct core *core, uint32_t at, uint64_t now_ms)
{
	const struct source *source = &core->schedule.sources[at];
	uint32_t cap = source->rule.max_jobs_per_hour;

	if (source->exchange != EXCHANGE_NONE)
		return core->schedule.waiting == at || !source->was_late
		    ? "asking"
		    : "waiting";
	if (source->trouble.kind == TROUBLE_KEEP &&
	    source->trouble.what >= KEEP_RESULT_MISSING)
		return "no_secret";
	if (source->delay_ms != 0)
		return "backoff";
	if (source_is_parked(source))
		return "parked";
	if (cap != 0 && hour_used(&core->schedule.hours[at], now_ms) >= cap)
		return "hour_full";
	return "idle";
}

static uint64_t
ask_in_ms(struct core *core, uint32_t at, uint64_t now_ms)
{
	const struct source *source = &core->schedule.sources[at];
	uint32_t cap = source->rule.max_jobs_per_hour;
	uint64_t due = source->due_ms;

	if (cap != 0) {
		uint64_t free_ms =
		    hour_free_ms(&core->schedule.hours[at], cap, now_ms);

		due = free_ms > due ? free_ms : due;
	}
	return due > now_ms ? due - now_ms : 0;
}

static void
put_source(struct text *text, struct core *core, uint32_t at, uint64_t now_ms,
    int64_t wall_s)
{
	const struct source *source = &core->schedule.sources[at];
	int64_t ago = (int64_t)((now_ms - source->last_ok_ms) / 1000);
	char trouble[128];

	source_trouble_text(&source->trouble, trouble, sizeof(trouble));
	put(text, "{\"name\":\"%s\",\"state\":\"%s\",\"last_ok\":%lld,",
	    core->slots[at].name, state_of(core, at, now_ms),
	    source->last_ok_ms == 0 ? 0ll : (long long)(wall_s - ago));
	put(text,
	    "\"next_ask_in_ms\":%llu,\"hour_used\":%u,\"hour_cap\":%u,"
	    "\"backoff_ms\":%llu,\"trouble\":\"%s\",",
	    (unsigned long long)ask_in_ms(core, at, now_ms),
	    hour_used(&core->schedule.hours[at], now_ms),
	    source->rule.max_jobs_per_hour,
	    (unsigned long long)source->delay_ms, trouble);
	put(text,
	    "\"outbox\":%d,\"parked\":%u,\"jobs\":{\"succeeded\":%u,"
	    "\"failed\":%u,\"released\":%u}}",
	    source->job.state == JOB_FINISHED, source->parked,
	    source->counts[OUTCOME_SUCCEEDED], source->counts[OUTCOME_FAILED],
	    source->counts[OUTCOME_RELEASED]);
}

char *
status_text(struct core *core, uint64_t now_ms, int64_t wall_s)
{
	struct text text = { 0 };
	const char *comma = "";

	put(&text, "{\"version\":1,\"pid\":%d,\"written_at\":%lld,",
	    (int)getppid(), (long long)wall_s);
	put(&text,
	    "\"state\":\"%s\",\"generation\":%u,\"keep\":\"%s\","
	    "\"yard\":\"%s\",\"journal\":\"%s\",",
	    core->schedule.drain == DRAIN_NOT ? "running" : "draining",
	    core->generation, core->schedule.keep_is_up ? "up" : "down",
	    core->schedule.yard_is_up ? "up" : "down",
	    core->schedule.journal_is_full ? "full" : "ok");
	put_job(&text, core, now_ms, wall_s);
	put_capabilities(&text, core, now_ms);
	put(&text, "\"sources\":[");
	for (uint32_t i = 0; i < core->schedule.n_slots; i++) {
		if (!core->slots[i].is_used ||
		    core->schedule.sources[i].is_removed)
			continue;
		put(&text, "%s", comma);
		put_source(&text, core, i, now_ms, wall_s);
		comma = ",";
	}
	put(&text, "]}\n");
	return text.bytes;
}

uint64_t
status_due_ms(const struct core *core)
{
	return core->status_ms +
	    (core->status_is_due ? LIMIT_STATUS_GAP_MS : LIMIT_STATUS_MS);
}

void
status_write(struct core *core)
{
	uint64_t now_ms = core_now_ms();
	cleanup_free char *text = NULL;
	int r;

	if (now_ms < status_due_ms(core) || core->config == NULL)
		return;
	text = status_text(core, now_ms, clock_wall_s());
	r = file_swap(
	    core->run_directory, "status.json", text, strlen(text), 0640);
	core->status_ms = now_ms;
	core->status_is_due = false;
	if (r < 0 && !core->has_status_trouble)
		log_warning("status.json cannot be written: %s", strerror(-r));
	core->has_status_trouble = r < 0;
}
