/* SPDX-License-Identifier: ISC
 *
 * Supervisor and core to a yard, in the command (`try`, `check`). It believes
 * the yard as little as the core does: every answer goes through its decoder,
 * and no answer is waited for without end.
 */
#include "cli/yard_client.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "cli/user.h"
#include "wire/super_msg.h"

/* A box's longest time limit, its making and its end. */
#define MAKE_MS (3600 * 1000 + 2 * LIMIT_BOX_SETUP_MS)
/* The yard reads a config and makes a test box before it answers. */
#define ANSWER_MS (3 * LIMIT_BOX_SETUP_MS)
/* What a yard may take to end by itself. */
#define END_MS 3000

/* Runs in the child, before exec. */
static int
narrow(void *context)
{
	if (user_become(context) < 0)
		return -1;
	/* After the change of user, which clears it. */
	return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
}

static int
wait_readable(int link, uint64_t deadline)
{
	struct pollfd p = { link, POLLIN, 0 };
	uint64_t now = clock_boot_ms();
	int r = now >= deadline ? 0 : poll(&p, 1, (int)(deadline - now));

	if (r < 0)
		return -errno;
	return r == 0 ? -ETIMEDOUT : 0;
}

/* One packet without fds, of that size. 0 or -errno. */
static int
receive(int link, void *packet, size_t size, int timeout_ms)
{
	uint64_t deadline = clock_boot_ms() + (uint64_t)timeout_ms;
	int r = -EAGAIN;

	while (r == -EAGAIN || r == -EINTR) {
		int fds[PACKET_FDS];

		r = wait_readable(link, deadline);
		if (r == -ETIMEDOUT)
			return r;
		if (r == 0)
			r = packet_receive(link, packet, size, fds);
		if (r == PACKET_GOT && packet_count_fds(fds) > 0) {
			packet_close_fds(fds);
			return -EPROTO;
		}
	}
	if (r == PACKET_LOST)
		return -EPIPE;
	return r < 0 ? r : 0;
}

static int
tell(struct yard_client *yard, enum super_verb verb, int fd)
{
	struct super_order order;

	super_order_encode(&order, verb, ++yard->sequence, 1);
	if (verb == SUPER_LINK)
		order.peer = SUPER_PEER_CORE;
	return packet_send(
	    yard->super_link, &order, sizeof(order), &fd, fd >= 0);
}

/* An order of the supervisor that is answered. */
static int
ask(struct yard_client *yard, enum super_verb verb, int fd, struct fault *fault)
{
	struct super_answer answer;
	int r = tell(yard, verb, fd);

	if (r == 0)
		r = receive(
		    yard->super_link, &answer, sizeof(answer), ANSWER_MS);
	if (r == 0 &&
	    (super_answer_decode(&answer, 0) < 0 ||
		answer.head.sequence != yard->sequence))
		r = -EPROTO;
	if (r == -EPIPE)
		return fault_set(fault, FAULT_PEER,
		    "sandcastle-yard ended at its start (is it installed, and "
		    "may its user run it?)");
	if (r < 0)
		return fault_set(fault, FAULT_PEER,
		    "sandcastle-yard does not answer: %s", strerror(-r));
	if (answer.head.verb == SUPER_REFUSED)
		return fault_set(fault, FAULT_PEER, "%s", answer.text);
	return 0;
}

static int
give_link(struct yard_client *yard, struct fault *fault)
{
	int ends[2];
	int r = packet_pair(ends);

	if (r == 0) {
		r = tell(yard, SUPER_LINK, ends[1]);
		(void)close(ends[1]);
		yard->core_link = ends[0];
	}
	if (r < 0)
		return fault_set(fault, FAULT_SYSTEM,
		    "cannot link with sandcastle-yard: %s", strerror(-r));
	return 0;
}

static int
start(struct yard_client *yard, struct user *user, struct fault *fault)
{
	static const char name[] = "sandcastle-yard";
	static const char *const arguments[] = { name, NULL };
	int ends[2];
	struct spawn spawn = { .program = name,
		.arguments = arguments,
		.fds = &ends[1],
		.n_fds = 1,
		.narrow = narrow,
		.narrow_context = user };
	int r = packet_pair(ends);

	if (r == 0) {
		r = spawn_start(&spawn, &yard->child);
		(void)close(ends[1]);
		yard->super_link = ends[0];
	}
	if (r < 0)
		return fault_set(fault, FAULT_SYSTEM,
		    "cannot start sandcastle-yard: %s", strerror(-r));
	return 0;
}

int
yard_client_start(
    struct yard_client *yard, const char *config, size_t n, struct fault *fault)
{
	struct user user;
	cleanup_fd int memory = -1;

	*yard = (struct yard_client){
		.child = { -1, -1 }, .super_link = -1, .core_link = -1
	};
	if (user_find("sandcastle-yard", &user, fault) < 0)
		return -1;
	memory = file_sealed_from("config", config, n);
	if (memory < 0)
		return fault_set(
		    fault, FAULT_SYSTEM, "memfd: %s", strerror(-memory));
	if (start(yard, &user, fault) < 0 ||
	    ask(yard, SUPER_CONFIG, memory, fault) < 0 ||
	    ask(yard, SUPER_COMMIT, -1, fault) < 0)
		return -1;
	return give_link(yard, fault);
}

static int
order_box(struct yard_client *yard, const struct yard_order *order,
    const int *letters, int timeout_ms, struct yard_answer *ret_answer)
{
	enum yard_verb wanted =
	    order->head.verb == YARD_LIST ? YARD_LISTED : YARD_ENDED;
	struct yard_answer answer;
	int r = packet_send(yard->core_link, order, sizeof(*order), letters,
	    letters == NULL ? 0 : 2);

	if (r == 0)
		r = receive(
		    yard->core_link, &answer, sizeof(answer), timeout_ms);
	if (r < 0)
		return r;
	if (yard_answer_decode(&answer, 0) < 0 || answer.head.verb != wanted ||
	    answer.head.sequence != order->head.sequence)
		return -EPROTO;
	*ret_answer = answer;
	return 0;
}

int
yard_client_list(struct yard_client *yard, struct yard_answer *ret_answer,
    struct fault *fault)
{
	struct yard_order order;
	int r;

	yard_order_encode(&order, YARD_LIST, ++yard->sequence, 1, 0);
	r = order_box(yard, &order, NULL, ANSWER_MS, ret_answer);
	if (r < 0)
		return fault_set(fault, FAULT_PEER,
		    "sandcastle-yard does not say what it can run: %s",
		    strerror(-r));
	return 0;
}

int
yard_client_make(struct yard_client *yard, uint32_t capability,
    const int letters[2], struct yard_answer *ret_answer, struct fault *fault)
{
	struct yard_order order;
	int r;

	yard_order_encode(&order, YARD_MAKE, ++yard->sequence, 1, capability);
	r = order_box(yard, &order, letters, MAKE_MS, ret_answer);
	if (r < 0)
		return fault_set(fault, FAULT_PEER,
		    "sandcastle-yard does not say how the box ended: %s",
		    strerror(-r));
	return 0;
}

void
yard_client_stop(struct yard_client *yard)
{
	struct pollfd p = { yard->child.pidfd, POLLIN, 0 };

	if (yard->core_link >= 0)
		(void)close(yard->core_link);
	if (yard->super_link >= 0)
		(void)close(yard->super_link);
	yard->core_link = -1;
	yard->super_link = -1;
	if (yard->child.pidfd < 0)
		return;
	if (poll(&p, 1, END_MS) <= 0)
		spawn_kill(&yard->child);
	(void)spawn_reap(&yard->child);
}
