/* SPDX-License-Identifier: ISC
 *
 * Reading a secret, in the opener and in the operator's `secret`. Whatever
 * lies in the store is distrusted until its owner, mode, links and size are
 * those of a file that only we could have made, and its seal opens under this
 * name and this origin. Every refusal has its own reason; plain text lives in
 * guarded memory only and is wiped on every way out.
 *
 * A file is "SCSEC1\n", the origin in clear and a line end, a nonce, and the
 * sealed token. The clear origin only tells "set for another origin" from
 * "changed": what counts is the one under the seal.
 */
#include "keep/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/must.h"
#include "base/text.h"
#include "keep/secret_file.h"

void *
secret_memory(size_t n)
{
	void *memory = sodium_malloc(n);

	must(memory != NULL);
	sodium_memzero(memory, n);
	return memory;
}

void
secret_free_at(void *at)
{
	sodium_free(*(void **)at);
	*(void **)at = NULL;
}

size_t
secret_binding(
    unsigned char to[SECRET_BINDING_BYTES], const struct secret_id *id)
{
	static const char label[] = "sandcastle-secret-v1";
	size_t n_name = strlen(id->name) + 1;
	size_t n_origin = strlen(id->origin);

	must(sizeof(label) + n_name + n_origin <= SECRET_BINDING_BYTES);
	memcpy(to, label, sizeof(label));
	memcpy(to + sizeof(label), id->name, n_name);
	memcpy(to + sizeof(label) + n_name, id->origin, n_origin);
	return sizeof(label) + n_name + n_origin;
}

static void
derive_ticket_key(
    const unsigned char *key, const struct secret_id *id, struct token_msg *to)
{
	static const char label[] = "sandcastle-ticket-v1";
	crypto_generichash_state state;

	(void)crypto_generichash_init(
	    &state, key, SECRET_KEY_BYTES, TOKEN_TICKET_KEY_BYTES);
	(void)crypto_generichash_update(
	    &state, (const unsigned char *)label, sizeof(label));
	(void)crypto_generichash_update(
	    &state, (const unsigned char *)id->source, strlen(id->source) + 1);
	(void)crypto_generichash_update(
	    &state, (const unsigned char *)id->origin, strlen(id->origin));
	(void)crypto_generichash_final(
	    &state, to->ticket_key, TOKEN_TICKET_KEY_BYTES);
	sodium_memzero(&state, sizeof(state));
}

/* The reason a file or directory of ours may not be believed. */
static enum keep_result
judge(const struct stat *st, bool is_directory, struct fault *fault)
{
	if (is_directory ? !S_ISDIR(st->st_mode) : !S_ISREG(st->st_mode)) {
		(void)fault_set(fault, FAULT_SECRET, "is no %s",
		    is_directory ? "directory" : "plain file");
		return KEEP_RESULT_NOT_FILE;
	}
	if (!is_directory && st->st_nlink != 1) {
		(void)fault_set(fault, FAULT_SECRET,
		    "has %lu names: a hard link to it exists",
		    (unsigned long)st->st_nlink);
		return KEEP_RESULT_NOT_FILE;
	}
	if (st->st_uid != geteuid()) {
		(void)fault_set(fault, FAULT_SECRET,
		    "belongs to uid %u, not to uid %u", st->st_uid, geteuid());
		return KEEP_RESULT_OWNER;
	}
	if ((st->st_mode & (is_directory ? 022 : 077)) != 0) {
		(void)fault_set(fault, FAULT_SECRET,
		    "has mode %04o, others may %s it: chmod %s",
		    st->st_mode & 07777, is_directory ? "write" : "read",
		    is_directory ? "0700" : "0600");
		return KEEP_RESULT_MODE;
	}
	return KEEP_RESULT_OK;
}

/* Why open(2) failed; a file of others that we may not open is told by what
 * it is. */
static enum keep_result
judge_failure(int directory, const char *name, int error, bool is_directory,
    struct fault *fault)
{
	enum keep_result result = KEEP_RESULT_FAILED;
	struct stat st;

	(void)fault_set(fault, FAULT_SECRET, "%s", strerror(error));
	if (error == ENOENT)
		return KEEP_RESULT_MISSING;
	if (error == ELOOP || error == ENXIO || error == ENOTDIR) {
		(void)fault_set(fault, FAULT_SECRET, "is no %s",
		    is_directory ? "directory" : "plain file");
		return KEEP_RESULT_NOT_FILE;
	}
	if (error == EACCES &&
	    (fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) == 0 ||
		(is_directory && fstat(directory, &st) == 0))) {
		result = judge(&st, is_directory, fault);
		if (result == KEEP_RESULT_OK)
			result = KEEP_RESULT_MODE;
	}
	return result;
}

enum keep_result
secret_open_checked(int directory, const char *name, bool is_directory,
    int *ret_fd, struct fault *fault)
{
	int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY |
	    (is_directory ? O_DIRECTORY : 0);
	cleanup_fd int fd = openat(directory, name, flags);
	enum keep_result result;
	struct stat st;

	if (fd < 0) {
		result =
		    judge_failure(directory, name, errno, is_directory, fault);
	} else if (fstat(fd, &st) < 0) {
		(void)fault_set(fault, FAULT_SECRET, "%s", strerror(errno));
		result = KEEP_RESULT_FAILED;
	} else {
		result = judge(&st, is_directory, fault);
	}
	if (result == KEEP_RESULT_OK)
		*ret_fd = take_fd(&fd);
	else
		(void)fault_wrap(fault, "%s", name);
	return result;
}

/* Reads a checked file of at least min and at most max bytes. */
static enum keep_result
load(int directory, const char *name, size_t limits[2], unsigned char *to,
    struct fault *fault)
{
	cleanup_fd int fd = -1;
	enum keep_result result =
	    secret_open_checked(directory, name, false, &fd, fault);
	ssize_t n;

	if (result != KEEP_RESULT_OK)
		return result;
	n = file_read_all(fd, to, limits[1] + 1);
	if (n < 0) {
		(void)fault_set(
		    fault, FAULT_SECRET, "%s: %s", name, strerror((int)-n));
		return KEEP_RESULT_FAILED;
	}
	if ((size_t)n < limits[0] || (size_t)n > limits[1]) {
		(void)fault_set(fault, FAULT_SECRET,
		    n == 0 ? "%s: is empty" : "%s: has a size no %s has", name,
		    limits[0] == limits[1] ? "key" : "secret");
		return KEEP_RESULT_SIZE;
	}
	limits[0] = (size_t)n;
	return KEEP_RESULT_OK;
}

enum keep_result
secret_load_key(
    const struct secret_store *store, unsigned char *to, struct fault *fault)
{
	size_t limits[2] = { SECRET_KEY_BYTES, SECRET_KEY_BYTES };
	enum keep_result result =
	    load(store->directory, SECRET_KEY_FILE, limits, to, fault);

	return result == KEEP_RESULT_MISSING ? KEEP_RESULT_NO_KEY : result;
}

/* Where the parts of a file lie. */
struct parts {
	const unsigned char *nonce;
	const unsigned char *sealed;
	size_t n_sealed;
};

static enum keep_result
corrupt(const char *name, struct fault *fault)
{
	(void)fault_set(fault, FAULT_SECRET,
	    "%s/%s: does not open: the key is another, or the file was "
	    "changed, or it was made under another name",
	    SECRET_DIRECTORY, name);
	return KEEP_RESULT_CORRUPT;
}

static size_t
count_visible(const unsigned char *bytes, size_t n)
{
	size_t i = 0;

	while (i < n && bytes[i] > ' ' && bytes[i] < 0x7f)
		i++;
	return i;
}

/* Takes a file of n bytes apart; its seal is not looked at yet. */
static enum keep_result
take_apart(const unsigned char *file, size_t n, const struct secret_id *id,
    struct parts *ret_parts, struct fault *fault)
{
	const size_t n_magic = sizeof(SECRET_MAGIC) - 1;
	const unsigned char *origin = file + n_magic;
	size_t n_origin, used;

	if (n < n_magic || memcmp(file, SECRET_MAGIC, n_magic) != 0)
		return corrupt(id->name, fault);
	n_origin = count_visible(origin, n - n_magic);
	if (n_origin == n - n_magic || origin[n_origin] != '\n' ||
	    n_origin >= SECRET_ORIGIN_BYTES)
		return corrupt(id->name, fault);
	used = n_magic + n_origin + 1;
	if (n - used < SECRET_NONCE_BYTES + SECRET_TAG_BYTES + 1 ||
	    n - used >
		SECRET_NONCE_BYTES + SECRET_TAG_BYTES + LIMIT_TOKEN_BYTES)
		return corrupt(id->name, fault);
	if (n_origin != strlen(id->origin) ||
	    memcmp(origin, id->origin, n_origin) != 0) {
		(void)fault_set(fault, FAULT_SECRET,
		    "was set for %.*s, not for %s", (int)n_origin,
		    (const char *)origin, id->origin);
		return KEEP_RESULT_ORIGIN;
	}
	*ret_parts = (struct parts){ .nonce = file + used,
		.sealed = file + used + SECRET_NONCE_BYTES,
		.n_sealed = n - used - SECRET_NONCE_BYTES };
	return KEEP_RESULT_OK;
}

static enum keep_result
unseal(const struct parts *parts, const unsigned char *key,
    const struct secret_id *id, struct token_msg *to, struct fault *fault)
{
	unsigned char binding[SECRET_BINDING_BYTES];
	size_t n_binding = secret_binding(binding, id);

	if (crypto_aead_xchacha20poly1305_ietf_decrypt(
		(unsigned char *)to->token, NULL, NULL, parts->sealed,
		parts->n_sealed, binding, n_binding, parts->nonce, key) != 0)
		return corrupt(id->name, fault);
	token_msg_encode(to);
	if (token_msg_decode(to) < 0 ||
	    to->n != parts->n_sealed - SECRET_TAG_BYTES) {
		(void)fault_set(
		    fault, FAULT_SECRET, "holds a byte that no token may have");
		return KEEP_RESULT_ALPHABET;
	}
	if (id->source != NULL)
		derive_ticket_key(key, id, to);
	return KEEP_RESULT_OK;
}

enum keep_result
secret_read(const struct secret_store *store, const struct secret_id *id,
    struct token_msg *to, struct fault *fault)
{
	cleanup_secret unsigned char *file =
	    secret_memory(LIMIT_SECRET_FILE_BYTES + 1);
	cleanup_secret unsigned char *key = secret_memory(SECRET_KEY_BYTES + 1);
	size_t limits[2] = { 1, LIMIT_SECRET_FILE_BYTES };
	enum keep_result result = KEEP_RESULT_MISSING;
	struct parts parts;

	must(text_is_name(id->name));
	if (store->secrets >= 0)
		result = load(store->secrets, id->name, limits, file, fault);
	if (result == KEEP_RESULT_MISSING)
		(void)fault_set(fault, FAULT_SECRET, "is not set");
	if (result == KEEP_RESULT_OK)
		result = take_apart(file, limits[0], id, &parts, fault);
	if (result == KEEP_RESULT_OK)
		result = secret_load_key(store, key, fault);
	if (result == KEEP_RESULT_OK)
		result = unseal(&parts, key, id, to, fault);
	if (result != KEEP_RESULT_OK)
		sodium_memzero(to, sizeof(*to));
	return result;
}
