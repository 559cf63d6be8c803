/* SPDX-License-Identifier: ISC
 *
 * The walls of the dialer.
 */
#ifndef DIALER_WALLS_H
#define DIALER_WALLS_H

/* Puts the process inside them, for good. 0 or -errno. */
int walls_enter(void);

#endif
