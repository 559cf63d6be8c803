/* SPDX-License-Identifier: ISC
 *
 * The directories of an instance: made once, by `init`; what a reboot takes
 * away is made again by `run`.
 */
#ifndef CLI_PLACES_H
#define CLI_PLACES_H

#include "base/fault.h"
#include "base/paths.h"

/* Told of each thing that was made, or that was there. */
typedef void places_teller(const char *path, const char *what);

/* Makes the directories of core, keep, lock, config and run that are missing,
 * with their owners and modes. -1 with a fault. */
int places_make(
    const struct paths *paths, places_teller *tell, struct fault *fault);

/* Makes the run directory when it is missing. -1 with a fault. */
int places_make_run(const struct paths *paths, struct fault *fault);

#endif
