/* SPDX-License-Identifier: ISC
 *
 * The first config.yaml: etc/config.yaml, line by line, put in at build time.
 */
#ifndef CLI_STARTER_H
#define CLI_STARTER_H

/* Each with its line feed; NULL ends. */
extern const char *const starter_lines[];

#endif
