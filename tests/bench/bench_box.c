/* SPDX-License-Identifier: ISC
 *
 * What the walls cost: a fresh box around /usr/bin/true, made by the yard's
 * own code with every wall (init runs the program in the driver's place), and
 * bubblewrap with its namespaces, each divided by posix_spawn of the same
 * program. From before the start until it is reaped, wall time; medians; the
 * three take turns.
 *
 * The yard has left the host's files, so it is a process of its own, which
 * makes one box for each byte on its pipe.
 */
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "yard/nest.h"
#include "yard/yard.h"

#define PROGRAM "/usr/bin/true"
#define ROUNDS	400
#define WARM_UP 20

static const char config[] =
    "sources: {bench: {url: https://bench.invalid, "
    "capabilities: [image.preview]}}\n"
    "capabilities:\n"
    "  image.preview:\n"
    "    program: {vips: " PROGRAM ", vipsheader: " PROGRAM "}\n"
    "  document.text: {enabled: false}\n"
    "  image.text: {enabled: false}\n";

enum way {
	SPAWN,
	BOX,
	BWRAP,
	WAYS
};
static uint64_t taken[WAYS][ROUNDS];

static uint64_t
now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* 0 when the box could not be made or its program failed. */
static uint64_t
time_box(const struct yard *yard)
{
	uint64_t started = now_ns();
	struct root root = yard->root;
	struct box_plan plan;
	struct box box;
	const char *step = "";
	int status;

	if (yard_plan(yard, CAPABILITY_IMAGE_PREVIEW, &plan) != 0)
		return 0;
	root.driver = plan.tools[0];
	plan.root = &root;
	if (box_make(&plan, &box, &step) < 0) {
		fprintf(stderr, "bench_box: %s\n", step);
		return 0;
	}
	status = box_reap(&box, NULL);
	yard_plan_done(&plan);
	return status == 0 ? now_ns() - started : 0;
}

static _Noreturn void
be_yard(int link)
{
	static struct yard yard;
	struct fault fault = { 0 };
	char order;
	int memory = file_sealed_from("config", config, sizeof(config) - 1);

	log_open("bench_box");
	if (nest_enter(&yard.made, &yard.error, &fault) < 0 ||
	    yard_prepare(&yard, memory, 1, &fault) < 0) {
		fprintf(stderr, "bench_box: %s\n", fault.text);
		exit(1);
	}
	if (yard.listing.walls != WALL_ALL) {
		fprintf(stderr, "bench_box: not every wall stands\n");
		exit(1);
	}
	while (read(link, &order, 1) == 1) {
		uint64_t ns = time_box(&yard);

		if (write(link, &ns, sizeof(ns)) != sizeof(ns))
			break;
	}
	exit(0);
}

static uint64_t
time_spawn(const char *const *arguments)
{
	char *const environment[] = { NULL };
	uint64_t started = now_ns();
	int status = 0;
	pid_t pid;

	if (posix_spawn(&pid, arguments[0], NULL, NULL,
		(char *const *)(uintptr_t)arguments, environment) != 0)
		return 0;
	(void)waitpid(pid, &status, 0);
	return status == 0 ? now_ns() - started : 0;
}

static uint64_t
take(enum way way, int link)
{
	static const char *const plain[] = { PROGRAM, NULL };
	static const char *const bwrap[] = { "/usr/bin/bwrap", "--unshare-all",
		"--die-with-parent", "--new-session", "--clearenv", "--ro-bind",
		"/usr/bin", "/usr/bin", "--ro-bind", "/usr/lib", "/usr/lib",
		"--ro-bind", "/usr/lib64", "/usr/lib64", "--symlink", "usr/lib",
		"/lib", "--symlink", "usr/lib64", "/lib64", "--tmpfs", "/tmp",
		PROGRAM, NULL };
	uint64_t ns = 0;

	if (way == SPAWN)
		return time_spawn(plain);
	if (way == BWRAP)
		return time_spawn(bwrap);
	if (write(link, "b", 1) != 1 ||
	    read(link, &ns, sizeof(ns)) != sizeof(ns))
		return 0;
	return ns;
}

static int
compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static double
median_us(enum way way)
{
	qsort(taken[way], ROUNDS, sizeof(taken[way][0]), compare);
	return (double)taken[way][ROUNDS / 2] / 1000.0;
}

static int
measure(int link)
{
	for (int round = -WARM_UP; round < ROUNDS; round++) {
		for (int turn = 0; turn < WAYS; turn++) {
			enum way way =
			    (enum way)((turn + round + WARM_UP) % WAYS);
			uint64_t ns = take(way, link);

			if (ns == 0) {
				fprintf(stderr, "bench_box: way %d failed\n",
				    (int)way);
				return -1;
			}
			if (round >= 0)
				taken[way][round] = ns;
		}
	}
	return 0;
}

int
main(void)
{
	int links[2];
	double spawn;
	double box;
	double bwrap;
	pid_t pid;

	if (getuid() == 0) {
		fprintf(stderr,
		    "bench_box: run it as a user: setpriv "
		    "--reuid=64321 --regid=64321 --clear-groups\n");
		return 1;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, links) < 0)
		return 1;
	pid = fork();
	if (pid == 0) {
		(void)close(links[0]);
		be_yard(links[1]);
	}
	(void)close(links[1]);
	if (pid < 0 || measure(links[0]) < 0)
		return 1;
	spawn = median_us(SPAWN);
	box = median_us(BOX);
	bwrap = median_us(BWRAP);
	printf("# %s, start to reaped, %d rounds in turn, medians: "
	       "posix_spawn %.0f us, box %.0f us, bwrap %.0f us\n",
	    PROGRAM, ROUNDS, spawn, box, bwrap);
	printf("metric box.fresh.ratio %.2f\n", box / spawn);
	printf("metric bwrap.ratio %.2f\n", bwrap / spawn);
	return 0;
}
