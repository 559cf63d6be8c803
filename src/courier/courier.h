/* SPDX-License-Identifier: ISC
 *
 * What a courier is made of, and the steps in which it becomes one.
 */
#ifndef COURIER_COURIER_H
#define COURIER_COURIER_H

#include "courier/ticket.h"
#include "courier/trust.h"
#include "wire/courier_msg.h"
#include "wire/dial_msg.h"
#include "wire/token_msg.h"

/* The fds the keep gave it. */
enum courier_fd {
	COURIER_FD_CORE = 3,
	COURIER_FD_KEEP,
	COURIER_FD_TOKEN,
	COURIER_FD_TRUST,
};

struct courier {
	struct dial_order place;
	struct trust *trust; /* NULL when the source is not asked by TLS */
	struct token_msg token;
	struct ticket_maker tickets;
};

/* The steps, in this order; each gives 0, or -1 when the courier must end. */

/* Nobody looks inside, nothing is inherited, it ends with the keep. */
int courier_narrow(void);
/* Takes the keep's first word: where the source is. */
int courier_learn_place(struct courier *courier);
/* Lets the libraries open what they need; reads the certificates. */
int courier_prepare(struct courier *courier);
/* All walls up; see courier/lockdown.h. */
int courier_shut(const struct courier *courier);
/* Takes token and ticket key from the opener. */
int courier_take_token(struct courier *courier);
/* Waits for the core's order. *ret_letter is owned by the caller; -1: none. */
int courier_take_order(struct courier_order *ret_order, int *ret_letter);

#endif
