/* SPDX-License-Identifier: ISC
 *
 * Why a capability cannot be run, in words, from a yard's own list.
 */
#ifndef CLI_TROUBLE_H
#define CLI_TROUBLE_H

#include <stdbool.h>

#include "config/config.h"
#include "wire/yard_msg.h"

/* Writes the reason and gives true; false when it can be run. */
bool trouble_of_capability(const struct yard_answer *listed,
    uint32_t capability, const struct capability_config *settings,
    char to[300]);

#endif
