/* SPDX-License-Identifier: ISC
 *
 * Tickets, in the courier. They guard against a core that mixes up letters,
 * ids or sources: it cannot make a ticket, only carry it.
 */
#include "courier/ticket.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <string.h>

int
ticket_maker_init(struct ticket_maker *maker)
{
	EVP_MAC *mac = EVP_MAC_fetch(NULL, "BLAKE2BMAC", NULL);

	if (mac == NULL)
		return -1;
	*maker = (struct ticket_maker){ .mac = mac };
	return 0;
}

void
ticket_maker_done(struct ticket_maker *maker)
{
	EVP_MAC_free(maker->mac);
	OPENSSL_cleanse(maker, sizeof(*maker));
}

int
ticket_make(const struct ticket_maker *maker, const char *id,
    unsigned char ret_ticket[LETTER_TICKET_BYTES])
{
	size_t size = LETTER_TICKET_BYTES;
	OSSL_PARAM params[] = { OSSL_PARAM_construct_size_t(
				    OSSL_MAC_PARAM_SIZE, &size),
		OSSL_PARAM_construct_end() };
	unsigned char ticket[LETTER_TICKET_BYTES];
	EVP_MAC_CTX *context = EVP_MAC_CTX_new(maker->mac);
	size_t n = 0;
	bool is_made = context != NULL &&
	    EVP_MAC_init(context, maker->key, sizeof(maker->key), params) &&
	    EVP_MAC_update(context, (const unsigned char *)id, strlen(id)) &&
	    EVP_MAC_final(context, ticket, &n, sizeof(ticket)) &&
	    n == sizeof(ticket);

	EVP_MAC_CTX_free(context);
	if (!is_made)
		return -1;
	memcpy(ret_ticket, ticket, sizeof(ticket));
	return 0;
}

bool
ticket_is_of(const struct ticket_maker *maker, const char *id,
    const unsigned char ticket[LETTER_TICKET_BYTES])
{
	unsigned char right[LETTER_TICKET_BYTES];

	return ticket_make(maker, id, right) == 0 &&
	    CRYPTO_memcmp(right, ticket, sizeof(right)) == 0;
}
