/* SPDX-License-Identifier: ISC
 *
 * The connections and their deadlines. A client that sends a byte now and
 * then keeps any idle timer happy; these deadlines do not care.
 */
#ifndef QUEUE_SEAT_H
#define QUEUE_SEAT_H

#include <stdbool.h>
#include <stdint.h>

struct seat {
	int fd; /* borrowed: the HTTP library closes it */
	uint64_t deadline_ms; /* of the boot clock */
	bool is_busy; /* between the end of a head and the answer */
	struct seat *next;
	struct seat *previous;
};

struct seats {
	struct seat *first;
	uint32_t n;
	uint32_t n_busy;
};

/* A new connection; owned by the list until seat_leave. */
struct seat *seat_take(struct seats *seats, int fd);
void seat_leave(struct seats *seats, struct seat *seat);

/* A request has its head, a body or an answer of n bytes is to come. */
void seat_begin(struct seats *seats, struct seat *seat, uint64_t n);
void seat_extend(struct seat *seat, uint64_t n);

/* The answer is out; another request may follow. */
void seat_end(struct seats *seats, struct seat *seat);

/* Cuts the connections whose time is up. */
void seats_cut(struct seats *seats);

#endif
