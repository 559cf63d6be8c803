/* SPDX-License-Identifier: ISC
 *
 * Events in, actions out, and one transaction for all that must be written
 * down before anything else happens. Runs in the core.
 */
#include "core/core.h"

#include <string.h>
#include <sys/random.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/must.h"
#include "base/text.h"
#include "contract/outcome.h"
#include "core/links.h"

uint64_t
core_now_ms(void)
{
	return clock_boot_ms() + CORE_EPOCH_MS;
}

void
core_journal_time(const struct core *core, struct journal_time *ret_time)
{
	memcpy(ret_time->boot_id, core->boot_id, sizeof(core->boot_id));
	ret_time->boot_ms = clock_boot_ms();
	ret_time->wall_s = clock_wall_s();
}

static uint32_t
draw(void)
{
	uint32_t random = 0;

	(void)!getrandom(&random, sizeof(random), GRND_NONBLOCK);
	return random;
}

void
core_clear_job(struct slot *slot)
{
	cleanup_fd_at(&slot->input);
	cleanup_fd_at(&slot->output);
	slot->row = (struct journal_row){ .bad_ms = -1 };
	slot->committed_row = 0;
	slot->run_ms = 0;
}

/* -- the journal */

static int
renew_claim_id(struct core *core, struct slot *slot)
{
	struct journal_key key = { slot->name, slot->origin };
	unsigned char random[LIMIT_CLAIM_ID_BYTES / 2];
	char claim_id[LIMIT_CLAIM_ID_BYTES + 1];

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return -1;
	text_hex(claim_id, random, sizeof(random));
	if (journal_set_claim_id(core->journal, &key, claim_id) < 0)
		return -1;
	memcpy(slot->claim_id, claim_id, sizeof(claim_id));
	return 0;
}

/* What of the job the scheduler knows goes into its row. */
static void
fill_row(const struct core *core, uint32_t at, struct journal_row *row)
{
	const struct job *job = &core->schedule.sources[at].job;
	uint64_t now = core_now_ms();

	row->capability = job->capability;
	row->outcome = job->outcome;
	row->error = job->error;
	row->reason = job->reason;
	row->retry_after_s = job->retry_after_s;
	row->tries = job->tries;
	row->body_bytes = job->body_bytes;
	row->age_ms = now - job->finished_ms;
	row->bad_ms =
	    job->first_5xx_ms == 0 ? -1 : (int64_t)(now - job->first_5xx_ms);
}

static void
write_taken(struct core *core, struct slot *slot, uint32_t ops)
{
	struct journal_key key = { slot->name, slot->origin };
	struct journal_time now;

	core_journal_time(core, &now);
	if (ops & OP_TAKEN) {
		(void)journal_add_held(core->journal, &key, &slot->row);
		(void)journal_add_run(core->journal, &key, &now);
	}
	if (ops & OP_START)
		(void)journal_set_running(core->journal, &key);
}

static void
write_outcome(struct core *core, uint32_t at, uint32_t ops)
{
	struct slot *slot = &core->slots[at];
	struct journal_key key = { slot->name, slot->origin };

	fill_row(core, at, &slot->row);
	if (ops & OP_OUTCOME)
		(void)journal_put_outcome(core->journal, &key, &slot->row,
		    slot->row.body_bytes > 0 ? slot->output : -1);
	if (ops & OP_TRIED)
		(void)journal_set_tried(core->journal, &slot->row);
	if (ops & OP_PARKED)
		(void)journal_park(core->journal, slot->row.row);
	if (ops & OP_GONE)
		(void)journal_forget(core->journal, &key, slot->row.row);
	if (ops & (OP_SUSPECT | OP_CRASH))
		(void)journal_suspect(
		    core->journal, &key, slot->row.id, ops & OP_CRASH);
}

static void
write_ops(struct core *core, const struct action *action)
{
	struct slot *slot = &core->slots[action->slot];
	uint32_t ops = action->value;

	must(slot->is_used);
	if (ops & OP_CLAIM_ID)
		(void)renew_claim_id(core, slot);
	if (ops & (OP_TAKEN | OP_START))
		write_taken(core, slot, ops);
	if (ops & ~(uint32_t)(OP_CLAIM_ID | OP_TAKEN | OP_START))
		write_outcome(core, action->slot, ops);
	if ((ops & OP_GONE) && core->checkpoint_ms == 0)
		core->checkpoint_ms = core_now_ms() + 1000;
}

/* After the last result is gone there may be one more. */
static void
find_next(struct core *core, uint32_t at)
{
	struct slot *slot = &core->slots[at];
	struct journal_key key = { slot->name, slot->origin };
	struct source *source = &core->schedule.sources[at];
	uint64_t now = core_now_ms();
	struct job job = { .state = JOB_FINISHED };
	struct event event = { .kind = EVENT_FOUND, .slot = at, .job = &job };
	struct journal_row row;

	if (source->job.state != JOB_NONE ||
	    journal_get_waiting(core->journal, &key, &row) != 1)
		return;
	core_clear_job(slot);
	slot->row = row;
	slot->committed_row = row.row;
	job.capability = row.capability;
	job.body_bytes = row.body_bytes;
	job.since_ms = now;
	job.finished_ms = now - row.age_ms;
	job.outcome = row.outcome;
	job.error = row.error;
	job.reason = row.reason;
	job.retry_after_s = row.retry_after_s;
	job.tries = row.tries;
	job.first_5xx_ms = row.bad_ms < 0 ? 0 : now - (uint64_t)row.bad_ms;
	core_event(core, &event);
}

/* Writes the journal actions from one index to another in one transaction,
 * and tells the scheduler. */
static int
write_some(
    struct core *core, const struct actions *actions, size_t from, size_t to)
{
	journal_begin(core->journal);
	for (size_t i = from; i < to; i++) {
		if (actions->list[i].kind == ACTION_JOURNAL)
			write_ops(core, &actions->list[i]);
	}
	return journal_commit(core->journal);
}

static void
tell_some(struct core *core, const struct actions *actions, size_t from,
    size_t to, bool is_written)
{
	for (size_t i = from; i < to; i++) {
		const struct action *action = &actions->list[i];
		struct slot *slot = &core->slots[action->slot];

		if (action->kind != ACTION_JOURNAL)
			continue;
		if (is_written)
			slot->committed_row = slot->row.row;
		else
			slot->row.row = slot->committed_row;
		core_event_slot(core,
		    is_written ? EVENT_COMMITTED : EVENT_UNCOMMITTED,
		    action->slot, action->value);
	}
}

/* One transaction for all; if that fails, space is made and each has one of
 * its own, so that a result too large for what is left of the disk does not
 * keep the others out. */
static void
perform_journal(struct core *core, const struct actions *actions)
{
	size_t n = 0;

	for (size_t i = 0; i < actions->n; i++)
		n += actions->list[i].kind == ACTION_JOURNAL;
	if (n == 0)
		return;
	if (write_some(core, actions, 0, actions->n) == 0) {
		tell_some(core, actions, 0, actions->n, true);
		return;
	}
	/* The log may hold what is long written back. */
	journal_checkpoint(core->journal);
	for (size_t i = 0; i < actions->n; i++) {
		bool is_written;

		if (actions->list[i].kind != ACTION_JOURNAL)
			continue;
		core->slots[actions->list[i].slot].row.row =
		    core->slots[actions->list[i].slot].committed_row;
		is_written = write_some(core, actions, i, i + 1) == 0;
		tell_some(core, actions, i, i + 1, is_written);
	}
}

/* -- actions */

static void
free_slot(struct slot *slot)
{
	core_clear_job(slot);
	courier_link_close(slot);
	*slot = (struct slot){
		.input = -1, .output = -1, .link = { .end = -1, .letter = -1 }
	};
}

void
core_end(struct core *core, int status)
{
	core->exit_status = status;
	core->has_ended = true;
	uv_stop(&core->loop);
}

static void
perform(struct core *core, const struct action *action)
{
	struct slot *slot = &core->slots[action->slot % SCHEDULE_SLOTS];

	switch (action->kind) {
	case ACTION_JOURNAL:
		/* Nobody reads the input of a job that has its outcome, and a
		 * source can put off taking that for days. */
		if (action->value & OP_OUTCOME)
			cleanup_fd_at(&slot->input);
		break;
	case ACTION_OPEN:
		keep_link_open(core, action->slot);
		break;
	case ACTION_CLAIM:
		courier_link_claim(core, action->slot, action->value);
		break;
	case ACTION_DELIVER:
		courier_link_deliver(core, action->slot, action->value);
		break;
	case ACTION_DROP:
		keep_link_drop(core, action->slot);
		break;
	case ACTION_MAKE:
		yard_link_make(core, action->slot, action->value);
		break;
	case ACTION_KILL:
		yard_link_kill(core);
		break;
	case ACTION_CLEAR:
		if (!core->schedule.sources[action->slot].is_used) {
			free_slot(slot);
		} else {
			core_clear_job(slot);
			find_next(core, action->slot);
		}
		break;
	case ACTION_NOTE:
		core_note(core, action->slot, action->value);
		break;
	case ACTION_EXIT:
		core_end(core, (int)action->value);
		break;
	}
}

static void
settle(struct core *core)
{
	core->n_holds++;
	while (core->actions[core->filling].n > 0) {
		struct actions *actions = &core->actions[core->filling];

		core->filling ^= 1;
		core->actions[core->filling].n = 0;
		/* What the log says of a job must be read before the journal
		 * has let go of it. */
		for (size_t i = 0; i < actions->n; i++) {
			if (actions->list[i].kind == ACTION_NOTE)
				perform(core, &actions->list[i]);
		}
		perform_journal(core, actions);
		for (size_t i = 0; i < actions->n; i++) {
			if (actions->list[i].kind != ACTION_NOTE)
				perform(core, &actions->list[i]);
		}
		actions->n = 0;
	}
	core->n_holds--;
}

void
core_hold(struct core *core)
{
	core->n_holds++;
}

void
core_go(struct core *core)
{
	must(core->n_holds > 0);
	if (--core->n_holds == 0)
		settle(core);
}

void
core_event(struct core *core, const struct event *event)
{
	struct event drawn = *event;

	drawn.random = draw();
	schedule_step(&core->schedule, &drawn, core_now_ms(),
	    &core->actions[core->filling]);
	if (event->kind != EVENT_TICK && event->kind != EVENT_LETTER)
		core->status_is_due = true;
	if (core->n_holds == 0)
		settle(core);
}

void
core_event_slot(
    struct core *core, enum event_kind kind, uint32_t slot, uint32_t value)
{
	struct event event = { .kind = kind, .slot = slot, .value = value };

	core_event(core, &event);
}

/* -- configuration and recovery */

static bool
is_of(const struct slot *slot, const struct source_config *source)
{
	return strcmp(slot->name, source->name) == 0 &&
	    strcmp(slot->origin, source->origin) == 0;
}

/* The slot of the source, or a free one, or SLOT_NONE. */
static uint32_t
find_slot(const struct core *core, const struct source_config *source)
{
	uint32_t empty = SLOT_NONE;

	for (uint32_t i = 0; i < SCHEDULE_SLOTS; i++) {
		const struct slot *slot = &core->slots[i];

		if (slot->is_used && is_of(slot, source))
			return i;
		if (!slot->is_used && empty == SLOT_NONE)
			empty = i;
	}
	return empty;
}

struct recovery {
	struct core *core;
	uint32_t slot;
};

static void
recover_run(void *context, uint64_t age_ms)
{
	struct recovery *recovery = context;
	struct event event = {
		.kind = EVENT_RAN, .slot = recovery->slot, .number = age_ms
	};

	core_event(recovery->core, &event);
}

static void
recover_held(struct core *core, uint32_t at)
{
	struct slot *slot = &core->slots[at];
	struct journal_key key = { slot->name, slot->origin };
	struct job job = { .state = JOB_HELD };
	struct event event = { .kind = EVENT_FOUND,
		.slot = at,
		.job = &job,
		.value = core->has_crashed };
	uint32_t suspect[2] = { 0, 0 };

	if (journal_get_held(core->journal, &key, &slot->row) != 1) {
		find_next(core, at);
		return;
	}
	(void)journal_get_suspect(core->journal, &key, slot->row.id, suspect);
	if (slot->row.is_running)
		job.state = JOB_RUNNING;
	job.capability = slot->row.capability;
	job.suspicions = suspect[0];
	job.crashes = suspect[1];
	core_event(core, &event);
}

/* What the journal knows of a source that this core sees for the first time.
 */
static void
recover(struct core *core, uint32_t at)
{
	struct slot *slot = &core->slots[at];
	struct journal_key key = { slot->name, slot->origin };
	struct recovery recovery = { core, at };
	struct event event = { .kind = EVENT_PARKED, .slot = at };
	struct journal_time now;

	core_journal_time(core, &now);
	if (journal_count_parked(
		core->journal, &key, &event.value, &event.number) == 1)
		core_event(core, &event);
	(void)journal_each_run(
	    core->journal, &key, &now, recover_run, &recovery);
	recover_held(core, at);
}

static void
set_source(struct core *core, uint32_t at, uint32_t index)
{
	const struct source_config *source = &core->config->sources[index];
	struct slot *slot = &core->slots[at];
	struct source_rule rule = { .capabilities = source->capabilities,
		.max_jobs_per_hour = source->max_jobs_per_hour,
		.poll_ms = source->poll_interval_ms,
		.max_input = source->max_input };
	struct event event = {
		.kind = EVENT_SOURCE, .slot = at, .rule = &rule
	};
	struct journal_key key = { source->name, source->origin };
	bool is_new = !slot->is_used;

	if (is_new) {
		free_slot(slot);
		memcpy(slot->name, source->name, sizeof(slot->name));
		memcpy(slot->origin, source->origin, sizeof(slot->origin));
		event.value = journal_get_claim_id(
				  core->journal, &key, slot->claim_id) == 1;
	}
	slot->is_used = true;
	slot->index = index;
	core_event(core, &event);
	if (!is_new)
		return;
	recover(core, at);
	core_event_slot(core, EVENT_READY, at, 0);
}

/* There is a slot for every source, unless removed ones still hold results
 * that a full disk does not take. */
static void
place_source(struct core *core, uint32_t index)
{
	const struct source_config *source = &core->config->sources[index];
	uint32_t at = find_slot(core, source);

	if (at == SLOT_NONE)
		log_error("source %s: there is no room for it while the "
			  "journal cannot be written; reload once it can",
		    source->name);
	else
		set_source(core, at, index);
}

static bool
is_in_config(const struct core *core, const struct slot *slot)
{
	for (uint32_t i = 0; i < core->config->n_sources; i++) {
		if (is_of(slot, &core->config->sources[i]))
			return true;
	}
	return false;
}

static void
remove_unwanted(struct core *core)
{
	for (uint32_t i = 0; i < SCHEDULE_SLOTS; i++) {
		const struct slot *slot = &core->slots[i];

		if (slot->is_used && !core->schedule.sources[i].is_removed &&
		    !is_in_config(core, slot))
			core_event_slot(core, EVENT_REMOVE, i, 0);
	}
}

/* Rows that no source of the config owns are kept, and said so. */
static void
tell_stranger(void *context, const struct journal_key *key, uint32_t n_rows)
{
	const struct core *core = context;

	for (uint32_t i = 0; i < core->config->n_sources; i++) {
		const struct source_config *source = &core->config->sources[i];

		if (strcmp(source->name, key->name) != 0)
			continue;
		if (strcmp(source->origin, key->origin) == 0)
			return;
		log_warning("source %s: %u results for %s are kept and not "
			    "sent to %s",
		    key->name, n_rows, key->origin, source->origin);
		return;
	}
	log_warning("source %s (%s) is not in the config any more: %u results "
		    "for it are kept",
	    key->name, key->origin, n_rows);
}

void
core_configure(struct core *core)
{
	const struct config *config = core->config;
	struct schedule_limits limits = {
		.result_ttl_ms = config->result_ttl_ms,
		.drain_timeout_ms = config->drain_timeout_ms,
	};
	struct event event = { .kind = EVENT_LIMITS, .limits = &limits };

	for (uint32_t i = 0; i < CAPABILITY_COUNT; i++)
		limits.run_ms[i] = config->capabilities[i].time_limit_ms;
	core_event(core, &event);
	/* Removing first, and to its end: it may free the slots that the new
	 * ones need. */
	remove_unwanted(core);
	core_hold(core);
	for (uint32_t i = 0; i < config->n_sources; i++)
		place_source(core, i);
	core_go(core);
	(void)journal_each_owner(core->journal, tell_stranger, core);
}
