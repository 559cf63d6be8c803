/* SPDX-License-Identifier: ISC
 *
 * sandcastle-driver.
 *
 * Theory of operation. The driver lives in a box that was made for one job:
 * no network, no /proc, a root without a writable place but /tmp, no secret.
 * init started it; fd 3 is its link to the yard. It takes one order.
 *
 * BOX_JOB brings two letters. The driver copies the ticket from the input to
 * the output, so that the courier can tell whose output it delivers. It lets
 * the input stream through the shape checker of the capability table, which
 * puts the content into /tmp/in, looks at the content's first bytes, and runs
 * the capability's tools on it, one after the other (run.c). It looks at what
 * they made, writes the output as JSON into the output letter, and answers
 * with a verdict: succeeded, or one error code. It never says "released":
 * whoever owns a box must not be able to.
 *
 * BOX_TEST makes it try the walls around it and answer which it found
 * standing (walls.c).
 *
 * Everything that the driver reads was written by a stranger, and the tools
 * must be thought of as his as soon as they have read it.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/spawn.h"
#include "driver/input.h"
#include "driver/job.h"
#include "driver/walls.h"
#include "wire/letter.h"

static enum error_code (*const jobs[CAPABILITY_COUNT])(const struct job *) = {
	[CAPABILITY_IMAGE_PREVIEW] = image_preview,
	[CAPABILITY_DOCUMENT_TEXT] = document_text,
	[CAPABILITY_IMAGE_TEXT] = image_text,
	[CAPABILITY_DOCUMENT_PREVIEW] = document_preview,
};

/* Nothing that stands open here is for a tool. */
static void
close_on_exec(void)
{
	static const int known[] = { SPAWN_FIRST_FD, BOX_FILTER_FD,
		BOX_DRIVER_FD };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		(void)fcntl(known[i], F_SETFD, FD_CLOEXEC);
	for (int i = 0; i < LIMIT_TOOLS; i++)
		(void)fcntl(LIMIT_BOX_PROGRAM_FD + i, F_SETFD, FD_CLOEXEC);
}

static int
read_filter(struct sock_fprog *ret_filter)
{
	size_t max = BPF_MAXINSNS * sizeof(struct sock_filter);
	ssize_t size = file_sealed_size(BOX_FILTER_FD, max);
	cleanup_free void *program = NULL;

	if (size < 0)
		return (int)size;
	if (size == 0 || (size_t)size % sizeof(struct sock_filter) != 0)
		return -EBADMSG;
	program = memory_new((size_t)size, 1);
	if (file_pread_all(BOX_FILTER_FD, program, (size_t)size, 0) != size)
		return -EIO;
	ret_filter->len =
	    (unsigned short)((size_t)size / sizeof(struct sock_filter));
	ret_filter->filter = take_ptr(program);
	return 0;
}

static int
copy_ticket(int from, int to)
{
	unsigned char ticket[LETTER_TICKET_BYTES];
	int r = letter_get_ticket(from, ticket);

	return r < 0 ? r : letter_put_ticket(to, ticket);
}

static uint64_t
deadline_of(const struct box_order *order)
{
	uint64_t limit = order->time_limit_ms;
	uint64_t early = limit / 10 < LIMIT_DRIVER_EARLY_MS
	    ? limit / 10
	    : LIMIT_DRIVER_EARLY_MS;

	return clock_boot_ms() + limit - early;
}

static enum error_code
do_job(const struct box_order *order, const int letters[2])
{
	struct sock_fprog filter = { 0 };
	struct job job = { .capability = capability_at(order->capability),
		.order = order,
		.filter = &filter,
		.input = letters[0],
		.output = letters[1],
		.deadline_ms = deadline_of(order) };
	enum error_code error = ERROR_CRASHED;

	if (copy_ticket(job.input, job.output) < 0)
		return ERROR_CRASHED;
	if (read_filter(&filter) == 0)
		error = input_read(&job, JOB_FILE);
	if (error == ERROR_NONE)
		error = jobs[order->capability](&job);
	/* A failed job has no output, not half of one. */
	if (error != ERROR_NONE &&
	    ftruncate(job.output, LETTER_TICKET_BYTES) < 0)
		error = ERROR_CRASHED;
	free(filter.filter);
	return error;
}

static int
answer(enum box_verb verb, uint32_t value)
{
	struct box_answer answer;

	box_answer_encode(&answer, verb, value);
	return packet_send(SPAWN_FIRST_FD, &answer, sizeof(answer), NULL, 0);
}

static int
await_order(struct box_order *ret_order, int ret_fds[PACKET_FDS])
{
	struct pollfd link = { SPAWN_FIRST_FD, POLLIN, 0 };
	int r;

	do {
		if (poll(&link, 1, -1) < 0 && errno != EINTR)
			return -errno;
		r = packet_receive(
		    SPAWN_FIRST_FD, ret_order, sizeof(*ret_order), ret_fds);
	} while (r == -EAGAIN);
	return r;
}

int
main(void)
{
	struct box_order order;
	int fds[PACKET_FDS];
	int r;

	close_on_exec();
	if (await_order(&order, fds) != PACKET_GOT)
		return 0;
	if (box_order_decode(&order, packet_count_fds(fds)) < 0) {
		packet_close_fds(fds);
		return 0;
	}
	if (order.head.verb == BOX_TEST)
		r = answer(BOX_WALLS, walls_try());
	else
		r = answer(BOX_VERDICT, do_job(&order, fds));
	packet_close_fds(fds);
	return r < 0 ? 1 : 0;
}
