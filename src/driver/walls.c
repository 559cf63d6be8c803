/* SPDX-License-Identifier: ISC
 *
 * Knocks on every wall of the box it runs in. Runs in the driver of a test
 * box. It trusts nobody's word: each wall is tried by doing what it should
 * refuse. What would do harm where the wall is missing is asked for in a form
 * that cannot succeed, so that the answer alone tells.
 */
#include "driver/walls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "base/spawn.h"
#include "wire/box_msg.h"

#define SCRATCH_FILE "/tmp/wall"
#define ABSENT	     "/wall"

/* The filter's own answers; any other means that the call got past it. */
static bool
was_refused(long result)
{
	return result < 0 && (errno == EPERM || errno == ENOSYS);
}

static bool
try_user(void)
{
	return getuid() != 0 && geteuid() != 0 && setuid(0) < 0 &&
	    setresuid(1, 1, 1) < 0 && setgid(0) < 0;
}

static bool
try_mounts(void)
{
	return was_refused(mount(ABSENT, ABSENT, ABSENT, 0, NULL)) &&
	    was_refused(umount2(ABSENT, MNT_DETACH)) &&
	    was_refused(syscall(SYS_pivot_root, ABSENT, ABSENT)) &&
	    was_refused(chroot(ABSENT)) &&
	    was_refused(syscall(SYS_open_tree, AT_FDCWD, ABSENT, 0)) &&
	    was_refused(syscall(SYS_fsopen, ABSENT, 0)) &&
	    was_refused(syscall(SYS_setns, -1, 0));
}

/* init and this process are all there is. A filter may refuse to ask. */
static bool
try_processes(void)
{
	pid_t self = getpid();

	if (getppid() != 1 || self > LIMIT_BOX_PROCESSES)
		return false;
	for (pid_t pid = 2; pid < 4096; pid++) {
		if (pid != self && kill(pid, 0) == 0)
			return false;
		if (pid != self && errno != ESRCH && errno != EPERM)
			return false;
	}
	return true;
}

static bool
try_network(void)
{
	static const int families[] = { AF_INET, AF_INET6, AF_UNIX, AF_NETLINK,
		AF_PACKET, AF_VSOCK, AF_ALG };
	int pair[2];

	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		if (!was_refused(socket(families[i], SOCK_DGRAM, 0)))
			return false;
	}
	return was_refused(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
}

static bool
try_ipc(void)
{
	return was_refused(shmget(IPC_PRIVATE, 0, 0)) &&
	    was_refused(syscall(SYS_msgget, IPC_PRIVATE + 1, 0)) &&
	    was_refused(syscall(SYS_semget, IPC_PRIVATE, -1, 0)) &&
	    was_refused(syscall(SYS_mq_open, "wall", 0, 0, NULL));
}

static bool
try_name(void)
{
	struct utsname name;

	if (uname(&name) < 0)
		return was_refused(-1);
	return strcmp(name.nodename, "box") == 0 &&
	    was_refused(syscall(SYS_sethostname, NULL, -1));
}

static bool
try_nothing(void)
{
	return true;
}

static bool
try_clock(void)
{
	struct timespec never = { 0, -1 };

	/* The libc checks the time itself, and would not ask the kernel. */
	return was_refused(syscall(SYS_clock_settime, CLOCK_REALTIME, &never));
}

static bool
can_make(const char *path)
{
	cleanup_fd int fd =
	    open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd >= 0)
		(void)unlink(path);
	return fd >= 0 || mkdir(path, 0700) == 0;
}

static bool
try_root(void)
{
	static const char *const absent[] = { "/proc/self", "/sys/kernel",
		"/dev/null", "/dev/shm", "/etc/passwd", "/etc/shadow", "/root",
		"/home", "/boot", "/run", "/srv", "/opt", "/bin/sh",
		"/usr/bin/env", "/usr/sbin", "/var/lib", "/var/tmp",
		"/../../etc/passwd", "/tmp/../../etc/passwd" };
	struct stat st;

	for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++) {
		if (lstat(absent[i], &st) == 0 ||
		    (errno != ENOENT && errno != EACCES))
			return false;
	}
	return !can_make("/wall") && !can_make("/usr/wall") &&
	    !can_make("/usr/lib/wall");
}

static bool
is_no_program(void)
{
	static const char script[] = "#!/wall\n";
	char *const none[] = { NULL };
	cleanup_fd int fd =
	    open(SCRATCH_FILE, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
	void *page;

	if (fd < 0 || write(fd, script, sizeof(script) - 1) < 0)
		return false;
	page = mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (page != MAP_FAILED)
		(void)munmap(page, 1);
	/* Were it run, its interpreter would be missing: ENOENT. */
	return page == MAP_FAILED && execve(SCRATCH_FILE, none, none) < 0 &&
	    errno != ENOENT;
}

static bool
try_scratch(void)
{
	const unsigned long flags = ST_NOSUID | ST_NODEV | ST_NOEXEC;
	struct statfs fs;
	bool is_safe;

	if (statfs("/tmp", &fs) < 0 || fs.f_type != TMPFS_MAGIC)
		return false;
	is_safe = is_no_program();
	(void)unlink(SCRATCH_FILE);
	return is_safe && fs.f_blocks > 0 && fs.f_files > 0 &&
	    fs.f_files <= LIMIT_BOX_INODES &&
	    ((unsigned long)fs.f_flags & flags) == flags;
}

/* Arguments that no kernel takes, so that only the filter can answer so. */
static bool
try_filter(void)
{
	static const long calls[] = { SYS_io_uring_setup, SYS_bpf,
		SYS_perf_event_open, SYS_userfaultfd, SYS_keyctl, SYS_add_key,
		SYS_request_key, SYS_ptrace, SYS_process_vm_readv,
		SYS_process_vm_writev, SYS_pidfd_getfd, SYS_unshare,
		SYS_memfd_create, SYS_memfd_secret, SYS_init_module,
		SYS_finit_module, SYS_kexec_load, SYS_iopl,
		SYS_open_by_handle_at, SYS_fanotify_init, SYS_inotify_init1,
		SYS_mknodat, SYS_personality, SYS_chmod, SYS_fchmod,
		SYS_fchmodat, SYS_setxattr, SYS_syslog, SYS_quotactl };
	char *const none[] = { NULL };

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (!was_refused(syscall(calls[i], -1, -1, -1, -1, -1, -1)))
			return false;
	}
	return was_refused(execve("/wall", none, none)) &&
	    was_refused(
		syscall(SYS_execveat, AT_FDCWD, "/wall", none, none, 0));
}

/* The mode of the root would let anyone read it. */
static bool
try_landlock(void)
{
	cleanup_fd int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 && errno == EACCES;
}

static bool
has_capability(void)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3,
		0 };
	struct __user_cap_data_struct sets[2] = { 0 };

	if (syscall(SYS_capget, &head, sets) < 0)
		return !was_refused(-1);
	return (sets[0].effective | sets[0].permitted | sets[0].inheritable |
		   sets[1].effective | sets[1].permitted |
		   sets[1].inheritable) != 0;
}

static bool
try_privileges(void)
{
	return getuid() != 0 && geteuid() != 0 && getgid() != 0 &&
	    getegid() != 0 && !has_capability() &&
	    prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
}

static bool
is_limited(__rlimit_resource_t resource, rlim_t most)
{
	struct rlimit limit;
	struct rlimit higher;

	if (getrlimit(resource, &limit) < 0 || limit.rlim_max > most ||
	    limit.rlim_max == RLIM_INFINITY)
		return false;
	higher = (struct rlimit){ limit.rlim_max, limit.rlim_max + 1 };
	return setrlimit(resource, &higher) < 0;
}

static bool
try_limits(void)
{
	return is_limited(RLIMIT_CORE, 0) && is_limited(RLIMIT_MEMLOCK, 0) &&
	    is_limited(RLIMIT_MSGQUEUE, 0) &&
	    is_limited(RLIMIT_NOFILE, LIMIT_BOX_FILES) &&
	    is_limited(RLIMIT_NPROC, LIMIT_BOX_PROCESSES) &&
	    is_limited(RLIMIT_AS, RLIM_INFINITY) &&
	    is_limited(RLIMIT_FSIZE, RLIM_INFINITY) &&
	    is_limited(RLIMIT_CPU, RLIM_INFINITY);
}

static bool
is_expected(int fd)
{
	return fd <= SPAWN_FIRST_FD || fd == BOX_FILTER_FD ||
	    (fd >= LIMIT_BOX_PROGRAM_FD &&
		fd < LIMIT_BOX_PROGRAM_FD + LIMIT_TOOLS);
}

static bool
try_descriptors(void)
{
	struct stat st;

	for (int fd = 0; fd < 4096; fd++) {
		if (fstat(fd, &st) < 0)
			continue;
		if (!is_expected(fd) || S_ISDIR(st.st_mode))
			return false;
		if (fd < SPAWN_FIRST_FD && !S_ISCHR(st.st_mode))
			return false;
	}
	return true;
}

static bool (*const tries[WALL_COUNT])(void) = {
	[WALL_USER_NAMESPACE] = try_user,
	[WALL_MOUNT_NAMESPACE] = try_mounts,
	[WALL_PID_NAMESPACE] = try_processes,
	[WALL_NETWORK_NAMESPACE] = try_network,
	[WALL_IPC_NAMESPACE] = try_ipc,
	[WALL_UTS_NAMESPACE] = try_name,
	[WALL_CGROUP_NAMESPACE] = try_nothing,
	[WALL_TIME_NAMESPACE] = try_clock,
	[WALL_ROOT] = try_root,
	[WALL_SCRATCH] = try_scratch,
	[WALL_FILTER] = try_filter,
	[WALL_LANDLOCK] = try_landlock,
	[WALL_PRIVILEGES] = try_privileges,
	[WALL_LIMITS] = try_limits,
	[WALL_DESCRIPTORS] = try_descriptors,
};

uint32_t
walls_try(void)
{
	uint32_t walls = 0;

	for (uint32_t i = 0; i < WALL_COUNT; i++) {
		if (tries[i]())
			walls |= 1u << i;
	}
	return walls;
}
