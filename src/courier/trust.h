/* SPDX-License-Identifier: ISC
 *
 * The operator's certificates of authorities. The bundle is read and cut up
 * at once; a certificate in it is decoded only when a source's chain names
 * it, because decoding all of Debian's 140 costs more than the exchange.
 */
#ifndef COURIER_TRUST_H
#define COURIER_TRUST_H

#include <stddef.h>

struct trust;
struct x509_store_st;

/*
 * Reads a PEM bundle of at most LIMIT_CA_BYTES from the start of the fd, to
 * its end. Blocks that are no certificates, or none that can be read, are
 * left out. *ret_trust is owned by the caller. 0 or -errno (-EFBIG: too long).
 */
int trust_read(int fd, struct trust **ret_trust);
void trust_free(struct trust *trust);

/* How many certificates it has. */
size_t trust_count(const struct trust *trust);

/* The store that verifies by it; lives as long as the trust. */
struct x509_store_st *trust_store(struct trust *trust);

#endif
