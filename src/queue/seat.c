/* SPDX-License-Identifier: ISC
 *
 * Deadlines of connections, in the queue. The HTTP library can end a
 * connection only for being silent; so ours is shut down below it, and it
 * sees the end of a stream.
 */
#include "queue/seat.h"

#include <stdlib.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/must.h"

struct seat *
seat_take(struct seats *seats, int fd)
{
	struct seat *seat = memory_new(1, sizeof(*seat));

	seat->fd = fd;
	seat->deadline_ms = clock_boot_ms() + LIMIT_QUEUE_GREETING_MS;
	seat->next = seats->first;
	if (seats->first != NULL)
		seats->first->previous = seat;
	seats->first = seat;
	seats->n++;
	return seat;
}

void
seat_leave(struct seats *seats, struct seat *seat)
{
	seat_end(seats, seat);
	if (seat->previous != NULL)
		seat->previous->next = seat->next;
	else
		seats->first = seat->next;
	if (seat->next != NULL)
		seat->next->previous = seat->previous;
	must(seats->n > 0);
	seats->n--;
	free(seat);
}

void
seat_extend(struct seat *seat, uint64_t n)
{
	seat->deadline_ms = clock_boot_ms() + LIMIT_QUEUE_REQUEST_MS +
	    n * 1000 / LIMIT_QUEUE_BYTES_PER_S;
}

void
seat_begin(struct seats *seats, struct seat *seat, uint64_t n)
{
	if (!seat->is_busy)
		seats->n_busy++;
	seat->is_busy = true;
	seat_extend(seat, n);
}

void
seat_end(struct seats *seats, struct seat *seat)
{
	if (seat->is_busy)
		seats->n_busy--;
	seat->is_busy = false;
	seat->deadline_ms = clock_boot_ms() + LIMIT_QUEUE_IDLE_MS;
}

void
seats_cut(struct seats *seats)
{
	uint64_t now_ms = clock_boot_ms();

	for (struct seat *seat = seats->first; seat; seat = seat->next) {
		if (now_ms < seat->deadline_ms)
			continue;
		(void)shutdown(seat->fd, SHUT_RDWR);
		seat->deadline_ms = UINT64_MAX;
	}
}
