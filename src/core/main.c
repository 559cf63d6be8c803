/* SPDX-License-Identifier: ISC
 *
 * sandcastle-core: decides what is done, and keeps the books.
 *
 * Theory of operation
 *
 *   The core waits for its supervisor: a config, its commit, and one link
 *   each to the keep and the yard. From then on everything that happens on a
 *   link or a clock becomes an event of the pure scheduler (schedule.h), and
 *   the scheduler's actions are performed in this order: lines for the log;
 *   then all that must be written down, in one transaction of the journal;
 *   then orders to the peers. So nothing is sent, run or delivered that the
 *   journal does not know.
 *
 *   A job passes through as letters: the core makes an empty one, a courier
 *   fills it with an input, the core seals it and hands it to the yard
 *   read-only; likewise back with the output. The core never opens an input;
 *   an output is copied into the journal and parsed by nobody here.
 *
 *   It ends when its supervisor's link does, at any time: the next core finds
 *   in the journal what this one had, gives back what was held or running,
 *   and delivers what is finished.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/timerfd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/must.h"
#include "base/spawn.h"
#include "core/links.h"
#include "core/round.h"
#include "core/status.h"
#include "core/walls.h"

static void
take_config(struct core *core, const struct super_order *order, int fd)
{
	struct fault fault = { 0 };
	struct config *config = NULL;
	struct super_answer answer;
	int r = config_read(fd, false, &config, &fault);

	if (r == 0) {
		config_free(core->pending);
		core->pending = config;
		core->pending_generation = order->head.generation;
	}
	if (core->generation == 0)
		core->has_crashed = order->has_crashed;
	super_answer_encode(&answer, order, r < 0 ? fault.text : NULL);
	(void)packet_send(
	    core->supervisor->fd, &answer, sizeof(answer), NULL, 0);
}

static void
commit_config(struct core *core, const struct super_order *order)
{
	struct super_answer answer;
	bool is_known = core->pending != NULL &&
	    order->head.generation == core->pending_generation;

	super_answer_encode(
	    &answer, order, is_known ? NULL : "no such generation");
	(void)packet_send(
	    core->supervisor->fd, &answer, sizeof(answer), NULL, 0);
	if (!is_known)
		return;
	config_free(core->config);
	core->config = core->pending;
	core->pending = NULL;
	core->generation = core->pending_generation;
	core_configure(core);
}

static void
take_link(struct core *core, const struct super_order *order, int *fd)
{
	if (order->peer == SUPER_PEER_KEEP)
		keep_link_set(core, take_fd(fd));
	else if (order->peer == SUPER_PEER_YARD)
		yard_link_set(core, take_fd(fd), order->head.generation);
}

static void
on_supervisor(void *context, uint32_t tag)
{
	struct core *core = context;
	struct super_order order;
	int fds[PACKET_FDS];
	int r =
	    packet_receive(core->supervisor->fd, &order, sizeof(order), fds);

	(void)tag;
	if (r == -EAGAIN)
		return;
	if (r != PACKET_GOT ||
	    super_order_decode(&order, packet_count_fds(fds)) < 0) {
		packet_close_fds(fds);
		core_end(core, 0);
		return;
	}
	switch ((enum super_verb)order.head.verb) {
	case SUPER_CONFIG:
		take_config(core, &order, fds[0]);
		break;
	case SUPER_COMMIT:
		commit_config(core, &order);
		break;
	case SUPER_LINK:
		take_link(core, &order, &fds[0]);
		break;
	case SUPER_STOP:
		core_event_slot(core, EVENT_STOP, 0, order.is_urgent);
		break;
	case SUPER_VERB_END:
	case SUPER_OK:
	case SUPER_REFUSED:
	case SUPER_ANSWER_END:
		break;
	}
	packet_close_fds(fds);
}

/* -- time */

static void
arm(struct core *core)
{
	uint64_t wake = schedule_wake_ms(&core->schedule, core_now_ms());
	uint64_t status = status_due_ms(core);
	struct itimerspec at = { 0 };

	if (core->config != NULL && status < wake)
		wake = status;
	if (core->checkpoint_ms != 0 && core->checkpoint_ms < wake)
		wake = core->checkpoint_ms;
	if (wake != TIME_NEVER) {
		uint64_t boot_ms =
		    wake > CORE_EPOCH_MS ? wake - CORE_EPOCH_MS : 1;

		at.it_value.tv_sec = (time_t)(boot_ms / 1000);
		/* Never zero, which would disarm it. */
		at.it_value.tv_nsec = (long)(boot_ms % 1000) * 1000000 + 1;
	}
	must(timerfd_settime(core->timer->fd, TFD_TIMER_ABSTIME, &at, NULL) ==
	    0);
}

static void
on_timer(void *context, uint32_t tag)
{
	struct core *core = context;
	uint64_t expirations;

	(void)tag;
	(void)!read(core->timer->fd, &expirations, sizeof(expirations));
	if (core->config == NULL)
		return;
	if (round_must_watch(&core->schedule))
		courier_link_measure(core);
	core_event_slot(core, EVENT_TICK, 0, 0);
	if (core->checkpoint_ms != 0 && core_now_ms() >= core->checkpoint_ms) {
		core->checkpoint_ms = 0;
		journal_checkpoint(core->journal);
	}
}

/* Before each wait: what is due on paper, and when to wake. */
static void
on_prepare(uv_prepare_t *prepare)
{
	struct core *core = prepare->data;

	status_write(core);
	arm(core);
}

/* -- start and end */

static int
open_directory(const char *path, struct fault *fault)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd >= 0
	    ? fd
	    : fault_set(fault, FAULT_SYSTEM, "%s: %s", path, strerror(errno));
}

static int
start(
    struct core *core, const char *state, const char *run, struct fault *fault)
{
	cleanup_fd int state_directory = open_directory(state, fault);
	int timer;

	core->run_directory = open_directory(run, fault);
	if (state_directory < 0 || core->run_directory < 0)
		return -1;
	if (clock_boot_id(core->boot_id) < 0)
		return fault_set(
		    fault, FAULT_SYSTEM, "this boot has no id to be read");
	if (journal_open(state, &core->journal, fault) < 0)
		return -1;
	timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (timer < 0 || uv_loop_init(&core->loop) < 0)
		return fault_set(
		    fault, FAULT_SYSTEM, "no timer: %s", strerror(errno));
	core->supervisor =
	    watch_new(&core->loop, SPAWN_FIRST_FD, on_supervisor, core, 0);
	core->timer = watch_new(&core->loop, timer, on_timer, core, 0);
	return walls_enter(state_directory, core->run_directory, fault);
}

static void
init_slots(struct core *core)
{
	for (uint32_t i = 0; i < SCHEDULE_SLOTS; i++) {
		core->slots[i].input = -1;
		core->slots[i].output = -1;
		core->slots[i].link.end = -1;
		core->slots[i].link.letter = -1;
	}
	core->running_yard = -1;
	schedule_init(&core->schedule);
}

static int
read_arguments(
    int argc, char **argv, const char **ret_state, const char **ret_run)
{
	static const struct option options[] = {
		{ "state", required_argument, NULL, 's' },
		{ "run", required_argument, NULL, 'r' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 's')
			*ret_state = optarg;
		else if (option == 'r')
			*ret_run = optarg;
		else
			return -1;
	}
	return *ret_state && *ret_run && optind == argc ? 0 : -1;
}

int
main(int argc, char **argv)
{
	struct core *core = memory_new(1, sizeof(*core));
	struct fault fault = { 0 };
	const char *state = NULL;
	const char *run = NULL;
	uv_prepare_t prepare;

	log_open("core");
	if (read_arguments(argc, argv, &state, &run) < 0) {
		log_error("usage: sandcastle-core --state DIR --run DIR");
		return 64;
	}
	/* A terminal's and the service manager's signals are for the
	 * supervisor. */
	(void)signal(SIGTERM, SIG_IGN);
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGHUP, SIG_IGN);
	(void)signal(SIGPIPE, SIG_IGN);
	init_slots(core);
	if (start(core, state, run, &fault) < 0) {
		log_error("%s", fault.text);
		return 1;
	}
	prepare.data = core;
	(void)uv_prepare_init(&core->loop, &prepare);
	(void)uv_prepare_start(&prepare, on_prepare);
	while (!core->has_ended)
		(void)uv_run(&core->loop, UV_RUN_DEFAULT);
	journal_close(core->journal);
	return core->exit_status;
}
