/* SPDX-License-Identifier: ISC
 *
 * The journal on a real file: what was committed is found again, what was
 * not is not, and nobody gets another's rows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "contract/outcome.h"
#include "core/journal.h"

static char directory[64];
static struct journal *journal;
static const struct journal_key photos = { "photos", "https://a:443" };
static const struct journal_key moved = { "photos", "https://b:443" };
static const struct journal_key notes = { "notes", "https://a:443" };

static void
reopen(void)
{
	struct fault fault = { 0 };

	journal_close(journal);
	journal = NULL;
	if (journal_open(directory, &journal, &fault) < 0)
		fail_msg("%s", fault.text);
}

static int
set_up(void **state)
{
	(void)state;
	(void)strcpy(directory, "/tmp/journal-XXXXXX");
	if (mkdtemp(directory) == NULL)
		return -1;
	reopen();
	return 0;
}

static void
remove_file(const char *name)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/%s", directory, name);
	(void)unlink(path);
}

static int
tear_down(void **state)
{
	(void)state;
	journal_close(journal);
	journal = NULL;
	remove_file("journal.db");
	remove_file("journal.db-wal");
	remove_file("journal.db-shm");
	return rmdir(directory);
}

static struct journal_row
row_of(const char *id)
{
	struct journal_row row = { .bad_ms = -1, .capability = 1 };

	(void)strcpy(row.id, id);
	(void)strcpy(row.lease, "lease");
	memset(row.ticket, 7, sizeof(row.ticket));
	row.ticket[0] = 0;
	return row;
}

static void
a_claim_id_is_found_again(void **state)
{
	char id[LIMIT_CLAIM_ID_BYTES + 1] = "unchanged";

	(void)state;
	assert_int_equal(journal_get_claim_id(journal, &photos, id), 0);
	assert_string_equal(id, "unchanged");
	journal_begin(journal);
	assert_int_equal(journal_set_claim_id(journal, &photos,
			     "00112233445566778899aabbccddeeff"),
	    0);
	assert_int_equal(journal_commit(journal), 0);
	reopen();
	assert_int_equal(journal_get_claim_id(journal, &photos, id), 1);
	assert_string_equal(id, "00112233445566778899aabbccddeeff");
	/* Another origin is another source. */
	assert_int_equal(journal_get_claim_id(journal, &moved, id), 0);
	assert_int_equal(journal_get_claim_id(journal, &notes, id), 0);
}

static void
a_held_job_is_found_again(void **state)
{
	struct journal_row row = row_of("job-1");
	struct journal_row got;

	(void)state;
	journal_begin(journal);
	assert_int_equal(journal_add_held(journal, &photos, &row), 0);
	assert_int_equal(journal_commit(journal), 0);
	assert_int_equal(journal_get_held(journal, &photos, &got), 1);
	assert_false(got.is_running);
	journal_begin(journal);
	assert_int_equal(journal_set_running(journal, &photos), 0);
	assert_int_equal(journal_commit(journal), 0);
	reopen();
	assert_int_equal(journal_get_held(journal, &moved, &got), 0);
	assert_int_equal(journal_get_held(journal, &photos, &got), 1);
	assert_true(got.is_running);
	assert_string_equal(got.id, "job-1");
	assert_string_equal(got.lease, "lease");
	assert_memory_equal(got.ticket, row.ticket, LETTER_TICKET_BYTES);
	assert_int_equal(got.capability, 1);
}

static int
make_body(size_t n)
{
	int letter = letter_new("test");
	unsigned char *bytes = malloc(n);

	assert_true(letter >= 0);
	assert_non_null(bytes);
	for (size_t i = 0; i < n; i++)
		bytes[i] = (unsigned char)(i * 31 + i / 256);
	assert_int_equal(file_pwrite_all(letter, bytes, n, 0), 0);
	assert_int_equal(letter_seal(letter), 0);
	free(bytes);
	return letter;
}

static void
put_outcome(struct journal_row *row, int letter, size_t n)
{
	row->outcome = letter < 0 ? OUTCOME_RELEASED : OUTCOME_SUCCEEDED;
	row->reason = letter < 0 ? RELEASE_BUSY : 0;
	row->body_bytes = n;
	journal_begin(journal);
	assert_int_equal(journal_put_outcome(journal, &photos, row, letter), 0);
	assert_int_equal(journal_commit(journal), 0);
	assert_true(row->row > 0);
}

static void
an_output_comes_back_byte_for_byte(void **state)
{
	/* Around the step of copying, and a large one. */
	static const size_t sizes[] = { 32, LIMIT_BLOB_STEP - 1,
		LIMIT_BLOB_STEP, LIMIT_BLOB_STEP + 1, 3 * 1024 * 1024 + 5 };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		size_t n = sizes[i];
		struct journal_row row = row_of("job-1");
		struct journal_row got;
		int letter = make_body(n);
		char *a = malloc(n);
		char *b = malloc(n);
		int back;

		put_outcome(&row, letter, n);
		reopen();
		assert_int_equal(
		    journal_get_waiting(journal, &photos, &got), 1);
		assert_int_equal(got.row, row.row);
		assert_int_equal(got.body_bytes, n);
		back = journal_get_body(journal, &got);
		assert_int_equal(file_sealed_size(back, n), n);
		assert_int_equal(file_pread_all(letter, a, n, 0), n);
		assert_int_equal(file_pread_all(back, b, n, 0), n);
		assert_memory_equal(a, b, n);
		free(a);
		free(b);
		(void)close(letter);
		(void)close(back);
		journal_begin(journal);
		assert_int_equal(journal_forget(journal, &photos, got.row), 0);
		assert_int_equal(journal_commit(journal), 0);
		assert_int_equal(
		    journal_get_waiting(journal, &photos, &got), 0);
	}
}

static void
an_outcome_takes_the_place_of_its_held_job(void **state)
{
	struct journal_row row = row_of("job-1");
	struct journal_row got;
	int64_t before;

	(void)state;
	journal_begin(journal);
	(void)journal_add_held(journal, &photos, &row);
	assert_int_equal(journal_commit(journal), 0);
	put_outcome(&row, -1, 0);
	assert_int_equal(journal_get_held(journal, &photos, &got), 0);
	assert_int_equal(journal_get_waiting(journal, &photos, &got), 1);
	assert_int_equal(got.outcome, OUTCOME_RELEASED);
	assert_int_equal(got.reason, RELEASE_BUSY);
	assert_int_equal(got.bad_ms, -1);
	/* Amended: one row, not two. */
	before = row.row;
	put_outcome(&row, -1, 0);
	assert_true(row.row > before);
	journal_begin(journal);
	(void)journal_forget(journal, &photos, row.row);
	assert_int_equal(journal_commit(journal), 0);
	assert_int_equal(journal_get_waiting(journal, &photos, &got), 0);
}

static void
what_is_not_committed_is_not_there(void **state)
{
	struct journal_row row = row_of("job-1");
	struct journal_row got;

	(void)state;
	journal_begin(journal);
	(void)journal_add_held(journal, &photos, &row);
	/* An id that no column takes spoils the whole transaction. */
	assert_int_equal(journal_set_claim_id(journal, &photos, NULL), -1);
	assert_int_equal(journal_set_running(journal, &photos), -1);
	assert_int_equal(journal_commit(journal), -1);
	assert_true(strlen(journal_problem(journal)) > 0);
	assert_int_equal(journal_get_held(journal, &photos, &got), 0);
	/* And the next one works. */
	journal_begin(journal);
	(void)journal_add_held(journal, &photos, &row);
	assert_int_equal(journal_commit(journal), 0);
	assert_int_equal(journal_get_held(journal, &photos, &got), 1);
}

static void
parked_rows_do_not_wait(void **state)
{
	struct journal_row row = row_of("job-1");
	struct journal_row next = row_of("job-2");
	struct journal_row got;
	int letter = make_body(100);
	uint32_t n = 0;
	uint64_t bytes = 0;

	(void)state;
	put_outcome(&row, letter, 100);
	put_outcome(&next, -1, 0);
	journal_begin(journal);
	assert_int_equal(journal_park(journal, row.row), 0);
	row.tries = 4;
	row.age_ms = 12345;
	row.bad_ms = 99;
	assert_int_equal(journal_set_tried(journal, &row), 0);
	assert_int_equal(journal_commit(journal), 0);
	assert_int_equal(journal_count_parked(journal, &photos, &n, &bytes), 1);
	assert_int_equal(n, 1);
	assert_int_equal(bytes, 100);
	assert_int_equal(journal_count_parked(journal, &moved, &n, &bytes), 1);
	assert_int_equal(n, 0);
	assert_int_equal(journal_get_waiting(journal, &photos, &got), 1);
	assert_string_equal(got.id, "job-2");
	(void)close(letter);
}

static void
suspects_are_counted_and_forgotten(void **state)
{
	struct journal_row row = row_of("id-5");
	uint32_t counts[2] = { 9, 9 };
	char id[16];

	(void)state;
	journal_begin(journal);
	for (int i = 0; i < LIMIT_SUSPECTS + 10; i++) {
		(void)snprintf(id, sizeof(id), "id-%d", i);
		assert_int_equal(
		    journal_suspect(journal, &photos, id, false), 0);
	}
	assert_int_equal(journal_suspect(journal, &photos, "id-20", false), 0);
	assert_int_equal(journal_suspect(journal, &photos, "id-20", true), 0);
	assert_int_equal(journal_commit(journal), 0);
	/* The oldest have gone, for the number is bounded. */
	assert_int_equal(
	    journal_get_suspect(journal, &photos, "id-0", counts), 0);
	assert_int_equal(
	    journal_get_suspect(journal, &photos, "id-9", counts), 0);
	assert_int_equal(
	    journal_get_suspect(journal, &photos, "id-10", counts), 1);
	assert_int_equal(
	    journal_get_suspect(journal, &photos, "id-20", counts), 1);
	assert_int_equal(counts[0], 2);
	assert_int_equal(counts[1], 1);
	assert_int_equal(
	    journal_get_suspect(journal, &notes, "id-20", counts), 0);
	/* One that ended well is suspected no more. */
	(void)strcpy(row.id, "id-20");
	row.outcome = OUTCOME_FAILED;
	journal_begin(journal);
	(void)journal_put_outcome(journal, &photos, &row, -1);
	assert_int_equal(journal_commit(journal), 0);
	assert_int_equal(
	    journal_get_suspect(journal, &photos, "id-20", counts), 0);
}

struct ages {
	uint64_t ages[8];
	size_t n;
};

static void
add_age(void *context, uint64_t age_ms)
{
	struct ages *ages = context;

	assert_true(ages->n < 8);
	ages->ages[ages->n++] = age_ms;
}

static void
runs_are_counted_over_boots_and_clock_jumps(void **state)
{
	static const int64_t year_s = 365 * 24 * 3600;
	struct journal_time first = { "boot-1", 5000000, 1000000000 };
	struct journal_time jumped = { "boot-1", 5060000,
		1000000000 + 10 * year_s };
	struct journal_time back = { "boot-1", 5060000,
		1000000000 - 10 * year_s };
	struct journal_time second = { "boot-2", 20000, 1000000300 };
	struct journal_time future = { "boot-2", 20000, 900000000 };
	struct ages ages = { 0 };

	(void)state;
	journal_begin(journal);
	assert_int_equal(journal_add_run(journal, &photos, &first), 0);
	assert_int_equal(journal_commit(journal), 0);
	/* Within one boot no jump of the wall clock matters. */
	(void)journal_each_run(journal, &photos, &jumped, add_age, &ages);
	(void)journal_each_run(journal, &photos, &back, add_age, &ages);
	/* After a reboot the wall clock is what is left, but a run of
	 * another boot is older than this one, and none is in the future. */
	(void)journal_each_run(journal, &photos, &second, add_age, &ages);
	(void)journal_each_run(journal, &photos, &future, add_age, &ages);
	(void)journal_each_run(journal, &moved, &second, add_age, &ages);
	assert_int_equal(ages.n, 4);
	assert_int_equal(ages.ages[0], 60000);
	assert_int_equal(ages.ages[1], 60000);
	assert_int_equal(ages.ages[2], 300000);
	assert_int_equal(ages.ages[3], 20000);
}

static void
old_runs_are_pruned(void **state)
{
	struct journal_time at = { "boot-1", 5000000, 1000000000 };
	struct ages ages = { 0 };

	(void)state;
	for (int i = 0; i < 50; i++) {
		journal_begin(journal);
		(void)journal_add_run(journal, &photos, &at);
		assert_int_equal(journal_commit(journal), 0);
		at.boot_ms += LIMIT_HOUR_MS / 2;
		at.wall_s += LIMIT_HOUR_MS / 2000;
	}
	(void)journal_each_run(journal, &photos, &at, add_age, &ages);
	assert_true(ages.n >= 2 && ages.n <= 3);
}

struct owners {
	char text[256];
};

static void
add_owner(void *context, const struct journal_key *key, uint32_t n_rows)
{
	struct owners *owners = context;
	size_t n = strlen(owners->text);

	(void)snprintf(owners->text + n, sizeof(owners->text) - n, "%s %s %u;",
	    key->name, key->origin, n_rows);
}

static void
owners_of_rows_are_listed(void **state)
{
	struct journal_row row = row_of("job-1");
	struct owners owners = { "" };

	(void)state;
	put_outcome(&row, -1, 0);
	journal_begin(journal);
	(void)journal_add_held(journal, &photos, &row);
	(void)journal_add_held(journal, &notes, &row);
	assert_int_equal(journal_commit(journal), 0);
	assert_int_equal(journal_each_owner(journal, add_owner, &owners), 0);
	assert_string_equal(
	    owners.text, "notes https://a:443 1;photos https://a:443 2;");
}

static int
open_fails_with(const char *wanted)
{
	struct journal *other = NULL;
	struct fault fault = { 0 };

	if (journal_open(directory, &other, &fault) == 0) {
		journal_close(other);
		return 0;
	}
	assert_int_equal(fault.code, FAULT_SYSTEM);
	assert_non_null(strstr(fault.text, directory));
	return strstr(fault.text, wanted) != NULL;
}

static void
what_cannot_be_used_is_named(void **state)
{
	char path[128];
	sqlite3 *db;
	int fd;

	(void)state;
	journal_close(journal);
	journal = NULL;
	(void)snprintf(path, sizeof(path), "%s/journal.db", directory);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(
	    sqlite3_exec(db, "PRAGMA user_version=2", NULL, NULL, NULL), 0);
	(void)sqlite3_close(db);
	assert_true(open_fails_with("version 2"));
	fd = open(path, O_WRONLY | O_TRUNC);
	assert_true(fd >= 0);
	for (int i = 0; i < 500; i++)
		assert_int_equal(file_write_all(fd, "no database ", 12), 0);
	(void)close(fd);
	assert_true(open_fails_with("cannot be read"));
	(void)unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_true(open_fails_with("cannot be opened"));
	(void)rmdir(path);
}

static void
a_damaged_page_is_found_at_the_start(void **state)
{
	struct journal_row row = row_of("job-1");
	char path[128];
	char junk[4096];
	int fd;

	(void)state;
	for (int i = 0; i < 40; i++) {
		row.row = 0;
		put_outcome(&row, -1, 0);
	}
	journal_checkpoint(journal);
	journal_close(journal);
	journal = NULL;
	memset(junk, 0xA5, sizeof(junk));
	(void)snprintf(path, sizeof(path), "%s/journal.db", directory);
	fd = open(path, O_WRONLY);
	assert_int_equal(file_pwrite_all(fd, junk, sizeof(junk), 2 * 4096), 0);
	(void)close(fd);
	assert_true(open_fails_with("damaged"));
}

static void
the_file_is_for_its_owner_only(void **state)
{
	char path[128];
	struct stat st;

	(void)state;
	(void)snprintf(path, sizeof(path), "%s/journal.db", directory);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

#define JOURNAL_TEST(name) \
	cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		JOURNAL_TEST(a_claim_id_is_found_again),
		JOURNAL_TEST(a_held_job_is_found_again),
		JOURNAL_TEST(an_output_comes_back_byte_for_byte),
		JOURNAL_TEST(an_outcome_takes_the_place_of_its_held_job),
		JOURNAL_TEST(what_is_not_committed_is_not_there),
		JOURNAL_TEST(parked_rows_do_not_wait),
		JOURNAL_TEST(suspects_are_counted_and_forgotten),
		JOURNAL_TEST(runs_are_counted_over_boots_and_clock_jumps),
		JOURNAL_TEST(old_runs_are_pruned),
		JOURNAL_TEST(owners_of_rows_are_listed),
		JOURNAL_TEST(what_cannot_be_used_is_named),
		JOURNAL_TEST(a_damaged_page_is_found_at_the_start),
		JOURNAL_TEST(the_file_is_for_its_owner_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
