/* SPDX-License-Identifier: ISC
 *
 * Watches one box from outside. Runs in the yard. What comes out of the box's
 * link was written by something that has read a stranger's file: at most one
 * packet of it is believed, and only as far as a box may speak.
 */
#include "yard/run.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "contract/outcome.h"

int
run_start(struct run *run, const struct box_plan *plan,
    const struct box_order *order, const int *letters, const char **ret_step)
{
	size_t n_letters = letters == NULL ? 0 : PACKET_FDS;
	struct run fresh = {
		.awaited = order->head.verb == BOX_JOB ? BOX_VERDICT : BOX_WALLS
	};
	int r;

	fresh.started_ms = clock_boot_ms();
	fresh.deadline_ms = fresh.started_ms + order->time_limit_ms;
	r = box_make(plan, &fresh.box, ret_step);
	if (r < 0)
		return r;
	*run = fresh;
	/* Its link is new and empty: only a box that is gone refuses. */
	r = packet_send(
	    run->box.link, order, sizeof(*order), letters, n_letters);
	if (r < 0)
		run->is_link_lost = true;
	return 0;
}

int
run_polls(const struct run *run, struct pollfd polls[RUN_POLLS])
{
	uint64_t now = clock_boot_ms();

	polls[0] = (struct pollfd){ -1, POLLIN, 0 };
	polls[1] = (struct pollfd){ -1, POLLIN, 0 };
	if (!run_is_on(run))
		return -1;
	if (!run->is_link_lost)
		polls[0].fd = run->box.link;
	polls[1].fd = run->box.pidfd;
	if (run->killed_for != 0)
		return -1;
	return run->deadline_ms > now ? (int)(run->deadline_ms - now) : 0;
}

void
run_kill(struct run *run, enum yard_end why)
{
	if (run->killed_for == 0)
		run->killed_for = why;
	box_kill(&run->box);
}

/* The box's one word. After it the box has little time to end. */
static void
hear(struct run *run)
{
	struct box_answer answer;
	int fds[PACKET_FDS];
	int r = packet_receive(run->box.link, &answer, sizeof(answer), fds);
	bool is_good;

	if (r == -EAGAIN)
		return;
	run->is_link_lost = r != PACKET_GOT;
	if (run->is_link_lost)
		return;
	is_good = box_answer_decode(&answer, packet_count_fds(fds)) == 0 &&
	    answer.head.verb == run->awaited && !run->has_answer;
	packet_close_fds(fds);
	if (!is_good) {
		run->has_answer = false;
		run_kill(run, YARD_END_SILENT);
		return;
	}
	run->has_answer = true;
	run->answer = answer;
	run->deadline_ms = clock_boot_ms() + LIMIT_BOX_GRACE_MS;
}

bool
run_step(struct run *run, const struct pollfd polls[RUN_POLLS])
{
	if (!run_is_on(run))
		return false;
	/* A packet that was sent is there before the end of its sender. */
	if (!run->is_link_lost &&
	    (polls[0].revents != 0 || polls[1].revents != 0))
		hear(run);
	if (polls[1].revents != 0) {
		run->ended_ms = clock_boot_ms();
		run->status = box_reap(&run->box, &run->usage);
		run->box.pid = 0;
		return true;
	}
	if (run->killed_for == 0 && clock_boot_ms() >= run->deadline_ms)
		run_kill(run, YARD_END_TIME);
	return false;
}

void
run_abandon(struct run *run)
{
	if (!run_is_on(run))
		return;
	run_kill(run, YARD_END_ORDER);
	run->status = box_reap(&run->box, &run->usage);
	run->box.pid = 0;
}

static uint32_t
milliseconds(const struct timeval *time)
{
	return (uint32_t)(time->tv_sec * 1000 + time->tv_usec / 1000);
}

/*
 * PID 1 of a box cannot be killed from inside. A driver that ended by SIGKILL
 * (128 + 9 as init's status) was hit by the kernel, or ended itself because
 * its tool was: tools cannot send that signal.
 */
static bool
is_foreign_kill(const struct run *run)
{
	if (WIFSIGNALED(run->status))
		return WTERMSIG(run->status) == SIGKILL;
	return WEXITSTATUS(run->status) == 128 + SIGKILL;
}

static void
tell_silence(const struct run *run, struct yard_answer *answer)
{
	int status = WIFEXITED(run->status) ? WEXITSTATUS(run->status) : 0;

	answer->end = YARD_END_SILENT;
	if (WIFSIGNALED(run->status))
		answer->signal = (uint32_t)WTERMSIG(run->status);
	else if (status > 128 && status <= 128 + 64)
		answer->signal = (uint32_t)status - 128;
	else
		answer->status = (uint32_t)status;
}

void
run_tell(const struct run *run, struct yard_answer *answer)
{
	answer->wall_ms = (uint32_t)(run->ended_ms - run->started_ms);
	answer->cpu_ms = milliseconds(&run->usage.ru_utime) +
	    milliseconds(&run->usage.ru_stime);
	answer->peak_kib = (uint32_t)run->usage.ru_maxrss;
	if (run->has_answer) {
		answer->end = YARD_END_VERDICT;
		answer->verdict = run->answer.verdict;
	} else if (run->killed_for != 0) {
		answer->end = run->killed_for;
	} else if (is_foreign_kill(run)) {
		answer->end = YARD_END_FOREIGN;
	} else {
		tell_silence(run, answer);
	}
}
