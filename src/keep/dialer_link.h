/* SPDX-License-Identifier: ISC
 *
 * One dialer: started for one DIAL of a courier, asked once, gone.
 */
#ifndef KEEP_DIALER_LINK_H
#define KEEP_DIALER_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "keep/grave.h"
#include "wire/dial_msg.h"

struct dialer_link {
	struct child child; /* pidfd -1: there is none */
	int link;
	uint32_t port; /* that it was asked for */
	uint64_t deadline_ms; /* boot clock */
};

void dialer_link_init(struct dialer_link *dialer);

bool dialer_link_is_busy(const struct dialer_link *dialer);

/* Starts a dialer for a place. 0, or -errno with none started. */
int dialer_link_start(struct dialer_link *dialer,
    const struct dial_order *place, uint64_t now_ms);

/*
 * Looks at the dialer's link and at the time. True when there is an answer,
 * the dialer's or, for one that is late, mute or mad, our own: then *ret_dialed
 * and *ret_socket (owned by the caller; -1 unless the result is OK) are set
 * and the dialer is buried.
 */
bool dialer_link_attend(struct dialer_link *dialer, uint64_t now_ms,
    struct grave *grave, struct dialed *ret_dialed, int *ret_socket);

void dialer_link_close(struct dialer_link *dialer, struct grave *grave);

#endif
