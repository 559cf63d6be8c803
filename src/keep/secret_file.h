/* SPDX-License-Identifier: ISC
 *
 * How a secret lies in the store: shared by its reader and its writer.
 */
#ifndef KEEP_SECRET_FILE_H
#define KEEP_SECRET_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "keep/secret.h"

#define SECRET_KEY_FILE	 "key"
#define SECRET_DIRECTORY "secrets"
#define SECRET_MAGIC	 "SCSEC1\n"

/* XChaCha20-Poly1305 and keyed BLAKE2b. */
#define SECRET_KEY_BYTES   32
#define SECRET_NONCE_BYTES 24
#define SECRET_TAG_BYTES   16

/* The data a seal is bound to: label, name, origin. */
#define SECRET_BINDING_BYTES (32 + SECRET_NAME_BYTES + SECRET_ORIGIN_BYTES)

/* Writes it; gives its length. */
size_t secret_binding(
    unsigned char to[SECRET_BINDING_BYTES], const struct secret_id *id);

/*
 * Opens a file or directory of the store without following a link and judges
 * what was opened. KEEP_RESULT_OK with an fd owned by the caller.
 */
enum keep_result secret_open_checked(int directory, const char *name,
    bool is_directory, int *ret_fd, struct fault *fault);

/*
 * Reads such a file of limits[0] to limits[1] bytes; limits[0] becomes their
 * number. to holds limits[1] + 1.
 */
enum keep_result secret_load_file(int directory, const char *name,
    size_t limits[2], unsigned char *to, struct fault *fault);

/* Reads the key; to holds SECRET_KEY_BYTES + 1. */
enum keep_result secret_load_key(
    const struct secret_store *store, unsigned char *to, struct fault *fault);

#endif
