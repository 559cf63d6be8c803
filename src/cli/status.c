/* SPDX-License-Identifier: ISC
 *
 * sandcastle status: what a running instance does, from the file it leaves in
 * its run directory. Nothing is asked of any process.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "cli/command.h"
#include "cli/instance.h"
#include "cli/status_file.h"
#include "cli/terminal.h"

/* 256 sources of at most 1 KiB. */
#define STATUS_BYTES (512 * 1024)
/* The core writes on every change and every 10 s. */
#define STALE_S 30

/* "12s", "5m", "3h", "9d". */
static const char *
short_time(char to[24], int64_t seconds)
{
	static const struct {
		int64_t seconds;
		char unit;
	} units[] = { { 86400, 'd' }, { 3600, 'h' }, { 60, 'm' } };

	if (seconds < 0)
		seconds = 0;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (seconds < 2 * units[i].seconds)
			continue;
		(void)snprintf(to, 24, "%lld%c",
		    (long long)(seconds / units[i].seconds), units[i].unit);
		return to;
	}
	(void)snprintf(to, 24, "%llds", (long long)seconds);
	return to;
}

static const char *
ago(char to[32], int64_t then, int64_t now)
{
	char time[24];

	if (then == 0)
		(void)snprintf(to, 32, "never");
	else
		(void)snprintf(to, 32, "%s ago", short_time(time, now - then));
	return to;
}

static const char *
state_words(const char *state)
{
	static const char *const words[][2] = {
		{ "backoff", "asked less often" },
		{ "hour_full", "hour is full" },
		{ "no_secret", "no usable secret" },
		{ "parked", "too many parked" },
		{ "waiting", "answer is late" },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(words[i][0], state) == 0)
			return words[i][1];
	}
	return state;
}

static void
print_head(const struct status_file *s, bool is_old, int64_t now)
{
	char time[24];

	(void)printf("sandcastle %s %s: process %lld, generation %lld",
	    is_old ? "was" : "is", s->state, (long long)s->pid,
	    (long long)s->generation);
	if (strcmp(s->keep, "up") != 0)
		(void)printf(", keep is %s", s->keep);
	if (strcmp(s->yard, "up") != 0)
		(void)printf(", yard is %s", s->yard);
	if (strcmp(s->journal, "full") == 0)
		(void)printf(", the journal cannot be written (disk full?)");
	(void)printf("\n");
	if (s->has_job)
		(void)printf("job: %s %s of %s, for %s\n", s->job_capability,
		    s->job_id, s->job_source,
		    short_time(time, now - s->job_since));
	else
		(void)printf("job: none\n");
}

static void
print_capabilities(const struct status_file *s)
{
	(void)printf("\n%-18s %s\n", "CAPABILITY", "STATE");
	for (size_t i = 0; i < s->n_capabilities; i++) {
		const struct capability_status *c = &s->capabilities[i];
		char time[24];

		(void)printf("%-18s %s", c->name,
		    c->is_usable ? "usable" : "not usable");
		if (c->resting_for_s > 0)
			(void)printf(", rests for %s",
			    short_time(time, c->resting_for_s));
		if (c->reason[0] != '\0')
			(void)printf(": %s", c->reason);
		(void)printf("\n");
	}
}

static void
print_source(const struct source_status *s, int64_t now)
{
	char last[32], next[24], hour[48], done[80];

	if (s->hour_cap > 0)
		(void)snprintf(hour, sizeof(hour), "%lld/%lld",
		    (long long)s->hour_used, (long long)s->hour_cap);
	else
		(void)snprintf(
		    hour, sizeof(hour), "%lld", (long long)s->hour_used);
	(void)snprintf(done, sizeof(done), "%lld/%lld/%lld",
	    (long long)s->succeeded, (long long)s->failed,
	    (long long)s->released);
	(void)printf("%-16s %-16s %-10s %-6s %-9s %-12s %lld\n", s->name,
	    state_words(s->state), ago(last, s->last_ok, now),
	    short_time(next, (s->next_ask_in_ms + 999) / 1000), hour, done,
	    (long long)s->outbox);
	if (s->backoff_ms > 0)
		(void)printf("    asked every %s for now%s%s\n",
		    short_time(next, (s->backoff_ms + 999) / 1000),
		    s->trouble[0] != '\0' ? ": " : "", s->trouble);
	else if (s->trouble[0] != '\0')
		(void)printf("    %s\n", s->trouble);
	if (s->parked > 0)
		(void)printf("    %lld results are parked: the source does "
			     "not take them\n",
		    (long long)s->parked);
}

static void
print_sources(const struct status_file *s, int64_t now)
{
	(void)printf("\n%-16s %-16s %-10s %-6s %-9s %-12s %s\n", "SOURCE",
	    "STATE", "LAST GOOD", "NEXT", "HOUR", "OK/BAD/BACK", "OUTBOX");
	for (size_t i = 0; i < s->n_sources; i++)
		print_source(&s->sources[i], now);
}

/* Says what makes the file old news; gives the exit status. */
static int
print_doubt(const struct call *call, const struct status_file *s, int64_t now)
{
	struct instance instance = { .pidfd = -1 };
	int r = instance_find(call->paths.lock, &instance, NULL);
	char time[24];

	if (r > 0)
		(void)close(instance.pidfd);
	(void)short_time(time, now - s->written_at);
	if (r == 0) {
		(void)printf("sandcastle is not running here; this is what it "
			     "left %s ago.\n",
		    time);
		return STATUS_FAILED;
	}
	if (now - s->written_at > STALE_S) {
		(void)printf("This is stale: written %s ago.\n", time);
		return STATUS_FAILED;
	}
	return 0;
}

static int
print_table(
    const struct call *call, const char *path, const char *bytes, size_t n)
{
	struct status_file status;
	struct fault fault = { 0 };
	int64_t now = clock_wall_s();
	int exit_status;

	if (status_file_parse(bytes, n, &status, &fault) < 0)
		return command_fail(STATUS_FAILED, "%s: %s", path, fault.text);
	exit_status = print_doubt(call, &status, now);
	print_head(&status, exit_status != 0, now);
	print_capabilities(&status);
	print_sources(&status, now);
	status_file_done(&status);
	return exit_status;
}

static int
no_file(const struct call *call, const char *path, int error)
{
	struct instance instance = { .pidfd = -1 };
	cleanup_fd int pidfd = -1;

	if (error == -ENOENT &&
	    instance_find(call->paths.lock, &instance, NULL) == 0)
		return command_fail(STATUS_FAILED,
		    "no sandcastle is running here (nobody holds %s)",
		    call->paths.lock);
	pidfd = instance.pidfd;
	return command_fail(STATUS_FAILED, "%s: cannot read: %s%s", path,
	    strerror(-error),
	    error == -ENOENT ? " (is it just starting?)" : "");
}

/* No symlink: the directory belongs to another user when root looks. */
static int
slurp(const char *path, char **ret_bytes, size_t *ret_n)
{
	cleanup_fd int fd =
	    open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	cleanup_free char *bytes = NULL;
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	bytes = memory_new(STATUS_BYTES + 1, 1);
	n = file_read_all(fd, bytes, STATUS_BYTES + 1);
	if (n < 0)
		return (int)n;
	if (n > STATUS_BYTES)
		return -EFBIG;
	*ret_n = (size_t)n;
	*ret_bytes = take_ptr(bytes);
	return 0;
}

int
status_run(const struct call *call)
{
	bool is_json = call->argc == 2 && strcmp(call->argv[1], "--json") == 0;
	cleanup_free char *bytes = NULL;
	char path[300];
	size_t n;
	int r;

	if (!is_json && command_takes_nothing(call) != 0)
		return STATUS_USAGE;
	(void)snprintf(path, sizeof(path), "%s/status.json", call->paths.run);
	r = slurp(path, &bytes, &n);
	if (r < 0)
		return no_file(call, path, r);
	if (!is_json)
		return print_table(call, path, bytes, n);
	return terminal_put(bytes, n) == n && fflush(stdout) == 0
	    ? 0
	    : command_fail(STATUS_FAILED, "cannot write");
}
