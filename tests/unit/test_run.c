/* SPDX-License-Identifier: ISC
 *
 * The driver runs a tool, here the shell, to each of its possible ends.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "driver/run.h"

static struct sock_filter allow_all[] = { BPF_STMT(
    BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
static struct sock_fprog allow = { 1, allow_all };

static enum error_code
run_script(struct run *run, const char *script, uint64_t limit_ms)
{
	const char *const arguments[] = { "sh", "-c", script, NULL };
	struct job job = { .filter = &allow,
		.deadline_ms = clock_boot_ms() + limit_ms };
	enum error_code error;

	run->tool = 0;
	run->arguments = arguments;
	error = run_tool(&job, run);
	run->arguments = NULL;
	return error;
}

static int
setup_tools(void **state)
{
	int shell;

	/* What the one who started this test left open. */
	(void)close_range(3, ~0u, 0);
	shell = open("/bin/sh", O_PATH | O_CLOEXEC);
	(void)state;
	assert_true(shell >= 0);
	assert_int_equal(
	    dup3(shell, LIMIT_BOX_PROGRAM_FD, O_CLOEXEC), LIMIT_BOX_PROGRAM_FD);
	close(shell);
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

static void
test_run_output(void **state)
{
	struct run run = { .file = -1, .max_output = 100 };

	(void)state;
	assert_int_equal(
	    run_script(
		&run, "printf 'a\\0b'; echo note >&2; read x; exit 3", 5000),
	    ERROR_NONE);
	assert_int_equal(run.status, 3);
	assert_int_equal(run.n, 3);
	assert_memory_equal(run.text, "a\0b\0", 4);
	assert_true(run_has_note(&run, "note"));
	assert_false(run_has_note(&run, "nope"));
	assert_false(run.is_cut);
	run_done(&run);
}

static void
test_run_environment(void **state)
{
	struct run run = { .file = -1, .max_output = 1000 };

	(void)state;
	setenv("SECRET", "hunter2", 1);
	assert_int_equal(run_script(&run, "export", 5000), ERROR_NONE);
	assert_null(strstr(run.text, "SECRET"));
	assert_non_null(strstr(run.text, "VIPS_BLOCK_UNTRUSTED='1'"));
	assert_non_null(strstr(run.text, "HOME='/nonexistent'"));
	run_done(&run);
}

/* 150,000 bytes. */
static const char flood[] =
    "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); "
    "echo 0123456789012345678901234567890123456789012345678; done";

static void
test_run_large_output(void **state)
{
	struct run run = { .file = -1, .max_output = 1000000 };

	(void)state;
	assert_int_equal(run_script(&run, flood, 20000), ERROR_NONE);
	assert_false(run.is_cut);
	assert_int_equal(run.n, 150000);
	assert_int_equal(run.text[149999], '\n');
	run_done(&run);
}

static void
test_run_cut_output(void **state)
{
	struct run run = { .file = -1, .max_output = 70000 };

	(void)state;
	assert_int_equal(run_script(&run, flood, 20000), ERROR_NONE);
	assert_true(run.is_cut);
	assert_int_equal(run.n, 70000);
	assert_int_equal(run.text[70000], '\0');
	run_done(&run);
}

static void
test_run_output_to_file(void **state)
{
	struct run run = { .file = memfd_create("out", MFD_CLOEXEC),
		.max_output = 70000 };

	(void)state;
	assert_int_equal(run_script(&run, flood, 20000), ERROR_NONE);
	assert_true(run.is_cut);
	assert_null(run.text);
	assert_int_equal(lseek(run.file, 0, SEEK_END), 70000);
	close(run.file);
	run_done(&run);
}

/* The end of stderr is what counts, however much there is. */
static void
test_run_stderr_flood(void **state)
{
	struct run run = { .file = -1, .max_output = 100 };

	(void)state;
	assert_int_equal(run_script(&run,
			     "i=0; while [ $i -lt 4000 ]; do i=$((i+1)); "
			     "echo 'a warning of no interest, repeated' >&2; "
			     "done; echo Incorrect password >&2; exit 1",
			     20000),
	    ERROR_NONE);
	assert_int_equal(run.n_notes, LIMIT_TOOL_STDERR_BYTES);
	assert_true(run_has_note(&run, "Incorrect password"));
	run_done(&run);
}

static void
test_run_ends(void **state)
{
	static const struct {
		const char *script;
		enum error_code error;
	} cases[] = {
		{ "exit 0", ERROR_NONE },
		{ "exit 1", ERROR_NONE },
		{ "exit 127", ERROR_CRASHED },
		{ "kill -SEGV $$", ERROR_CRASHED },
		{ "kill -SYS $$", ERROR_CRASHED },
		{ "kill -ABRT $$", ERROR_CRASHED },
		{ "echo std::bad_alloc >&2; kill -ABRT $$", ERROR_TOO_HEAVY },
		{ "echo out of memory >&2; exit 1", ERROR_TOO_HEAVY },
		{ "echo x: failed to map segment >&2; exit 127",
		    ERROR_TOO_HEAVY },
		{ "echo No space left on device >&2; exit 1", ERROR_TOO_HEAVY },
		{ "echo out of memory >&2; exit 0", ERROR_NONE },
		{ "kill -XFSZ $$", ERROR_TOO_HEAVY },
		{ "kill -XCPU $$", ERROR_TIMEOUT },
		{ "while :; do :; done", ERROR_TIMEOUT },
		/* Shuts its pipes and works on. */
		{ "exec >&- 2>&-; while :; do :; done", ERROR_TIMEOUT },
		{ "trap '' TERM INT HUP; while :; do :; done", ERROR_TIMEOUT },
		{ "while :; do echo x >&2; done", ERROR_TIMEOUT },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct run run = { .file = -1, .max_output = 100 };
		uint64_t begin = clock_boot_ms();
		bool is_slow = cases[i].error == ERROR_TIMEOUT;

		if (run_script(&run, cases[i].script, is_slow ? 300 : 10000) !=
		    cases[i].error)
			fail_msg("%s", cases[i].script);
		assert_true(clock_boot_ms() - begin < 5000);
		run_done(&run);
	}
}

/* A SIGKILL from elsewhere is no fault of the job, and not for a box to
 * explain: the driver goes the same way. */
static void
test_run_killed(void **state)
{
	int status = 0;
	pid_t driver = fork();

	(void)state;
	if (driver == 0) {
		struct run run = { .file = -1, .max_output = 100 };

		(void)run_script(&run, "kill -KILL $$", 5000);
		_exit(0);
	}
	assert_int_equal(waitpid(driver, &status, 0), driver);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
}

static void
test_run_no_time(void **state)
{
	struct run run = { .file = -1, .max_output = 100 };

	(void)state;
	assert_int_equal(run_script(&run, "exit 0", 0), ERROR_TIMEOUT);
	run_done(&run);
}

/* Two tools that are not there: no fd, and a filter the kernel refuses. */
static void
test_run_cannot_start(void **state)
{
	const char *const arguments[] = { "none", NULL };
	struct sock_fprog broken = { 0, allow_all };
	struct job job = { .filter = &allow,
		.deadline_ms = clock_boot_ms() + 5000 };
	struct run run = {
		.tool = 3, .arguments = arguments, .file = -1, .max_output = 100
	};

	(void)state;
	(void)close(LIMIT_BOX_PROGRAM_FD + 3);
	assert_int_equal(run_tool(&job, &run), ERROR_CRASHED);
	run_done(&run);
	job.filter = &broken;
	run.tool = 0;
	run.n = 0;
	assert_int_equal(run_tool(&job, &run), ERROR_CRASHED);
	run_done(&run);
}

/* A tool finds its three streams and nothing else. */
static void
test_run_descriptors(void **state)
{
	struct run run = { .file = -1, .max_output = 1000 };
	int open_fd = memfd_create("ours", MFD_CLOEXEC);

	(void)state;
	assert_int_equal(run_script(&run,
			     "cd /proc/self/fd && for f in *; do "
			     "[ -e $f ] && printf '%s ' $f; done",
			     5000),
	    ERROR_NONE);
	assert_string_equal(run.text, "0 1 2 ");
	close(open_fd);
	run_done(&run);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_run_output),
		cmocka_unit_test(test_run_environment),
		cmocka_unit_test(test_run_large_output),
		cmocka_unit_test(test_run_cut_output),
		cmocka_unit_test(test_run_output_to_file),
		cmocka_unit_test(test_run_stderr_flood),
		cmocka_unit_test(test_run_ends),
		cmocka_unit_test(test_run_killed),
		cmocka_unit_test(test_run_no_time),
		cmocka_unit_test(test_run_cannot_start),
		cmocka_unit_test(test_run_descriptors),
	};

	return cmocka_run_group_tests_name("run", tests, setup_tools, NULL);
}
