/* SPDX-License-Identifier: ISC
 *
 * The life of one courier, from the core's KEEP_OPEN to its end: first an
 * opener that puts the token into a pipe, then the courier that holds the
 * other end.
 */
#ifndef KEEP_COURIER_LINK_H
#define KEEP_COURIER_LINK_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"
#include "keep/dialer_link.h"
#include "wire/keep_msg.h"

enum courier_stage {
	STAGE_NONE = 0, /* the slot is free */
	STAGE_OPENING, /* the opener is at work */
	STAGE_SERVING, /* the courier is */
};

struct courier_link {
	enum courier_stage stage;
	uint32_t source; /* index in the config in force */
	uint32_t old_source; /* in the one before it, if is_carried */
	bool is_carried; /* it outlived one change of the config */
	struct keep_order order; /* that asked for it */
	struct dial_order place; /* where its source is */
	char name[CONFIG_NAME_BYTES];
	char secret[CONFIG_NAME_BYTES];
	char ca_file[CONFIG_PATH_BYTES];
	uint64_t deadline_ms; /* boot clock: of the opener, then of its life */
	struct child child; /* the opener, then the courier */
	int core_end; /* the courier's, until it is started */
	int token; /* read end of the pipe, until then */
	int ca; /* the certificates, until then */
	int link; /* to the courier; -1: it hung up */
	uint32_t dial_sequence;
	uint32_t n_dials; /* that it asked for */
	struct dialer_link dialer;
	/* news for the caller */
	enum keep_result result; /* NEWS_OPENED */
	struct dialed dialed; /* NEWS_DIALED */
};

enum courier_news {
	NEWS_NONE = 0,
	NEWS_OPENED, /* link->order can be answered with link->result; unless
			that is OK the slot is free again */
	NEWS_DIALED, /* a dialer answered: link->dialed */
};

void courier_link_init(struct courier_link *link);

/*
 * Begins: opens the certificates, starts the opener. core_end is taken over in
 * every case. KEEP_RESULT_OK: NEWS_OPENED will follow; else the slot is free.
 */
enum keep_result courier_link_open(struct courier_link *link,
    const struct source_config *source, const struct keep_order *order,
    int core_end, const char *state);

/* The fds of a link to poll, at fixed places; -1 where there is none. */
#define COURIER_LINK_FDS 3
void courier_link_watch(
    const struct courier_link *link, struct pollfd to[COURIER_LINK_FDS]);

/* When it must be attended even if no fd says so; UINT64_MAX: never. */
uint64_t courier_link_deadline(const struct courier_link *link);

/* Does what is due. Never blocks. */
enum courier_news courier_link_attend(
    struct courier_link *link, uint64_t now_ms, struct grave *grave);

/* Whether the courier has hung up or ended, unnoticed so far. */
bool courier_link_has_left(const struct courier_link *link);

/* Whether it may live on under this reading of its source. */
bool courier_link_fits(
    const struct courier_link *link, const struct source_config *source);

/* Kills what runs and frees the slot. */
void courier_link_close(struct courier_link *link, struct grave *grave);

#endif
