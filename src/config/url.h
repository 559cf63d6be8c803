/* SPDX-License-Identifier: ISC
 *
 * The URL of a source: https://host[:port][/prefix] and nothing else.
 */
#ifndef CONFIG_URL_H
#define CONFIG_URL_H

#include <stdbool.h>

#include "base/fault.h"
#include "config/config.h"

/*
 * Reads text into url, origin, host, port, is_tls and host_may_be_special of
 * *source. -1 with a fault "what is wrong, what would be right"; then *source
 * may be half filled.
 */
int url_parse(
    const char *text, struct source_config *source, struct fault *fault);

/* Whether the host of a parsed URL is a literal of 127.0.0.0/8 or ::1. */
bool url_is_loopback(const struct source_config *source);

/* Reads an IPv4 or IPv6 literal without brackets or zone. 0 or -1. */
int address_parse(const char *text, struct dial_address *ret_address);

#endif
