/* SPDX-License-Identifier: ISC
 *
 * The core's lines in the log: one per change of a state, one per job. Runs
 * in the core. No byte of a source is in them but ids of the contract's
 * alphabet.
 */
#include "core/core.h"

#include "base/log.h"
#include "contract/outcome.h"

static const char *
capability_name(uint32_t capability)
{
	return capability < CAPABILITY_COUNT ? capability_at(capability)->name
					     : "no capability";
}

static void
note_outcome(const struct core *core, uint32_t at)
{
	const struct slot *slot = &core->slots[at];
	const struct job *job = &core->schedule.sources[at].job;
	const char *why = "";

	if (job->outcome == OUTCOME_FAILED)
		why = error_name(job->error);
	else if (job->outcome == OUTCOME_RELEASED)
		why = release_name(job->reason);
	log_info("source %s: job %s %s: %s%s%s, %llu ms", slot->name,
	    slot->row.id, capability_name(job->capability),
	    outcome_name(job->outcome), *why ? " " : "", why,
	    (unsigned long long)slot->run_ms);
}

static void
note_source(const struct core *core, uint32_t at, enum note note)
{
	const struct slot *slot = &core->slots[at];
	const struct source *source = &core->schedule.sources[at];
	char text[128];

	source_trouble_text(&source->trouble, text, sizeof(text));
	if (note == NOTE_TROUBLE)
		log_warning("source %s: %s", slot->name, text);
	else if (note == NOTE_WELL)
		log_notice("source %s: answers again", slot->name);
	else if (note == NOTE_TAKEN)
		log_info("source %s: job %s %s taken, %llu bytes", slot->name,
		    slot->row.id, capability_name(source->job.capability),
		    (unsigned long long)source->job.input_bytes);
	else if (note == NOTE_PARKED)
		log_error("source %s: job %s: the source refuses its result; "
			  "put aside",
		    slot->name, slot->row.id);
	else if (note == NOTE_MISMATCH)
		log_error("source %s: job %s: its result bears the ticket of "
			  "another job: NOT sent; put aside. This is a bug or "
			  "an attack",
		    slot->name, slot->row.id);
	else if (note == NOTE_EXPIRED)
		log_error("source %s: job %s: its result was kept for "
			  "result_ttl and could not be delivered; dropped",
		    slot->name, slot->row.id);
}

void
core_note(struct core *core, uint32_t slot, enum note note)
{
	switch (note) {
	case NOTE_TROUBLE:
	case NOTE_WELL:
	case NOTE_TAKEN:
	case NOTE_PARKED:
	case NOTE_MISMATCH:
	case NOTE_EXPIRED:
		note_source(core, slot, note);
		break;
	case NOTE_OUTCOME:
		note_outcome(core, slot);
		break;
	case NOTE_RESTING:
		log_warning("%s rests: %s", capability_name(slot),
		    core->schedule.rests[slot].is_missing
			? "a program it needs is missing"
			: "no box could be made for it");
		break;
	case NOTE_JOURNAL_FULL:
		log_error("the journal cannot be written: %s; nothing is "
			  "claimed until it can",
		    journal_problem(core->journal));
		break;
	case NOTE_JOURNAL_WELL:
		log_notice("the journal can be written again");
		break;
	case NOTE_DRAINING:
		log_notice("draining: nothing more is claimed");
		break;
	case NOTE_YARD_STUCK:
		log_error("the yard does not end its box");
		break;
	}
}
