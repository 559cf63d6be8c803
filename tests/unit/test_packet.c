/* SPDX-License-Identifier: ISC
 *
 * Packets and letters: what a receiver accepts, and that it never keeps an fd
 * it did not ask for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/file.h"
#include "wire/letter.h"
#include "wire/packet.h"

struct sample {
	struct packet_head head;
	char text[32];
};

static size_t
count_open(void)
{
	DIR *d = opendir("/proc/self/fd");
	size_t n = 0;

	while (readdir(d) != NULL)
		n++;
	closedir(d);
	return n;
}

static struct sample
make_sample(void)
{
	struct sample s = { .head = { PACKET_MAGIC, 1, 2, 3 } };

	strcpy(s.text, "hello");
	return s;
}

static void
test_round_trip(void **state)
{
	struct sample sent = make_sample();
	struct sample got;
	int ends[2];
	int fds[PACKET_FDS];
	int file = file_sealed_from("x", "abc", 3);

	(void)state;
	assert_int_equal(packet_pair(ends), 0);
	assert_int_equal(
	    packet_receive(ends[1], &got, sizeof(got), fds), -EAGAIN);
	assert_int_equal(
	    packet_send(ends[0], &sent, sizeof(sent), &file, 1), 0);
	assert_int_equal(
	    packet_receive(ends[1], &got, sizeof(got), fds), PACKET_GOT);
	assert_memory_equal(&sent, &got, sizeof(sent));
	assert_int_equal(packet_count_fds(fds), 1);
	assert_int_equal(file_sealed_size(fds[0], 3), 3);
	packet_close_fds(fds);
	close(ends[0]);
	assert_int_equal(
	    packet_receive(ends[1], &got, sizeof(got), fds), PACKET_LOST);
	close(ends[1]);
	close(file);
}

/* Everything that is not exactly one packet of the size costs the link, and
 * leaves no fd behind. */
static void
test_nonsense(void **state)
{
	struct sample s = make_sample();
	char longer[sizeof(s) + 8] = { 0 };
	struct sample got;
	int fds[PACKET_FDS];
	int many[] = { 0, 1, 2 };

	(void)state;
	for (int kind = 0; kind < 5; kind++) {
		int ends[2];
		size_t before;

		assert_int_equal(packet_pair(ends), 0);
		before = count_open();
		if (kind == 0) {
			assert_true(send(ends[0], &s, sizeof(s) - 1, 0) > 0);
		} else if (kind == 1) {
			memcpy(longer, &s, sizeof(s));
			assert_true(
			    send(ends[0], longer, sizeof(longer), 0) > 0);
		} else if (kind == 2) {
			assert_int_equal(send(ends[0], "", 0, 0), 0);
		} else if (kind == 3) {
			s.head.magic ^= 1;
			assert_true(send(ends[0], &s, sizeof(s), 0) > 0);
			s.head.magic ^= 1;
		} else {
			struct iovec v = { &s, sizeof(s) };
			char control[CMSG_SPACE(sizeof(many))] = { 0 };
			struct msghdr m = { .msg_iov = &v,
				.msg_iovlen = 1,
				.msg_control = control,
				.msg_controllen = sizeof(control) };
			struct cmsghdr *c = CMSG_FIRSTHDR(&m);

			c->cmsg_level = SOL_SOCKET;
			c->cmsg_type = SCM_RIGHTS;
			c->cmsg_len = CMSG_LEN(sizeof(many));
			memcpy(CMSG_DATA(c), many, sizeof(many));
			assert_true(sendmsg(ends[0], &m, 0) > 0);
		}
		assert_int_equal(
		    packet_receive(ends[1], &got, sizeof(got), fds),
		    PACKET_LOST);
		assert_int_equal(packet_count_fds(fds), 0);
		assert_int_equal(count_open(), before);
		close(ends[0]);
		close(ends[1]);
	}
}

/* A peer that does not read makes the sender fail, not wait. */
static void
test_never_blocks(void **state)
{
	struct sample s = make_sample();
	int ends[2];
	int r = 0;

	(void)state;
	assert_int_equal(packet_pair(ends), 0);
	for (int i = 0; i < 100000 && r == 0; i++)
		r = packet_send(ends[0], &s, sizeof(s), NULL, 0);
	assert_int_equal(r, -EAGAIN);
	close(ends[1]);
	assert_int_equal(packet_send(ends[0], &s, sizeof(s), NULL, 0), -EPIPE);
	close(ends[0]);
}

static void
test_text_arrays(void **state)
{
	char a[8] = "abc";

	(void)state;
	assert_true(packet_is_text(a, sizeof(a)));
	a[5] = 'x';
	assert_false(packet_is_text(a, sizeof(a)));
	memset(a, 'x', sizeof(a));
	assert_false(packet_is_text(a, sizeof(a)));
}

static void
test_letter(void **state)
{
	unsigned char ticket[LETTER_TICKET_BYTES];
	unsigned char back[LETTER_TICKET_BYTES];
	char text[8] = "";
	int letter = letter_new("letter");
	void *map;

	(void)state;
	memset(ticket, 7, sizeof(ticket));
	assert_int_equal(letter_size(letter, 100), -EPERM);
	assert_int_equal(letter_put_ticket(letter, ticket), 0);
	assert_int_equal(
	    file_pwrite_all(letter, "hello", 5, LETTER_TICKET_BYTES), 0);

	/* A writable mapping that is alive forbids the seal. */
	map = mmap(NULL, 37, PROT_READ | PROT_WRITE, MAP_SHARED, letter, 0);
	assert_ptr_not_equal(map, MAP_FAILED);
	assert_int_equal(letter_seal(letter), -EBUSY);
	munmap(map, 37);
	assert_int_equal(letter_seal(letter), 0);

	assert_int_equal(letter_size(letter, 5), 5);
	assert_int_equal(letter_size(letter, 4), -EFBIG);
	assert_int_equal(letter_get_ticket(letter, back), 0);
	assert_memory_equal(ticket, back, sizeof(ticket));
	assert_int_equal(letter_read(letter, text, sizeof(text), 1), 4);
	assert_string_equal(text, "ello");
	assert_int_equal(letter_put_ticket(letter, ticket), -EPERM);
	close(letter);

	letter = file_sealed_from("short", "abc", 3);
	assert_int_equal(letter_size(letter, 100), -EBADMSG);
	assert_int_equal(letter_get_ticket(letter, back), -EBADMSG);
	close(letter);
}

/* Its last word is heard although it never read ours. */
static void
test_closed_unread(void **state)
{
	struct sample sent = make_sample();
	struct sample got;
	int ends[2];
	int fds[PACKET_FDS];

	(void)state;
	assert_int_equal(packet_pair(ends), 0);
	assert_int_equal(packet_send(ends[0], &sent, sizeof(sent), NULL, 0), 0);
	assert_int_equal(packet_send(ends[1], &sent, sizeof(sent), NULL, 0), 0);
	close(ends[1]);
	assert_int_equal(
	    packet_receive(ends[0], &got, sizeof(got), fds), PACKET_GOT);
	assert_int_equal(
	    packet_receive(ends[0], &got, sizeof(got), fds), PACKET_LOST);
	close(ends[0]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_closed_unread),
		cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_never_blocks),
		cmocka_unit_test(test_text_arrays),
		cmocka_unit_test(test_letter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
