/* SPDX-License-Identifier: ISC
 *
 * Which addresses a name may lead to. Pure.
 */
#ifndef DIALER_ADDRESS_H
#define DIALER_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

#include "wire/dial_msg.h"

/* Takes the address out of a resolved sockaddr. 0, or -1: another family. */
int address_from(const struct sockaddr *from, struct dial_address *ret);

/*
 * Whether it is an address that a service on a network does not have: this
 * machine, its own link (where clouds keep their metadata), groups, reserved
 * ranges, and every IPv6 form that carries one of these. Private ranges are
 * not special: sources live inside networks.
 */
bool address_is_special(const struct dial_address *address);

/* Whether the order lets us connect there. */
bool address_is_allowed(
    const struct dial_address *address, const struct dial_order *order);

#endif
