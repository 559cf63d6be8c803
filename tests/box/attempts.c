/* SPDX-License-Identifier: ISC
 *
 * One function for each check of a box but those on second programs.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "probe.h"

static void
network(void)
{
	int pair[2];

	say("inet", socket(AF_INET, SOCK_STREAM, 0));
	say("inet6", socket(AF_INET6, SOCK_DGRAM, 0));
	say("unix", socket(AF_UNIX, SOCK_STREAM, 0));
	say("netlink", socket(AF_NETLINK, SOCK_RAW, 0));
	say("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
}

static void
namespaces(void)
{
	static const struct {
		const char *name;
		int flag;
	} kinds[] = { { "user", CLONE_NEWUSER },
		{ "user+mount", CLONE_NEWUSER | CLONE_NEWNS },
		{ "user+pid", CLONE_NEWUSER | CLONE_NEWPID },
		{ "user+net", CLONE_NEWUSER | CLONE_NEWNET },
		{ "user+ipc", CLONE_NEWUSER | CLONE_NEWIPC },
		{ "user+uts", CLONE_NEWUSER | CLONE_NEWUTS },
		{ "user+cgroup", CLONE_NEWUSER | CLONE_NEWCGROUP },
		{ "user+time", CLONE_NEWUSER | 0x80 } };
	struct {
		uint64_t flags, pidfd, child, parent, signal, stack, size, tls;
	} three = { .flags = CLONE_NEWUSER, .signal = SIGCHLD };
	char name[40];

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		long r;

		/* In a child outside: unshare would change this process. */
		(void)snprintf(name, sizeof(name), "clone %s", kinds[i].name);
		r = syscall(SYS_clone,
		    (unsigned long)(kinds[i].flag & ~0x80) | SIGCHLD, 0, 0, 0,
		    0);
		if (r == 0)
			_exit(0);
		if (r > 0)
			(void)waitpid((pid_t)r, NULL, 0);
		say(name, r);
	}
	{
		long r = syscall(SYS_clone3, &three, sizeof(three));

		if (r == 0)
			_exit(0);
		if (r > 0)
			(void)waitpid((pid_t)r, NULL, 0);
		say("clone3 user", r);
	}
	say("setns", syscall(SYS_setns, 0, 0) < 0 && errno == EINVAL ? 0 : -1);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		(void)snprintf(name, sizeof(name), "unshare %s", kinds[i].name);
		say(name, unshare(kinds[i].flag));
	}
}

static void
paths(void)
{
	static const char *const known[] = { "/proc/self/exe",
		"/proc/1/environ", "/proc/self/mem", "/proc/self/fd",
		"/proc/sys/kernel/core_pattern", "/sys/kernel", "/etc/passwd",
		"/etc/shadow", "/etc/hostname", "/etc/ssl", "/root", "/home",
		"/var/lib", "/var/log", "/run", "/boot", "/opt", "/srv", "/mnt",
		"/dev/null", "/dev/mem", "/dev/kmsg", "/dev/kvm", "/dev/tty",
		"/dev/ptmx", "/dev/shm", "/dev/vsock", "/dev/fuse", "/bin/sh",
		"/usr/bin/env", "/usr/sbin", "/usr/local", "/trees",
		"/tmp/../etc/passwd", "/../../etc/passwd",
		"../../../../etc/passwd" };
	struct stat st;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		say(known[i], stat(known[i], &st));
}

/* An fd is "open"; what a tool must have is not looked at. */
static void
descriptors(void)
{
	char cwd[256] = "";
	char name[40];
	struct stat st;

	for (int fd = 0; fd < 4096; fd++) {
		if (fstat(fd, &st) < 0)
			continue;
		(void)snprintf(name, sizeof(name), "fd %d%s", fd,
		    S_ISDIR(st.st_mode) ? " directory" : "");
		say(name, (long)st.st_mode);
	}
	if (getcwd(cwd, sizeof(cwd)) == NULL)
		(void)strcpy(cwd, "none");
	printf("cwd %s\n", cwd);
}

static void
execution(void)
{
	static const unsigned char code[] = { 0xC3 };
	int fd = scratch_file(0700);
	char *page;
	void *map;

	if (fd < 0 || write(fd, code, sizeof(code)) != sizeof(code))
		say("write", -1);
	map = mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	say("map file as code", map == MAP_FAILED ? -1 : 0);
	map = mmap(NULL, 4096, PROT_READ | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	say("map memory as code", map == MAP_FAILED ? -1 : 0);
	map = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	say("map writable code", map == MAP_FAILED ? -1 : 0);
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	page[0] = (char)0xC3;
	say("make memory code", mprotect(page, 4096, PROT_READ | PROT_EXEC));
	say("change a mode", fchmod(fd, 0755));
}

/* Until the address space ends; says how far it came. */
static void
memory(void)
{
	const size_t step = 16u << 20;
	long steps = 0;

	while (steps < 256 &&
	    mmap(NULL, step, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
		0) != MAP_FAILED)
		steps++;
	printf("mapped %ld MiB\n", steps * 16);
	say("next", steps < 256 ? -1 : 0);
}

static void
identity(void)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3,
		0 };
	struct __user_cap_data_struct sets[2] = { 0 };
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };
	struct utsname name;
	struct timespec boot;

	printf("uid %d gid %d\n", (int)getuid(), (int)getgid());
	if (syscall(SYS_capget, &head, sets) == 0)
		printf("caps %x %x %x\n", sets[0].effective | sets[1].effective,
		    sets[0].permitted | sets[1].permitted,
		    sets[0].inheritable | sets[1].inheritable);
	printf("bounding %d no_new_privs %d\n",
	    prctl(PR_CAPBSET_READ, 0, 0, 0, 0),
	    prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
	if (uname(&name) == 0)
		printf("host %s\n", name.nodename);
	if (clock_gettime(CLOCK_BOOTTIME, &boot) == 0)
		printf("uptime %ld\n", (long)boot.tv_sec);
	say("core limit", setrlimit(RLIMIT_CORE, &limit));
	say("file limit", setrlimit(RLIMIT_NOFILE, &limit));
}

static void *
thread_body(void *at)
{
	*(int *)at = 1;
	return NULL;
}

/* What a tool must be able to do, lest the walls stand by breaking it. */
static void
usable(void)
{
	pthread_t thread;
	int done = 0;
	int fd = scratch_file(0600);

	say("scratch file", fd);
	say("write", write(fd, "x", 1));
	say("thread", -pthread_create(&thread, NULL, thread_body, &done));
	(void)pthread_join(thread, NULL);
	say("thread ran", done ? 0 : -1);
	say("clock", clock_gettime(CLOCK_MONOTONIC, &(struct timespec){ 0 }));
}

static void
processes(void)
{
	long r = syscall(SYS_fork);

	if (r == 0)
		_exit(0);
	say("fork", r);
	r = vfork();
	if (r == 0)
		_exit(0);
	say("vfork", r);
	r = syscall(SYS_clone, (unsigned long)SIGCHLD, 0, 0, 0, 0);
	if (r == 0)
		_exit(0);
	say("clone", r);
	say("kill parent", kill(getppid(), 0));
	say("kill all", kill(-1, 0));
}

static void
full(void)
{
	static char block[65536];
	int fd = scratch_file(0600);
	long kib = 0;
	long files = 0;
	char name[40];
	ssize_t n;

	(void)signal(SIGXFSZ, SIG_IGN);
	while ((n = write(fd, block, sizeof(block))) > 0 && kib < 4l << 20)
		kib += n / 1024;
	say("bytes", n);
	printf("wrote %ld KiB\n", kib);
	(void)!ftruncate(fd, 0);
	for (n = 0; n >= 0 && files < 100000; files++) {
		(void)snprintf(name, sizeof(name), "/tmp/f%ld", files);
		n = mkdir(name, 0700);
	}
	say("files", n);
	printf("made %ld files\n", files);
}

/* Three generations away, without a session, an fd or a parent. */
static void
daemon_away(void)
{
	if (fork() != 0) {
		(void)wait(NULL);
		printf("left\n");
		return;
	}
	(void)setsid();
	if (fork() != 0)
		_exit(0);
	if (fork() != 0)
		_exit(0);
	(void)syscall(SYS_close_range, 0u, ~0u, 0u);
	for (;;)
		(void)poll(NULL, 0, 1000);
}

static void
stop_all(void)
{
	(void)signal(SIGTERM, SIG_IGN);
	if (fork() == 0) {
		(void)signal(SIGTERM, SIG_IGN);
		(void)raise(SIGSTOP);
	}
	(void)raise(SIGSTOP);
	for (;;)
		(void)poll(NULL, 0, 1000);
}

static void
hang(void)
{
	for (;;)
		(void)poll(NULL, 0, 1000);
}

static void
segfault(void)
{
	/* Unmapped in every process: a compiler must not see it. */
	volatile uintptr_t nowhere = 8;

	*(volatile int *)nowhere = 1;
}

static void
foreign_abi(void)
{
	long r;

	__asm__ volatile("int $0x80" : "=a"(r) : "a"(20L) : "memory");
	say("int 0x80", r);
}

static void
x32_abi(void)
{
	say("x32 getpid", syscall(0x40000000 + SYS_getpid));
}

static void
unknown_call(void)
{
	say("call 999", syscall(999));
}

static void
exit_seven(void)
{
	_exit(7);
}

static void
die_by_kill(void)
{
	(void)kill(getpid(), SIGKILL);
}

const struct check attempts[] = {
	{ "network", network },
	{ "namespaces", namespaces },
	{ "paths", paths },
	{ "descriptors", descriptors },
	{ "execution", execution },
	{ "memory", memory },
	{ "identity", identity },
	{ "usable", usable },
	{ "processes", processes },
	{ "full", full },
	{ "daemon", daemon_away },
	{ "stop", stop_all },
	{ "hang", hang },
	{ "segfault", segfault },
	{ "abort", abort },
	{ "foreign", foreign_abi },
	{ "x32", x32_abi },
	{ "unknown", unknown_call },
	{ "seven", exit_seven },
	{ "killed", die_by_kill },
};
const size_t n_attempts = sizeof(attempts) / sizeof(attempts[0]);
