/* SPDX-License-Identifier: ISC
 *
 * The one job of this box, and the functions that do it, one a capability.
 */
#ifndef DRIVER_JOB_H
#define DRIVER_JOB_H

#include <linux/filter.h>

#include "contract/capability.h"
#include "contract/outcome.h"
#include "contract/shape.h"
#include "wire/box_msg.h"

/* Where the job's content is put; no name that a tool could read options or
 * a type from. */
#define JOB_FILE "/tmp/in"

struct job {
	const struct capability *capability;
	const struct box_order *order; /* decoded, so its ranges hold */
	const struct sock_fprog *filter; /* a tool's process enters it */
	int input; /* letter, read-only */
	int output; /* letter */
	uint64_t deadline_ms; /* of the boot clock; every tool ends by then */
	struct shape shape; /* the values of the input */
};

/*
 * Each expects the content in JOB_FILE and the other values in job->shape,
 * and gives ERROR_NONE with a whole output in the letter, or what is wrong.
 */
enum error_code image_preview(const struct job *job);
enum error_code document_text(const struct job *job);
enum error_code image_text(const struct job *job);
enum error_code document_preview(const struct job *job);

#endif
