/* SPDX-License-Identifier: ISC
 *
 * Who may ask: the tokens file, one "worker NAME TOKEN" or
 * "producer NAME TOKEN" a line.
 */
#ifndef QUEUE_TOKENS_H
#define QUEUE_TOKENS_H

#include <stddef.h>

#include "base/fault.h"
#include "base/limits.h"

enum role {
	ROLE_WORKER = 1,
	ROLE_PRODUCER,
};

#define TOKENS_NAME_BYTES 68

struct bearer {
	enum role role;
	char name[TOKENS_NAME_BYTES];
	size_t n;
	char token[LIMIT_QUEUE_TOKEN_BYTES]; /* zeros behind its n bytes */
};

struct tokens {
	size_t n;
	struct bearer bearers[];
};

/*
 * Reads the file, which must be the reader's own and closed to everybody else.
 * 0 with *ret_tokens owned by the caller (tokens_free), or -1 with a fault
 * that names file and line and repeats no token.
 */
int tokens_read(
    const char *path, struct tokens **ret_tokens, struct fault *fault);

/* The same from n bytes; name is the file's name in messages. */
int tokens_parse(const char *bytes, size_t n, const char *name,
    struct tokens **ret_tokens, struct fault *fault);

void tokens_free(struct tokens *tokens);

/*
 * Whose token this is, or NULL. Takes as long for a wrong token as for a
 * right one, whatever the two have in common.
 */
const struct bearer *tokens_find(
    const struct tokens *tokens, const char *token, size_t n);

#endif
