/* SPDX-License-Identifier: ISC
 *
 * The tokens of the queue. The file is the operator's; what is compared with
 * it comes from anybody who can connect. No token is ever part of a message.
 */
#include "queue/tokens.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"

#define WORDS 3

void
tokens_free(struct tokens *tokens)
{
	if (tokens == NULL)
		return;
	for (size_t i = 0; i < tokens->n; i++)
		explicit_bzero(&tokens->bearers[i], sizeof(struct bearer));
	free(tokens);
}

static void
tokens_free_at(struct tokens **at)
{
	tokens_free(*at);
}

#define cleanup_tokens cleanup_with(tokens_free_at)

/* Cuts a line into words in place. The number of words, WORDS + 1 for more. */
static size_t
cut_words(char *line, char *words[WORDS])
{
	size_t n = 0;
	char *rest = line;

	for (;;) {
		char *word = strsep(&rest, " \t\r");

		if (word == NULL)
			return n;
		if (*word == '\0')
			continue;
		if (n == WORDS)
			return WORDS + 1;
		words[n++] = word;
	}
}

static bool
is_token(const char *text)
{
	size_t n = strlen(text);

	for (const char *p = text; *p != '\0'; p++) {
		if (*p <= ' ' || *p > '~')
			return false;
	}
	return n >= LIMIT_QUEUE_TOKEN_MIN && n <= LIMIT_QUEUE_TOKEN_BYTES;
}

static const char *
parse_bearer(char *const words[WORDS], struct bearer *to)
{
	if (strcmp(words[0], "worker") == 0)
		to->role = ROLE_WORKER;
	else if (strcmp(words[0], "producer") == 0)
		to->role = ROLE_PRODUCER;
	else
		return "the first word must be worker or producer";
	if (!text_is_name(words[1]))
		return "a name is 1 to 64 of a-z, 0-9, _ and -";
	if (!is_token(words[2]))
		return "a token is 16 to 512 printable characters without "
		       "blanks";
	(void)text_copy(to->name, sizeof(to->name), words[1]);
	to->n = strlen(words[2]);
	memcpy(to->token, words[2], to->n);
	return NULL;
}

static const char *
find_clash(const struct tokens *tokens, const struct bearer *new)
{
	for (size_t i = 0; i < tokens->n; i++) {
		const struct bearer *old = &tokens->bearers[i];

		if (old->role == new->role && strcmp(old->name, new->name) == 0)
			return "this name has a token already";
		if (old->n == new->n &&
		    memcmp(old->token, new->token, new->n) == 0)
			return "this token is in use already";
	}
	return NULL;
}

static const char *
add_line(struct tokens *tokens, char *line)
{
	char *words[WORDS];
	size_t n = cut_words(line, words);
	struct bearer *to = &tokens->bearers[tokens->n];
	const char *wrong;

	if (n == 0 || words[0][0] == '#')
		return NULL;
	if (n != WORDS)
		return "must be: worker NAME TOKEN, or: producer NAME TOKEN";
	if (tokens->n == LIMIT_QUEUE_TOKENS)
		return "too many tokens";
	wrong = parse_bearer(words, to);
	if (wrong == NULL)
		wrong = find_clash(tokens, to);
	if (wrong == NULL)
		tokens->n++;
	return wrong;
}

static void
wipe(char *bytes, size_t n)
{
	explicit_bzero(bytes, n);
	free(bytes);
}

static const char *
add_lines(struct tokens *tokens, char *text, unsigned int *line_number)
{
	char *rest = text;
	char *line;

	*line_number = 0;
	while ((line = strsep(&rest, "\n")) != NULL) {
		const char *wrong;

		++*line_number;
		wrong = add_line(tokens, line);
		if (wrong != NULL)
			return wrong;
	}
	return NULL;
}

int
tokens_parse(const char *bytes, size_t n, const char *name,
    struct tokens **ret_tokens, struct fault *fault)
{
	cleanup_tokens struct tokens *tokens = memory_new(1,
	    sizeof(*tokens) + (LIMIT_QUEUE_TOKENS + 1) * sizeof(struct bearer));
	char *text;
	unsigned int line;
	const char *wrong;

	if (memchr(bytes, '\0', n) != NULL)
		return fault_set(
		    fault, FAULT_CONFIG, "%s: has a NUL byte", name);
	text = memory_new(n + 1, 1);
	memcpy(text, bytes, n);
	wrong = add_lines(tokens, text, &line);
	wipe(text, n);
	if (wrong != NULL)
		return fault_set(
		    fault, FAULT_CONFIG, "%s:%u: %s", name, line, wrong);
	if (tokens->n == 0)
		return fault_set(fault, FAULT_CONFIG,
		    "%s: has no token; put in lines: worker NAME TOKEN, "
		    "producer NAME TOKEN",
		    name);
	*ret_tokens = take_ptr(tokens);
	return 0;
}

static int
check_file(const char *path, struct fault *fault)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return fault_set(
		    fault, FAULT_CONFIG, "%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return fault_set(
		    fault, FAULT_CONFIG, "%s: is not a file", path);
	if ((st.st_mode & 0077) != 0)
		return fault_set(fault, FAULT_CONFIG,
		    "%s: others may read or write it (mode %04o): chmod 600",
		    path, (unsigned int)st.st_mode & 07777);
	return 0;
}

int
tokens_read(const char *path, struct tokens **ret_tokens, struct fault *fault)
{
	char *bytes = NULL;
	size_t n;
	int r;

	if (check_file(path, fault) < 0)
		return -1;
	r = file_slurp(AT_FDCWD, path, LIMIT_QUEUE_TOKENS_BYTES, &bytes, &n);
	if (r < 0)
		return fault_set(
		    fault, FAULT_CONFIG, "%s: %s", path, strerror(-r));
	r = tokens_parse(bytes, n, path, ret_tokens, fault);
	wipe(bytes, n);
	return r;
}

const struct bearer *
tokens_find(const struct tokens *tokens, const char *token, size_t n)
{
	char padded[LIMIT_QUEUE_TOKEN_BYTES] = { 0 };
	const struct bearer *found = NULL;

	if (n < LIMIT_QUEUE_TOKEN_MIN || n > sizeof(padded))
		return NULL;
	memcpy(padded, token, n);
	for (size_t i = 0; i < tokens->n; i++) {
		const struct bearer *bearer = &tokens->bearers[i];
		volatile unsigned char difference = 0;

		for (size_t k = 0; k < sizeof(padded); k++)
			difference |=
			    (unsigned char)(padded[k] ^ bearer->token[k]);
		if (difference == 0 && bearer->n == n)
			found = bearer;
	}
	explicit_bzero(padded, sizeof(padded));
	return found;
}
