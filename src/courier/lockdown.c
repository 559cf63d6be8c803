/* SPDX-License-Identifier: ISC
 *
 * The allow-list of the courier, which speaks TLS, HTTP and JSON with a
 * source that it distrusts entirely. A source that owns this process has its
 * own token, its own socket and one letter, and nothing that leads elsewhere.
 */
#include "courier/lockdown.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/mman.h>

#include "base/limits.h"
#include "confine/landlock.h"
#include "confine/process.h"

static const struct filter_rule rules[] = {
	/* what it holds: two links, one socket, one letter */
	FILTER_ALLOW(read),
	FILTER_ALLOW(pread64),
	FILTER_ALLOW(pwrite64),
	FILTER_ALLOW(close),
	FILTER_ALLOW(poll),
	FILTER_ALLOW(ppoll),
	FILTER_ALLOW(fstat),
	FILTER_ALLOW_IF(fcntl, FILTER_IS(1, F_GETFL)),
	FILTER_ALLOW_IF(fcntl, FILTER_IS(1, F_SETFL)),
	FILTER_ALLOW_IF(fcntl, FILTER_IS(1, F_GET_SEALS)),
	FILTER_ALLOW(recvfrom),
	FILTER_ALLOW(recvmsg), /* the connected socket comes by it */
	/* Without an address: it can neither aim a datagram nor, by
	 * MSG_FASTOPEN, a connection. sendmsg could. */
	FILTER_ALLOW_IF(sendto, FILTER_IS(4, 0), FILTER_IS(5, 0)),
	FILTER_ALLOW(getsockname),
	FILTER_ALLOW(getpeername),
	FILTER_ALLOW(getsockopt),
	FILTER_ALLOW_IF(
	    setsockopt, FILTER_IS(1, IPPROTO_TCP), FILTER_IS(2, TCP_NODELAY)),
	/* libcurl 7.88 connects a socket that is connected already: it is told
	 * that this worked. connect() itself could aim the socket anew. */
	FILTER_ANSWER(connect, 0),
	/* What libraries try and can do without. */
	FILTER_ANSWER(openat, EACCES),
	FILTER_ANSWER(newfstatat, EACCES),
	FILTER_ANSWER(socket, EACCES),
	FILTER_ANSWER(socketpair, EACCES),
	/* memory */
	FILTER_ALLOW(brk),
	FILTER_ALLOW_IF(mmap, FILTER_LACKS(2, PROT_EXEC)),
	FILTER_ALLOW_IF(mprotect, FILTER_LACKS(2, PROT_EXEC)),
	FILTER_ALLOW(munmap),
	FILTER_ALLOW(mremap),
	FILTER_ALLOW(madvise),
	FILTER_ALLOW(futex),
	/* time, chance, itself */
	FILTER_ALLOW(clock_gettime),
	FILTER_ALLOW(gettimeofday),
	FILTER_ALLOW(getrandom),
	FILTER_ALLOW(getpid),
	FILTER_ALLOW(rt_sigaction),
	FILTER_ALLOW(rt_sigprocmask),
	FILTER_ALLOW(rt_sigreturn),
	FILTER_ALLOW(restart_syscall),
	FILTER_ALLOW(exit),
	FILTER_ALLOW(exit_group),
};

const struct filter_rule *
lockdown_rules(size_t *ret_n)
{
	*ret_n = sizeof(rules) / sizeof(rules[0]);
	return rules;
}

static int
enter_limits(uint64_t max_file_bytes)
{
	const struct {
		__rlimit_resource_t resource;
		rlim_t value;
	} limits[] = {
		{ RLIMIT_NPROC, 0 },
		{ RLIMIT_NOFILE, LIMIT_COURIER_FILES },
		{ RLIMIT_CPU, LIMIT_COURIER_CPU_S },
		{ RLIMIT_AS, LIMIT_COURIER_ADDRESS_SPACE },
		{ RLIMIT_FSIZE, max_file_bytes },
	};

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		int r = process_limit(limits[i].resource, limits[i].value);

		if (r < 0)
			return r;
	}
	return 0;
}

int
lockdown_enter(uint64_t max_file_bytes)
{
	struct sock_fprog program;
	int r;

	if (filter_compile(rules, sizeof(rules) / sizeof(rules[0]),
		SCMP_ACT_KILL_PROCESS, &program, NULL) < 0)
		return -EINVAL;
	r = landlock_enter(NULL, 0, false);
	/* Without Landlock the filter alone keeps every file shut. */
	if (r == -EOPNOTSUPP)
		r = 0;
	if (r == 0)
		r = enter_limits(max_file_bytes);
	if (r == 0)
		r = filter_enter(&program);
	filter_free(&program);
	return r;
}
