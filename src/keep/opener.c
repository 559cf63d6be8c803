/* SPDX-License-Identifier: ISC
 *
 * The opener, a child of the keep's main process that lives for milliseconds:
 * the only process that holds the key while sandcastle runs. It distrusts the
 * store's files and writes to nothing but a pipe. It says no word: its exit
 * status is the reason.
 */
#include "keep/opener.h"

#include <sodium.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/text.h"
#include "keep/walls.h"

static bool
is_pipe(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode);
}

static bool
are_valid(const struct secret_id *id)
{
	return text_is_name(id->name) && text_is_name(id->source) &&
	    id->origin[0] != '\0' && strlen(id->origin) < SECRET_ORIGIN_BYTES;
}

int
opener_run(const struct secret_id *id, const char *state, int pipe)
{
	cleanup_secret struct token_msg *message = NULL;
	struct secret_store store = SECRET_STORE_NONE;
	enum keep_result result;

	if (!are_valid(id) || !is_pipe(pipe) || walls_open(state) < 0 ||
	    sodium_init() < 0)
		return KEEP_RESULT_FAILED;
	message = secret_memory(sizeof(*message));
	result = secret_store_open(state, &store, NULL);
	if (result == KEEP_RESULT_OK)
		result = secret_read(&store, id, message, NULL);
	if (result == KEEP_RESULT_OK &&
	    file_write_all(pipe, message, sizeof(*message)) < 0)
		result = KEEP_RESULT_FAILED;
	secret_store_close(&store);
	return (int)result;
}
