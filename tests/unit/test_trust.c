/* SPDX-License-Identifier: ISC
 *
 * Bundles of authorities: what is read from them, and that the store made of
 * one verifies what one with every certificate decoded would.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "courier/trust.h"

struct party {
	X509 *certificate;
	EVP_PKEY *key;
};

/* Two authorities of one name, one of another, and what they signed. */
static struct party first;
static struct party twin;
static struct party other;
static struct party by_first;
static struct party by_twin;
static struct party by_other;

static void
extend(X509 *certificate, X509 *issuer, int nid, const char *value)
{
	X509V3_CTX context;
	X509_EXTENSION *extension;

	X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
	extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
	assert_non_null(extension);
	assert_int_equal(X509_add_ext(certificate, extension, -1), 1);
	X509_EXTENSION_free(extension);
}

static struct party
issue(const char *name, const struct party *by, bool is_authority)
{
	struct party party = { X509_new(), EVP_EC_gen("P-256") };
	X509 *c = party.certificate;
	static long serial = 1;

	assert_non_null(party.key);
	assert_int_equal(X509_set_version(c, 2), 1);
	assert_int_equal(
	    ASN1_INTEGER_set(X509_get_serialNumber(c), serial++), 1);
	assert_int_equal(
	    X509_NAME_add_entry_by_txt(X509_get_subject_name(c), "CN",
		MBSTRING_ASC, (const unsigned char *)name, -1, -1, 0),
	    1);
	assert_int_equal(X509_set_issuer_name(c,
			     X509_get_subject_name(by ? by->certificate : c)),
	    1);
	assert_non_null(X509_gmtime_adj(X509_getm_notBefore(c), -60));
	assert_non_null(X509_gmtime_adj(X509_getm_notAfter(c), 3600));
	assert_int_equal(X509_set_pubkey(c, party.key), 1);
	extend(c, c, NID_basic_constraints,
	    is_authority ? "critical,CA:TRUE" : "CA:FALSE");
	extend(c, c, NID_subject_key_identifier, "hash");
	extend(c, by ? by->certificate : c, NID_authority_key_identifier,
	    "keyid:always");
	assert_true(X509_sign(c, by ? by->key : party.key, EVP_sha256()) > 0);
	return party;
}

static int
set_up(void **state)
{
	(void)state;
	first = issue("authority", NULL, true);
	twin = issue("authority", NULL, true);
	other = issue("other", NULL, true);
	by_first = issue("leaf", &first, false);
	by_twin = issue("leaf", &twin, false);
	by_other = issue("leaf", &other, false);
	return 0;
}

static int
tear_down(void **state)
{
	struct party *all[] = { &first, &twin, &other, &by_first, &by_twin,
		&by_other };

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		X509_free(all[i]->certificate);
		EVP_PKEY_free(all[i]->key);
	}
	return 0;
}

static BIO *
bundle_new(void)
{
	BIO *bundle = BIO_new(BIO_s_mem());

	assert_non_null(bundle);
	return bundle;
}

static void
bundle_add(BIO *bundle, const struct party *party)
{
	assert_int_equal(PEM_write_bio_X509(bundle, party->certificate), 1);
}

/* Reads a bundle as the courier does, and frees it. */
static struct trust *
bundle_read(BIO *bundle)
{
	char *text;
	long n = BIO_get_mem_data(bundle, &text);
	int fd = file_sealed_from("bundle", text, (size_t)n);
	struct trust *trust = NULL;

	assert_true(fd >= 0);
	assert_int_equal(trust_read(fd, &trust), 0);
	(void)close(fd);
	BIO_free(bundle);
	return trust;
}

/* The result of verifying a certificate by a trust. */
static int
verify(struct trust *trust, const struct party *leaf)
{
	X509_STORE_CTX *context = X509_STORE_CTX_new();
	int result;

	assert_non_null(context);
	assert_int_equal(X509_STORE_CTX_init(context, trust_store(trust),
			     leaf->certificate, NULL),
	    1);
	result = X509_verify_cert(context) == 1
	    ? X509_V_OK
	    : X509_STORE_CTX_get_error(context);
	X509_STORE_CTX_free(context);
	return result;
}

static void
what_an_authority_signed_is_valid(void **state)
{
	BIO *bundle = bundle_new();
	struct trust *trust;

	(void)state;
	bundle_add(bundle, &first);
	bundle_add(bundle, &other);
	trust = bundle_read(bundle);
	assert_int_equal(trust_count(trust), 2);
	/* Twice: the second time they are in the store already. */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(verify(trust, &by_first), X509_V_OK);
		assert_int_equal(verify(trust, &by_other), X509_V_OK);
		assert_int_equal(verify(trust, &by_twin),
		    X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY);
	}
	trust_free(trust);
}

static void
of_two_with_one_name_the_right_one_is_taken(void **state)
{
	BIO *bundle = bundle_new();
	struct trust *trust;

	(void)state;
	bundle_add(bundle, &first);
	bundle_add(bundle, &other);
	bundle_add(bundle, &twin);
	trust = bundle_read(bundle);
	assert_int_equal(trust_count(trust), 3);
	assert_int_equal(verify(trust, &by_twin), X509_V_OK);
	assert_int_equal(verify(trust, &by_first), X509_V_OK);
	trust_free(trust);
}

static void
nobody_is_trusted_by_an_empty_bundle(void **state)
{
	struct trust *trust = bundle_read(bundle_new());

	(void)state;
	assert_int_equal(trust_count(trust), 0);
	assert_int_equal(verify(trust, &by_first),
	    X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY);
	assert_int_equal(
	    verify(trust, &first), X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT);
	trust_free(trust);
}

static void
a_certificate_in_the_bundle_is_trusted_itself(void **state)
{
	BIO *bundle = bundle_new();
	struct trust *trust;

	(void)state;
	bundle_add(bundle, &by_other);
	trust = bundle_read(bundle);
	assert_int_equal(verify(trust, &by_other), X509_V_OK);
	assert_int_not_equal(verify(trust, &by_first), X509_V_OK);
	trust_free(trust);
}

static void
other_blocks_are_left_out(void **state)
{
	BIO *bundle = bundle_new();
	struct trust *trust;

	(void)state;
	(void)BIO_puts(bundle, "# a comment\nand text\n");
	assert_int_equal(PEM_write_bio_PrivateKey(
			     bundle, other.key, NULL, NULL, 0, NULL, NULL),
	    1);
	assert_int_equal(PEM_write_bio_PUBKEY(bundle, other.key), 1);
	/* DER that is no certificate. */
	assert_int_equal(
	    PEM_write_bio(bundle, "CERTIFICATE", "",
		(const unsigned char *)"\x30\x03\x02\x01\x05", 5) > 0,
	    1);
	assert_int_equal(
	    PEM_write_bio(bundle, "CERTIFICATE", "",
		(const unsigned char *)"\x30\x84\xFF\xFF\xFF", 5) > 0,
	    1);
	bundle_add(bundle, &other);
	assert_int_equal(PEM_write_bio_X509_AUX(bundle, first.certificate), 1);
	trust = bundle_read(bundle);
	assert_int_equal(trust_count(trust), 2);
	assert_int_equal(verify(trust, &by_other), X509_V_OK);
	trust_free(trust);
}

/* Random damage to a certificate's DER; the reader must stay in bounds. */
static void
damage_is_survived(void **state)
{
	unsigned char *der = NULL;
	int n = i2d_X509(other.certificate, &der);

	(void)state;
	assert_true(n > 0);
	for (int i = 1; i < n; i++) {
		BIO *bundle = bundle_new();
		struct trust *trust;

		der[i] ^= 0xFF;
		assert_true(
		    PEM_write_bio(bundle, "CERTIFICATE", "", der, i) > 0);
		assert_true(
		    PEM_write_bio(bundle, "CERTIFICATE", "", der, n) > 0);
		trust = bundle_read(bundle);
		(void)verify(trust, &by_other);
		trust_free(trust);
		der[i] ^= 0xFF;
	}
	OPENSSL_free(der);
}

static void
a_bundle_has_a_longest_length(void **state)
{
	char *bytes = malloc(LIMIT_CA_BYTES + 1);
	struct trust *trust = NULL;
	int fd;

	(void)state;
	assert_non_null(bytes);
	memset(bytes, '\n', LIMIT_CA_BYTES + 1);
	fd = file_sealed_from("bundle", bytes, LIMIT_CA_BYTES + 1);
	assert_int_equal(trust_read(fd, &trust), -EFBIG);
	assert_null(trust);
	(void)close(fd);
	fd = file_sealed_from("bundle", bytes, LIMIT_CA_BYTES);
	assert_int_equal(trust_read(fd, &trust), 0);
	trust_free(trust);
	(void)close(fd);
	free(bytes);
	assert_true(trust_read(-1, &trust) < 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_an_authority_signed_is_valid),
		cmocka_unit_test(of_two_with_one_name_the_right_one_is_taken),
		cmocka_unit_test(nobody_is_trusted_by_an_empty_bundle),
		cmocka_unit_test(a_certificate_in_the_bundle_is_trusted_itself),
		cmocka_unit_test(other_blocks_are_left_out),
		cmocka_unit_test(damage_is_survived),
		cmocka_unit_test(a_bundle_has_a_longest_length),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
