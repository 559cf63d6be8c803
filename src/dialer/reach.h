/* SPDX-License-Identifier: ISC
 *
 * From a name to a connected socket.
 */
#ifndef DIALER_REACH_H
#define DIALER_REACH_H

#include "wire/dial_msg.h"

/*
 * Resolves the order's host and tries its addresses in turn. Fills result and
 * refused of *dialed (zeroed by the caller). Gives the socket, owned by the
 * caller, connected and non-blocking, or -1 when result is not OK.
 */
int reach(const struct dial_order *order, struct dialed *dialed);

#endif
