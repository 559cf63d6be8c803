/* SPDX-License-Identifier: ISC
 *
 * Readings of the clocks, in every process.
 */
#include "base/clock.h"

#include <fcntl.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/must.h"

uint64_t
clock_boot_ms(void)
{
	struct timespec now;

	must(clock_gettime(CLOCK_BOOTTIME, &now) == 0);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

int64_t
clock_wall_s(void)
{
	struct timespec now;

	must(clock_gettime(CLOCK_REALTIME, &now) == 0);
	return now.tv_sec;
}

int
clock_boot_id(char to[37])
{
	cleanup_fd int fd =
	    open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || file_read_all(fd, to, 36) != 36)
		return -1;
	to[36] = '\0';
	return 0;
}
