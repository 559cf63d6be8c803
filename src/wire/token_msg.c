/* SPDX-License-Identifier: ISC
 *
 * The message with a secret: encode and decode side by side.
 */
#include "wire/token_msg.h"

#include <string.h>

#include "wire/packet.h"

_Static_assert(
    sizeof(struct token_msg) == 8 + 32 + LIMIT_TOKEN_BYTES + 8, "no padding");

int
token_is_valid(const char *token)
{
	size_t n = strspn(token,
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	    "0123456789._~+/-");
	size_t padding = strspn(token + n, "=");

	return n > 0 && n + padding <= LIMIT_TOKEN_BYTES &&
	    token[n + padding] == '\0';
}

void
token_msg_encode(struct token_msg *message)
{
	message->magic = PACKET_MAGIC;
	message->n = (uint32_t)strnlen(message->token, LIMIT_TOKEN_BYTES);
}

int
token_msg_decode(const struct token_msg *message)
{
	if (message->magic != PACKET_MAGIC ||
	    !packet_is_text(message->token, sizeof(message->token)))
		return -1;
	return strlen(message->token) == message->n &&
		token_is_valid(message->token)
	    ? 0
	    : -1;
}
