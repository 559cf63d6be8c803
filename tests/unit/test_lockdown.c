/* SPDX-License-Identifier: ISC
 *
 * The courier's walls, from inside: every system call is made in a child of
 * its own after lockdown_enter(), and what becomes of the child is compared
 * with the list below, which is written down a second time on purpose.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "confine/process.h"
#include "courier/lockdown.h"

#define FILE_BYTES 4096
#define LAST_CALL  480

/* Answered whatever their arguments. */
static const long always[] = { SYS_read, SYS_pread64, SYS_pwrite64, SYS_close,
	SYS_poll, SYS_ppoll, SYS_fstat, SYS_recvfrom, SYS_recvmsg,
	SYS_getsockname, SYS_getpeername, SYS_getsockopt, SYS_connect,
	SYS_openat, SYS_newfstatat, SYS_socket, SYS_socketpair, SYS_brk,
	SYS_munmap, SYS_mremap, SYS_madvise, SYS_futex, SYS_clock_gettime,
	SYS_gettimeofday, SYS_getrandom, SYS_getpid, SYS_rt_sigaction,
	SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_restart_syscall, SYS_exit,
	SYS_exit_group };

/* Answered with some arguments only: tried below, one by one. */
static const long sometimes[] = { SYS_fcntl, SYS_sendto, SYS_setsockopt,
	SYS_mmap, SYS_mprotect };

/* uretprobe and uprobe: kernels from 6.14 on let them pass every filter, and
 * refuse them to whoever was not probed. */
static const long unseen[] = { 335, 336 };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct call {
	long number;
	long a[6];
};

static bool
contains(const long *list, size_t n, long number)
{
	for (size_t i = 0; i < n; i++) {
		if (list[i] == number)
			return true;
	}
	return false;
}

static void
enter(void)
{
	if (process_no_new_privileges() < 0 ||
	    signal(SIGXFSZ, SIG_IGN) == SIG_ERR ||
	    lockdown_enter(FILE_BYTES) < 0)
		_exit(200);
}

static int
wait_for(pid_t child)
{
	int status;

	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

/* The wait status of a child that makes the call behind the walls, and then
 * exits with its errno, or 0. */
static int
status_of(const struct call *call)
{
	pid_t child = fork();
	const long *a = call->a;

	assert_true(child >= 0);
	if (child == 0) {
		long r;

		enter();
		r = syscall(call->number, a[0], a[1], a[2], a[3], a[4], a[5]);
		syscall(SYS_exit_group, r == -1 ? errno : 0);
	}
	return wait_for(child);
}

static bool
was_killed(int status)
{
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS;
}

static bool
could_enter(int status)
{
	return !WIFEXITED(status) || WEXITSTATUS(status) != 200;
}

static void
no_other_call_is_answered(void **state)
{
	(void)state;
	for (long number = 0; number <= LAST_CALL; number++) {
		/* Bad fds and pointers; 1 where a call would wait. */
		struct call call = { number, { -1, 0, 1, 0, 0, 0 } };
		bool is_answered = contains(always, COUNT(always), number);
		int status;

		if (contains(sometimes, COUNT(sometimes), number))
			continue;
		status = status_of(&call);
		assert_true(could_enter(status));
		if (contains(unseen, COUNT(unseen), number)) {
			assert_int_not_equal(status, 0);
			continue;
		}
		if (was_killed(status) == is_answered)
			fail_msg("call %ld: wait status 0x%x", number,
			    (unsigned int)status);
	}
}

static void
the_table_is_the_list(void **state)
{
	size_t n;
	const struct filter_rule *rules = lockdown_rules(&n);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		long call = rules[i].call;
		bool is_checked = rules[i].n_checks > 0;

		assert_true(is_checked
			? contains(sometimes, COUNT(sometimes), call)
			: contains(always, COUNT(always), call));
	}
}

static void
arguments_are_looked_at(void **state)
{
	static const struct {
		struct call call;
		int error; /* -1: killed */
	} tries[] = {
		{ { SYS_fcntl, { -1, F_GETFL } }, EBADF },
		{ { SYS_fcntl, { -1, F_SETFL } }, EBADF },
		{ { SYS_fcntl, { -1, F_GET_SEALS } }, EBADF },
		{ { SYS_fcntl, { -1, F_DUPFD } }, -1 },
		{ { SYS_fcntl, { -1, F_SETOWN } }, -1 },
		{ { SYS_fcntl, { -1, F_ADD_SEALS } }, -1 },
		{ { SYS_fcntl, { -1, F_SETLK } }, -1 },
		{ { SYS_sendto, { -1, 0, 0, 0, 0, 0 } }, EBADF },
		{ { SYS_sendto, { -1, 0, 0, 0, 1, 0 } }, -1 },
		{ { SYS_sendto, { -1, 0, 0, 0, 0, 1 } }, -1 },
		{ { SYS_sendto, { -1, 0, 0, 0, 1L << 32, 0 } }, -1 },
		{ { SYS_setsockopt, { -1, 6, 1, 0, 0 } }, EBADF },
		{ { SYS_setsockopt, { -1, 1, 1, 0, 0 } }, -1 },
		{ { SYS_setsockopt, { -1, 6, 23, 0, 0 } }, -1 },
		{ { SYS_mmap,
		      { 0, 4096, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0 } },
		    0 },
		{ { SYS_mmap,
		      { 0, 4096, PROT_READ | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0 } },
		    -1 },
		{ { SYS_mprotect, { 1, 4096, PROT_READ } }, EINVAL },
		{ { SYS_mprotect, { 1, 4096, PROT_EXEC } }, -1 },
		{ { SYS_mprotect, { 1, 4096, PROT_READ | PROT_EXEC } }, -1 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(tries); i++) {
		int status = status_of(&tries[i].call);
		bool is_right = tries[i].error < 0 ? was_killed(status)
						   : WIFEXITED(status) &&
			WEXITSTATUS(status) == tries[i].error;

		if (!is_right)
			fail_msg("try %zu: wait status 0x%x", i,
			    (unsigned int)status);
	}
}

static void
what_libraries_try_fails_softly(void **state)
{
	static const struct {
		struct call call;
		int error;
	} tries[] = {
		{ { SYS_openat, { AT_FDCWD, (long)"/etc/passwd", O_RDONLY } },
		    EACCES },
		{ { SYS_newfstatat, { AT_FDCWD, (long)"/etc/passwd" } },
		    EACCES },
		{ { SYS_socket, { AF_INET, SOCK_STREAM, 0 } }, EACCES },
		{ { SYS_socketpair, { AF_UNIX, SOCK_STREAM, 0 } }, EACCES },
		{ { SYS_connect, { -1, 0, 0 } }, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(tries); i++) {
		int status = status_of(&tries[i].call);

		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), tries[i].error);
	}
}

#ifdef __x86_64__
static void
foreign_calling_conventions_kill(void **state)
{
	struct call x32 = { 0x40000000L | SYS_getpid, { 0 } };
	pid_t child;

	(void)state;
	assert_true(was_killed(status_of(&x32)));
	child = fork();
	if (child == 0) {
		int number = 20; /* getpid of i386 */

		enter();
		__asm__ volatile("int $0x80" : "+a"(number) : : "memory");
		_exit(0);
	}
	/* A kernel without that door ends the child by SIGSEGV. */
	assert_true(WIFSIGNALED(wait_for(child)));
}
#endif

/* A connected pair of TCP sockets on loopback. */
static void
tcp_pair(int ret[2], struct sockaddr_in *ret_server)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(address);
	int server = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(
	    bind(server, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(server, 1), 0);
	assert_int_equal(
	    getsockname(server, (struct sockaddr *)&address, &n), 0);
	ret[0] = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(
	    connect(ret[0], (struct sockaddr *)&address, sizeof(address)), 0);
	ret[1] = accept(server, NULL, NULL);
	assert_true(ret[1] >= 0);
	*ret_server = address;
	(void)close(server);
}

static bool
still_leads_to(int fd, const struct sockaddr_in *address)
{
	struct sockaddr_in peer;
	socklen_t n = sizeof(peer);

	return getpeername(fd, (struct sockaddr *)&peer, &n) == 0 &&
	    peer.sin_port == address->sin_port &&
	    peer.sin_addr.s_addr == address->sin_addr.s_addr;
}

static void
the_socket_cannot_be_moved(void **state)
{
	struct sockaddr_in server;
	int fds[2];
	pid_t child;

	(void)state;
	tcp_pair(fds, &server);
	child = fork();
	if (child == 0) {
		struct sockaddr none = { .sa_family = AF_UNSPEC };
		struct sockaddr_in elsewhere = server;

		elsewhere.sin_port = htons(9);
		enter();
		/* connect(AF_UNSPEC) would take the socket off its peer. */
		if (connect(fds[0], &none, sizeof(none)) != 0 ||
		    connect(fds[0], (struct sockaddr *)&elsewhere,
			sizeof(elsewhere)) != 0)
			_exit(1);
		if (!still_leads_to(fds[0], &server))
			_exit(2);
		(void)send(fds[0], "x", 1, MSG_FASTOPEN);
		if (!still_leads_to(fds[0], &server))
			_exit(3);
		_exit(send(fds[0], "y", 1, 0) == 1 ? 0 : 4);
	}
	assert_int_equal(wait_for(child), 0);
	(void)close(fds[0]);
	(void)close(fds[1]);
}

static void
a_file_has_a_longest_length(void **state)
{
	pid_t child = fork();

	(void)state;
	if (child == 0) {
		int fd = memfd_create("letter", 0);

		enter();
		if (pwrite(fd, "x", 1, FILE_BYTES - 1) != 1)
			_exit(1);
		if (pwrite(fd, "x", 1, FILE_BYTES) != -1)
			_exit(2);
		_exit(errno == EFBIG ? 0 : 3);
	}
	assert_int_equal(wait_for(child), 0);
}

static void
assert_limit(pid_t child, __rlimit_resource_t resource, rlim_t wanted)
{
	struct rlimit limit;

	assert_int_equal(prlimit(child, resource, NULL, &limit), 0);
	assert_int_equal(limit.rlim_cur, wanted);
	assert_int_equal(limit.rlim_max, wanted);
}

static void
limits_are_hard(void **state)
{
	int fds[2];
	char byte;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	child = fork();
	if (child == 0) {
		(void)close(fds[0]);
		enter();
		(void)close(fds[1]);
		(void)poll(NULL, 0, 10000);
		_exit(0);
	}
	(void)close(fds[1]);
	assert_int_equal(read(fds[0], &byte, 1), 0);
	(void)close(fds[0]);
	assert_limit(child, RLIMIT_NPROC, 0);
	assert_limit(child, RLIMIT_NOFILE, LIMIT_COURIER_FILES);
	assert_limit(child, RLIMIT_CPU, LIMIT_COURIER_CPU_S);
	assert_limit(child, RLIMIT_AS, LIMIT_COURIER_ADDRESS_SPACE);
	assert_limit(child, RLIMIT_FSIZE, FILE_BYTES);
	assert_int_equal(kill(child, SIGKILL), 0);
	(void)wait_for(child);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table_is_the_list),
		cmocka_unit_test(no_other_call_is_answered),
		cmocka_unit_test(arguments_are_looked_at),
		cmocka_unit_test(what_libraries_try_fails_softly),
#ifdef __x86_64__
		cmocka_unit_test(foreign_calling_conventions_kill),
#endif
		cmocka_unit_test(the_socket_cannot_be_moved),
		cmocka_unit_test(a_file_has_a_longest_length),
		cmocka_unit_test(limits_are_hard),
	};

#ifdef __SANITIZE_ADDRESS__
	(void)printf("1..0 # SKIP the sanitizer's own calls are not listed\n");
	(void)tests;
	return 0;
#else
	return cmocka_run_group_tests(tests, NULL, NULL);
#endif
}
