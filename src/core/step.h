/* SPDX-License-Identifier: ISC
 *
 * One step of the scheduler, for the files that make it up: the event being
 * handled, and what its handlers share. Pure.
 */
#ifndef CORE_STEP_H
#define CORE_STEP_H

#include "contract/outcome.h"
#include "core/schedule.h"

struct step {
	struct schedule *schedule;
	const struct event *event;
	uint64_t now_ms;
	struct actions *out;
};

void step_act(
    struct step *step, enum action_kind kind, uint32_t slot, uint32_t value);
void step_note(struct step *step, uint32_t slot, enum note what);

/* Notes that the slot's trouble is another than before, if it is. */
void step_note_trouble(struct step *step, uint32_t slot, struct trouble before);

/* Journal ops of a slot. */
void step_commit(struct step *step, uint32_t slot, uint32_t ops);

/* The slot's job has its outcome: into the outbox, then to the source. */
void step_record(struct step *step, uint32_t slot, uint32_t more_ops);

/* The slot's result is delivered, or will never be. */
void step_gone(struct step *step, uint32_t slot);

/* The slot's job is given back. */
void step_release(struct step *step, uint32_t slot, enum release_reason reason);

/* Whether a job of this capability could have the box now. */
bool step_can_start(const struct step *step, uint32_t capability);

/* Commits the start of the slot's job; the box is made once that is done. */
void step_start(struct step *step, uint32_t slot, uint32_t more_ops);

/* How long the capability still rests, at most LIMIT_RETRY_AFTER_S. */
uint32_t step_rest_seconds(const struct step *step, uint32_t capability);

/* Drops the slot's exchange, if it has one. */
void step_end_exchange(struct step *step, uint32_t slot);

/* Handlers in exchange.c. */
void exchange_opened(struct step *step);
void exchange_answered(struct step *step);
void exchange_lost(struct step *step);
void exchange_keep_down(struct step *step);

#endif
