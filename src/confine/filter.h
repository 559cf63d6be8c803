/* SPDX-License-Identifier: ISC
 *
 * System call filters from tables. A list names what is allowed; everything
 * else meets the list's own action. Calls of a foreign ABI (i386, x32) always
 * kill the process.
 */
#ifndef CONFINE_FILTER_H
#define CONFINE_FILTER_H

#include <linux/filter.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

/* A rule without argument checks allows the call whatever its arguments. */
struct filter_rule {
	int call; /* SCMP_SYS(name) */
	uint32_t action; /* 0: SCMP_ACT_ALLOW; else SCMP_ACT_ERRNO(e) */
	unsigned int n_checks;
	struct scmp_arg_cmp checks[3]; /* all must hold */
};

#define FILTER_ALLOW(name)             \
	{                              \
		.call = SCMP_SYS(name) \
	}
#define FILTER_ANSWER(name, error)                                      \
	{                                                               \
		.call = SCMP_SYS(name), .action = SCMP_ACT_ERRNO(error) \
	}
#define FILTER_ALLOW_IF(name, ...)                                           \
	{                                                                    \
		.call = SCMP_SYS(name),                                      \
		.n_checks = sizeof((struct scmp_arg_cmp[]){ __VA_ARGS__ }) / \
		    sizeof(struct scmp_arg_cmp),                             \
		.checks = {                                                  \
			__VA_ARGS__                                          \
		}                                                            \
	}

/* What must hold of an argument. libseccomp's own macros are no constants. */
#define FILTER_IS(argument, value)              \
	{                                       \
		argument, SCMP_CMP_EQ, value, 0 \
	}
#define FILTER_FROM(argument, value)            \
	{                                       \
		argument, SCMP_CMP_GE, value, 0 \
	}
#define FILTER_UP_TO(argument, value)           \
	{                                       \
		argument, SCMP_CMP_LE, value, 0 \
	}
/* No bit of these. */
#define FILTER_LACKS(argument, bits)                  \
	{                                             \
		argument, SCMP_CMP_MASKED_EQ, bits, 0 \
	}
/* The value, whatever these bits are. */
#define FILTER_IS_BUT_FOR(argument, bits, value)                       \
	{                                                              \
		argument, SCMP_CMP_MASKED_EQ, ~(uint64_t)(bits), value \
	}

/*
 * Compiles a list. otherwise: SCMP_ACT_KILL_PROCESS or SCMP_ACT_ERRNO(e), for
 * every call without a rule. The program is owned by the caller (filter_free).
 * -1 with a fault.
 */
int filter_compile(const struct filter_rule *rules, size_t n_rules,
    uint32_t otherwise, struct sock_fprog *ret_program, struct fault *fault);

void filter_free(struct sock_fprog *program);

/* Puts the process under a compiled list, for good. no_new_privs must be
 * set. 0 or -errno; async-signal-safe. */
int filter_enter(const struct sock_fprog *program);

#endif
