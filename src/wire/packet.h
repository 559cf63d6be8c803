/* SPDX-License-Identifier: ISC
 *
 * What every border between our processes has in common: one datagram of a
 * fixed size over SOCK_SEQPACKET, with the fds that belong to it. Sends never
 * block. A peer that sends anything else loses its link.
 */
#ifndef WIRE_PACKET_H
#define WIRE_PACKET_H

#include <stddef.h>
#include <stdint.h>

/* First word of every packet: "SC" and the version of the messages. A
 * process of an older build is refused, not misread. */
#define PACKET_MAGIC 0x53430001u

/* The most fds one packet carries. */
#define PACKET_FDS 2

/*
 * The head of every packet struct. All fields are little-endian, as is every
 * machine this builds on (asserted in packet.c).
 */
struct packet_head {
	uint32_t magic;
	uint32_t verb;
	uint32_t sequence; /* of the order; its answer repeats it */
	uint32_t generation; /* of the config; 0 where none is in force */
};

/* Makes a connected pair, close-on-exec, non-blocking. 0 or -errno. */
int packet_pair(int ret_ends[2]);

/*
 * Sends one packet with up to PACKET_FDS fds (which stay the caller's). 0, or
 * -errno: -EAGAIN when the peer does not read; -EPIPE when it is gone.
 */
int packet_send(
    int link, const void *packet, size_t size, const int *fds, size_t n_fds);

/*
 * The same without fds, by send(2): for a process whose filter has no
 * sendmsg(2), because a control message or an address could go with it.
 */
int packet_write(int link, const void *packet, size_t size);

/* What packet_receive gives besides an -errno. */
enum packet_result {
	PACKET_GOT = 1, /* a whole packet of that size */
	PACKET_LOST = 0, /* the peer is gone, or sent nonsense */
};

/*
 * Receives one packet of exactly size bytes, whose head has the magic.
 * ret_fds gets PACKET_FDS entries, -1 where none came, close-on-exec, owned by
 * the caller. Another size, too many fds, a truncated or empty datagram:
 * PACKET_LOST, everything closed. -EAGAIN when nothing is there yet.
 */
int packet_receive(
    int link, void *packet, size_t size, int ret_fds[PACKET_FDS]);

/* Closes what packet_receive gave. */
void packet_close_fds(int fds[PACKET_FDS]);

/* How many fds came. */
size_t packet_count_fds(const int fds[PACKET_FDS]);

/* Whether the n bytes of a fixed char array hold a terminated string with
 * nothing but zeroes behind it. */
int packet_is_text(const char *array, size_t n);

#endif
