/* SPDX-License-Identifier: ISC
 *
 * The store of secrets: one key, one file a secret, each sealed to its name
 * and to the origin it may be sent to. Used by the opener and by the
 * operator's `secret`; never by the keep's main process. sodium_init comes
 * first.
 */
#ifndef KEEP_SECRET_H
#define KEEP_SECRET_H

#include <stdint.h>

#include "base/cleanup.h"
#include "base/fault.h"
#include "wire/keep_msg.h"
#include "wire/token_msg.h"

#define SECRET_NAME_BYTES   68
#define SECRET_ORIGIN_BYTES 320

struct secret_store {
	const char *path; /* as it was opened; the caller's */
	int directory; /* holds `key` and `secrets`; -1: there is none yet */
	int secrets; /* -1: there is none yet */
};

#define SECRET_STORE_NONE    \
	{                    \
		NULL, -1, -1 \
	}

struct secret_id {
	const char *name;
	const char *origin; /* scheme://host:port */
	const char *source; /* whose tickets; NULL: none are wanted */
};

/* Gives wiped, guarded memory of n bytes, locked into RAM as far as the machine
 * allows; owned by the caller (cleanup_secret). */
void *secret_memory(size_t n);
void secret_free_at(void *at);

#define cleanup_secret cleanup_with(secret_free_at)

/*
 * Opens the store at path after checking its directories: owned by us and
 * written by no one else. One that is not there is one without secrets.
 * KEEP_RESULT_OK with *ret_store (secret_store_close), or the reason, with the
 * fault saying it for people.
 */
enum keep_result secret_store_open(
    const char *path, struct secret_store *ret_store, struct fault *fault);
void secret_store_close(struct secret_store *store);

/*
 * Makes the store at path when it is missing (its parent must be there),
 * opens it and locks out every other writer until it is closed.
 */
enum keep_result secret_store_change(
    const char *path, struct secret_store *ret_store, struct fault *fault);

/*
 * Reads a secret into *to, which must be secret_memory: the token, and the
 * ticket key when id->source is given. KEEP_RESULT_OK, or the reason with the
 * fault (what is wrong and what to do about it), *to then wiped.
 */
enum keep_result secret_read(const struct secret_store *store,
    const struct secret_id *id, struct token_msg *to, struct fault *fault);

/*
 * Puts a secret into a store opened by secret_store_change, in place of one
 * of that name; makes the key when there is none. The token must be valid.
 */
enum keep_result secret_write(const struct secret_store *store,
    const struct secret_id *id, const char *token, struct fault *fault);

/* Takes a secret out. */
enum keep_result secret_remove(
    const struct secret_store *store, const char *name, struct fault *fault);

struct secret_entry {
	char name[SECRET_NAME_BYTES];
	int64_t set_at_s; /* wall clock */
};

/* The secrets by name. 0 with an array owned by the caller (free), or -1 with
 * a fault. */
int secret_list(const struct secret_store *store,
    struct secret_entry **ret_entries, size_t *ret_n, struct fault *fault);

#endif
