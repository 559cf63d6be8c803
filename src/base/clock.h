/* SPDX-License-Identifier: ISC
 *
 * The clocks. Deadlines and delays use the boot clock, which no one can set
 * and which counts suspended time; the wall clock is for people.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

/* Milliseconds since boot, suspended time included. */
uint64_t clock_boot_ms(void);

/* Seconds since 1970. */
int64_t clock_wall_s(void);

/*
 * The id of this boot as 36 characters and a terminator, from
 * /proc/sys/kernel/random/boot_id. -1 when it cannot be read.
 */
int clock_boot_id(char to[37]);

#endif
