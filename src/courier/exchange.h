/* SPDX-License-Identifier: ISC
 *
 * From an order of the core to its answer, by one exchange with the source.
 */
#ifndef COURIER_EXCHANGE_H
#define COURIER_EXCHANGE_H

#include "courier/courier.h"
#include "courier/http.h"

/*
 * Does what a decoded order says and fills *ret_answer whatever happens. The
 * letter stays the caller's.
 */
void exchange_run(struct courier *courier, const struct courier_order *order,
    int letter, struct courier_answer *ret_answer);

/* -- of the two calls --------------------------------------------------- */

/* The parts of exchange_run: the caller has set the answer's head. */
void claim_run(struct courier *courier, const struct courier_order *order,
    int letter, struct courier_answer *answer);
void result_run(struct courier *courier, const struct courier_order *order,
    int letter, struct courier_answer *answer);

/*
 * Asks for a connection and posts over it, within the order's deadline.
 * call->socket and timeout_ms are set here, the rest is the caller's.
 */
void exchange_post(struct courier *courier, const struct courier_order *order,
    struct http_call *call, struct http_reply *ret_reply);

/*
 * Whether the final response's header came whole and was allowed, so that its
 * status is the source's word whatever became of the body.
 */
bool exchange_has_status(const struct http_reply *reply);

/* Fills the answer for an exchange that failed, or for a status that is
 * neither call's own. */
void exchange_set_trouble(
    struct courier_answer *answer, enum courier_trouble trouble);
void exchange_set_status(
    struct courier_answer *answer, const struct http_reply *reply);

#endif
