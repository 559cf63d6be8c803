/* SPDX-License-Identifier: ISC
 *
 * Reading a secret, in the opener and in the operator's `secret`. A file is
 * distrusted until its seal opens under this name and this origin. Every
 * refusal says what is wrong, where, and what to do; plain text lives in
 * guarded memory only and is wiped on every way out.
 *
 * A file is "SCSEC1\n", the origin in clear and a line end, a nonce, and the
 * sealed token. The clear origin only tells "set for another origin" from
 * "changed": what counts is the one under the seal.
 */
#include "keep/secret.h"

#include <sodium.h>
#include <string.h>

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

enum keep_result
secret_load_key(
    const struct secret_store *store, unsigned char *to, struct fault *fault)
{
	size_t limits[2] = { SECRET_KEY_BYTES, SECRET_KEY_BYTES };
	struct fault why = { 0 };
	enum keep_result result = secret_load_file(
	    store->directory, SECRET_KEY_FILE, limits, to, &why);
	const char *advice = "";

	if (result == KEEP_RESULT_OK)
		return KEEP_RESULT_OK;
	if (result == KEEP_RESULT_MISSING)
		advice = ": without it every secret must be set again";
	if (result == KEEP_RESULT_SIZE || result == KEEP_RESULT_NOT_FILE)
		advice = ": remove it, then set every secret again";
	(void)fault_set(fault, FAULT_SECRET, "%s/%s: %s%s", store->path,
	    SECRET_KEY_FILE, why.text, advice);
	return result == KEEP_RESULT_MISSING ? KEEP_RESULT_NO_KEY : result;
}

/* Where the parts of a file lie. */
struct parts {
	const unsigned char *nonce;
	const unsigned char *sealed;
	size_t n_sealed;
};

static enum keep_result
corrupt(struct fault *fault)
{
	(void)fault_set(fault, FAULT_SECRET,
	    "does not open: the key is another, or the file was changed, or "
	    "it was made under another name");
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
		return corrupt(fault);
	n_origin = count_visible(origin, n - n_magic);
	if (n_origin == n - n_magic || origin[n_origin] != '\n' ||
	    n_origin >= SECRET_ORIGIN_BYTES)
		return corrupt(fault);
	used = n_magic + n_origin + 1;
	if (n - used < SECRET_NONCE_BYTES + SECRET_TAG_BYTES + 1 ||
	    n - used >
		SECRET_NONCE_BYTES + SECRET_TAG_BYTES + LIMIT_TOKEN_BYTES)
		return corrupt(fault);
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
		return corrupt(fault);
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

/* What setting the secret again would put right, says so. */
static void
advise(enum keep_result result, const struct secret_store *store,
    const struct secret_id *id, struct fault *fault)
{
	bool is_of_file = result == KEEP_RESULT_OWNER ||
	    result == KEEP_RESULT_MODE || result == KEEP_RESULT_FAILED;
	struct fault why = { 0 };

	if (fault == NULL)
		return;
	(void)fault_set(&why, FAULT_SECRET, "%s", fault->text);
	if (is_of_file)
		(void)fault_set(fault, FAULT_SECRET, "%s/%s/%s: %s",
		    store->path, SECRET_DIRECTORY, id->name, why.text);
	else
		(void)fault_set(fault, FAULT_SECRET,
		    "%s; run: sandcastle secret set %s", why.text, id->name);
}

/* Reads the file; *ret_parts lie in it. */
static enum keep_result
read_parts(const struct secret_store *store, const struct secret_id *id,
    unsigned char *file, struct parts *ret_parts, struct fault *fault)
{
	size_t limits[2] = { 1, LIMIT_SECRET_FILE_BYTES };
	enum keep_result result = KEEP_RESULT_MISSING;

	if (store->secrets >= 0)
		result = secret_load_file(
		    store->secrets, id->name, limits, file, fault);
	if (result == KEEP_RESULT_MISSING)
		(void)fault_set(fault, FAULT_SECRET, "is not set");
	if (result == KEEP_RESULT_OK)
		result = take_apart(file, limits[0], id, ret_parts, fault);
	return result;
}

enum keep_result
secret_read(const struct secret_store *store, const struct secret_id *id,
    struct token_msg *to, struct fault *fault)
{
	cleanup_secret unsigned char *file =
	    secret_memory(LIMIT_SECRET_FILE_BYTES + 1);
	cleanup_secret unsigned char *key = secret_memory(SECRET_KEY_BYTES + 1);
	enum keep_result result;
	struct parts parts;

	must(text_is_name(id->name));
	result = read_parts(store, id, file, &parts, fault);
	if (result != KEEP_RESULT_OK) {
		advise(result, store, id, fault);
	} else {
		result = secret_load_key(store, key, fault);
		if (result == KEEP_RESULT_OK) {
			result = unseal(&parts, key, id, to, fault);
			if (result != KEEP_RESULT_OK)
				advise(result, store, id, fault);
		}
	}
	if (result != KEEP_RESULT_OK)
		sodium_memzero(to, sizeof(*to));
	return result;
}
