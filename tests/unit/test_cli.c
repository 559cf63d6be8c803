/* SPDX-License-Identifier: ISC
 *
 * The command's parts: the input of `try`, the check of its output, the
 * reading of status.json, the lock of an instance, the directories, the
 * starting file.
 */
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/memory.h"
#include "cli/input.h"
#include "cli/instance.h"
#include "cli/output.h"
#include "cli/places.h"
#include "cli/starter.h"
#include "cli/status_file.h"
#include "cli/trouble.h"
#include "contract/outcome.h"
#include "wire/letter.h"

static char scratch[64];

static const char *
scratch_file(const char *name, const void *bytes, size_t n)
{
	static char path[128];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", scratch, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(file_write_all(fd, bytes, n), 0);
	(void)close(fd);
	return path;
}

/* The contents of a sealed letter, terminated. */
static char *
read_letter(int letter)
{
	ssize_t n = letter_size(letter, LIMIT_BODY_BYTES);
	unsigned char ticket[LETTER_TICKET_BYTES];
	static const unsigned char none[LETTER_TICKET_BYTES];
	char *text;

	assert_true(n >= 0);
	assert_int_equal(letter_get_ticket(letter, ticket), 0);
	assert_memory_equal(ticket, none, sizeof(none));
	text = memory_new((size_t)n + 1, 1);
	assert_int_equal(letter_read(letter, text, (size_t)n, 0), n);
	return text;
}

static void
expect_input(const struct input *input, const char *wanted)
{
	cleanup_fd int letter = -1;
	cleanup_free char *text = NULL;
	struct fault fault = { 0 };

	if (input_write(input, &letter, &fault) != INPUT_OK)
		fail_msg("%s", fault.text);
	text = read_letter(letter);
	assert_string_equal(text, wanted);
}

static void
settings_become_json(void **state)
{
	(void)state;
	expect_input(&(struct input){ .capability = CAPABILITY_DOCUMENT_TEXT,
			 .data = scratch_file("abc", "abc", 3),
			 .settings = { "type=pdf", "max_pages=7", "ocr=true",
			     "languages=eng,deu" },
			 .n_settings = 4 },
	    "{\"type\":\"pdf\",\"max_pages\":7,\"ocr\":true,"
	    "\"languages\":[\"eng\",\"deu\"],\"data\":\"YWJj\"}");
	expect_input(&(struct input){ .capability = CAPABILITY_IMAGE_PREVIEW,
			 .data = scratch_file("e", "", 0) },
	    "{\"data\":\"\"}");
	expect_input(&(struct input){ .capability = CAPABILITY_IMAGE_PREVIEW,
			 .settings = { "format=a\"\\\n\xC3\xA4" },
			 .n_settings = 1 },
	    "{\"format\":\"a\\\"\\\\\\u000a\xC3\xA4\"}");
	/* The whole input as it is, even when it is none. */
	expect_input(&(struct input){ .capability = CAPABILITY_IMAGE_PREVIEW,
			 .json = scratch_file("j", "no json", 7) },
	    "no json");
}

static void
base64_has_every_padding(void **state)
{
	static const char *const wanted[] = { "", "/w==", "//4=", "//79",
		"//79/A==" };
	static const unsigned char bytes[] = { 0xFF, 0xFE, 0xFD, 0xFC };

	(void)state;
	for (size_t n = 0; n <= 4; n++) {
		char text[64];

		(void)snprintf(
		    text, sizeof(text), "{\"data\":\"%s\"}", wanted[n]);
		expect_input(
		    &(struct input){ .capability = CAPABILITY_IMAGE_PREVIEW,
			.data = scratch_file("b", bytes, n) },
		    text);
	}
}

/* Across the pieces in which a file is read. */
static void
a_long_file_is_whole(void **state)
{
	size_t n = 3 * 1024 * 1024 + 1;
	cleanup_free unsigned char *bytes = memory_new(n, 1);
	cleanup_fd int letter = -1;
	struct input input = { .capability = CAPABILITY_IMAGE_PREVIEW };
	char wrong[160];
	ssize_t size;

	(void)state;
	for (size_t i = 0; i < n; i++)
		bytes[i] = (unsigned char)(i * 2654435761u >> 13);
	input.data = scratch_file("long", bytes, n);
	assert_int_equal(input_write(&input, &letter, NULL), INPUT_OK);
	size = letter_size(letter, LIMIT_BODY_BYTES);
	assert_int_equal(size, 11 + (n + 2) / 3 * 4);
	input_explain(letter, input.capability, 0, wrong);
	assert_string_equal(wrong, "");
	input_explain(letter, input.capability, n - 1, wrong);
	assert_string_not_equal(wrong, "");
}

static void
bad_settings_are_told(void **state)
{
	static const char *const bad[][2] = {
		{ "size=x", "size: x is no value" },
		{ "size=", "size:  is no value" },
		{ "size", "image.preview takes: data size format" },
		{ "sze=1", "image.preview takes: data size format" },
		{ "=1", "image.preview takes: data size format" },
		{ "data=abc", "--data FILE" },
		{ "format=\xFF", "format: \\xff is no value" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct input input = { .capability = CAPABILITY_IMAGE_PREVIEW,
			.settings = { bad[i][0] },
			.n_settings = 1 };
		struct fault fault = { 0 };
		int letter = -1;

		assert_int_equal(
		    input_write(&input, &letter, &fault), INPUT_MISUSED);
		assert_int_equal(letter, -1);
		if (strstr(fault.text, bad[i][1]) == NULL)
			fail_msg("%s: %s", bad[i][0], fault.text);
	}
}

static void
unreadable_and_endless_files(void **state)
{
	struct input input = { .capability = CAPABILITY_IMAGE_PREVIEW,
		.data = "/nonexistent" };
	struct fault fault = { 0 };
	int letter = -1;

	(void)state;
	assert_int_equal(
	    input_write(&input, &letter, &fault), INPUT_UNREADABLE);
	assert_non_null(strstr(fault.text, "/nonexistent: cannot read"));
	input.data = "/";
	assert_int_equal(
	    input_write(&input, &letter, &fault), INPUT_UNREADABLE);
	input.data = "/dev/zero";
	assert_int_equal(input_write(&input, &letter, &fault), INPUT_TOO_LARGE);
	assert_int_equal(letter, -1);
}

static int
make_output(const char *text, bool has_ticket)
{
	static const unsigned char none[LETTER_TICKET_BYTES];
	static const unsigned char other[LETTER_TICKET_BYTES] = { 1 };
	int letter = letter_new("output");

	assert_true(letter >= 0);
	assert_int_equal(
	    letter_put_ticket(letter, has_ticket ? none : other), 0);
	assert_int_equal(
	    file_pwrite_all(letter, text, strlen(text), LETTER_TICKET_BYTES),
	    0);
	return letter;
}

#define GOOD_OUTPUT \
	"{\"text\":\"a\",\"confidence\":95.5,\"width\":1,\"height\":2}"

static void
outputs_are_checked(void **state)
{
	static const struct {
		const char *text;
		bool has_ticket;
		uint32_t code;
	} cases[] = {
		{ GOOD_OUTPUT, true, 0 },
		{ GOOD_OUTPUT, false, ERROR_BAD_OUTPUT },
		{ GOOD_OUTPUT " x", true, ERROR_BAD_OUTPUT },
		{ "", true, ERROR_BAD_OUTPUT },
		{ "{}", true, ERROR_BAD_OUTPUT },
		{ "{\"text\":\"a\",\"confidence\":101,\"width\":1,"
		  "\"height\":2}",
		    true, ERROR_BAD_OUTPUT },
		{ "{\"text\":\"\x80\",\"confidence\":1,\"width\":1,"
		  "\"height\":2}",
		    true, ERROR_BAD_OUTPUT },
	};
	char wrong[160];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cleanup_fd int letter =
		    make_output(cases[i].text, cases[i].has_ticket);

		assert_int_equal(
		    output_check(letter, CAPABILITY_IMAGE_TEXT, wrong),
		    cases[i].code);
		assert_int_equal(wrong[0] != '\0', cases[i].code != 0);
	}
}

static void
an_output_that_is_held_or_huge_is_refused(void **state)
{
	cleanup_fd int held = make_output(GOOD_OUTPUT, true);
	cleanup_fd int huge = make_output(GOOD_OUTPUT, true);
	cleanup_fd int empty = letter_new("empty");
	char wrong[160];
	void *mapping =
	    mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, held, 0);

	(void)state;
	assert_true(mapping != MAP_FAILED);
	assert_int_equal(
	    output_check(held, CAPABILITY_IMAGE_TEXT, wrong), ERROR_BAD_OUTPUT);
	(void)munmap(mapping, 4096);
	assert_int_equal(ftruncate(huge, LIMIT_OUTPUT_BYTES + 4096), 0);
	assert_int_equal(output_check(huge, CAPABILITY_IMAGE_TEXT, wrong),
	    ERROR_OUTPUT_TOO_LARGE);
	assert_int_equal(output_check(empty, CAPABILITY_IMAGE_TEXT, wrong),
	    ERROR_BAD_OUTPUT);
}

static const char status_text[] =
    "{\"version\":1,\"pid\":7,\"written_at\":100,\"state\":\"running\","
    "\"generation\":3,\"keep\":\"up\",\"yard\":\"down\",\"journal\":\"full\","
    "\"new\":{\"name\":\"x\",\"version\":9,\"a\":[[1]]},"
    "\"job\":{\"source\":\"a\",\"id\":\"i-1\",\"capability\":\"image.text\","
    "\"since\":90},"
    "\"capabilities\":[{\"name\":\"image.text\",\"usable\":true,"
    "\"resting_for\":0,\"reason\":\"\"},{\"name\":\"image.preview\","
    "\"usable\":false,\"resting_for\":30,\"reason\":\"no\"}],"
    "\"sources\":[{\"name\":\"a\",\"state\":\"idle\",\"last_ok\":95,"
    "\"next_ask_in_ms\":1500,\"hour_used\":2,\"hour_cap\":600,"
    "\"backoff_ms\":0,\"trouble\":\"\",\"outbox\":1,\"parked\":0,"
    "\"jobs\":{\"succeeded\":4,\"failed\":5,\"released\":6}},"
    "{\"name\":\"b\",\"trouble\":\"\\u001b[31m\\u202e401\"}]}\n";

static void
status_is_read(void **state)
{
	struct status_file s;
	struct fault fault = { 0 };

	(void)state;
	if (status_file_parse(status_text, strlen(status_text), &s, &fault) < 0)
		fail_msg("%s", fault.text);
	assert_int_equal(s.pid, 7);
	assert_int_equal(s.version, 1);
	assert_int_equal(s.generation, 3);
	assert_string_equal(s.yard, "down");
	assert_string_equal(s.journal, "full");
	assert_true(s.has_job);
	assert_string_equal(s.job_id, "i-1");
	assert_int_equal(s.job_since, 90);
	assert_int_equal(s.n_capabilities, 2);
	assert_true(s.capabilities[0].is_usable);
	assert_false(s.capabilities[1].is_usable);
	assert_int_equal(s.capabilities[1].resting_for_s, 30);
	assert_int_equal(s.n_sources, 2);
	assert_string_equal(s.sources[0].name, "a");
	assert_string_equal(s.sources[0].state, "idle");
	assert_int_equal(s.sources[0].last_ok, 95);
	assert_int_equal(s.sources[0].hour_cap, 600);
	assert_int_equal(s.sources[0].succeeded, 4);
	assert_int_equal(s.sources[0].released, 6);
	assert_int_equal(s.sources[1].succeeded, 0);
	assert_string_equal(
	    s.sources[1].trouble, "\\x1b[31m\\xe2\\x80\\xae401");
	status_file_done(&s);
}

static void
no_job_is_null(void **state)
{
	static const char text[] = "{\"version\":1,\"job\":null}";
	struct status_file s;

	(void)state;
	assert_int_equal(status_file_parse(text, strlen(text), &s, NULL), 0);
	assert_false(s.has_job);
	assert_int_equal(s.n_sources, 0);
	status_file_done(&s);
}

/* Whatever is cut or changed, it is read or refused, and nothing worse. */
static void
a_broken_status_is_refused(void **state)
{
	cleanup_free char *text = memory_text(status_text);
	size_t n = strlen(text);
	struct status_file s;

	(void)state;
	for (size_t cut = 0; cut + 1 < n; cut++)
		assert_int_equal(status_file_parse(text, cut, &s, NULL), -1);
	for (size_t i = 0; i < n; i++) {
		char before = text[i];

		for (int change = 1; change < 256; change += 37) {
			text[i] = (char)(before ^ change);
			if (status_file_parse(text, n, &s, NULL) == 0)
				status_file_done(&s);
		}
		text[i] = before;
	}
	assert_int_equal(status_file_parse("[]", 2, &s, NULL), -1);
	assert_int_equal(
	    status_file_parse("{\"version\":2}", 13, &s, NULL), -1);
}

static void
too_many_sources_are_refused(void **state)
{
	cleanup_free char *text = memory_new(16 * 1024, 1);
	size_t used = (size_t)sprintf(text, "{\"version\":1,\"sources\":[");
	struct status_file s;

	(void)state;
	for (int i = 0; i < LIMIT_SOURCES + 1; i++)
		used += (size_t)sprintf(
		    text + used, "%s{\"name\":\"a\"}", i > 0 ? "," : "");
	(void)sprintf(text + used, "]}");
	assert_int_equal(status_file_parse(text, strlen(text), &s, NULL), -1);
}

static void
an_instance_is_found_by_its_lock(void **state)
{
	char text[32];
	int n = snprintf(text, sizeof(text), "%d\n", (int)getpid());
	const char *path = scratch_file("lock", text, (size_t)n);
	struct instance instance = { .pidfd = -1 };
	struct fault fault = { 0 };
	int holder;

	(void)state;
	assert_int_equal(instance_find("/nonexistent", &instance, &fault), 0);
	/* A pid that nobody vouches for does not count. */
	assert_int_equal(instance_find(path, &instance, &fault), 0);
	holder = open(path, O_RDWR | O_CLOEXEC);
	assert_int_equal(flock(holder, LOCK_EX | LOCK_NB), 0);
	assert_int_equal(instance_find(path, &instance, &fault), 1);
	assert_int_equal(instance.pid, getpid());
	assert_true(instance.pidfd >= 0);
	(void)close(instance.pidfd);
	/* Looking took no lock that stays. */
	assert_int_equal(flock(holder, LOCK_UN), 0);
	assert_int_equal(instance_find(path, &instance, &fault), 0);
	assert_int_equal(flock(holder, LOCK_EX | LOCK_NB), 0);
	for (const char *const *bad = (const char *const[]){ "", "x\n", "0\n",
		 "-1\n", "12", "99999999999\n", "1 2\n", "4194305\n", NULL };
	     *bad != NULL; bad++) {
		assert_int_equal(ftruncate(holder, 0), 0);
		assert_int_equal(
		    file_pwrite_all(holder, *bad, strlen(*bad), 0), 0);
		assert_int_equal(instance_find(path, &instance, &fault), -1);
	}
	(void)close(holder);
}

static int told;

static void
count_told(const char *path, const char *what)
{
	assert_non_null(path);
	assert_non_null(what);
	told++;
}

static void
directories_are_made_once(void **state)
{
	struct paths paths;
	char dir[128];
	struct fault fault = { 0 };
	struct stat st;

	(void)state;
	/* As root it wants system users: whole runs show that. */
	if (getuid() == 0)
		assert_int_equal(seteuid(64321), 0);
	(void)snprintf(dir, sizeof(dir), "%s/open/a/b", scratch);
	assert_int_equal(paths_find(dir, &paths, &fault), 0);
	if (places_make(&paths, count_told, &fault) < 0)
		fail_msg("%s", fault.text);
	assert_int_equal(told, 3);
	assert_int_equal(stat(paths.keep, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(stat(paths.core, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(stat(paths.run, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0755);
	assert_int_equal(chmod(paths.keep, 0710), 0);
	assert_int_equal(places_make(&paths, count_told, &fault), 0);
	assert_int_equal(told, 3);
	assert_int_equal(stat(paths.keep, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0710);
	assert_int_equal(rmdir(paths.run), 0);
	assert_int_equal(places_make_run(&paths, &fault), 0);
	assert_int_equal(stat(paths.run, &st), 0);
	/* A file in the way is an error that names it. */
	(void)snprintf(dir, sizeof(dir), "%s/abc", scratch);
	assert_int_equal(paths_find(dir, &paths, &fault), 0);
	assert_int_equal(places_make(&paths, count_told, &fault), -1);
	assert_non_null(strstr(fault.text, "/abc"));
	assert_int_equal(seteuid(getuid()), 0);
}

static void
the_starting_file_is_the_one_in_etc(void **state)
{
	cleanup_free char *text = NULL;
	const char *at;
	size_t n;

	(void)state;
	assert_int_equal(
	    file_slurp(AT_FDCWD, SANDCASTLE_SOURCE "/etc/config.yaml", 65536,
		&text, &n),
	    0);
	at = text;
	for (size_t i = 0; starter_lines[i] != NULL; i++) {
		n = strlen(starter_lines[i]);
		assert_memory_equal(at, starter_lines[i], n);
		at += n;
	}
	assert_string_equal(at, "");
}

static void
troubles_are_named(void **state)
{
	struct config_errors errors;
	struct config *config = NULL;
	struct yard_answer listed = { .walls = WALL_ALL };
	uint32_t c = CAPABILITY_IMAGE_TEXT;
	char text[300];

	(void)state;
	assert_int_equal(
	    config_parse_for_boxes("", 0, "f", &config, &errors), 0);
	assert_false(
	    trouble_of_capability(&listed, c, &config->capabilities[c], text));
	listed.usable[c] = YARD_OFF;
	assert_true(
	    trouble_of_capability(&listed, c, &config->capabilities[c], text));
	assert_non_null(strstr(text, "turned off"));
	listed.usable[c] = YARD_NO_PROGRAM;
	listed.missing[c] = 2;
	assert_true(
	    trouble_of_capability(&listed, c, &config->capabilities[c], text));
	assert_non_null(
	    strstr(text, "no /usr/bin/tesseract (apt install tesseract-ocr"));
	assert_null(strstr(text, "vips"));
	/* An optional program is not what is to be mended. */
	listed.usable[CAPABILITY_DOCUMENT_TEXT] = YARD_NO_PROGRAM;
	listed.missing[CAPABILITY_DOCUMENT_TEXT] = 1 | 1u << 4;
	assert_true(trouble_of_capability(&listed, CAPABILITY_DOCUMENT_TEXT,
	    &config->capabilities[CAPABILITY_DOCUMENT_TEXT], text));
	assert_non_null(strstr(text, "no /usr/bin/pdftotext"));
	assert_null(strstr(text, "pandoc"));
	listed.usable[c] = YARD_NO_WALLS;
	listed.walls &= ~(1u << WALL_LANDLOCK | 1u << WALL_FILTER);
	assert_true(
	    trouble_of_capability(&listed, c, &config->capabilities[c], text));
	assert_string_equal(text,
	    "image.text: a box here would lack system call filter, Landlock");
	config_free(config);
}

static int
make_scratch(void **state)
{
	char open_dir[80];

	(void)state;
	(void)snprintf(
	    scratch, sizeof(scratch), "/tmp/sandcastle-test-cli-XXXXXX");
	if (mkdtemp(scratch) == NULL)
		return -1;
	(void)snprintf(open_dir, sizeof(open_dir), "%s/open", scratch);
	/* One test is another user for a while. */
	return chmod(scratch, 0755) < 0 || mkdir(open_dir, 0777) < 0 ||
		chmod(open_dir, 0777) < 0
	    ? -1
	    : 0;
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *place)
{
	(void)st;
	(void)type;
	(void)place;
	return remove(path);
}

static int
remove_scratch(void **state)
{
	(void)state;
	return nftw(scratch, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(settings_become_json),
		cmocka_unit_test(base64_has_every_padding),
		cmocka_unit_test(a_long_file_is_whole),
		cmocka_unit_test(bad_settings_are_told),
		cmocka_unit_test(unreadable_and_endless_files),
		cmocka_unit_test(outputs_are_checked),
		cmocka_unit_test(an_output_that_is_held_or_huge_is_refused),
		cmocka_unit_test(status_is_read),
		cmocka_unit_test(no_job_is_null),
		cmocka_unit_test(a_broken_status_is_refused),
		cmocka_unit_test(too_many_sources_are_refused),
		cmocka_unit_test(an_instance_is_found_by_its_lock),
		cmocka_unit_test(the_starting_file_is_the_one_in_etc),
		cmocka_unit_test(troubles_are_named),
		cmocka_unit_test(directories_are_made_once),
	};

	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
