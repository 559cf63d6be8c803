/* SPDX-License-Identifier: ISC
 *
 * What the keep tells the operator about a source: once when it changes.
 */
#ifndef KEEP_REPORT_H
#define KEEP_REPORT_H

#include "config/config.h"
#include "wire/dial_msg.h"
#include "wire/keep_msg.h"

struct report {
	enum keep_result opened[LIMIT_SOURCES]; /* last, by index of source */
	enum dial_result dialed[LIMIT_SOURCES];
};

/* Notes how a KEEP_OPEN ended, and logs it if that is new. */
void report_opened(struct report *report, const struct config *config,
    uint32_t source, enum keep_result result);

/* Notes how dialing ended; logs when it has become FORBIDDEN. */
void report_dialed(struct report *report, const struct config *config,
    uint32_t source, const struct dialed *dialed);

/* Moves what was noted to the sources' indexes in the new config. from may be
 * NULL. */
void report_carry_over(
    struct report *report, const struct config *from, const struct config *to);

#endif
