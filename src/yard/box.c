/* SPDX-License-Identifier: ISC
 *
 * Theory of operation. A box is one clone(2) of the yard with new namespaces
 * for all that has one, and the steps below, taken by the child on itself;
 * then it becomes init, which starts the driver. The child shares the yard's
 * memory until that exec, and the yard waits: no page table is copied, a
 * failed step is simply written down, and a box either runs complete or not at
 * all. In return a step may only make system calls, touch nothing but its
 * struct making, and change no attribute of the memory (dumpable).
 *
 * The child maps the one uid it has to 1000: the box has no root, and as the
 * map needs no privilege neither does the yard. Its capabilities are those of
 * its own user namespace; it uses them to exchange its root for a clone of its
 * capability's tree and to mount a scratch space, and drops them for good.
 * Mounts it did not make are locked in it by the kernel, read-only as they are.
 *
 * The order matters. Mounting ends with Landlock, and Landlock needs fds that
 * the box must not have; so these are closed after it. Fds are arranged before
 * the limit on their number, which lies below them. The filter comes last.
 *
 * It distrusts what will run in the box. It guarantees that nothing runs in
 * one of whose walls a step failed.
 */
#include "yard/box.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/spawn.h"
#include "confine/filter.h"
#include "confine/landlock.h"
#include "confine/process.h"
#include "wire/box_msg.h"
#include "yard/mount.h"
#include "yard/ration.h"

#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif

/* Above all fds of a box, so that moving one cannot hit another. */
#define PARK_FD	    128
#define BOX_FDS	    (7 + LIMIT_TOOLS)
#define BOX_UID	    1000
#define STACK_BYTES (64 * 1024)

/* Views, loader, tools, init, driver, scratch. */
#define BOX_ROOMS (PLACE_ROOMS + LIMIT_TOOLS + 3)

struct making {
	const struct box_plan *plan;
	int link; /* the box's end */
	int null;
	int filter; /* the tool's */
	int scratch; /* -1 until it is made */
	char uid_map[32];
	char gid_map[32];
	char scratch_bytes[24];
	char scratch_files[16];
	const char *step; /* the one under way */
	int error; /* errno of the one that failed */
};

static int
map_ids(struct making *making)
{
	int r = file_put("/proc/self/setgroups", "deny");

	if (r == 0)
		r = file_put("/proc/self/uid_map", making->uid_map);
	return r < 0 ? r : file_put("/proc/self/gid_map", making->gid_map);
}

/*
 * Where the machine's memory ends, a box goes before what else it is used for.
 * Refused where the yard stands higher already, which is as good.
 */
static int
step_forward(struct making *making)
{
	int r = file_put("/proc/self/oom_score_adj", LIMIT_BOX_OOM_SCORE);

	(void)making;
	return r == -EACCES ? 0 : r;
}

/* A clone of the tree is a mount of the box's own, which pivot_root needs. */
static int
exchange_root(struct making *making)
{
	cleanup_fd int tree = open_tree(AT_FDCWD, making->plan->place->path,
	    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
	int r;

	if (tree < 0)
		return -errno;
	r = mount_attach(tree, AT_FDCWD, "/");
	return r < 0 ? r : mount_become_root(tree);
}

static int
mount_scratch(struct making *making)
{
	const struct mount_option options[] = {
		{ "size", making->scratch_bytes },
		{ "nr_inodes", making->scratch_files },
		{ "mode", "0700" },
		{ NULL, NULL },
	};
	int r = mount_new("tmpfs", options);

	if (r < 0)
		return r;
	making->scratch = r;
	r = mount_attach(making->scratch, AT_FDCWD, "/tmp");
	if (r == 0 && chdir("/tmp") < 0)
		r = -errno;
	return r;
}

static int
leave_session(struct making *making)
{
	if (setsid() < 0)
		return -errno;
	if ((making->plan->walls & 1u << WALL_UTS_NAMESPACE) == 0)
		return 0;
	return sethostname("box", 3) < 0 || setdomainname("", 0) < 0 ? -errno
								     : 0;
}

static int
drop_privileges(struct making *making)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3,
		0 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };
	int bits = SECURE_ALL_BITS | SECURE_ALL_LOCKS;

	(void)making;
	for (int c = 0; prctl(PR_CAPBSET_DROP, c, 0, 0, 0) == 0; c++)
		;
	if (errno != EINVAL) /* of the first number that is none */
		return -errno;
	bits &= ~(SECBIT_KEEP_CAPS);
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECUREBITS, bits, 0, 0, 0) < 0 ||
	    syscall(SYS_capset, &head, none) < 0)
		return -errno;
	/* A change of credentials clears it, so it comes after. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return -errno;
	return process_no_new_privileges();
}

static int
enter_landlock(struct making *making)
{
	const struct box_plan *plan = making->plan;
	struct landlock_room rooms[BOX_ROOMS];
	size_t n = plan->place->n_rooms;

	if ((plan->walls & 1u << WALL_LANDLOCK) == 0)
		return 0;
	memcpy(rooms, plan->place->rooms, n * sizeof(rooms[0]));
	for (size_t i = 0; i < LIMIT_TOOLS; i++) {
		if (plan->tools[i] >= 0)
			rooms[n++] = (struct landlock_room){ plan->tools[i],
				LANDLOCK_READ | LANDLOCK_EXECUTE };
	}
	rooms[n++] = (struct landlock_room){ plan->root->init,
		LANDLOCK_READ | LANDLOCK_EXECUTE };
	rooms[n++] = (struct landlock_room){ plan->root->driver,
		LANDLOCK_READ | LANDLOCK_EXECUTE };
	rooms[n++] = (struct landlock_room){ making->scratch,
		LANDLOCK_READ | LANDLOCK_WRITE };
	return landlock_enter(rooms, n, false);
}

struct seat {
	int from;
	int to;
	int flags; /* of dup3 */
};

static size_t
seat_all(const struct making *making, struct seat seats[BOX_FDS])
{
	const struct box_plan *plan = making->plan;
	size_t n = 0;

	for (int i = 0; i < SPAWN_FIRST_FD; i++)
		seats[n++] = (struct seat){ making->null, i, 0 };
	seats[n++] = (struct seat){ making->link, SPAWN_FIRST_FD, 0 };
	seats[n++] = (struct seat){ plan->root->init, BOX_INIT_FD, O_CLOEXEC };
	seats[n++] = (struct seat){ making->filter, BOX_FILTER_FD, 0 };
	seats[n++] = (struct seat){ plan->root->driver, BOX_DRIVER_FD, 0 };
	for (int i = 0; i < LIMIT_TOOLS; i++) {
		if (plan->tools[i] >= 0)
			seats[n++] = (struct seat){ plan->tools[i],
				LIMIT_BOX_PROGRAM_FD + i, 0 };
	}
	return n;
}

/* Every fd of the yard that has no seat is closed. */
static int
arrange_fds(struct making *making)
{
	struct seat seats[BOX_FDS];
	size_t n = seat_all(making, seats);
	unsigned int next = 0;

	for (size_t i = 0; i < n; i++) {
		seats[i].from = fcntl(seats[i].from, F_DUPFD_CLOEXEC, PARK_FD);
		if (seats[i].from < 0)
			return -errno;
	}
	/* Seats are in the order of their numbers: what lies between is
	 * closed on the way. */
	for (size_t i = 0; i < n; i++) {
		unsigned int to = (unsigned int)seats[i].to;

		if (dup3(seats[i].from, seats[i].to, seats[i].flags) < 0)
			return -errno;
		if (to > next && syscall(SYS_close_range, next, to - 1, 0u) < 0)
			return -errno;
		next = to + 1;
	}
	return syscall(SYS_close_range, next, ~0u, 0u) < 0 ? -errno : 0;
}

static int
take_ration(struct making *making)
{
	return ration_take(making->plan->settings);
}

static int
enter_filter(struct making *making)
{
	return filter_enter(&making->plan->filters->driver);
}

static int
become_init(struct making *making)
{
	static const char *const arguments[] = { "sandcastle-init", NULL };
	static const char *const environment[] = { NULL };

	(void)making;
	(void)syscall(SYS_execveat, BOX_INIT_FD, "", arguments, environment,
	    AT_EMPTY_PATH);
	return -errno;
}

static const struct {
	const char *name;
	int (*take)(struct making *making);
} steps[] = {
	{ "its user id", map_ids },
	{ "its place before the OOM killer", step_forward },
	{ "its root", exchange_root },
	{ "its scratch space", mount_scratch },
	{ "its session", leave_session },
	{ "dropping privileges", drop_privileges },
	{ "Landlock", enter_landlock },
	{ "its descriptors", arrange_fds },
	{ "its limits", take_ration },
	{ "its filter", enter_filter },
	{ "starting init", become_init },
};

static int
take_steps(void *context)
{
	struct making *making = context;

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		int r;

		making->step = steps[i].name;
		r = steps[i].take(making);
		if (r < 0) {
			making->error = -r;
			break;
		}
	}
	_exit(1);
}

static void
write_orders(struct making *making)
{
	(void)snprintf(making->uid_map, sizeof(making->uid_map), "%d %u 1",
	    BOX_UID, geteuid());
	(void)snprintf(making->gid_map, sizeof(making->gid_map), "%d %u 1",
	    BOX_UID, getegid());
	(void)snprintf(making->scratch_bytes, sizeof(making->scratch_bytes),
	    "%llu", (unsigned long long)making->plan->settings->tmp_limit);
	(void)snprintf(making->scratch_files, sizeof(making->scratch_files),
	    "%d", LIMIT_BOX_INODES);
}

/* An open file has an offset and flags, where one box could leave a word for
 * the next: each gets its own. */
static int
open_files(struct making *making)
{
	making->null = file_reopen(making->plan->root->null, O_RDWR);
	if (making->null < 0)
		return making->null;
	making->filter = file_reopen_readonly(making->plan->filters->tool);
	return making->filter < 0 ? making->filter : 0;
}

static int
clone_flags(const struct box_plan *plan)
{
	int flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET |
	    CLONE_NEWIPC | CLONE_PIDFD | CLONE_VM | CLONE_VFORK | SIGCHLD;

	if (plan->walls & 1u << WALL_UTS_NAMESPACE)
		flags |= CLONE_NEWUTS;
	if (plan->walls & 1u << WALL_CGROUP_NAMESPACE)
		flags |= CLONE_NEWCGROUP;
	return flags;
}

static void
making_done(struct making *making)
{
	cleanup_fd_at(&making->link);
	cleanup_fd_at(&making->null);
	cleanup_fd_at(&making->filter);
}

static int
start(struct making *making, struct box *box)
{
	/* One box at a time, and the yard sleeps while its child uses it. */
	static _Alignas(64) char stack[STACK_BYTES];
	int r;

	making->step = "its files";
	r = open_files(making);
	if (r < 0)
		return r;
	making->step = "its namespaces";
	box->pid = clone(take_steps, stack + STACK_BYTES,
	    clone_flags(making->plan), making, &box->pidfd);
	return box->pid < 0 ? -errno : -making->error;
}

int
box_make(
    const struct box_plan *plan, struct box *ret_box, const char **ret_step)
{
	struct making making = { .plan = plan,
		.null = -1,
		.filter = -1,
		.scratch = -1,
		.step = "its link" };
	struct box box = { .pid = -1, .pidfd = -1 };
	int ends[2];
	int r = packet_pair(ends);

	*ret_step = making.step;
	if (r < 0)
		return r;
	box.link = ends[0];
	making.link = ends[1];
	write_orders(&making);
	r = start(&making, &box);
	making_done(&making);
	if (r == 0) {
		*ret_box = box;
		return 0;
	}
	*ret_step = making.step;
	if (box.pid < 0)
		(void)close(box.link);
	else
		(void)box_reap(&box, NULL);
	return r;
}

void
box_kill(const struct box *box)
{
	(void)syscall(SYS_pidfd_send_signal, box->pidfd, SIGKILL, NULL, 0u);
}

int
box_reap(struct box *box, struct rusage *ret_usage)
{
	int status = 0;

	while (wait4(box->pid, &status, 0, ret_usage) < 0 && errno == EINTR)
		;
	cleanup_fd_at(&box->pidfd);
	cleanup_fd_at(&box->link);
	return status;
}
