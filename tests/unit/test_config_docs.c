/* SPDX-License-Identifier: ISC
 *
 * docs/config.md, sandcastle.yaml(5) and etc/config.yaml against the table of
 * keys: no key undocumented, none documented that is not there, every range
 * and default as it is in force, every example readable.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "config/config.h"
#include "config/keys.h"

static char *
read_text(const char *path)
{
	char *bytes = NULL;
	size_t n;
	int r = file_slurp(AT_FDCWD, path, 256 * 1024, &bytes, &n);

	if (r < 0)
		fail_msg("%s: %s", path, strerror(-r));
	return bytes;
}

#define MARKDOWN SANDCASTLE_SOURCE "/docs/config.md"
#define MANUAL	 SANDCASTLE_SOURCE "/man/sandcastle.yaml.5"
#define STARTER	 SANDCASTLE_SOURCE "/etc/config.yaml"

/* The part of config.md about the keys of a room: from its heading to the
 * next. */
static char *
cut_section(const char *text, enum key_room room)
{
	static const char *const headings[KEYS_ROOMS] = {
		[KEYS_TOP] = "\n## Top level\n",
		[KEYS_SOURCE] = "\n## A source",
		[KEYS_CAPABILITY] = "\n## A capability",
	};
	const char *begin = strstr(text, headings[room]);
	const char *end;
	char *section;

	assert_non_null(begin);
	end = strstr(begin + 4, "\n## ");
	assert_non_null(end);
	section = memory_text(begin);
	section[end - begin] = '\0';
	return section;
}

/* The row of a key in the table of a section; NULL: none. */
static char *
find_row(const char *section, const char *name)
{
	char begin[64];
	const char *row;
	char *copy;

	(void)snprintf(begin, sizeof(begin), "\n| `%s` |", name);
	row = strstr(section, begin);
	if (row == NULL)
		return NULL;
	copy = memory_text(row + 1);
	copy[strcspn(copy, "\n")] = '\0';
	return copy;
}

static void
expect_in(const char *row, const char *words)
{
	if (strstr(row, words) == NULL)
		fail_msg("%s\nlacks: %s", row, words);
}

static void
check_range(const char *row, const struct key *key)
{
	char low[32], high[32], range[80];

	if (key->type == KEY_DURATION) {
		text_put_duration(low, sizeof(low), key->min);
		text_put_duration(high, sizeof(high), key->max);
	} else {
		text_put_size(low, sizeof(low), key->min);
		text_put_size(high, sizeof(high), key->max);
	}
	if (key->type == KEY_COUNT)
		(void)snprintf(range, sizeof(range), "| %llu to %llu |",
		    (unsigned long long)key->min, (unsigned long long)key->max);
	else
		(void)snprintf(range, sizeof(range), "| %s to %s |",
		    strcmp(low, "0ms") == 0 ? "0s" : low,
		    key->at == offsetof(struct capability_config, max_input) &&
			    key->fallback == NULL
			? "the capability's own"
			: high);
	expect_in(row, range);
}

static void
check_row(const char *row, const struct key *key)
{
	char fallback[80];

	if (key->type == KEY_DURATION || key->type == KEY_SIZE ||
	    key->type == KEY_COUNT)
		check_range(row, key);
	(void)snprintf(fallback, sizeof(fallback),
	    key->fallback != NULL ? "| `%s` |" : "| %s |",
	    key->is_required		? "required"
		: key->fallback != NULL ? key->fallback
					: key->fallback_about);
	if (key->fallback == NULL && strstr(row, fallback) == NULL)
		(void)snprintf(fallback, sizeof(fallback), "| `%s` |",
		    key->fallback_about);
	expect_in(row, fallback);
}

static void
every_key_is_in_config_md(void **state)
{
	cleanup_free char *text = read_text(MARKDOWN);

	(void)state;
	for (enum key_room room = KEYS_TOP; room < KEYS_ROOMS; room++) {
		cleanup_free char *section = cut_section(text, room);
		size_t n;
		const struct key *keys = keys_of(room, &n);

		for (size_t i = 0; i < n; i++) {
			cleanup_free char *row =
			    find_row(section, keys[i].name);
			char later[64];

			(void)snprintf(
			    later, sizeof(later), "`%s`", keys[i].name);
			if (keys[i].type == KEY_LATER) {
				assert_null(row);
				expect_in(strstr(text, "## Not supported yet"),
				    later);
				continue;
			}
			if (row == NULL)
				fail_msg("config.md has no row for %s",
				    keys[i].name);
			check_row(row, &keys[i]);
		}
	}
}

/* Every row of a table of keys is a key. */
static void
config_md_has_no_other_key(void **state)
{
	cleanup_free char *text = read_text(MARKDOWN);

	(void)state;
	for (enum key_room room = KEYS_TOP; room < KEYS_ROOMS; room++) {
		cleanup_free char *section = cut_section(text, room);
		const char *at = section;
		int n = 0;

		while ((at = strstr(at, "\n| `")) != NULL) {
			char name[64];

			at += 4;
			(void)snprintf(name, sizeof(name), "%.*s",
			    (int)strcspn(at, "`"), at);
			if (key_find(room, name) == NULL &&
			    capability_find(name, strlen(name)) ==
				CAPABILITY_NONE)
				fail_msg("config.md has a row for %s", name);
			n++;
		}
		assert_true(n >= 5);
	}
}

static void
every_key_is_in_the_manual(void **state)
{
	cleanup_free char *text = read_text(MANUAL);

	(void)state;
	for (enum key_room room = KEYS_TOP; room < KEYS_ROOMS; room++) {
		size_t n;
		const struct key *keys = keys_of(room, &n);

		for (size_t i = 0; i < n; i++) {
			char item[64];

			(void)snprintf(
			    item, sizeof(item), "\n.It Cm %s\n", keys[i].name);
			if (keys[i].type != KEY_LATER) {
				expect_in(text, item);
				continue;
			}
			assert_null(strstr(text, item));
			expect_in(strstr(text, ".Ss Keys of a later version"),
			    keys[i].name);
		}
	}
}

static void
the_manual_has_the_defaults_in_force(void **state)
{
	cleanup_free char *text = read_text(MANUAL);

	(void)state;
	for (enum key_room room = KEYS_TOP; room < KEYS_ROOMS; room++) {
		size_t n;
		const struct key *keys = keys_of(room, &n);

		for (size_t i = 0; i < n; i++) {
			char item[64], fallback[64];
			const char *at;
			const char *next;

			if (keys[i].fallback == NULL)
				continue;
			(void)snprintf(
			    item, sizeof(item), "\n.It Cm %s\n", keys[i].name);
			(void)snprintf(fallback, sizeof(fallback),
			    "Default:\n.Cm %s .", keys[i].fallback);
			at = strstr(text, item);
			assert_non_null(at);
			next = strstr(at + 1, "\n.It ");
			at = strstr(at, fallback);
			if (at == NULL || (next != NULL && at > next + 400))
				fail_msg("%s: the manual has not its default",
				    keys[i].name);
		}
	}
}

/* The row of a capability has its own limits. */
static void
own_limits_are_in_both(void **state)
{
	cleanup_free char *markdown = read_text(MARKDOWN);
	cleanup_free char *manual = read_text(MANUAL);

	(void)state;
	for (uint32_t i = 0; i < CAPABILITY_COUNT; i++) {
		const struct capability *c = capability_at(i);
		char time[32], memory[32], tmp[32], input[32], row[256];

		text_put_duration(time, sizeof(time), c->time_limit_ms);
		text_put_size(memory, sizeof(memory), c->memory_limit);
		text_put_size(tmp, sizeof(tmp), c->tmp_limit);
		text_put_size(input, sizeof(input), c->max_input);
		(void)snprintf(row, sizeof(row), "| %s | %s | %s | %s | %s |\n",
		    c->has_languages ? "yes" : "no", time, memory, tmp, input);
		expect_in(markdown, row);
		(void)snprintf(row, sizeof(row),
		    ".It %s Ta %s Ta %s Ta %s Ta %s\n", c->name, time, memory,
		    tmp, input);
		expect_in(manual, row);
		for (size_t t = 0; c->tools[t].name != NULL; t++) {
			(void)snprintf(
			    row, sizeof(row), "`%s`", c->tools[t].name);
			expect_in(markdown, row);
		}
	}
}

static void
expect_good(const char *text, size_t n)
{
	struct config_errors errors;
	struct config *config = NULL;

	if (config_parse(text, n, "example", &config, &errors) < 0)
		fail_msg("%.*s\n%s", (int)n, text, errors.lines[0]);
	config_free(config);
}

/* Between each pair of begin and end. */
static int
check_examples(const char *text, const char *begin, const char *end)
{
	int n = 0;

	while ((text = strstr(text, begin)) != NULL) {
		const char *stop;

		text += strlen(begin);
		stop = strstr(text, end);
		assert_non_null(stop);
		expect_good(text, (size_t)(stop - text));
		text = stop;
		n++;
	}
	return n;
}

static void
examples_can_be_read(void **state)
{
	cleanup_free char *markdown = read_text(MARKDOWN);
	cleanup_free char *manual = read_text(MANUAL);

	(void)state;
	assert_int_equal(check_examples(markdown, "```yaml\n", "```"), 3);
	assert_int_equal(check_examples(manual, ".Bd -literal\n", ".Ed"), 1);
}

/* Puts every setting of the starting file in force: a "#" that no single
 * blank follows is taken away. Gives how many. */
static int
turn_on(char *text)
{
	int n = 0;

	for (char *line = text; line[0] != '\0';) {
		size_t length = strcspn(line, "\n");
		bool is_remark = line[1] == ' ' && line[2] != ' ';

		if (line[0] == '#' && !is_remark && length > 1) {
			memmove(line, line + 1, strlen(line));
			length--;
			n++;
		}
		line += length + (line[length] == '\n');
	}
	return n;
}

static void
the_starting_file_can_be_read(void **state)
{
	cleanup_free char *text = read_text(STARTER);
	struct config_errors errors;
	struct config *config = NULL;
	char range[16];

	(void)state;
	/* As it is: no source yet, nothing else wrong. */
	assert_int_equal(
	    config_parse(text, strlen(text), "f", &config, &errors), -1);
	assert_int_equal(errors.n, 1);
	assert_non_null(strstr(errors.lines[0], "names no source"));
	assert_int_equal(
	    config_parse_for_boxes(text, strlen(text), "f", &config, &errors),
	    0);
	config_free(config);
	assert_int_equal(turn_on(text), 20);
	if (config_parse(text, strlen(text), "f", &config, &errors) < 0)
		fail_msg("%s\n%s", text, errors.lines[0]);
	/* What it shows as a default is one. */
	assert_int_equal(config->sources[0].poll_interval_ms, 10000);
	assert_int_equal(config->sources[0].max_input, LIMIT_BODY_BYTES);
	text_put_duration(range, sizeof(range), config->result_ttl_ms);
	assert_string_equal(range, "7d");
	assert_int_equal(
	    config->capabilities[CAPABILITY_IMAGE_TEXT].time_limit_ms,
	    capability_at(CAPABILITY_IMAGE_TEXT)->time_limit_ms);
	assert_int_equal(
	    config->capabilities[CAPABILITY_IMAGE_TEXT].memory_limit,
	    capability_at(CAPABILITY_IMAGE_TEXT)->memory_limit);
	config_free(config);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key_is_in_config_md),
		cmocka_unit_test(config_md_has_no_other_key),
		cmocka_unit_test(every_key_is_in_the_manual),
		cmocka_unit_test(the_manual_has_the_defaults_in_force),
		cmocka_unit_test(own_limits_are_in_both),
		cmocka_unit_test(examples_can_be_read),
		cmocka_unit_test(the_starting_file_can_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
