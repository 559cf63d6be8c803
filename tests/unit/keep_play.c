/* SPDX-License-Identifier: ISC
 *
 * What the keep starts in this test: a courier that tells what it was given
 * and tries what it should not, and a dialer that lies as its host's name
 * says.
 */
#include "keep_stage.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

enum {
	FD_CORE = 3,
	FD_KEEP,
	FD_TOKEN,
	FD_CA,
	FD_END
};

/* The token stays here, where a scanner must find it. */
static struct play_report report;

static void
await(int fd)
{
	struct pollfd p = { fd, POLLIN, 0 };

	while (poll(&p, 1, -1) < 0 && errno == EINTR)
		;
}

static bool
has_extra_fd(void)
{
	for (int fd = FD_END; fd < 1024; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			return true;
	}
	return false;
}

static int
take_stock(void)
{
	struct stat st;
	int fds[PACKET_FDS];

	report.pid = (uint32_t)getpid();
	report.has_extra_fd = has_extra_fd();
	report.has_environment = environ[0] != NULL;
	if (fstat(FD_CA, &st) == 0) {
		report.ca_type = st.st_mode & S_IFMT;
		report.ca_bytes = (uint64_t)st.st_size;
	}
	await(FD_KEEP);
	if (packet_receive(FD_KEEP, &report.place, sizeof(report.place), fds) !=
		PACKET_GOT ||
	    dial_order_decode(&report.place, packet_count_fds(fds)) < 0)
		return -1;
	if (file_read_all(FD_TOKEN, &report.token, sizeof(report.token)) !=
	    sizeof(report.token))
		return -1;
	report.token_is_valid = token_msg_decode(&report.token) == 0;
	return 0;
}

/* Gives the socket that came, or -1. */
static int
play_dial(bool twice)
{
	static uint32_t sequence = 40;
	struct dial dial;
	int fds[PACKET_FDS] = { -1, -1 };

	dial_encode(&dial, ++sequence);
	(void)packet_write(FD_KEEP, &dial, sizeof(dial));
	if (twice)
		(void)packet_write(FD_KEEP, &dial, sizeof(dial));
	await(FD_KEEP);
	memset(&report.dialed, 0, sizeof(report.dialed));
	if (packet_receive(FD_KEEP, &report.dialed, sizeof(report.dialed),
		fds) != PACKET_GOT ||
	    dialed_decode(&report.dialed, packet_count_fds(fds)) < 0 ||
	    report.dialed.head.sequence != sequence)
		report.dialed.result = 99;
	return fds[0];
}

static bool
ends_well(pid_t child)
{
	int status = -1;

	return waitpid(child, &status, 0) == child && status == 0;
}

static bool
shell_runs(void)
{
	pid_t child = fork();

	if (child == 0) {
		(void)execl("/bin/sh", "sh", "-c", "exit 0", NULL);
		_exit(9);
	}
	return ends_well(child);
}

static bool
makes_namespace(void)
{
	pid_t child = fork();

	if (child == 0)
		_exit(unshare(CLONE_NEWUSER) == 0 ? 0 : 1);
	return ends_well(child);
}

static bool
listens(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool r = fd >= 0 && listen(fd, 1) == 0;

	(void)close(fd);
	return r;
}

static bool
makes_file(void)
{
	char path[64];
	int fd;

	(void)snprintf(
	    path, sizeof(path), "/tmp/sandcastle-keep-wall.%d", (int)getpid());
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	(void)close(fd);
	return unlink(path) == 0;
}

static bool
reads_memory(pid_t pid)
{
	char byte;
	struct iovec here = { &byte, 1 };
	struct iovec there = { &report, 1 };

	return process_vm_readv(pid, &here, 1, &there, 1, 0) == 1;
}

static bool
traces(pid_t pid)
{
	return ptrace(PTRACE_SEIZE, pid, NULL, NULL) == 0;
}

/* A child of our own that lets anyone look: only a wall can forbid that. */
uint32_t
stage_try_walls(void)
{
	pid_t child = fork();
	uint32_t fell;

	if (child == 0) {
		(void)pause();
		_exit(0);
	}
	fell = (uint32_t)listens() << WALL_LISTEN |
	    (uint32_t)shell_runs() << WALL_SHELL |
	    (uint32_t)makes_file() << WALL_NEW_FILE |
	    (uint32_t)makes_namespace() << WALL_NAMESPACE |
	    (uint32_t)reads_memory(child) << WALL_READ_MEMORY |
	    (uint32_t)traces(child) << WALL_PTRACE |
	    (uint32_t)(syscall(SYS_keyctl, 0, -3, 0) >= 0) << WALL_KEYS;
	(void)kill(child, SIGKILL);
	(void)waitpid(child, NULL, 0);
	return fell;
}

/* Does one order. False: it is the last. */
static bool
obey(uint32_t verb, int *socket)
{
	char nonsense[100] = "not a packet of this link";

	switch (verb) {
	case PLAY_DIAL:
	case PLAY_DIAL_TWICE:
		*socket = play_dial(verb == PLAY_DIAL_TWICE);
		return true;
	case PLAY_NONSENSE:
		(void)send(FD_KEEP, nonsense, sizeof(nonsense), 0);
		return true;
	case PLAY_HANG_UP:
		(void)close(FD_KEEP);
		return true;
	case PLAY_WALLS:
		report.fell = stage_try_walls();
		return true;
	case PLAY_HANG:
		while (true)
			(void)pause();
	case PLAY_EXIT:
		return false;
	default:
		return true;
	}
}

static int
play_courier(void)
{
	struct play_order order;
	int fds[PACKET_FDS];

	if (take_stock() < 0)
		return 1;
	while (true) {
		int socket = -1;

		await(FD_CORE);
		if (packet_receive(FD_CORE, &order, sizeof(order), fds) !=
		    PACKET_GOT)
			return 0;
		if (!obey(order.head.verb, &socket))
			return 0;
		report.head = (struct packet_head){ PACKET_MAGIC, 1, 0, 0 };
		if (packet_send(FD_CORE, &report, sizeof(report), &socket,
			socket >= 0) < 0)
			return 1;
		if (socket >= 0)
			(void)close(socket);
	}
}

/* -- the mad dialer ----------------------------------------------------- */

static int
connect_to(uint32_t port)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)connect(fd, (struct sockaddr *)&at, sizeof(at));
	return fd;
}

/* Connected to the right port, but no TCP. */
static int
udp_to(uint32_t port)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	(void)connect(fd, (struct sockaddr *)&at, sizeof(at));
	return fd;
}

static int
unix_socket(uint32_t port)
{
	int ends[2] = { -1, -1 };

	(void)port;
	(void)socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends);
	return ends[0];
}

static int
unconnected(uint32_t port)
{
	(void)port;
	return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static int
null_file(uint32_t port)
{
	(void)port;
	return open("/dev/null", O_RDWR | O_CLOEXEC);
}

/* Where the tests have a listener, one below the port in the url. */
static int
connect_below(uint32_t port)
{
	return connect_to(port - 1);
}

static int
nothing(uint32_t port)
{
	(void)port;
	return -1;
}

static const struct part {
	const char *host;
	uint32_t result;
	int (*socket)(uint32_t port);
	size_t cut; /* bytes left out of the packet */
} parts[] = {
	{ "honest.test", DIAL_RESULT_OK, connect_to, 0 },
	{ "forbidden.test", DIAL_RESULT_FORBIDDEN, nothing, 0 },
	{ "no-socket.test", DIAL_RESULT_OK, nothing, 0 },
	{ "needless-socket.test", DIAL_RESULT_REFUSED, connect_to, 0 },
	{ "not-a-socket.test", DIAL_RESULT_OK, null_file, 0 },
	{ "unix.test", DIAL_RESULT_OK, unix_socket, 0 },
	{ "udp.test", DIAL_RESULT_OK, udp_to, 0 },
	{ "unconnected.test", DIAL_RESULT_OK, unconnected, 0 },
	{ "other-port.test", DIAL_RESULT_OK, connect_below, 0 },
	{ "other-result.test", DIAL_RESULT_COUNT, nothing, 0 },
	{ "cut.test", DIAL_RESULT_REFUSED, nothing, 4 },
};

static void
act(const struct part *part, uint32_t port)
{
	struct dialed dialed = { .result = part->result };
	int socket = part->socket(port);

	if (part->result == DIAL_RESULT_FORBIDDEN) {
		dialed.n_refused = 2;
		dialed.refused[0] = (struct dial_address){ .family = AF_INET,
			.bytes = { 127, 0, 0, 1 } };
		dialed.refused[1] = (struct dial_address){ .family = AF_INET6,
			.bytes = { [15] = 1 } };
	}
	dialed_encode(&dialed, 0);
	(void)packet_send(
	    FD_CORE, &dialed, sizeof(dialed) - part->cut, &socket, socket >= 0);
}

static int
play_dialer(void)
{
	struct dial_order order;
	int fds[PACKET_FDS];

	await(FD_CORE);
	if (packet_receive(FD_CORE, &order, sizeof(order), fds) != PACKET_GOT)
		return 1;
	if (strcmp(order.host, "silent.test") == 0)
		(void)pause();
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (strcmp(order.host, parts[i].host) == 0)
			act(&parts[i], order.port);
	}
	return 0;
}

int
stage_play(const char *name)
{
	if (strcmp(name, "sandcastle-courier") == 0)
		return play_courier();
	if (strcmp(name, "sandcastle-dialer") == 0)
		return play_dialer();
	return -1;
}
