/* SPDX-License-Identifier: ISC
 *
 * What init, driver and tools may ask of the kernel. Compiled in the yard at
 * its start, before anything hostile is near. An unlisted call is answered
 * EPERM, one that is newer than this table ENOSYS, and a foreign ABI kills.
 *
 * What the tool's filter guarantees beside a small kernel: no process, no
 * socket, no second program, no writable page that can become code.
 */
#include "yard/filters.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/spawn.h"
#include "confine/filter.h"
#include "wire/box_msg.h"

/* Calls from here on were unknown when these tables were written: programs
 * are told that the kernel lacks them, as an old one would. */
#define FIRST_UNKNOWN_CALL 451
#define FIRST_X32_CALL	   0x40000000u

#define ARCH_SET_FS 0x1002

/* What pthread_create(3) asks for, and nothing else. */
#define FLAGS_OF_A_THREAD                                                   \
	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | \
	    CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID |            \
	    CLONE_CHILD_CLEARTID)

/* A new process keeps its namespaces, its parent and its tracer: none. */
#define FLAGS_FORBIDDEN                                                  \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |   \
	    CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_PARENT | \
	    CLONE_PTRACE | CLONE_UNTRACED | CLONE_IO)

/* Below this a tool maps nothing: see BOX_EXEC_ADDRESS. */
#define LOWEST_MAPPING	0x200000u
#define MAP_AT_ANY_COST (MAP_FIXED | MAP_FIXED_NOREPLACE)

/* What a futex operation can be combined with. */
#define FUTEX_WAYS (FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME)

/* What both may. Files: the box's view and its scratch space hold them. */
static const struct filter_rule common[] = {
	FILTER_ALLOW(read),
	FILTER_ALLOW(write),
	FILTER_ALLOW(readv),
	FILTER_ALLOW(writev),
	FILTER_ALLOW(pread64),
	FILTER_ALLOW(pwrite64),
	FILTER_ALLOW(close),
	FILTER_ALLOW(lseek),
	FILTER_ALLOW(ftruncate),
	FILTER_ALLOW(open),
	FILTER_ALLOW(openat),
	FILTER_ALLOW(stat),
	FILTER_ALLOW(fstat),
	FILTER_ALLOW(lstat),
	FILTER_ALLOW(newfstatat),
	FILTER_ALLOW(statx),
	FILTER_ALLOW(access),
	FILTER_ALLOW(faccessat),
	FILTER_ALLOW(faccessat2),
	FILTER_ALLOW(readlink),
	FILTER_ALLOW(readlinkat),
	FILTER_ALLOW(getdents64),
	FILTER_ALLOW(getcwd),
	FILTER_ALLOW(unlink),
	FILTER_ALLOW(unlinkat),
	FILTER_ALLOW(mkdir),
	FILTER_ALLOW(mkdirat),
	FILTER_ALLOW(rmdir),
	FILTER_ALLOW(rename),
	FILTER_ALLOW(renameat),
	FILTER_ALLOW(umask),
	FILTER_ALLOW(poll),
	FILTER_ALLOW(ppoll),
	FILTER_ALLOW(select),
	FILTER_ALLOW(pselect6),
	FILTER_ALLOW(munmap),
	FILTER_ALLOW(brk),
	FILTER_ALLOW(set_robust_list),
	FILTER_ALLOW(set_tid_address),
	FILTER_ALLOW(rseq),
	FILTER_ALLOW(sched_yield),
	FILTER_ALLOW(sched_getaffinity),
	FILTER_ALLOW(getcpu),
	FILTER_ALLOW(rt_sigaction),
	FILTER_ALLOW(rt_sigprocmask),
	FILTER_ALLOW(rt_sigreturn),
	FILTER_ALLOW(sigaltstack),
	FILTER_ALLOW(clock_gettime),
	FILTER_ALLOW(clock_getres),
	FILTER_ALLOW(clock_nanosleep),
	FILTER_ALLOW(nanosleep),
	FILTER_ALLOW(gettimeofday),
	FILTER_ALLOW(time),
	FILTER_ALLOW(getrusage),
	FILTER_ALLOW(restart_syscall),
	FILTER_ALLOW(getrandom),
	FILTER_ALLOW(uname),
	FILTER_ALLOW(getpid),
	FILTER_ALLOW(gettid),
	FILTER_ALLOW(getppid),
	FILTER_ALLOW(getuid),
	FILTER_ALLOW(geteuid),
	FILTER_ALLOW(getgid),
	FILTER_ALLOW(getegid),
	FILTER_ALLOW(getrlimit),
	FILTER_ALLOW(exit),
	FILTER_ALLOW(exit_group),
	FILTER_ALLOW_IF(arch_prctl, FILTER_IS(0, ARCH_SET_FS)),
	/* Neither the exchange of two nor a whiteout, which is a device. */
	FILTER_ALLOW_IF(
	    renameat2, FILTER_LACKS(4, ~(uint64_t)RENAME_NOREPLACE)),
	/* What a libc needs. What merges, evicts or moves pages shows a box
	 * others' pages by its speed, or others by theirs. */
	FILTER_ALLOW_IF(fadvise64, FILTER_UP_TO(3, POSIX_FADV_WILLNEED)),
	FILTER_ALLOW_IF(madvise, FILTER_UP_TO(2, MADV_DONTNEED)),
	FILTER_ALLOW_IF(madvise, FILTER_IS(2, MADV_FREE)),
	FILTER_ALLOW_IF(madvise, FILTER_IS(2, MADV_HUGEPAGE)),
	FILTER_ALLOW_IF(madvise, FILTER_IS(2, MADV_NOHUGEPAGE)),
	FILTER_ALLOW_IF(madvise, FILTER_IS(2, MADV_DONTDUMP)),
	/* Not those that inherit priority: no tool's libraries use them, and
	 * much of what was ever wrong with futexes was theirs. */
	FILTER_ALLOW_IF(
	    futex, FILTER_IS_BUT_FOR(1, FUTEX_WAYS | 1, FUTEX_WAIT)),
	FILTER_ALLOW_IF(futex, FILTER_IS_BUT_FOR(1, FUTEX_WAYS, FUTEX_REQUEUE)),
	FILTER_ALLOW_IF(
	    futex, FILTER_IS_BUT_FOR(1, FUTEX_WAYS | 1, FUTEX_CMP_REQUEUE)),
	FILTER_ALLOW_IF(
	    futex, FILTER_IS_BUT_FOR(1, FUTEX_WAYS, FUTEX_WAIT_BITSET)),
	FILTER_ALLOW_IF(
	    futex, FILTER_IS_BUT_FOR(1, FUTEX_WAYS, FUTEX_WAKE_BITSET)),
	/* No locks, leases, owners or pipe sizes: they reach other boxes by
	 * the files that boxes share, or memory that no limit counts. */
	FILTER_ALLOW_IF(fcntl, FILTER_IS(1, F_DUPFD)),
	FILTER_ALLOW_IF(fcntl, FILTER_IS(1, F_DUPFD_CLOEXEC)),
	FILTER_ALLOW_IF(fcntl, FILTER_IS(1, F_GETFD)),
	FILTER_ALLOW_IF(fcntl, FILTER_IS(1, F_SETFD)),
	FILTER_ALLOW_IF(fcntl, FILTER_IS(1, F_GETFL)),
	FILTER_ALLOW_IF(fcntl, FILTER_IS(1, F_SETFL)),
	/* glibc then tries clone(2), whose flags a filter can read. */
	FILTER_ANSWER(clone3, ENOSYS),
};

static const struct filter_rule driver_only[] = {
	FILTER_ALLOW(dup),
	FILTER_ALLOW(dup2),
	FILTER_ALLOW(dup3),
	FILTER_ALLOW(pipe2),
	FILTER_ALLOW(close_range),
	FILTER_ALLOW(vfork),
	FILTER_ALLOW(fork),
	FILTER_ALLOW(wait4),
	FILTER_ALLOW(waitid),
	FILTER_ALLOW(kill),
	FILTER_ALLOW(tgkill),
	FILTER_ALLOW(capget),
	/* The test box looks at /tmp; a tool would see the host's disk. */
	FILTER_ALLOW(statfs),
	FILTER_ALLOW(fstatfs),
	FILTER_ALLOW_IF(fcntl, FILTER_IS(1, F_GET_SEALS)),
	FILTER_ALLOW_IF(clone, FILTER_LACKS(0, FLAGS_FORBIDDEN)),
	FILTER_ALLOW_IF(recvmsg, FILTER_IS(0, SPAWN_FIRST_FD)),
	FILTER_ALLOW_IF(sendmsg, FILTER_IS(0, SPAWN_FIRST_FD)),
	FILTER_ALLOW_IF(sendto, FILTER_IS(0, SPAWN_FIRST_FD)),
	FILTER_ALLOW_IF(prlimit64, FILTER_IS(0, 0)),
	FILTER_ALLOW_IF(prctl, FILTER_IS(0, PR_SET_NAME)),
	FILTER_ALLOW_IF(prctl, FILTER_IS(0, PR_SET_NO_NEW_PRIVS)),
	FILTER_ALLOW_IF(prctl, FILTER_IS(0, PR_GET_NO_NEW_PRIVS)),
	FILTER_ALLOW_IF(prctl, FILTER_IS(0, PR_GET_SECCOMP)),
	FILTER_ALLOW_IF(prctl, FILTER_IS(0, PR_GET_SECUREBITS)),
	FILTER_ALLOW_IF(prctl, FILTER_IS(0, PR_CAPBSET_READ)),
	FILTER_ALLOW_IF(
	    seccomp, FILTER_IS(0, SECCOMP_SET_MODE_FILTER), FILTER_IS(1, 0)),
	FILTER_ALLOW_IF(mremap, FILTER_LACKS(3, ~1ull)),
	/* Pages are written or run, never both, and never first one and then
	 * the other: code comes from files that are mapped as code. */
	FILTER_ALLOW_IF(mprotect, FILTER_LACKS(2, PROT_EXEC | PROT_GROWSDOWN)),
	FILTER_ALLOW_IF(
	    mmap, FILTER_LACKS(2, PROT_EXEC), FILTER_LACKS(3, MAP_GROWSDOWN)),
	FILTER_ALLOW_IF(mmap, FILTER_IS(2, PROT_READ | PROT_EXEC),
	    FILTER_LACKS(3, MAP_GROWSDOWN | MAP_ANONYMOUS)),
};

static const struct filter_rule tool_only[] = {
	/* abort(3); the driver is out of reach of a SIGKILL. */
	FILTER_ALLOW_IF(tgkill, FILTER_IS(2, SIGABRT)),
	FILTER_ALLOW_IF(clone, FILTER_IS(0, FLAGS_OF_A_THREAD)),
	FILTER_ALLOW_IF(prctl, FILTER_IS(0, PR_SET_NAME)),
	FILTER_ALLOW_IF(prlimit64, FILTER_IS(0, 0), FILTER_IS(2, 0)),
	FILTER_ALLOW_IF(mremap, FILTER_LACKS(3, ~1ull)),
	FILTER_ALLOW_IF(mprotect, FILTER_LACKS(2, PROT_EXEC | PROT_GROWSDOWN)),
	/* The same as the driver's, with no way to the page at
	 * BOX_EXEC_ADDRESS: an address is left to the kernel, which takes high
	 * ones, or is above. */
	FILTER_ALLOW_IF(mmap, FILTER_IS(0, 0), FILTER_LACKS(2, PROT_EXEC),
	    FILTER_LACKS(3, MAP_GROWSDOWN | MAP_AT_ANY_COST)),
	FILTER_ALLOW_IF(mmap, FILTER_IS(0, 0),
	    FILTER_IS(2, PROT_READ | PROT_EXEC),
	    FILTER_LACKS(3, MAP_GROWSDOWN | MAP_AT_ANY_COST | MAP_ANONYMOUS)),
	FILTER_ALLOW_IF(mmap, FILTER_FROM(0, LOWEST_MAPPING),
	    FILTER_LACKS(2, PROT_EXEC), FILTER_LACKS(3, MAP_GROWSDOWN)),
	FILTER_ALLOW_IF(mmap, FILTER_FROM(0, LOWEST_MAPPING),
	    FILTER_IS(2, PROT_READ | PROT_EXEC),
	    FILTER_LACKS(3, MAP_GROWSDOWN | MAP_ANONYMOUS)),
};

/* GHC opens no file before it has this; it wakes its own threads. */
static const struct filter_rule loop_only[] = {
	FILTER_ALLOW(epoll_create),
	FILTER_ALLOW(epoll_ctl),
	FILTER_ALLOW(epoll_wait),
	FILTER_ALLOW_IF(eventfd2, FILTER_IS(1, 0)),
};
static const struct filter_rule tool_loop_only[] = {
	FILTER_ALLOW_IF(pipe2, FILTER_IS(1, 0)),
};

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))
#define RULES_MAX                                             \
	(N_OF(common) + N_OF(driver_only) + N_OF(tool_only) + \
	    N_OF(loop_only) + 16)

struct rules {
	size_t n;
	struct filter_rule list[RULES_MAX];
};

static void
add(struct rules *rules, const struct filter_rule *from, size_t n)
{
	memcpy(rules->list + rules->n, from, n * sizeof(*from));
	rules->n += n;
}

static void
add_exec(struct rules *rules, uint64_t fd, bool is_tool)
{
	struct filter_rule rule = FILTER_ALLOW_IF(execveat, FILTER_IS(0, fd),
	    FILTER_IS(4, AT_EMPTY_PATH), FILTER_IS(1, BOX_EXEC_ADDRESS));

	if (!is_tool)
		rule.n_checks--;
	add(rules, &rule, 1);
}

static void
add_execs(struct rules *rules, bool is_tool)
{
	if (!is_tool) {
		add_exec(rules, BOX_INIT_FD, false);
		add_exec(rules, BOX_DRIVER_FD, false);
	}
	for (uint64_t i = 0; i < LIMIT_TOOLS; i++)
		add_exec(rules, LIMIT_BOX_PROGRAM_FD + i, is_tool);
}

/* Puts the answer to unknown numbers in front; jumps are relative, so what
 * follows stays as it is. */
static void
answer_unknown(struct sock_fprog *program)
{
	const struct sock_filter front[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, FIRST_X32_CALL, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, FIRST_UNKNOWN_CALL, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
	};
	size_t n = program->len + N_OF(front);
	struct sock_filter *list = memory_new(n, sizeof(*list));

	memcpy(list, front, sizeof(front));
	memcpy(
	    list + N_OF(front), program->filter, program->len * sizeof(*list));
	free(program->filter);
	*program = (struct sock_fprog){ (unsigned short)n, list };
}

static int
compile(bool is_tool, bool has_event_loop, struct sock_fprog *ret_program,
    struct fault *fault)
{
	cleanup_free struct rules *rules = memory_new(1, sizeof(*rules));

	add(rules, common, N_OF(common));
	if (is_tool)
		add(rules, tool_only, N_OF(tool_only));
	else
		add(rules, driver_only, N_OF(driver_only));
	if (has_event_loop)
		add(rules, loop_only, N_OF(loop_only));
	if (has_event_loop && is_tool)
		add(rules, tool_loop_only, N_OF(tool_loop_only));
	add_execs(rules, is_tool);
	if (filter_compile(rules->list, rules->n, SCMP_ACT_ERRNO(EPERM),
		ret_program, fault) < 0)
		return -1;
	answer_unknown(ret_program);
	return 0;
}

/* Read-only even as an fd: a box gets this very file. */
static int
keep_program(const struct sock_fprog *program)
{
	cleanup_fd int written = file_sealed_from(
	    "filter", program->filter, program->len * sizeof(*program->filter));

	return written < 0 ? written : file_reopen_readonly(written);
}

int
filters_init(
    bool has_event_loop, struct filters *ret_filters, struct fault *fault)
{
	struct sock_fprog driver;
	struct sock_fprog tool;
	int fd;

	if (compile(false, has_event_loop, &driver, fault) < 0)
		return -1;
	if (compile(true, has_event_loop, &tool, fault) < 0) {
		filter_free(&driver);
		return -1;
	}
	fd = keep_program(&tool);
	filter_free(&tool);
	if (fd < 0) {
		filter_free(&driver);
		return fault_set(fault, FAULT_SYSTEM,
		    "seccomp: cannot keep the tool's filter: %s",
		    strerror(-fd));
	}
	*ret_filters = (struct filters){ driver, fd };
	return 0;
}
