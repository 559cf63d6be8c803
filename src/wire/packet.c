/* SPDX-License-Identifier: ISC
 *
 * Datagrams between our processes. Runs in all of them and believes nothing
 * about the other end but that the kernel keeps datagrams whole.
 */
#include "wire/packet.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/must.h"

_Static_assert(__BYTE_ORDER == __LITTLE_ENDIAN, "packets are little-endian");

union control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int) * PACKET_FDS)];
};

int
packet_pair(int ret_ends[2])
{
	int type = SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK;

	return socketpair(AF_UNIX, type, 0, ret_ends) < 0 ? -errno : 0;
}

int
packet_send(
    int link, const void *packet, size_t size, const int *fds, size_t n_fds)
{
	struct iovec bytes = { (void *)(uintptr_t)packet, size };
	struct msghdr message = { .msg_iov = &bytes, .msg_iovlen = 1 };
	union control control;
	ssize_t n;

	must(n_fds <= PACKET_FDS);
	if (n_fds > 0) {
		struct cmsghdr *c;

		memset(&control, 0, sizeof(control));
		message.msg_control = control.bytes;
		message.msg_controllen = CMSG_SPACE(sizeof(int) * n_fds);
		c = CMSG_FIRSTHDR(&message);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int) * n_fds);
		memcpy(CMSG_DATA(c), fds, sizeof(int) * n_fds);
	}
	do
		n = sendmsg(link, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == ECONNRESET ? -EPIPE : -errno;
	return (size_t)n == size ? 0 : -EMSGSIZE;
}

int
packet_write(int link, const void *packet, size_t size)
{
	ssize_t n;

	do
		n = send(link, packet, size, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == ECONNRESET ? -EPIPE : -errno;
	return (size_t)n == size ? 0 : -EMSGSIZE;
}

/* Takes the fds out of a message; -1 when there are more than we allow. */
static int
collect_fds(struct msghdr *message, int ret_fds[PACKET_FDS])
{
	size_t n_fds = 0;
	int r = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c != NULL;
	     c = CMSG_NXTHDR(message, c)) {
		size_t n;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < n; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
			if (n_fds < PACKET_FDS) {
				ret_fds[n_fds++] = fd;
			} else {
				(void)close(fd);
				r = -1;
			}
		}
	}
	return r;
}

int
packet_receive(int link, void *packet, size_t size, int ret_fds[PACKET_FDS])
{
	struct iovec bytes = { packet, size };
	union control control;
	struct msghdr message = { .msg_iov = &bytes,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes) };
	struct packet_head head;
	ssize_t n;

	for (size_t i = 0; i < PACKET_FDS; i++)
		ret_fds[i] = -1;
	/* ECONNRESET comes once, from a peer that closed with an order of
	 * ours unread, and in front of what it had sent before. */
	do
		n = recvmsg(link, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && (errno == EINTR || errno == ECONNRESET));
	if (n < 0)
		return -errno;
	if (collect_fds(&message, ret_fds) == 0 && (size_t)n == size &&
	    (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0 &&
	    size >= sizeof(head)) {
		memcpy(&head, packet, sizeof(head));
		if (head.magic == PACKET_MAGIC)
			return PACKET_GOT;
	}
	packet_close_fds(ret_fds);
	return PACKET_LOST;
}

void
packet_close_fds(int fds[PACKET_FDS])
{
	for (size_t i = 0; i < PACKET_FDS; i++) {
		if (fds[i] >= 0)
			(void)close(fds[i]);
		fds[i] = -1;
	}
}

size_t
packet_count_fds(const int fds[PACKET_FDS])
{
	size_t n = 0;

	for (size_t i = 0; i < PACKET_FDS; i++)
		n += fds[i] >= 0;
	return n;
}

int
packet_is_text(const char *array, size_t n)
{
	size_t length = strnlen(array, n);

	for (size_t i = length; i < n; i++) {
		if (array[i] != '\0')
			return 0;
	}
	return length < n;
}
