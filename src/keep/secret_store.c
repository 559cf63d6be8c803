/* SPDX-License-Identifier: ISC
 *
 * Opening the store and changing it, in the operator's `secret` (the opener
 * only opens it). A change is there whole or not at all, and two commands at
 * once wait for each other: two first keys would lose a secret.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/must.h"
#include "base/text.h"
#include "keep/secret_file.h"

_Static_assert(SECRET_KEY_BYTES == crypto_aead_xchacha20poly1305_ietf_KEYBYTES,
    "the cipher's key");
_Static_assert(
    SECRET_NONCE_BYTES == crypto_aead_xchacha20poly1305_ietf_NPUBBYTES,
    "the cipher's nonce");
_Static_assert(SECRET_TAG_BYTES == crypto_aead_xchacha20poly1305_ietf_ABYTES,
    "the cipher's tag");
_Static_assert(SECRET_KEY_BYTES <= crypto_generichash_KEYBYTES_MAX &&
	TOKEN_TICKET_KEY_BYTES == crypto_generichash_BYTES,
    "the hash's key and length");
_Static_assert(sizeof(SECRET_MAGIC) + SECRET_ORIGIN_BYTES + SECRET_NONCE_BYTES +
	    SECRET_TAG_BYTES + LIMIT_TOKEN_BYTES <=
	LIMIT_SECRET_FILE_BYTES,
    "the longest secret fits its file");

static enum keep_result
failed(struct fault *fault, const char *what, int error)
{
	(void)fault_set(fault, FAULT_SECRET, "%s: %s", what, strerror(error));
	return KEEP_RESULT_FAILED;
}

/* The directory itself may be reached through links that the operator made;
 * what stands at the end must be ours. */
static enum keep_result
open_directory(const char *path, int *ret_fd, struct fault *fault)
{
	cleanup_fd int at = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	enum keep_result result;

	if (at < 0 && errno == ENOENT)
		return KEEP_RESULT_MISSING;
	if (at < 0)
		return failed(fault, path, errno);
	result = secret_open_checked(at, ".", true, ret_fd, fault);
	if (result != KEEP_RESULT_OK)
		(void)fault_wrap(fault, "%s", path);
	return result;
}

static enum keep_result
open_secrets(struct secret_store *store, struct fault *fault)
{
	enum keep_result result = secret_open_checked(
	    store->directory, SECRET_DIRECTORY, true, &store->secrets, fault);

	if (result != KEEP_RESULT_OK)
		(void)fault_wrap(fault, "%s/%s", store->path, SECRET_DIRECTORY);
	return result;
}

enum keep_result
secret_store_open(
    const char *path, struct secret_store *ret_store, struct fault *fault)
{
	struct secret_store store = { path, -1, -1 };
	enum keep_result result = open_directory(path, &store.directory, fault);

	if (result == KEEP_RESULT_OK)
		result = open_secrets(&store, fault);
	if (result == KEEP_RESULT_MISSING)
		result = KEEP_RESULT_OK;
	if (result == KEEP_RESULT_OK)
		*ret_store = store;
	else
		secret_store_close(&store);
	return result;
}

void
secret_store_close(struct secret_store *store)
{
	cleanup_fd_at(&store->secrets);
	cleanup_fd_at(&store->directory);
}

enum keep_result
secret_store_change(
    const char *path, struct secret_store *ret_store, struct fault *fault)
{
	struct secret_store store = { path, -1, -1 };
	enum keep_result result;

	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return failed(fault, path, errno);
	result = open_directory(path, &store.directory, fault);
	if (result == KEEP_RESULT_OK && flock(store.directory, LOCK_EX) < 0)
		result = failed(fault, path, errno);
	if (result == KEEP_RESULT_OK &&
	    mkdirat(store.directory, SECRET_DIRECTORY, 0700) < 0 &&
	    errno != EEXIST)
		result = failed(fault, SECRET_DIRECTORY, errno);
	if (result == KEEP_RESULT_OK)
		result = open_secrets(&store, fault);
	if (result == KEEP_RESULT_OK)
		*ret_store = store;
	else
		secret_store_close(&store);
	return result;
}

/* The key, made now if this is the first secret. */
static enum keep_result
have_key(
    const struct secret_store *store, unsigned char *to, struct fault *fault)
{
	enum keep_result result = secret_load_key(store, to, fault);
	int r;

	if (result != KEEP_RESULT_NO_KEY)
		return result;
	randombytes_buf(to, SECRET_KEY_BYTES);
	r = file_replace(
	    store->directory, SECRET_KEY_FILE, to, SECRET_KEY_BYTES, 0600);
	return r < 0 ? failed(fault, SECRET_KEY_FILE, -r) : KEEP_RESULT_OK;
}

/* Puts a file together; gives its length. to holds LIMIT_SECRET_FILE_BYTES. */
static size_t
seal(unsigned char *to, const struct secret_id *id, const char *token,
    const unsigned char *key)
{
	unsigned char binding[SECRET_BINDING_BYTES];
	size_t n_binding = secret_binding(binding, id);
	size_t n_magic = sizeof(SECRET_MAGIC) - 1;
	size_t n_origin = strlen(id->origin);
	unsigned char *nonce = to + n_magic + n_origin + 1;
	unsigned char *sealed = nonce + SECRET_NONCE_BYTES;
	unsigned long long n_sealed;

	memcpy(to, SECRET_MAGIC, n_magic);
	memcpy(to + n_magic, id->origin, n_origin);
	to[n_magic + n_origin] = '\n';
	randombytes_buf(nonce, SECRET_NONCE_BYTES);
	(void)crypto_aead_xchacha20poly1305_ietf_encrypt(sealed, &n_sealed,
	    (const unsigned char *)token, strlen(token), binding, n_binding,
	    NULL, nonce, key);
	return (size_t)(sealed - to) + (size_t)n_sealed;
}

enum keep_result
secret_write(const struct secret_store *store, const struct secret_id *id,
    const char *token, struct fault *fault)
{
	cleanup_secret unsigned char *key = secret_memory(SECRET_KEY_BYTES + 1);
	cleanup_free unsigned char *file =
	    memory_new(LIMIT_SECRET_FILE_BYTES, 1);
	enum keep_result result;
	int r;

	must(text_is_name(id->name) && token_is_valid(token) &&
	    strlen(id->origin) < SECRET_ORIGIN_BYTES);
	result = have_key(store, key, fault);
	if (result != KEEP_RESULT_OK)
		return result;
	r = file_replace(
	    store->secrets, id->name, file, seal(file, id, token, key), 0600);
	return r < 0 ? failed(fault, id->name, -r) : KEEP_RESULT_OK;
}

enum keep_result
secret_remove(
    const struct secret_store *store, const char *name, struct fault *fault)
{
	must(text_is_name(name));
	if (store->secrets < 0 || unlinkat(store->secrets, name, 0) < 0) {
		if (store->secrets >= 0 && errno != ENOENT)
			return failed(fault, name, errno);
		(void)fault_set(fault, FAULT_SECRET, "is not set");
		return KEEP_RESULT_MISSING;
	}
	if (fsync(store->secrets) < 0)
		return failed(fault, SECRET_DIRECTORY, errno);
	return KEEP_RESULT_OK;
}

static void
cleanup_dir_at(DIR **dir)
{
	if (*dir != NULL)
		(void)closedir(*dir);
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(((const struct secret_entry *)a)->name,
	    ((const struct secret_entry *)b)->name);
}

int
secret_list(const struct secret_store *store, struct secret_entry **ret_entries,
    size_t *ret_n, struct fault *fault)
{
	cleanup_with(cleanup_dir_at) DIR *dir = NULL;
	cleanup_free struct secret_entry *entries =
	    memory_new(1, sizeof(*entries));
	cleanup_fd int fd = -1;
	size_t n = 0;

	if (store->secrets >= 0) {
		fd = openat(
		    store->secrets, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		dir = fd < 0 ? NULL : fdopendir(fd);
		if (dir == NULL)
			return fault_set(fault, FAULT_SECRET, "%s: %s",
			    SECRET_DIRECTORY, strerror(errno));
		(void)take_fd(&fd);
	}
	for (struct dirent *d; dir != NULL && (d = readdir(dir)) != NULL;) {
		struct stat st;

		if (!text_is_name(d->d_name) ||
		    fstatat(store->secrets, d->d_name, &st,
			AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		entries = memory_resize(entries, n + 1, sizeof(*entries));
		(void)text_copy(
		    entries[n].name, sizeof(entries[n].name), d->d_name);
		entries[n++].set_at_s = st.st_mtim.tv_sec;
	}
	qsort(entries, n, sizeof(*entries), by_name);
	*ret_n = n;
	*ret_entries = take_ptr(entries);
	return 0;
}
