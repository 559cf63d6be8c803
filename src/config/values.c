/* SPDX-License-Identifier: ISC
 *
 * Values of config.yaml, in every process that reads it. A value is text until
 * the type of its key gives it a meaning, so "no" is a name where a name is
 * wanted and an error where a boolean is. Every refusal says what would be
 * right.
 */
#include "config/values.h"

#include <stdio.h>
#include <string.h>

#include "base/must.h"
#include "base/text.h"
#include "config/url.h"

typedef int value_reader(struct report *report, const struct key *key,
    const struct node *node, void *to);

int
value_refuse_kind(
    struct report *report, const struct node *node, const char *wanted)
{
	static const char *const kinds[] = { [NODE_TEXT] = "a single value",
		[NODE_LIST] = "a list",
		[NODE_MAP] = "a map of keys" };

	if (node_is_empty(node))
		report_value(report, node, "has no value, write %s", wanted);
	else
		report_value(
		    report, node, "is %s, write %s", kinds[node->kind], wanted);
	return -1;
}

static int
read_ranged(struct report *report, const struct key *key,
    const struct node *node, uint64_t *ret_value)
{
	bool is_duration = key->type == KEY_DURATION;
	char quoted[REPORT_QUOTE_BYTES], low[32], high[32];
	uint64_t value;
	int r = is_duration ? text_duration_ms(node->text, &value)
			    : text_size(node->text, &value);

	if (r == 0 && value >= key->min && value <= key->max) {
		*ret_value = value;
		return 0;
	}
	if (is_duration) {
		text_put_duration(low, sizeof(low), key->min);
		text_put_duration(high, sizeof(high), key->max);
	} else {
		text_put_size(low, sizeof(low), key->min);
		text_put_size(high, sizeof(high), key->max);
	}
	if (r == 0)
		report_value(report, node, "%s is out of range, write %s to %s",
		    report_quote(quoted, node->text), low, high);
	else
		report_value(report, node,
		    "%s is not a %s, write a number with %s, %s to %s",
		    report_quote(quoted, node->text),
		    is_duration ? "duration" : "size",
		    is_duration ? "ms, s, m, h or d" : "KiB, MiB or GiB", low,
		    high);
	return -1;
}

static int
read_duration_or_size(struct report *report, const struct key *key,
    const struct node *node, void *to)
{
	return read_ranged(report, key, node, to);
}

static int
read_count(struct report *report, const struct key *key,
    const struct node *node, void *to)
{
	char quoted[REPORT_QUOTE_BYTES];
	uint64_t value;

	if (text_u64(node->text, key->max, &value) < 0 || value < key->min) {
		report_value(report, node,
		    "%s is not right, write a whole number, %llu to %llu",
		    report_quote(quoted, node->text),
		    (unsigned long long)key->min, (unsigned long long)key->max);
		return -1;
	}
	*(uint32_t *)to = (uint32_t)value;
	return 0;
}

static int
read_boolean(struct report *report, const struct key *key,
    const struct node *node, void *to)
{
	char quoted[REPORT_QUOTE_BYTES];

	(void)key;
	if (strcmp(node->text, "true") != 0 &&
	    strcmp(node->text, "false") != 0) {
		report_value(report, node,
		    "%s is neither true nor false, write one of them",
		    report_quote(quoted, node->text));
		return -1;
	}
	*(bool *)to = node->text[0] == 't';
	return 0;
}

static int
read_name(struct report *report, const struct key *key, const struct node *node,
    void *to)
{
	char quoted[REPORT_QUOTE_BYTES];

	(void)key;
	if (text_is_name(node->text))
		return text_copy(to, CONFIG_NAME_BYTES, node->text);
	report_value(report, node,
	    "%s is not a name, write 1 to 64 of a-z, 0-9, _ and -, a letter "
	    "or digit first",
	    report_quote(quoted, node->text));
	return -1;
}

static int
read_file(struct report *report, const struct key *key, const struct node *node,
    void *to)
{
	char quoted[REPORT_QUOTE_BYTES];
	const char *wrong = NULL;

	(void)key;
	if (node->text[0] != '/')
		wrong = "is not an absolute path, write one that begins "
			"with /";
	else if (strlen(node->text) >= CONFIG_PATH_BYTES)
		wrong = "is too long, at most 255 bytes";
	for (const char *p = node->text; *p != '\0' && wrong == NULL; p++) {
		if ((unsigned char)*p < 0x20 || *p == 0x7F)
			wrong = "has a control character in it, leave it out";
	}
	if (wrong == NULL)
		return text_copy(to, CONFIG_PATH_BYTES, node->text);
	report_value(
	    report, node, "%s %s", report_quote(quoted, node->text), wrong);
	return -1;
}

struct reading {
	value_reader *read;
	const char *wanted;
};

static const struct reading readings[KEY_TYPES] = {
	[KEY_DURATION] = { read_duration_or_size, "a duration like 10s" },
	[KEY_SIZE] = { read_duration_or_size, "a size like 64MiB" },
	[KEY_COUNT] = { read_count, "a whole number" },
	[KEY_BOOLEAN] = { read_boolean, "true or false" },
	[KEY_NAME] = { read_name, "a name" },
	[KEY_FILE] = { read_file, "a path" },
};

void
value_put(struct report *report, const struct key *key, const struct node *node,
    void *base)
{
	const struct reading *reading = &readings[key->type];

	must(reading->read != NULL);
	if (node->is_refused)
		return;
	if (node->kind != NODE_TEXT || node_is_empty(node))
		(void)value_refuse_kind(report, node, reading->wanted);
	else
		(void)reading->read(report, key, node, (char *)base + key->at);
}

void
value_put_fallbacks(enum key_room room, void *base)
{
	size_t n;
	const struct key *keys = keys_of(room, &n);

	for (size_t i = 0; i < n; i++) {
		struct config_errors errors;
		struct report report;
		struct node node = { .kind = NODE_TEXT };

		if (keys[i].fallback == NULL)
			continue;
		node.text = (char *)(uintptr_t)keys[i].fallback;
		report_init(&report, "fallback", &errors);
		value_put(&report, &keys[i], &node, base);
		must(errors.n == 0);
	}
}

void
value_put_url(struct report *report, const struct node *node,
    struct source_config *source)
{
	struct fault fault;

	if (node->is_refused)
		return;
	if (node->kind != NODE_TEXT || node_is_empty(node))
		(void)value_refuse_kind(
		    report, node, "https://host[:port][/prefix]");
	else if (url_parse(node->text, source, &fault) < 0)
		report_value(report, node, "%s", fault.text);
}

void
value_report_unknown(
    struct report *report, const struct node *node, enum key_room room)
{
	struct nearest nearest;
	size_t n;
	const struct key *keys = keys_of(room, &n);

	nearest_init(&nearest, node->key);
	for (size_t i = 0; i < n; i++)
		nearest_offer(&nearest, keys[i].name);
	if (nearest.best != NULL)
		report_key(report, node, "is not a key here, did you mean %s?",
		    nearest.best);
	else
		report_key(report, node,
		    "is not a key here, leave it out (sandcastle.yaml(5) "
		    "lists them)");
}
