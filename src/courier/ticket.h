/* SPDX-License-Identifier: ISC
 *
 * Tickets: keyed BLAKE2b-256 of a job's id, under a key that only the courier
 * of the job's source has. A letter that carries one was filled for this id
 * of this source.
 */
#ifndef COURIER_TICKET_H
#define COURIER_TICKET_H

#include <stdbool.h>

#include "wire/letter.h"
#include "wire/token_msg.h"

struct evp_mac_st;

struct ticket_maker {
	struct evp_mac_st *mac;
	unsigned char key[TOKEN_TICKET_KEY_BYTES];
};

/* Loads the algorithm, which may open files: before lockdown. 0 or -1. */
int ticket_maker_init(struct ticket_maker *maker);
void ticket_maker_done(struct ticket_maker *maker);

/* 0 with the id's ticket, or -1 when the library failed. */
int ticket_make(const struct ticket_maker *maker, const char *id,
    unsigned char ret_ticket[LETTER_TICKET_BYTES]);

/* Whether a ticket is that of the id. */
bool ticket_is_of(const struct ticket_maker *maker, const char *id,
    const unsigned char ticket[LETTER_TICKET_BYTES]);

#endif
