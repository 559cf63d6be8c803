/* SPDX-License-Identifier: ISC
 *
 * opener → courier, through a pipe that only these two hold: the token of one
 * source and the key of its tickets. The one message that carries a secret.
 */
#ifndef WIRE_TOKEN_MSG_H
#define WIRE_TOKEN_MSG_H

#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"

#define TOKEN_TICKET_KEY_BYTES 32

struct token_msg {
	uint32_t magic; /* PACKET_MAGIC */
	uint32_t n; /* bytes of the token */
	unsigned char ticket_key[TOKEN_TICKET_KEY_BYTES];
	char token[LIMIT_TOKEN_BYTES + 8]; /* zero behind n */
};

/* Sets magic and n from the terminated token. */
void token_msg_encode(struct token_msg *message);

/* 0, or -1: not a token of RFC 6750's alphabet. */
int token_msg_decode(const struct token_msg *message);

/* Whether this is a token that a header may carry: 1..4096 of
 * [A-Za-z0-9._~+/-]+=*. */
int token_is_valid(const char *token);

#endif
