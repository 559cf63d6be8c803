/* SPDX-License-Identifier: ISC
 *
 * The walls of the keep. What the main process forbids itself holds for every
 * opener, dialer and courier too: both Landlock and seccomp pass through fork
 * and exec and can only grow.
 *
 * That is why the main process has no allow-list of system calls. Its list
 * would have to hold what the dialer's name service and the courier's TLS do
 * before they shut themselves in, sockets and connect among it, and so would
 * take nothing from the main process that matters; it would break with every
 * new libc or name service. Instead:
 *  - Landlock: the file system is read-only, and the only programs that can
 *    be executed are ours (no shell, no interpreter).
 *  - A list of what no process below the keep ever does: to listen (no port,
 *    not even by a captured dialer), to look into or take fds out of another
 *    process, to make namespaces or mounts, to load code into the kernel.
 * The walls that differ are each child's own: walls_open here, the dialer's
 * and the courier's in their rooms.
 */
#include "keep/walls.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/spawn.h"
#include "confine/filter.h"
#include "confine/landlock.h"
#include "confine/process.h"

#define NEVER(name) FILTER_ANSWER(name, EPERM)
#define NEVER_WITH(name, flag)                                           \
	{                                                                \
		.call = SCMP_SYS(name), .action = SCMP_ACT_ERRNO(EPERM), \
		.n_checks = 1, .checks = {                               \
			{ 0, SCMP_CMP_MASKED_EQ, (flag), (flag) }        \
		}                                                        \
	}

static const struct filter_rule never[] = {
	NEVER(listen),
	NEVER(accept),
	NEVER(accept4),
	NEVER(ptrace),
	NEVER(process_vm_readv),
	NEVER(process_vm_writev),
	NEVER(process_madvise),
	NEVER(pidfd_getfd),
	NEVER(kcmp),
	NEVER(perf_event_open),
	NEVER(unshare),
	NEVER(setns),
	NEVER_WITH(clone, CLONE_NEWUSER),
	NEVER_WITH(clone, CLONE_NEWNS),
	NEVER_WITH(clone, CLONE_NEWNET),
	NEVER_WITH(clone, CLONE_NEWPID),
	NEVER_WITH(clone, CLONE_NEWIPC),
	NEVER_WITH(clone, CLONE_NEWUTS),
	NEVER_WITH(clone, CLONE_NEWCGROUP),
	/* Its flags lie in memory; without it libc takes clone. */
	FILTER_ANSWER(clone3, ENOSYS),
	NEVER(mount),
	NEVER(umount2),
	NEVER(pivot_root),
	NEVER(chroot),
	NEVER(open_tree),
	NEVER(move_mount),
	NEVER(fsopen),
	NEVER(fsconfig),
	NEVER(fsmount),
	NEVER(fspick),
	NEVER(mount_setattr),
	NEVER(bpf),
	NEVER(userfaultfd),
	FILTER_ANSWER(io_uring_setup, ENOSYS),
	FILTER_ANSWER(io_uring_enter, ENOSYS),
	FILTER_ANSWER(io_uring_register, ENOSYS),
	NEVER(keyctl),
	NEVER(add_key),
	NEVER(request_key),
	NEVER(init_module),
	NEVER(finit_module),
	NEVER(delete_module),
	NEVER(kexec_load),
	NEVER(kexec_file_load),
	NEVER(reboot),
	NEVER(swapon),
	NEVER(swapoff),
	NEVER(acct),
	NEVER(iopl),
	NEVER(ioperm),
};

#define ROOMS 8

static void
add_room(struct landlock_room *rooms, size_t *n, const char *path,
    unsigned int rights)
{
	int fd = open(path, O_PATH | O_CLOEXEC);

	if (fd >= 0)
		rooms[(*n)++] = (struct landlock_room){ fd, rights };
}

/* A kernel without Landlock is the business of whoever reads the config. */
static int
enter_rooms(struct landlock_room *rooms, size_t n, bool with_network)
{
	int r = landlock_enter(rooms, n, with_network);

	for (size_t i = 0; i < n; i++)
		(void)close(rooms[i].fd);
	return r == -EOPNOTSUPP ? 0 : r;
}

static int
serve_landlock(void)
{
	struct landlock_room rooms[ROOMS];
	char programs[768];
	size_t n = 0;

	if (spawn_path("", programs, sizeof(programs)) < 0)
		return -ENOENT;
	add_room(rooms, &n, "/", LANDLOCK_READ);
	add_room(rooms, &n, "/dev/null", LANDLOCK_READ | LANDLOCK_WRITE);
	add_room(rooms, &n, programs, LANDLOCK_EXECUTE);
	add_room(rooms, &n, SANDCASTLE_LIBEXEC, LANDLOCK_EXECUTE);
	/* Where the loader is that every program names. */
	add_room(rooms, &n, "/lib", LANDLOCK_EXECUTE);
	add_room(rooms, &n, "/lib64", LANDLOCK_EXECUTE);
	return enter_rooms(rooms, n, true);
}

int
walls_secret(void)
{
	int r = process_undumpable();

	return r < 0 ? r : process_no_new_privileges();
}

int
walls_serve(struct fault *fault)
{
	struct sock_fprog program;
	int r = walls_secret();

	if (r == 0)
		r = serve_landlock();
	if (r < 0)
		return fault_set(fault, FAULT_SYSTEM,
		    "cannot shut itself in: %s", strerror(-r));
	if (filter_compile(never, sizeof(never) / sizeof(never[0]),
		SCMP_ACT_ALLOW, &program, fault) < 0)
		return -1;
	r = filter_enter(&program);
	filter_free(&program);
	return r < 0
	    ? fault_set(fault, FAULT_SYSTEM, "seccomp: %s", strerror(-r))
	    : 0;
}

int
walls_open(const char *state)
{
	struct landlock_room rooms[ROOMS];
	size_t n = 0;
	int r = walls_secret();

	if (r == 0)
		r = process_die_with_parent(getppid());
	if (r == 0)
		r = process_limit(RLIMIT_FSIZE, 0);
	if (r == 0)
		r = process_limit(RLIMIT_NPROC, 0);
	add_room(rooms, &n, state, LANDLOCK_READ);
	return r < 0 ? r : enter_rooms(rooms, n, false);
}
