/* SPDX-License-Identifier: ISC
 *
 * The store of secrets: what goes in comes out under the same name and origin
 * and not otherwise; every file that is not as we made it has its own reason.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "keep/secret_file.h"
#include "keep/walls.h"

#define ORIGIN "https://photos.example.org:443"
#define TOKEN  "SC-0123456789abcdefABCDEF._~+/-=="

static const struct secret_id photos = {
	.name = "photos", .origin = ORIGIN, .source = "photos"
};

struct place {
	char root[64];
	char state[80];
	char key[96];
	char secret[112];
};

static int
set_secret(const char *state, const struct secret_id *id, const char *token)
{
	struct secret_store store;
	struct fault fault = { 0 };
	enum keep_result result = secret_store_change(state, &store, &fault);

	if (result == KEEP_RESULT_OK) {
		result = secret_write(&store, id, token, &fault);
		secret_store_close(&store);
	}
	return (int)result;
}

/* The result of reading, checked to be said in words as well. */
static enum keep_result
try_secret(const char *state, const struct secret_id *id, char *ret_token,
    unsigned char *ret_key)
{
	cleanup_secret struct token_msg *message =
	    secret_memory(sizeof(*message));
	struct secret_store store = SECRET_STORE_NONE;
	struct fault fault = { 0 };
	enum keep_result result = secret_store_open(state, &store, &fault);

	if (result == KEEP_RESULT_OK) {
		result = secret_read(&store, id, message, &fault);
		secret_store_close(&store);
	}
	if (result != KEEP_RESULT_OK) {
		assert_true(fault.text[0] != '\0');
		assert_null(strstr(fault.text, TOKEN));
		assert_true(sodium_is_zero(
		    (const unsigned char *)message, sizeof(*message)));
		return result;
	}
	if (ret_token != NULL)
		memcpy(ret_token, message->token, sizeof(message->token));
	if (ret_key != NULL)
		memcpy(ret_key, message->ticket_key, TOKEN_TICKET_KEY_BYTES);
	return KEEP_RESULT_OK;
}

static enum keep_result
try_photos(const struct place *place)
{
	return try_secret(place->state, &photos, NULL, NULL);
}

static int
make_place(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	(void)snprintf(
	    place->root, sizeof(place->root), "/tmp/sandcastle-secret-XXXXXX");
	if (place == NULL || mkdtemp(place->root) == NULL)
		return -1;
	(void)snprintf(
	    place->state, sizeof(place->state), "%s/keep", place->root);
	(void)snprintf(place->key, sizeof(place->key), "%s/key", place->state);
	(void)snprintf(place->secret, sizeof(place->secret),
	    "%s/secrets/photos", place->state);
	*state = place;
	return set_secret(place->state, &photos, TOKEN);
}

static int
remove_place(void **state)
{
	struct place *place = *state;
	char command[128];

	(void)snprintf(command, sizeof(command), "rm -rf -- '%s'", place->root);
	free(place);
	return system(command);
}

static size_t
read_file(const char *path, char **ret)
{
	size_t n;

	assert_int_equal(file_slurp(AT_FDCWD, path, 65536, ret, &n), 0);
	return n;
}

static void
write_file(const char *path, const void *bytes, size_t n)
{
	cleanup_fd int fd =
	    open(path, O_WRONLY | O_TRUNC | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(file_write_all(fd, bytes, n), 0);
}

static unsigned int
mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	return st.st_mode & 07777;
}

static void
gives_back_what_was_set(void **state)
{
	const struct place *place = *state;
	char token[sizeof(((struct token_msg *)0)->token)];
	char path[128];

	assert_int_equal(
	    try_secret(place->state, &photos, token, NULL), KEEP_RESULT_OK);
	assert_string_equal(token, TOKEN);
	assert_int_equal(mode_of(place->state), 0700);
	assert_int_equal(mode_of(place->key), 0600);
	assert_int_equal(mode_of(place->secret), 0600);
	(void)snprintf(path, sizeof(path), "%s/secrets", place->state);
	assert_int_equal(mode_of(path), 0700);
}

static void
keeps_no_plain_text(void **state)
{
	const struct place *place = *state;
	cleanup_free char *bytes = NULL;
	size_t n = read_file(place->secret, &bytes);

	assert_null(memmem(bytes, n, TOKEN, 8));
	assert_memory_equal(
	    bytes, "SCSEC1\n" ORIGIN "\n", strlen("SCSEC1\n" ORIGIN "\n"));
	assert_int_equal(
	    n, strlen("SCSEC1\n" ORIGIN "\n") + 24 + strlen(TOKEN) + 16);
}

static void
takes_tokens_of_every_length(void **state)
{
	const struct place *place = *state;
	static const size_t lengths[] = { 1, 2, 63, 64, 4095, 4096 };
	char token[LIMIT_TOKEN_BYTES + 8] = "";
	char back[sizeof(((struct token_msg *)0)->token)];

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		memset(token, 'a', lengths[i]);
		token[lengths[i]] = '\0';
		assert_int_equal(set_secret(place->state, &photos, token), 0);
		assert_int_equal(try_secret(place->state, &photos, back, NULL),
		    KEEP_RESULT_OK);
		assert_string_equal(back, token);
	}
}

static void
setting_again_keeps_the_key(void **state)
{
	const struct place *place = *state;
	cleanup_free char *before = NULL;
	cleanup_free char *after = NULL;
	struct secret_id other = { .name = "other", .origin = ORIGIN };

	assert_int_equal(read_file(place->key, &before), 32);
	assert_int_equal(set_secret(place->state, &other, "x"), 0);
	assert_int_equal(set_secret(place->state, &photos, "y"), 0);
	assert_int_equal(read_file(place->key, &after), 32);
	assert_memory_equal(before, after, 32);
	assert_int_equal(
	    try_secret(place->state, &other, NULL, NULL), KEEP_RESULT_OK);
}

/* Two seals of one token share nothing behind the clear text. */
static void
never_uses_a_nonce_twice(void **state)
{
	const struct place *place = *state;
	cleanup_free char *a = NULL;
	cleanup_free char *b = NULL;
	size_t from = strlen("SCSEC1\n" ORIGIN "\n");
	size_t n = read_file(place->secret, &a);

	assert_int_equal(set_secret(place->state, &photos, TOKEN), 0);
	assert_int_equal(read_file(place->secret, &b), n);
	assert_memory_not_equal(a + from, b + from, 24);
	assert_memory_not_equal(a + from + 24, b + from + 24, 8);
}

/* keyed BLAKE2b-256 of "sandcastle-ticket-v1\0photos\0" ORIGIN under the key
 * 00 01 … 1f, by another implementation. */
static void
derives_the_ticket_key(void **state)
{
	const struct place *place = *state;
	unsigned char key[32];
	unsigned char ticket[TOKEN_TICKET_KEY_BYTES];
	unsigned char other[TOKEN_TICKET_KEY_BYTES];
	struct secret_id id = photos;
	char hex[80];

	for (unsigned int i = 0; i < 32; i++)
		key[i] = (unsigned char)i;
	write_file(place->key, key, sizeof(key));
	assert_int_equal(set_secret(place->state, &photos, TOKEN), 0);
	assert_int_equal(
	    try_secret(place->state, &photos, NULL, ticket), KEEP_RESULT_OK);
	text_hex(hex, ticket, sizeof(ticket));
	assert_string_equal(hex,
	    "28aef8c29dd16dbff13ee906ab34887e1dccd41bf4efe8ecfe9ccf6243fd246f");
	id.source = "photo";
	assert_int_equal(
	    try_secret(place->state, &id, NULL, other), KEEP_RESULT_OK);
	assert_memory_not_equal(ticket, other, sizeof(ticket));
	id.source = NULL;
	assert_int_equal(
	    try_secret(place->state, &id, NULL, other), KEEP_RESULT_OK);
	assert_true(sodium_is_zero(other, sizeof(other)));
}

static void
says_what_is_missing(void **state)
{
	const struct place *place = *state;
	struct secret_id other = { .name = "other", .origin = ORIGIN };
	char path[128];

	assert_int_equal(
	    try_secret(place->state, &other, NULL, NULL), KEEP_RESULT_MISSING);
	assert_int_equal(unlink(place->key), 0);
	assert_int_equal(try_photos(place), KEEP_RESULT_NO_KEY);
	assert_int_equal(unlink(place->secret), 0);
	assert_int_equal(try_photos(place), KEEP_RESULT_MISSING);
	(void)snprintf(path, sizeof(path), "%s/secrets", place->state);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(try_photos(place), KEEP_RESULT_MISSING);
	assert_int_equal(rmdir(place->state), 0);
	assert_int_equal(try_photos(place), KEEP_RESULT_MISSING);
}

static void
follows_no_link(void **state)
{
	const struct place *place = *state;
	char aside[160];

	(void)snprintf(aside, sizeof(aside), "%s.aside", place->secret);
	assert_int_equal(rename(place->secret, aside), 0);
	assert_int_equal(symlink(aside, place->secret), 0);
	assert_int_equal(try_photos(place), KEEP_RESULT_NOT_FILE);
	assert_int_equal(unlink(place->secret), 0);
	assert_int_equal(link(aside, place->secret), 0);
	assert_int_equal(try_photos(place), KEEP_RESULT_NOT_FILE);
	assert_int_equal(unlink(aside), 0);
	assert_int_equal(try_photos(place), KEEP_RESULT_OK);
	assert_int_equal(rename(place->key, aside), 0);
	assert_int_equal(symlink(aside, place->key), 0);
	assert_int_equal(try_photos(place), KEEP_RESULT_NOT_FILE);
}

static void
reads_plain_files_only(void **state)
{
	const struct place *place = *state;

	assert_int_equal(unlink(place->secret), 0);
	assert_int_equal(mkfifo(place->secret, 0600), 0);
	assert_int_equal(try_photos(place), KEEP_RESULT_NOT_FILE);
	assert_int_equal(unlink(place->secret), 0);
	assert_int_equal(mkdir(place->secret, 0700), 0);
	assert_int_equal(try_photos(place), KEEP_RESULT_NOT_FILE);
}

static void
refuses_what_others_may_open(void **state)
{
	const struct place *place = *state;
	char directory[128];

	(void)snprintf(
	    directory, sizeof(directory), "%s/secrets", place->state);
	for (mode_t bit = 1; bit <= 040; bit <<= 1) {
		assert_int_equal(chmod(place->secret, 0600 | bit), 0);
		assert_int_equal(try_photos(place), KEEP_RESULT_MODE);
		assert_int_equal(chmod(place->secret, 0600), 0);
		assert_int_equal(chmod(place->key, 0600 | bit), 0);
		assert_int_equal(try_photos(place), KEEP_RESULT_MODE);
		assert_int_equal(chmod(place->key, 0600), 0);
		if ((bit & 022) == 0)
			continue;
		assert_int_equal(chmod(directory, 0700 | bit), 0);
		assert_int_equal(try_photos(place), KEEP_RESULT_MODE);
		assert_int_equal(chmod(directory, 0700), 0);
		assert_int_equal(chmod(place->state, 0700 | bit), 0);
		assert_int_equal(try_photos(place), KEEP_RESULT_MODE);
		assert_int_equal(
		    set_secret(place->state, &photos, "x"), KEEP_RESULT_MODE);
		assert_int_equal(chmod(place->state, 0700), 0);
	}
	assert_int_equal(try_photos(place), KEEP_RESULT_OK);
}

static void
refuses_files_of_others(void **state)
{
	const struct place *place = *state;
	const char *const paths[] = { place->secret, place->key, place->state };

	/* A directory that is not ours, for everyone but root. */
	if (geteuid() != 0) {
		assert_int_equal(
		    try_secret("/etc", &photos, NULL, NULL), KEEP_RESULT_OWNER);
		return;
	}
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(chown(paths[i], 4321, (gid_t)-1), 0);
		assert_int_equal(try_photos(place), KEEP_RESULT_OWNER);
		assert_int_equal(chown(paths[i], 0, (gid_t)-1), 0);
	}
}

static void
refuses_wrong_sizes(void **state)
{
	const struct place *place = *state;
	cleanup_free char *key = NULL;
	char *large = calloc(1, 70000);

	assert_non_null(large);
	(void)read_file(place->key, &key);
	write_file(place->secret, "", 0);
	assert_int_equal(try_photos(place), KEEP_RESULT_SIZE);
	write_file(place->secret, large, LIMIT_SECRET_FILE_BYTES + 1);
	assert_int_equal(try_photos(place), KEEP_RESULT_SIZE);
	write_file(place->secret, large, LIMIT_SECRET_FILE_BYTES);
	assert_int_equal(try_photos(place), KEEP_RESULT_CORRUPT);
	assert_int_equal(set_secret(place->state, &photos, TOKEN), 0);
	write_file(place->key, key, 31);
	assert_int_equal(try_photos(place), KEEP_RESULT_SIZE);
	write_file(place->key, large, 33);
	assert_int_equal(try_photos(place), KEEP_RESULT_SIZE);
	write_file(place->key, "", 0);
	assert_int_equal(try_photos(place), KEEP_RESULT_SIZE);
	/* A bad key is not papered over by a new one. */
	assert_int_equal(
	    set_secret(place->state, &photos, TOKEN), KEEP_RESULT_SIZE);
	write_file(place->key, key, 32);
	assert_int_equal(try_photos(place), KEEP_RESULT_OK);
	free(large);
}

/* Every byte of the file counts, and so does its length. */
static void
notices_every_changed_byte(void **state)
{
	const struct place *place = *state;
	cleanup_free char *bytes = NULL;
	size_t n = read_file(place->secret, &bytes);
	size_t origin_end = strlen("SCSEC1\n" ORIGIN);

	for (size_t i = 0; i < n; i++) {
		enum keep_result result;
		bool in_origin = i >= 7 && i < origin_end;

		bytes[i] = (char)(bytes[i] ^ 1);
		write_file(place->secret, bytes, n);
		result = try_photos(place);
		assert_true(result == KEEP_RESULT_CORRUPT ||
		    (in_origin && result == KEEP_RESULT_ORIGIN));
		bytes[i] = (char)(bytes[i] ^ 1);
	}
	for (size_t i = 1; i < n; i++) {
		write_file(place->secret, bytes, i);
		assert_int_equal(try_photos(place), KEEP_RESULT_CORRUPT);
	}
	write_file(place->secret, bytes, n);
	assert_int_equal(try_photos(place), KEEP_RESULT_OK);
}

static void
opens_under_its_own_key_only(void **state)
{
	const struct place *place = *state;
	cleanup_free char *key = NULL;

	(void)read_file(place->key, &key);
	key[31] = (char)(key[31] ^ 0x80);
	write_file(place->key, key, 32);
	assert_int_equal(try_photos(place), KEEP_RESULT_CORRUPT);
}

static void
opens_under_its_own_name_only(void **state)
{
	const struct place *place = *state;
	struct secret_id other = { .name = "other", .origin = ORIGIN };
	char path[128];

	assert_int_equal(set_secret(place->state, &other, "t-of-other"), 0);
	(void)snprintf(path, sizeof(path), "%s/secrets/other", place->state);
	assert_int_equal(rename(path, place->secret), 0);
	assert_int_equal(try_photos(place), KEEP_RESULT_CORRUPT);
}

static void
opens_for_its_own_origin_only(void **state)
{
	static const char *const others[] = { "https://photos.example.org:444",
		"http://photos.example.org:443",
		"https://photos.example.org:4433",
		"https://photos.example.org:44",
		"https://evil.example.org:443" };
	const struct place *place = *state;
	cleanup_free char *bytes = NULL;
	size_t n = read_file(place->secret, &bytes);
	struct secret_id id = photos;

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		id.origin = others[i];
		assert_int_equal(try_secret(place->state, &id, NULL, NULL),
		    KEEP_RESULT_ORIGIN);
	}
	/* The clear line re-written does not re-aim it. */
	memcpy(bytes + 7, "https://photox", 14);
	write_file(place->secret, bytes, n);
	id.origin = "https://photox.example.org:443";
	assert_int_equal(
	    try_secret(place->state, &id, NULL, NULL), KEEP_RESULT_CORRUPT);
}

/* A file that a keep could not have made, under the right key. */
static void
checks_the_alphabet_on_the_way_out(void **state)
{
	static const char *const tokens[] = { "a b", "a\r\nHost: x", "a\n",
		"=a", "a=b", "t\303\244g", "a\"b" };
	const struct place *place = *state;
	cleanup_free char *key = NULL;

	(void)read_file(place->key, &key);
	for (size_t i = 0; i < sizeof(tokens) / sizeof(tokens[0]); i++) {
		unsigned char binding[SECRET_BINDING_BYTES];
		unsigned char file[256] = "SCSEC1\n" ORIGIN "\n";
		size_t at = strlen("SCSEC1\n" ORIGIN "\n");
		size_t n_binding = secret_binding(binding, &photos);
		unsigned long long n;

		assert_int_equal(
		    crypto_aead_xchacha20poly1305_ietf_encrypt(file + at + 24,
			&n, (const unsigned char *)tokens[i], strlen(tokens[i]),
			binding, n_binding, NULL, file + at,
			(const unsigned char *)key),
		    0);
		write_file(place->secret, file, at + 24 + n);
		assert_int_equal(try_photos(place), KEEP_RESULT_ALPHABET);
	}
}

static void
lists_and_removes(void **state)
{
	const struct place *place = *state;
	struct secret_id other = { .name = "a-name", .origin = ORIGIN };
	struct secret_store store;
	cleanup_free struct secret_entry *entries = NULL;
	struct fault fault;
	char path[160];
	size_t n;

	assert_int_equal(set_secret(place->state, &other, "x"), 0);
	(void)snprintf(
	    path, sizeof(path), "%s/secrets/.a-name.77", place->state);
	write_file(path, "left behind", 11);
	assert_int_equal(secret_store_change(place->state, &store, &fault), 0);
	assert_int_equal(secret_list(&store, &entries, &n, &fault), 0);
	assert_int_equal(n, 2);
	assert_string_equal(entries[0].name, "a-name");
	assert_string_equal(entries[1].name, "photos");
	assert_true(entries[0].set_at_s > 1600000000);
	assert_int_equal(secret_remove(&store, "photos", &fault), 0);
	assert_int_equal(
	    secret_remove(&store, "photos", &fault), KEEP_RESULT_MISSING);
	secret_store_close(&store);
	assert_int_equal(try_photos(place), KEEP_RESULT_MISSING);
}

static bool
can_open(const char *path, int flags)
{
	cleanup_fd int fd = open(path, flags | O_CLOEXEC, 0600);

	return fd >= 0;
}

/* Runs in a child: the exit status tells the step that was wrong. */
_Noreturn static void
try_the_walls(const struct place *place)
{
	if (!can_open("/etc/passwd", O_RDONLY) || !can_open(place->key, O_RDWR))
		_exit(1);
	if (walls_open(place->state) < 0)
		_exit(2);
	if (!can_open(place->key, O_RDONLY) ||
	    !can_open(place->secret, O_RDONLY))
		_exit(3);
	if (can_open("/etc/passwd", O_RDONLY) || can_open(place->key, O_RDWR))
		_exit(4);
	if (try_photos(place) != KEEP_RESULT_OK)
		_exit(5);
	if (execl("/bin/true", "true", (char *)NULL) == 0 || errno != EACCES)
		_exit(6);
	_exit(prctl(PR_GET_DUMPABLE) == 0 ? 0 : 7);
}

static void
its_opener_reads_the_store_only(void **state)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		try_the_walls(*state);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

#define IN_A_PLACE(f) \
	cmocka_unit_test_setup_teardown(f, make_place, remove_place)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		IN_A_PLACE(gives_back_what_was_set),
		IN_A_PLACE(keeps_no_plain_text),
		IN_A_PLACE(takes_tokens_of_every_length),
		IN_A_PLACE(setting_again_keeps_the_key),
		IN_A_PLACE(never_uses_a_nonce_twice),
		IN_A_PLACE(derives_the_ticket_key),
		IN_A_PLACE(says_what_is_missing),
		IN_A_PLACE(follows_no_link),
		IN_A_PLACE(reads_plain_files_only),
		IN_A_PLACE(refuses_what_others_may_open),
		IN_A_PLACE(refuses_files_of_others),
		IN_A_PLACE(refuses_wrong_sizes),
		IN_A_PLACE(notices_every_changed_byte),
		IN_A_PLACE(opens_under_its_own_key_only),
		IN_A_PLACE(opens_under_its_own_name_only),
		IN_A_PLACE(opens_for_its_own_origin_only),
		IN_A_PLACE(checks_the_alphabet_on_the_way_out),
		IN_A_PLACE(lists_and_removes),
		IN_A_PLACE(its_opener_reads_the_store_only),
	};

	if (sodium_init() < 0)
		return 1;
	return cmocka_run_group_tests_name("secret", tests, NULL, NULL);
}
