/* SPDX-License-Identifier: ISC
 *
 * The round of asking, a part of the scheduler, pure: who is due, who is
 * waited for, whose letters are too many.
 */
#ifndef CORE_ROUND_H
#define CORE_ROUND_H

#include "core/schedule.h"

void action_add(
    struct actions *out, enum action_kind kind, uint32_t slot, uint32_t value);

/* Counts anew what is held, running and in flight. */
void round_count(struct schedule *schedule, uint64_t now_ms);

/* When a source that is due has waited for others for long enough. */
uint64_t round_overdue_ms(const struct schedule *schedule, uint64_t ready_ms);

/* When the source in the slot can start an exchange, the state being as it
 * is: TIME_NEVER when only another event can bring that about. */
uint64_t round_ready_ms(
    struct schedule *schedule, uint32_t slot, uint64_t now_ms);

/* Starts the exchanges that are due. random: for the delay of a courier that
 * must make room. */
void round_ask(struct schedule *schedule, uint32_t random, uint64_t now_ms,
    struct actions *out);

/* The exchange of the slot is over; its time counts against the round. */
void round_exchange_over(
    struct schedule *schedule, uint32_t slot, uint64_t now_ms);

/* Ends an exchange that took too long or must make room: a failure. */
void round_drop(struct schedule *schedule, uint32_t slot, uint32_t random,
    uint64_t now_ms, struct actions *out);

/* Bytes of all letters in flight, held or in a box. */
uint64_t round_letter_bytes(const struct schedule *schedule);

/* Drops claims until the letters are within their limit. */
void round_limit_letters(struct schedule *schedule, uint32_t random,
    uint64_t now_ms, struct actions *out);

/* Whether the letters in flight may grow beyond the limit: they must be
 * looked at often. */
bool round_must_watch(const struct schedule *schedule);

#endif
