/* SPDX-License-Identifier: ISC
 *
 * sandcastle-supervisor: starts, restarts and stops the three processes that
 * do the work. libc only; parses nothing but its own arguments.
 *
 * Theory of operation
 *
 *   The config file is read once per generation into a sealed memfd and handed
 *   to keep, yard and core, which each read it for themselves; a generation is
 *   in force only when all three said OK. The supervisor then makes two packet
 *   pairs, core ↔ keep and core ↔ yard, gives each process its end, and is
 *   silent until something happens:
 *
 *   a part ends      → it is started again, told the generation in force, and
 *                      new pairs are handed out. The others see their old pair
 *                      close and clean up what belonged to it. A part that
 *                      keeps ending waits longer each time, up to 10 s.
 *   SIGHUP           → the file is read again. A new yard is started for it,
 *                      since a yard has left the host's files behind and can
 *                      read only one config; keep and core take both. Refused
 *                      by one: everything stays as it was.
 *   SIGTERM, SIGINT  → the core is told to finish; when it has ended, so do
 *                      the others. A second one makes that urgent.
 *
 *   All children get SIGKILL when the supervisor ends, however it ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/paths.h"
#include "supervisor/lock.h"
#include "supervisor/part.h"

/* Delay before a part that ended is started again, doubling. */
#define RESTART_MS     100
#define RESTART_MAX_MS 10000
/* A part that ran so long has earned a fresh start. */
#define RESTART_FORGET_MS 60000

/* Yards of generations before: the one that has the box, and idle ones that
 * are just ending. */
#define OLD_YARDS 4

enum {
	KEEP = 0,
	YARD,
	CORE,
	PARTS,
	SIGNALS = PARTS + OLD_YARDS, /* the last of what is polled */
};

struct supervisor {
	const char *config_path;
	int config; /* sealed memfd of the generation in force */
	uint32_t generation;
	struct part parts[PARTS];
	uint64_t started_ms[PARTS];
	uint64_t restart_at_ms[PARTS]; /* 0: it runs */
	uint64_t delay_ms[PARTS];
	struct part old_yards[OLD_YARDS]; /* finishing after a reload */
	int signals;
	bool has_terminal; /* it was started in front of one */
	bool is_stopping;
	uint64_t kill_at_ms; /* the core, told to stop at once; 0: never */
	bool core_has_crashed;
};

static int
read_config(const struct supervisor *s, struct fault *fault)
{
	cleanup_free char *bytes = NULL;
	size_t n;
	int fd;
	int r;

	if (paths_check_config(s->config_path, fault) < 0)
		return -1;
	r = file_slurp(
	    AT_FDCWD, s->config_path, LIMIT_CONFIG_BYTES, &bytes, &n);
	if (r == -EFBIG)
		return fault_set(fault, FAULT_CONFIG,
		    "%s: longer than %d bytes", s->config_path,
		    LIMIT_CONFIG_BYTES);
	if (r < 0)
		return fault_set(fault, FAULT_CONFIG, "%s: cannot read: %s",
		    s->config_path, strerror(-r));
	fd = file_sealed_from("config", bytes, n);
	if (fd < 0)
		return fault_set(
		    fault, FAULT_SYSTEM, "memfd: %s", strerror(-fd));
	return fd;
}

static int
give_config(struct supervisor *s, struct part *part, int config,
    uint32_t generation, struct fault *fault)
{
	struct super_order order;

	super_order_encode(&order, SUPER_CONFIG, 0, generation);
	order.has_crashed =
	    part->peer == SUPER_PEER_CORE && s->core_has_crashed;
	return part_ask(part, &order, config, fault);
}

static int
commit(struct part *part, uint32_t generation, struct fault *fault)
{
	struct super_order order;

	super_order_encode(&order, SUPER_COMMIT, 0, generation);
	return part_ask(part, &order, -1, fault);
}

static void
give_end(struct part *part, enum super_peer peer, uint32_t generation, int end)
{
	struct super_order order;

	super_order_encode(&order, SUPER_LINK, 0, generation);
	order.peer = peer;
	part_tell(part, &order, end);
	(void)close(end);
}

/* A new pair between the core and the keep or the yard. */
static int
link_core_to(struct supervisor *s, struct part *other, struct fault *fault)
{
	int ends[2];
	int r = packet_pair(ends);

	if (r < 0)
		return fault_set(
		    fault, FAULT_SYSTEM, "socketpair: %s", strerror(-r));
	give_end(&s->parts[CORE], other->peer, s->generation, ends[0]);
	give_end(other, SUPER_PEER_CORE, s->generation, ends[1]);
	return 0;
}

static int
start_all(struct supervisor *s, struct fault *fault)
{
	s->generation = 1;
	s->config = read_config(s, fault);
	if (s->config < 0)
		return -1;
	for (int i = 0; i < PARTS; i++) {
		s->started_ms[i] = clock_boot_ms();
		if (part_start(&s->parts[i], fault) < 0)
			return -1;
	}
	for (int i = 0; i < PARTS; i++) {
		if (give_config(s, &s->parts[i], s->config, 1, fault) < 0)
			return -1;
	}
	for (int i = 0; i < PARTS; i++) {
		if (commit(&s->parts[i], 1, fault) < 0)
			return -1;
	}
	if (link_core_to(s, &s->parts[KEEP], fault) < 0)
		return -1;
	return link_core_to(s, &s->parts[YARD], fault);
}

static int
restart_part(struct supervisor *s, int i, struct fault *fault)
{
	struct part *part = &s->parts[i];

	s->started_ms[i] = clock_boot_ms();
	if (part_start(part, fault) < 0)
		return -1;
	if (give_config(s, part, s->config, s->generation, fault) < 0 ||
	    commit(part, s->generation, fault) < 0)
		return -1;
	if (i != CORE)
		return s->parts[CORE].link < 0 ? 0
					       : link_core_to(s, part, fault);
	for (int other = 0; other < CORE; other++) {
		if (s->parts[other].link >= 0 &&
		    link_core_to(s, &s->parts[other], fault) < 0)
			return -1;
	}
	return 0;
}

static void
plan_restart(struct supervisor *s, int i)
{
	uint64_t now = clock_boot_ms();

	if (now - s->started_ms[i] > RESTART_FORGET_MS || s->delay_ms[i] == 0)
		s->delay_ms[i] = RESTART_MS;
	s->restart_at_ms[i] = now + s->delay_ms[i];
	s->delay_ms[i] *= 2;
	if (s->delay_ms[i] > RESTART_MAX_MS)
		s->delay_ms[i] = RESTART_MAX_MS;
}

static void
restart_due(struct supervisor *s)
{
	for (int i = 0; i < PARTS; i++) {
		struct fault fault = { 0 };

		if (s->restart_at_ms[i] == 0 || s->is_stopping ||
		    s->restart_at_ms[i] > clock_boot_ms())
			continue;
		s->restart_at_ms[i] = 0;
		if (restart_part(s, i, &fault) == 0) {
			log_notice("%s runs again", s->parts[i].program);
			continue;
		}
		log_error("%s", fault.text);
		part_end(&s->parts[i]);
		plan_restart(s, i);
	}
}

static void
part_ended(struct supervisor *s, int i)
{
	int status = part_reap(&s->parts[i]);
	const char *program = s->parts[i].program;
	bool by_signal = WIFSIGNALED(status);

	if (i == CORE)
		s->core_has_crashed = status != 0;
	if (s->is_stopping && i == CORE && status == 0)
		return;
	log_error("%s ended: %s %d", program, by_signal ? "signal" : "status",
	    by_signal ? WTERMSIG(status) : WEXITSTATUS(status));
	plan_restart(s, i);
}

/*
 * It finishes its box, if it has one, and ends. Only yards that neither have
 * one nor end can take all the room, and then one of them has to go.
 */
static void
retire_yard(struct supervisor *s, const struct part *yard)
{
	struct super_order order;
	int i = 0;

	while (i < OLD_YARDS - 1 && s->old_yards[i].child.pidfd >= 0)
		i++;
	part_end(&s->old_yards[i]);
	s->old_yards[i] = *yard;
	super_order_encode(&order, SUPER_STOP, 0, s->generation);
	part_tell(&s->old_yards[i], &order, -1);
}

/*
 * The new generation is in force, and there is no way back: a part may have
 * put it in force already. One that does not is ended, and started again with
 * it. The new yard takes the place of the old.
 */
static void
change_over(struct supervisor *s, struct part *yard, int config)
{
	struct part old = s->parts[YARD];
	struct fault fault = { 0 };

	s->generation++;
	(void)close(s->config);
	s->config = config;
	s->parts[YARD] = *yard;
	s->started_ms[YARD] = clock_boot_ms();
	for (int i = 0; i < PARTS; i++) {
		if (commit(&s->parts[i], s->generation, &fault) == 0)
			continue;
		log_error("%s", fault.text);
		spawn_kill(&s->parts[i].child);
	}
	if (link_core_to(s, &s->parts[YARD], &fault) < 0) {
		log_error("%s", fault.text);
		spawn_kill(&s->parts[CORE].child);
	}
	retire_yard(s, &old);
}

static int
reload(struct supervisor *s, struct fault *fault)
{
	uint32_t generation = s->generation + 1;
	struct part yard = s->parts[YARD];
	cleanup_fd int config = -1;

	if (s->parts[KEEP].link < 0 || s->parts[CORE].link < 0 ||
	    s->parts[YARD].link < 0)
		return fault_set(fault, FAULT_SYSTEM,
		    "a process is just being restarted; try again");
	config = read_config(s, fault);
	if (config < 0)
		return -1;
	yard.child.pidfd = -1;
	if (give_config(s, &s->parts[CORE], config, generation, fault) < 0 ||
	    give_config(s, &s->parts[KEEP], config, generation, fault) < 0 ||
	    part_start(&yard, fault) < 0)
		return -1;
	if (give_config(s, &yard, config, generation, fault) < 0) {
		part_end(&yard);
		return -1;
	}
	change_over(s, &yard, take_fd(&config));
	return 0;
}

static void
handle_signal(struct supervisor *s)
{
	struct signalfd_siginfo info;
	struct super_order order;
	struct fault fault = { 0 };

	if (read(s->signals, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo == SIGHUP && s->is_stopping)
		return;
	/* From the kernel it says that the terminal is gone. */
	if (info.ssi_signo == SIGHUP &&
	    !(s->has_terminal && info.ssi_code == SI_KERNEL)) {
		if (reload(s, &fault) == 0)
			log_notice("generation %u is in force", s->generation);
		else
			log_error(
			    "not reloaded, nothing changed: %s", fault.text);
		return;
	}
	super_order_encode(&order, SUPER_STOP, 0, s->generation);
	order.is_urgent = s->is_stopping;
	log_notice(s->is_stopping ? "stopping now" : "stopping: finishing");
	if (s->is_stopping && s->kill_at_ms == 0)
		s->kill_at_ms = clock_boot_ms() + LIMIT_STOP_MS + PART_END_MS;
	s->is_stopping = true;
	part_tell(&s->parts[CORE], &order, -1);
}

static int
wait_ms(const struct supervisor *s)
{
	uint64_t now = clock_boot_ms();
	uint64_t soonest = s->kill_at_ms != 0 ? s->kill_at_ms : UINT64_MAX;

	/* While it stops, nothing is started again. */
	for (int i = 0; i < PARTS && !s->is_stopping; i++) {
		if (s->restart_at_ms[i] != 0 && s->restart_at_ms[i] < soonest)
			soonest = s->restart_at_ms[i];
	}
	if (soonest == UINT64_MAX)
		return -1;
	return soonest <= now ? 0 : (int)(soonest - now);
}

static void
kill_overdue(struct supervisor *s)
{
	if (s->kill_at_ms == 0 || clock_boot_ms() < s->kill_at_ms)
		return;
	log_error("%s does not end", s->parts[CORE].program);
	s->kill_at_ms = 0;
	spawn_kill(&s->parts[CORE].child);
}

/* Until the core has ended after it was told to stop. */
static void
supervise(struct supervisor *s)
{
	while (!s->is_stopping || s->parts[CORE].child.pidfd >= 0) {
		struct pollfd p[SIGNALS + 1];

		for (int i = 0; i < PARTS; i++)
			p[i] = (struct pollfd){ s->parts[i].child.pidfd, POLLIN,
				0 };
		for (int i = 0; i < OLD_YARDS; i++)
			p[PARTS + i] =
			    (struct pollfd){ s->old_yards[i].child.pidfd,
				    POLLIN, 0 };
		p[SIGNALS] = (struct pollfd){ s->signals, POLLIN, 0 };
		if (poll(p, SIGNALS + 1, wait_ms(s)) < 0)
			continue;
		for (int i = 0; i < PARTS; i++) {
			if (p[i].revents != 0)
				part_ended(s, i);
		}
		for (int i = 0; i < OLD_YARDS; i++) {
			if (p[PARTS + i].revents != 0)
				(void)part_reap(&s->old_yards[i]);
		}
		if (p[SIGNALS].revents != 0)
			handle_signal(s);
		restart_due(s);
		kill_overdue(s);
	}
}

static int
watch_signals(void)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGHUP);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGINT);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	(void)signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void
describe_parts(struct supervisor *s, char *core, char *keep, char *run)
{
	s->parts[KEEP] = (struct part){ .peer = SUPER_PEER_KEEP,
		.program = "sandcastle-keep",
		.user = "sandcastle-keep",
		.arguments = { "sandcastle-keep", "serve", "--state", keep } };
	s->parts[YARD] = (struct part){ .peer = SUPER_PEER_YARD,
		.program = "sandcastle-yard",
		.user = "sandcastle-yard",
		.arguments = { "sandcastle-yard" } };
	s->parts[CORE] = (struct part){ .peer = SUPER_PEER_CORE,
		.program = "sandcastle-core",
		.user = "sandcastle",
		.without_network = true,
		.arguments = {
		    "sandcastle-core", "--state", core, "--run", run } };
	for (int i = 0; i < OLD_YARDS; i++)
		s->old_yards[i].child.pidfd = -1;
	for (int i = 0; i < PARTS; i++) {
		s->parts[i].child.pidfd = -1;
		s->parts[i].link = -1;
	}
}

static int
read_arguments(
    struct supervisor *s, int argc, char **argv, const char **ret_lock)
{
	static const struct option options[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "core", required_argument, NULL, 'o' },
		{ "keep", required_argument, NULL, 'k' },
		{ "lock", required_argument, NULL, 'l' },
		{ "run", required_argument, NULL, 'r' },
		{ NULL, 0, NULL, 0 },
	};
	char *core = NULL;
	char *keep = NULL;
	char *run = NULL;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 'c':
			s->config_path = optarg;
			break;
		case 'o':
			core = optarg;
			break;
		case 'k':
			keep = optarg;
			break;
		case 'l':
			*ret_lock = optarg;
			break;
		case 'r':
			run = optarg;
			break;
		default:
			return -1;
		}
	}
	if (s->config_path == NULL || core == NULL || keep == NULL ||
	    run == NULL || *ret_lock == NULL || optind != argc)
		return -1;
	describe_parts(s, core, keep, run);
	return 0;
}

/* Whoever finds the lock held may send a signal. */
static int
prepare(struct supervisor *s, const char *lock, struct fault *fault)
{
	s->has_terminal = isatty(STDERR_FILENO) == 1;
	s->signals = watch_signals();
	if (s->signals < 0)
		return fault_set(
		    fault, FAULT_SYSTEM, "signalfd: %s", strerror(errno));
	if (lock_take(lock, fault) < 0)
		return -1;
	for (int i = 0; i < PARTS; i++) {
		if (part_find_user(&s->parts[i], fault) < 0)
			return -1;
	}
	return 0;
}

int
main(int argc, char **argv)
{
	struct supervisor s = { .config = -1, .signals = -1 };
	struct fault fault = { 0 };
	const char *lock = NULL;
	int r;

	log_open("sandcastle");
	if (read_arguments(&s, argc, argv, &lock) < 0) {
		log_error("sandcastle-supervisor is started by sandcastle run");
		return 2;
	}
	r = prepare(&s, lock, &fault);
	if (r == 0)
		r = start_all(&s, &fault);
	if (r == 0) {
		log_notice("running, generation %u", s.generation);
		supervise(&s);
	} else {
		log_error("%s", fault.text);
	}
	for (int i = 0; i < PARTS; i++)
		part_end(&s.parts[i]);
	for (int i = 0; i < OLD_YARDS; i++)
		part_end(&s.old_yards[i]);
	log_notice("stopped");
	return r == 0 ? 0 : 1;
}
