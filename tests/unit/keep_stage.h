/* SPDX-License-Identifier: ISC
 *
 * A stage for the keep: the real programs in a directory of their own, with
 * this test as the supervisor, as the core and, under another name, as the
 * courier or the dialer.
 */
#ifndef TESTS_KEEP_STAGE_H
#define TESTS_KEEP_STAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/limits.h"
#include "keep/secret.h"
#include "wire/dial_msg.h"
#include "wire/keep_msg.h"
#include "wire/packet.h"
#include "wire/super_msg.h"

/* -- what the core of the test asks of its courier ---------------------- */

enum play_verb {
	PLAY_REPORT = 1, /* who are you, what have you got */
	PLAY_DIAL, /* dial, pass the answer and the socket on */
	PLAY_DIAL_TWICE, /* without waiting for the first answer */
	PLAY_NONSENSE, /* send the keep no DIAL */
	PLAY_HANG_UP, /* close the link to the keep and live on */
	PLAY_WALLS, /* try what a keep's child must not be able to */
	PLAY_HANG, /* heed nothing any more */
	PLAY_EXIT,
};

struct play_order {
	struct packet_head head;
};

enum play_wall {
	WALL_LISTEN,
	WALL_SHELL,
	WALL_NEW_FILE,
	WALL_NAMESPACE,
	WALL_PTRACE,
	WALL_READ_MEMORY,
	WALL_KEYS,
	PLAY_WALLS_COUNT,
};

struct play_report {
	struct packet_head head;
	uint32_t pid;
	uint32_t has_extra_fd; /* one above 6 was open at the start */
	uint32_t has_environment;
	uint32_t ca_type; /* S_IFMT of fd 6 */
	uint64_t ca_bytes;
	uint32_t token_is_valid;
	uint32_t fell; /* PLAY_WALLS: bit per wall that did not hold */
	struct token_msg token;
	struct dial_order place;
	struct dialed dialed; /* PLAY_DIAL */
};

/* Plays when the program has the name of a courier or a dialer: the exit
 * status; else -1. */
int stage_play(const char *name);

/* What PLAY_WALLS does: bit per wall that does not hold for the caller. */
uint32_t stage_try_walls(void);

/* -- the stage ---------------------------------------------------------- */

/* One more than a keep has couriers for. */
#define STAGE_SOURCES (LIMIT_COURIERS + 1)

struct stage {
	char dir[64];
	char state[80];
	char log[80];
	pid_t keep;
	int supervisor;
	int core;
	uint32_t sequence;
	uint32_t generation; /* in force */
	int couriers[STAGE_SOURCES]; /* the core's ends, by source; -1 */
};

/* Starts a keep; with_mad_dialer: this test stands in for the dialer too. */
struct stage *stage_new(bool with_mad_dialer);

/* Ends what still runs and removes everything. Gives the keep's wait status
 * (the keep is killed when it does not end by itself). */
int stage_free(struct stage *stage);

/* Gives a config a generation and sends it. The answer's text is in
 * *ret_answer. */
void stage_config(struct stage *stage, uint32_t generation, const char *config,
    struct super_answer *ret_answer);
void stage_commit(
    struct stage *stage, uint32_t generation, struct super_answer *ret_answer);
/* Both, and a new link to the core; all must be well. */
void stage_ready(struct stage *stage, const char *config);
void stage_link(struct stage *stage);

void stage_secret(
    const struct stage *stage, const char *name, const char *origin);
/* The token that stage_secret gave a secret of that name. */
void stage_token(char to[64], const char *name);

/* Orders of the core. open gives the answer and, when it is OK, keeps the
 * courier's end under the source. */
enum keep_result stage_open(struct stage *stage, uint32_t source);
enum keep_result stage_open_as(
    struct stage *stage, uint32_t source, uint32_t generation);
void stage_drop(struct stage *stage, uint32_t source, uint32_t generation);

/* Waits for a packet of the courier or the keep. PACKET_LOST when the link
 * ended; fails the test when nothing comes within the time. */
int stage_receive(
    int link, void *packet, size_t size, int fds[PACKET_FDS], int timeout_ms);

/* Sends a courier an order and gets what it says; *ret_socket gets an fd. */
int stage_ask(struct stage *stage, uint32_t source, enum play_verb verb,
    struct play_report *ret, int *ret_socket);

/* Whether the link has come to its end within a second. */
bool stage_has_ended(int link);

/* Whether a process has gone, as seen by its pid, within a second. */
bool stage_is_gone(pid_t pid);

/* How often a text is in the keep's log. */
size_t stage_count_log(const struct stage *stage, const char *text);

/* Whether these bytes are anywhere in a process's memory: 1, 0, or -errno
 * when it cannot be read. */
int stage_scan(pid_t pid, const void *bytes, size_t n);

/* A listener on loopback; its port. */
int stage_listen(bool is_v6, uint32_t *ret_port);

#endif
