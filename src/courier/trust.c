/* SPDX-License-Identifier: ISC
 *
 * Certificates of authorities, in the courier: the operator's or the
 * system's, so trusted bytes. The source decides only which of them are
 * looked up, by naming an issuer.
 */
#include "courier/trust.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509_vfy.h>
#include <stdbool.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/memory.h"

struct anchor {
	X509_NAME *subject;
	unsigned char *der; /* owned, by OPENSSL_malloc */
	long n;
	bool has_purposes; /* "TRUSTED CERTIFICATE": what it may sign follows */
};

struct trust {
	struct anchor *anchors;
	size_t n;
	X509_LOOKUP_METHOD *method;
	X509_STORE *store;
};

/* Steps into or over one DER element. 0 or -1. */
static int
der_step(const unsigned char **at, const unsigned char *end, int *ret_tag,
    bool steps_in)
{
	const unsigned char *p = *at;
	long length;
	int class;
	int tag;

	if (ASN1_get_object(&p, &length, &tag, &class, end - p) & 0x80)
		return -1;
	*ret_tag = class == V_ASN1_CONTEXT_SPECIFIC ? -1 : tag;
	*at = steps_in ? p : p + length;
	return 0;
}

/*
 * Certificate { tbsCertificate { [0] version?, serialNumber, signature,
 * issuer, validity, subject, … } }
 */
static X509_NAME *
read_subject(const unsigned char *der, long n)
{
	const unsigned char *at = der;
	const unsigned char *end = der + n;
	const unsigned char *version;
	int tag;

	if (der_step(&at, end, &tag, true) < 0 ||
	    der_step(&at, end, &tag, true) < 0)
		return NULL;
	version = at;
	if (der_step(&at, end, &tag, false) < 0)
		return NULL;
	if (tag != -1)
		at = version;
	for (int i = 0; i < 4; i++) {
		if (der_step(&at, end, &tag, false) < 0)
			return NULL;
	}
	return d2i_X509_NAME(NULL, &at, end - at);
}

static X509 *
decode(const struct anchor *anchor)
{
	const unsigned char *at = anchor->der;

	return anchor->has_purposes ? d2i_X509_AUX(NULL, &at, anchor->n)
				    : d2i_X509(NULL, &at, anchor->n);
}

static bool
is_certificate(const char *name)
{
	return strcmp(name, PEM_STRING_X509) == 0 ||
	    strcmp(name, PEM_STRING_X509_OLD) == 0 ||
	    strcmp(name, PEM_STRING_X509_TRUSTED) == 0;
}

/* Takes over der when it is a certificate. */
static bool
add_anchor(struct trust *trust, const char *name, unsigned char *der, long n)
{
	struct anchor anchor = { .der = der, .n = n };

	if (!is_certificate(name))
		return false;
	anchor.has_purposes = strcmp(name, PEM_STRING_X509_TRUSTED) == 0;
	anchor.subject = read_subject(der, n);
	if (anchor.subject == NULL)
		return false;
	trust->anchors = memory_resize(
	    trust->anchors, trust->n + 1, sizeof(*trust->anchors));
	trust->anchors[trust->n++] = anchor;
	return true;
}

static void
read_bundle(struct trust *trust, BIO *bio)
{
	char *name;
	char *header;
	unsigned char *der;
	long n;

	while (PEM_read_bio(bio, &name, &header, &der, &n) == 1) {
		if (!add_anchor(trust, name, der, n))
			OPENSSL_free(der);
		OPENSSL_free(name);
		OPENSSL_free(header);
	}
	ERR_clear_error();
}

/*
 * Puts all certificates of that subject into the store, as OpenSSL's lookup
 * in a directory does, and gives the first.
 */
static int
find_subject(X509_LOOKUP *lookup, X509_LOOKUP_TYPE type,
    const X509_NAME *subject, X509_OBJECT *ret)
{
	const struct trust *trust = X509_LOOKUP_get_method_data(lookup);
	int n_found = 0;

	if (type != X509_LU_X509)
		return 0;
	for (size_t i = 0; i < trust->n; i++) {
		X509 *certificate;

		if (X509_NAME_cmp(trust->anchors[i].subject, subject) != 0)
			continue;
		certificate = decode(&trust->anchors[i]);
		if (certificate != NULL &&
		    X509_STORE_add_cert(trust->store, certificate) == 1 &&
		    n_found++ == 0) {
			/* The caller counts its own reference to what it is
			 * given; the one that set1 takes must go again. */
			(void)X509_OBJECT_set1_X509(ret, certificate);
			X509_free(certificate);
		}
		X509_free(certificate);
	}
	ERR_clear_error();
	return n_found > 0;
}

static int
make_store(struct trust *trust)
{
	X509_LOOKUP *lookup;

	trust->method = X509_LOOKUP_meth_new("bundle");
	trust->store = X509_STORE_new();
	if (trust->method == NULL || trust->store == NULL ||
	    !X509_LOOKUP_meth_set_get_by_subject(trust->method, find_subject))
		return -ENOMEM;
	lookup = X509_STORE_add_lookup(trust->store, trust->method);
	if (lookup == NULL || !X509_LOOKUP_set_method_data(lookup, trust))
		return -ENOMEM;
	/* An intermediate in the operator's file is an anchor too. */
	return X509_STORE_set_flags(trust->store,
		   X509_V_FLAG_TRUSTED_FIRST | X509_V_FLAG_PARTIAL_CHAIN)
	    ? 0
	    : -ENOMEM;
}

int
trust_read(int fd, struct trust **ret_trust)
{
	cleanup_free char *pem = memory_new(LIMIT_CA_BYTES + 1, 1);
	ssize_t n = file_pread_all(fd, pem, LIMIT_CA_BYTES + 1, 0);
	struct trust *trust;
	BIO *bio;
	int r;

	if (n < 0)
		return (int)n;
	if (n > LIMIT_CA_BYTES)
		return -EFBIG;
	trust = memory_new(1, sizeof(*trust));
	bio = BIO_new_mem_buf(pem, (int)n);
	r = bio == NULL ? -ENOMEM : make_store(trust);
	if (r == 0)
		read_bundle(trust, bio);
	BIO_free(bio);
	if (r < 0)
		trust_free(trust);
	else
		*ret_trust = trust;
	return r;
}

void
trust_free(struct trust *trust)
{
	if (trust == NULL)
		return;
	X509_STORE_free(trust->store);
	X509_LOOKUP_meth_free(trust->method);
	for (size_t i = 0; i < trust->n; i++) {
		X509_NAME_free(trust->anchors[i].subject);
		OPENSSL_free(trust->anchors[i].der);
	}
	free(trust->anchors);
	free(trust);
}

size_t
trust_count(const struct trust *trust)
{
	return trust->n;
}

X509_STORE *
trust_store(struct trust *trust)
{
	return trust->store;
}
