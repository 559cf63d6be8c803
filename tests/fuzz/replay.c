/* SPDX-License-Identifier: ISC
 *
 * Runs a target over the files of one directory, without libFuzzer. TAP.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/file.h"
#include "fuzz.h"

static void
replay_file(int directory, const char *name)
{
	cleanup_fd int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
	struct stat about;

	must(fd >= 0 && fstat(fd, &about) == 0);
	/* Exactly its size: no byte behind it belongs to anybody. */
	cleanup_free char *bytes = malloc((size_t)about.st_size);

	must(file_read_all(fd, bytes, (size_t)about.st_size) == about.st_size);
	(void)LLVMFuzzerTestOneInput(
	    (const uint8_t *)bytes, (size_t)about.st_size);
}

int
main(int argc, char **argv)
{
	DIR *directory = argc == 2 ? opendir(argv[1]) : NULL;
	const struct dirent *entry;
	size_t n = 0;

	(void)printf("1..1\n");
	while (directory != NULL && (entry = readdir(directory)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		replay_file(dirfd(directory), entry->d_name);
		n++;
	}
	(void)printf("%s 1 - %zu inputs\n", n > 0 ? "ok" : "not ok", n);
	if (directory != NULL)
		(void)closedir(directory);
	return n > 0 ? 0 : 1;
}
