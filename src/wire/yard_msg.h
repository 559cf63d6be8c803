/* SPDX-License-Identifier: ISC
 *
 * core ↔ yard. The yard takes fds and numbers; programs and limits come from
 * its own reading of the config.
 *
 *   YARD_LIST                       → YARD_LISTED: what can be run, and why not
 *   YARD_MAKE capability
 *      + input letter (sealed)
 *      + output letter (writable)   → YARD_ENDED when the box is gone
 *   YARD_KILL                       kill the box of the last YARD_MAKE; its
 *                                   YARD_ENDED follows
 *
 * One box at a time. The yard serves one generation; a reload brings a new
 * yard, and the old one ends when its box has.
 */
#ifndef WIRE_YARD_MSG_H
#define WIRE_YARD_MSG_H

#include "contract/capability.h"
#include "wire/packet.h"

enum yard_verb {
	YARD_LIST = 1,
	YARD_MAKE,
	YARD_KILL,
	YARD_VERB_END,
	YARD_LISTED = 100,
	YARD_ENDED,
};

/* Why a capability cannot be run here. */
enum yard_usable {
	YARD_USABLE = 0,
	YARD_OFF, /* the operator turned it off */
	YARD_NO_PROGRAM, /* a program is missing (which: the tool's index) */
	YARD_NO_WALLS, /* the test box showed a missing wall */
	YARD_UNUSABLE_COUNT,
};

/* The walls a box has; a bit each in yard_listed.walls. */
enum yard_wall {
	WALL_USER_NAMESPACE = 0,
	WALL_MOUNT_NAMESPACE,
	WALL_PID_NAMESPACE,
	WALL_NETWORK_NAMESPACE,
	WALL_IPC_NAMESPACE,
	WALL_UTS_NAMESPACE,
	WALL_CGROUP_NAMESPACE,
	WALL_TIME_NAMESPACE,
	WALL_ROOT, /* pivot_root into a read-only tree of its own */
	WALL_SCRATCH, /* private tmpfs with size and inode limits */
	WALL_FILTER, /* seccomp, driver's and tool's */
	WALL_LANDLOCK,
	WALL_PRIVILEGES, /* no_new_privs, no capabilities, uid not 0 */
	WALL_LIMITS, /* resource limits, own count of processes */
	WALL_DESCRIPTORS, /* no fd of ours inside */
	WALL_COUNT,
};

#define WALL_ALL ((1u << WALL_COUNT) - 1)
/* The walls an operator may do without, by accept_missing. */
#define WALL_OPTIONAL                                     \
	(1u << WALL_LANDLOCK | 1u << WALL_UTS_NAMESPACE | \
	    1u << WALL_CGROUP_NAMESPACE | 1u << WALL_TIME_NAMESPACE)

enum yard_end {
	YARD_END_VERDICT = 1, /* the driver spoke and all is gone */
	YARD_END_SILENT, /* it ended without a word: exit or signal */
	YARD_END_TIME, /* killed at its time limit */
	YARD_END_MEMORY, /* killed by its memory limit */
	YARD_END_ORDER, /* killed by YARD_KILL */
	YARD_END_FOREIGN, /* killed by a SIGKILL that was not ours */
	YARD_END_UNMADE, /* a step of making it failed: nothing ran */
	YARD_END_MISSING, /* a program it needs is gone: nothing ran */
	YARD_END_COUNT,
};

struct yard_order {
	struct packet_head head;
	uint32_t capability; /* YARD_MAKE */
	uint32_t reserved;
};

/* One struct for both answers keeps every packet of this link one size. */
struct yard_answer {
	struct packet_head head;
	/* YARD_LISTED */
	uint32_t walls; /* bit per wall that the test box has */
	uint32_t test_error; /* errno of a test box that could not be made */
	uint32_t usable[8]; /* enum yard_usable, by capability */
	uint32_t missing[8]; /* bit per missing tool, by capability */
	/* YARD_ENDED */
	uint32_t capability;
	uint32_t end; /* enum yard_end */
	uint32_t verdict; /* YARD_END_VERDICT: 0 succeeded, or an error_code */
	uint32_t signal; /* YARD_END_SILENT: of the driver, or 0 */
	uint32_t status; /* YARD_END_SILENT: exit status; UNMADE: errno */
	uint32_t wall_ms;
	uint32_t cpu_ms;
	uint32_t peak_kib;
};

void yard_order_encode(struct yard_order *to, enum yard_verb verb,
    uint32_t sequence, uint32_t generation, uint32_t capability);
int yard_order_decode(const struct yard_order *order, size_t n_fds);
/* Sets the head; the rest of the struct is the caller's, zeroed first. */
void yard_answer_encode(struct yard_answer *answer, enum yard_verb verb,
    const struct yard_order *order);
int yard_answer_decode(const struct yard_answer *answer, size_t n_fds);

/* The error_code of a job whose box ended so, by its own fault; ERROR_NONE when
 * it succeeded, or when the end says nothing about the job. */
uint32_t yard_end_error(uint32_t end, uint32_t verdict);

/* "user namespace", … */
const char *yard_wall_text(uint32_t wall);
/* "killed at its time limit", … */
const char *yard_end_text(uint32_t end);

#endif
