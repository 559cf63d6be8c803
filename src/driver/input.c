/* SPDX-License-Identifier: ISC
 *
 * The first look at a job. Runs in the driver and distrusts every byte of
 * the letter: it streams through the shape checker in small pieces, and
 * nothing is allocated from a size that it declares.
 */
#include "driver/input.h"

#include <errno.h>
#include <fcntl.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "wire/letter.h"

struct content {
	int file;
	int error; /* negative errno of the first write that failed */
};

static int
write_content(void *context, const unsigned char *bytes, size_t n)
{
	struct content *content = context;

	content->error = file_write_all(content->file, bytes, n);
	return content->error;
}

static enum error_code
judge(enum shape_result result, const struct content *content)
{
	switch (result) {
	case SHAPE_OK:
		return ERROR_NONE;
	case SHAPE_NOT_JSON:
	case SHAPE_WRONG:
		return ERROR_BAD_INPUT;
	case SHAPE_TOO_LARGE:
		return ERROR_TOO_LARGE;
	case SHAPE_SINK_FAILED:
		break;
	}
	return content->error == -ENOSPC || content->error == -EFBIG
	    ? ERROR_TOO_HEAVY
	    : ERROR_CRASHED;
}

enum error_code
input_read(struct job *job, const char *path)
{
	struct content content = { -1, 0 };
	ssize_t size = letter_size(job->input, LIMIT_BODY_BYTES);
	int r;

	if (size < 0)
		return size == -EFBIG ? ERROR_TOO_LARGE : ERROR_CRASHED;
	content.file = open(
	    path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (content.file < 0)
		return ERROR_CRASHED;
	shape_init(&job->shape, job->capability->input, write_content, &content,
	    job->order->max_input);
	r = letter_feed(job->input, (uint64_t)size, &job->shape);
	cleanup_fd_at(&content.file);
	return r < 0 ? ERROR_CRASHED
		     : judge(shape_finish(&job->shape), &content);
}
