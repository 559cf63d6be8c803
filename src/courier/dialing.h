/* SPDX-License-Identifier: ISC
 *
 * How the courier comes by a connected socket: it asks the keep.
 */
#ifndef COURIER_DIALING_H
#define COURIER_DIALING_H

#include <stdint.h>

#include "wire/courier_msg.h"

/*
 * Waits until a link has something to read, or has ended. deadline_ms is of
 * the boot clock; UINT64_MAX waits for ever. 0, or -ETIMEDOUT or -errno.
 */
int dialing_wait(int link, uint64_t deadline_ms);

/*
 * Asks for a connection to the courier's source and waits for it until the
 * deadline, at most LIMIT_DIAL_MS. COURIER_TROUBLE_NONE with a socket to that
 * port, owned by the caller; or why there is none.
 */
enum courier_trouble dialing_ask(
    int keep, uint32_t port, uint64_t deadline_ms, int *ret_socket);

#endif
