/* SPDX-License-Identifier: ISC
 *
 * The queue's tokens file: whoever is in it is found by exactly that token;
 * no complaint repeats one. Input: the file.
 */
#include "fuzz.h"
#include "queue/tokens.h"

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const char *text = n == 0 ? "" : (const char *)bytes;
	struct tokens *tokens = NULL;
	struct fault fault = { 0 };

	if (tokens_parse(text, n, "tokens", &tokens, &fault) < 0) {
		must(tokens == NULL && fault.text[0] != '\0');
		must(fuzz_is_printable(fault.text));
		return 0;
	}
	must(tokens->n >= 1 && tokens->n <= LIMIT_QUEUE_TOKENS);
	for (size_t i = 0; i < tokens->n; i++) {
		const struct bearer *b = &tokens->bearers[i];

		must(b->role == ROLE_WORKER || b->role == ROLE_PRODUCER);
		must(text_is_name(b->name));
		must(b->n >= LIMIT_QUEUE_TOKEN_MIN &&
		    b->n <= LIMIT_QUEUE_TOKEN_BYTES);
		must(tokens_find(tokens, b->token, b->n) == b);
		must(tokens_find(tokens, b->token, b->n - 1) != b);
	}
	tokens_free(tokens);
	return 0;
}
