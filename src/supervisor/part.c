/* SPDX-License-Identifier: ISC
 *
 * The three processes of the supervisor. What a part says is bounded by its
 * packet; a part that says nonsense is treated as one that ended.
 */
#include "supervisor/part.h"

#include <errno.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "base/file.h"

int
part_find_user(struct part *part, struct fault *fault)
{
	const struct passwd *user;

	if (geteuid() != 0)
		return 0;
	user = getpwnam(part->user);
	if (user == NULL || user->pw_uid == 0)
		return fault_set(fault, FAULT_SYSTEM,
		    "user %s does not exist: `make install` makes it; or run "
		    "sandcastle as a plain user",
		    part->user);
	part->uid = user->pw_uid;
	part->gid = user->pw_gid;
	part->changes_user = true;
	return 0;
}

/* An empty network namespace: as root directly, as a user inside a user
 * namespace in which it is still itself. */
static int
leave_network(void)
{
	unsigned int uid = geteuid();
	unsigned int gid = getegid();
	char map[32];

	if (uid == 0)
		return unshare(CLONE_NEWNET);
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0 ||
	    file_put("/proc/self/setgroups", "deny") < 0)
		return -1;
	(void)snprintf(map, sizeof(map), "%u %u 1", uid, uid);
	if (file_put("/proc/self/uid_map", map) < 0)
		return -1;
	(void)snprintf(map, sizeof(map), "%u %u 1", gid, gid);
	return file_put("/proc/self/gid_map", map);
}

/* Runs in the child, before exec. */
static int
part_narrow(void *context)
{
	const struct part *part = context;

	/* What a terminal sends to all in front of it is for the supervisor,
	 * which lets the job finish. */
	if (setsid() < 0)
		return -1;
	if (part->without_network && leave_network() < 0)
		return -1;
	if (part->changes_user &&
	    (setgroups(0, NULL) < 0 ||
		setresgid(part->gid, part->gid, part->gid) < 0 ||
		setresuid(part->uid, part->uid, part->uid) < 0))
		return -1;
	/* After the change of user, which clears it. */
	return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
}

int
part_start(struct part *part, struct fault *fault)
{
	int ends[2];
	int r = packet_pair(ends);
	struct spawn spawn = { .program = part->program,
		.arguments = part->arguments,
		.fds = &ends[1],
		.n_fds = 1,
		.narrow = part_narrow,
		.narrow_context = part };

	if (r == 0) {
		r = spawn_start(&spawn, &part->child);
		(void)close(ends[1]);
		if (r < 0)
			(void)close(ends[0]);
	}
	if (r < 0)
		return fault_set(fault, FAULT_SYSTEM, "%s: cannot start: %s",
		    part->program, strerror(-r));
	part->link = ends[0];
	return 0;
}

void
part_tell(struct part *part, struct super_order *order, int fd)
{
	if (part->link < 0)
		return;
	order->head.sequence = ++part->sequence;
	(void)packet_send(
	    part->link, order, sizeof(*order), &fd, fd < 0 ? 0 : 1);
}

/* 1: the answer; 0: not yet; -1: the part has gone, or says nonsense. An
 * answer to an order that was no longer waited for is passed over: it must
 * not pass for the answer to this one, nor make that one look wrong. */
static int
receive_answer(const struct part *part, struct super_answer *ret)
{
	int fds[PACKET_FDS];
	int r = packet_receive(part->link, ret, sizeof(*ret), fds);

	if (r == -EAGAIN)
		return 0;
	if (r != PACKET_GOT ||
	    super_answer_decode(ret, packet_count_fds(fds)) < 0 ||
	    ret->head.sequence > part->sequence) {
		packet_close_fds(fds);
		return -1;
	}
	return ret->head.sequence == part->sequence;
}

static int
await_answer(struct part *part, struct super_answer *ret, struct fault *fault)
{
	uint64_t deadline = clock_boot_ms() + PART_ANSWER_MS;
	int r = 0;

	while (r == 0) {
		struct pollfd p = { part->link, POLLIN, 0 };
		uint64_t now = clock_boot_ms();

		if (now >= deadline || poll(&p, 1, (int)(deadline - now)) == 0)
			return fault_set(fault, FAULT_PEER,
			    "%s did not answer in %d s", part->program,
			    PART_ANSWER_MS / 1000);
		r = receive_answer(part, ret);
	}
	return r > 0 ? 0
		     : fault_set(fault, FAULT_PEER,
			   "%s ended while it was asked", part->program);
}

int
part_ask(
    struct part *part, struct super_order *order, int fd, struct fault *fault)
{
	struct super_answer answer;

	part_tell(part, order, fd);
	if (await_answer(part, &answer, fault) < 0)
		return -1;
	if (answer.head.verb == SUPER_OK)
		return 0;
	return fault_set(
	    fault, FAULT_CONFIG, "%s: %s", part->program, answer.text);
}

int
part_reap(struct part *part)
{
	int status = spawn_reap(&part->child);

	(void)close(part->link);
	part->link = -1;
	return status;
}

void
part_end(struct part *part)
{
	struct super_order order;
	struct pollfd p = { part->child.pidfd, POLLIN, 0 };

	if (part->child.pidfd < 0)
		return;
	super_order_encode(&order, SUPER_STOP, 0, 0);
	order.is_urgent = 1;
	part_tell(part, &order, -1);
	if (poll(&p, 1, PART_END_MS) != 1)
		spawn_kill(&part->child);
	(void)part_reap(part);
}
