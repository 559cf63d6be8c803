/* SPDX-License-Identifier: ISC
 *
 * What a box could leave for the next one in files that both are given, and
 * what it could learn or do of the machine by calls that tools have a use for.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/times.h>
#include <unistd.h>

#include "probe.h"

#define PAGE 4096u

/* Reads what stands at each open file, then leaves something there. The link
 * and the pipe of the lines are new in every box, and an inode's number is. */
static void
traces(void)
{
	for (int fd = 0; fd < 128; fd++) {
		struct stat st;
		int flags = fcntl(fd, F_GETFL);

		if (flags < 0 || (flags & O_PATH) != 0 || fstat(fd, &st) < 0 ||
		    S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode))
			continue;
		printf("trace %d flags %x at %ld\n", fd, (unsigned int)flags,
		    (long)lseek(fd, 0, SEEK_CUR));
		(void)fcntl(fd, F_SETFL, flags | O_NONBLOCK | O_APPEND);
		(void)lseek(fd, 4711, SEEK_SET);
	}
}

static void
advices(void)
{
	char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open("/lib64/ld-linux-x86-64.so.2", O_RDONLY | O_CLOEXEC);

	/* Who writes to a merged page waits longer: others' pages can be
	 * guessed. Who empties the cache tells the next by its speed. */
	say("merge equal pages", madvise(page, PAGE, MADV_MERGEABLE));
	say("page out", madvise(page, PAGE, MADV_PAGEOUT));
	say("poison", madvise(page, PAGE, MADV_HWPOISON));
	errno = posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	say("empty the cache", errno == 0 ? 0 : -1);
	(void)close(fd);
}

static void
inheriting_futexes(void)
{
	uint32_t word = 0;

	say("futex, lock", syscall(SYS_futex, &word, FUTEX_LOCK_PI, 0, NULL));
	word = 0;
	say("futex, try to lock",
	    syscall(SYS_futex, &word, FUTEX_TRYLOCK_PI_PRIVATE, 0, NULL));
	say("futex, requeue to a lock",
	    syscall(
		SYS_futex, &word, FUTEX_CMP_REQUEUE_PI, 1, 0, &word + 1, word));
}

static void
machine(void)
{
	struct statfs fs;
	struct tms ticks;
	int fd = open("/tmp/white", O_RDWR | O_CREAT | O_TRUNC, 0600);

	say("free space", statfs("/tmp", &fs));
	say("free space of a file", fstatfs(fd, &fs));
	/* Ticks since the machine began, whatever the time namespace says. */
	say("ticks", syscall(SYS_times, &ticks));
	say("barrier of all processors", syscall(SYS_membarrier, 1, 0, 0));
	say("whiteout",
	    renameat2(AT_FDCWD, "/tmp/white", AT_FDCWD, "/tmp/white2",
		RENAME_WHITEOUT));
	(void)unlink("/tmp/white2");
	(void)unlink("/tmp/white");
	(void)close(fd);
}

/* The parts of the same calls that tools do use. */
static void
kept(void)
{
	uint32_t word = 1;
	char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open("/lib64/ld-linux-x86-64.so.2", O_RDONLY | O_CLOEXEC);

	errno = posix_fadvise(fd, 0, 0, POSIX_FADV_WILLNEED);
	say("read ahead", errno == 0 ? 0 : -1);
	say("give pages back", madvise(page, PAGE, MADV_DONTNEED));
	say("huge pages",
	    madvise(page, PAGE, MADV_NOHUGEPAGE) < 0 && errno == EPERM ? -1
								       : 0);
	say("wake", syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1));
	say("wake some",
	    syscall(SYS_futex, &word,
		FUTEX_WAKE_BITSET_PRIVATE | FUTEX_CLOCK_REALTIME, 1, NULL, NULL,
		1) < 0 &&
		    errno == EPERM
		? -1
		: 0);
	say("wake and change",
	    syscall(SYS_futex, &word, FUTEX_WAKE_OP_PRIVATE, 1, 1, &word,
		FUTEX_OP(FUTEX_OP_SET, 0, FUTEX_OP_CMP_EQ, 0)));
	say("requeue",
	    syscall(SYS_futex, &word, FUTEX_CMP_REQUEUE_PRIVATE, 1, 1, &word,
		word));
	(void)close(open("/tmp/a", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	say("rename", renameat2(AT_FDCWD, "/tmp/a", AT_FDCWD, "/tmp/b", 0));
	say("rename, not over one",
	    renameat2(
		AT_FDCWD, "/tmp/b", AT_FDCWD, "/tmp/a", RENAME_NOREPLACE));
	(void)unlink("/tmp/a");
	(void)close(fd);
}

const struct check leftovers[] = {
	{ "traces", traces },
	{ "advices", advices },
	{ "inheriting futexes", inheriting_futexes },
	{ "machine", machine },
	{ "kept", kept },
};
const size_t n_leftovers = sizeof(leftovers) / sizeof(leftovers[0]);
