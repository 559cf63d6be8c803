/* SPDX-License-Identifier: ISC
 *
 * Values of config.yaml that are lists or maps, in every process that reads
 * it. Each item is judged by itself, so that all errors of a list are told;
 * its length is looked at first.
 */
#include "config/values.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/text.h"
#include "config/url.h"
#include "wire/yard_msg.h"

/* The items of a list of texts, one by one; nothing written is an empty
 * list. False when there are none, or no list. */
static bool
begin_list(struct report *report, const struct node *node, const char *wanted)
{
	if (node->is_refused || node_is_empty(node))
		return false;
	if (node->kind == NODE_LIST)
		return true;
	(void)value_refuse_kind(report, node, wanted);
	return false;
}

/* Whether an item is a text that does not stand before in its list. */
static bool
check_item(struct report *report, const struct node *item, const char *wanted)
{
	const struct node *other = item->parent->first;
	char quoted[REPORT_QUOTE_BYTES];

	if (item->is_refused)
		return false;
	if (item->kind != NODE_TEXT || node_is_empty(item)) {
		(void)value_refuse_kind(report, item, wanted);
		return false;
	}
	for (; other != item; other = other->next) {
		if (other->kind == NODE_TEXT &&
		    strcmp(other->text, item->text) == 0) {
			report_value(report, item,
			    "%s stands in the list twice, leave one out",
			    report_quote(quoted, item->text));
			return false;
		}
	}
	return true;
}

/* Refuses a list that is too long to be meant; bounds check_item's search. */
static bool
list_fits(struct report *report, const struct node *list, size_t max)
{
	if (list->n <= max)
		return true;
	report_value(
	    report, list, "has %zu items, at most %zu are right", list->n, max);
	return false;
}

static void
report_capability(struct report *report, const struct node *node,
    const char *name, const char *text)
{
	if (node->text != NULL && node->text == name)
		report_value(report, node, "%s", text);
	else
		report_key(report, node, "%s", text);
}

uint32_t
value_capability(
    struct report *report, const struct node *node, const char *name)
{
	uint32_t index = capability_find(name, strlen(name));
	char quoted[REPORT_QUOTE_BYTES];
	char text[300];
	size_t used;

	if (index != CAPABILITY_NONE)
		return index;
	(void)report_quote(quoted, name);
	if (capability_is_planned(name)) {
		(void)snprintf(text, sizeof(text),
		    "%s is not supported yet, leave it out", quoted);
		report_capability(report, node, name, text);
		return CAPABILITY_NONE;
	}
	(void)snprintf(
	    text, sizeof(text), "%s is not a capability, there are:", quoted);
	for (uint32_t i = 0; i < CAPABILITY_COUNT; i++) {
		used = strlen(text);
		(void)snprintf(text + used, sizeof(text) - used, "%s %s",
		    i > 0 ? "," : "", capability_at(i)->name);
	}
	report_capability(report, node, name, text);
	return CAPABILITY_NONE;
}

void
value_put_capabilities(struct report *report, const struct node *node,
    struct source_config *source)
{
	static const char wanted[] = "a list like [image.preview]";

	if (!node->is_refused &&
	    (node_is_empty(node) ||
		(node->kind == NODE_LIST && node->n == 0))) {
		report_value(report, node,
		    "names no capability, so the source would never be "
		    "asked: write %s",
		    wanted);
		return;
	}
	if (!begin_list(report, node, wanted) ||
	    !list_fits(report, node, LIMIT_CONFIG_MEMBERS))
		return;
	for (const struct node *i = node->first; i != NULL; i = i->next) {
		uint32_t index;

		if (!check_item(report, i, "the name of a capability"))
			continue;
		index = value_capability(report, i, i->text);
		if (index != CAPABILITY_NONE)
			source->capabilities |= 1u << index;
	}
}

static bool
is_mapped(const struct dial_address *address)
{
	static const unsigned char prefix[12] = { [10] = 0xFF, [11] = 0xFF };

	return address->family != AF_INET &&
	    memcmp(address->bytes, prefix, sizeof(prefix)) == 0;
}

void
value_put_addresses(struct report *report, const struct node *node,
    struct source_config *source)
{
	static const char wanted[] = "a list of addresses like [127.0.0.1]";
	char quoted[REPORT_QUOTE_BYTES];

	if (!begin_list(report, node, wanted) ||
	    !list_fits(report, node, LIMIT_ADDRESSES))
		return;
	for (const struct node *i = node->first; i != NULL; i = i->next) {
		struct dial_address address;

		if (!check_item(report, i, "an address like 127.0.0.1"))
			continue;
		if (address_parse(i->text, &address) < 0)
			report_value(report, i,
			    "%s is not an address, write one like 127.0.0.1 "
			    "or fe80::1 (no name, port, zone or range)",
			    report_quote(quoted, i->text));
		else if (is_mapped(&address))
			report_value(report, i,
			    "%s is an IPv4 address in IPv6 clothes, write "
			    "it as IPv4",
			    report_quote(quoted, i->text));
		else
			source->addresses[source->n_addresses++] = address;
	}
}

struct wall_name {
	const char *name;
	enum yard_wall wall;
};

static const struct wall_name wall_names[] = {
	{ "landlock", WALL_LANDLOCK },
	{ "uts", WALL_UTS_NAMESPACE },
	{ "cgroup_ns", WALL_CGROUP_NAMESPACE },
	{ "time_ns", WALL_TIME_NAMESPACE },
};

#define WALL_NAMES (sizeof(wall_names) / sizeof(wall_names[0]))

void
value_put_walls(
    struct report *report, const struct node *node, uint32_t *ret_walls)
{
	static const char wanted[] =
	    "a list of: landlock, uts, cgroup_ns, time_ns";
	char quoted[REPORT_QUOTE_BYTES];

	if (!begin_list(report, node, wanted) ||
	    !list_fits(report, node, LIMIT_CONFIG_MEMBERS))
		return;
	for (const struct node *i = node->first; i != NULL; i = i->next) {
		size_t at = 0;

		if (!check_item(report, i, "the name of a wall"))
			continue;
		while (at < WALL_NAMES &&
		    strcmp(wall_names[at].name, i->text) != 0)
			at++;
		if (at < WALL_NAMES)
			*ret_walls |= 1u << wall_names[at].wall;
		else
			report_value(report, i,
			    "%s is not a wall one can do without, these are: "
			    "landlock, uts, cgroup_ns, time_ns",
			    report_quote(quoted, i->text));
	}
}

void
value_put_languages(struct report *report, const struct node *node,
    uint32_t capability, struct capability_config *to)
{
	static const char wanted[] = "a list like [eng, deu]";
	char quoted[REPORT_QUOTE_BYTES];
	uint32_t n = 0;

	if (node->is_refused)
		return;
	if (!capability_at(capability)->has_languages) {
		report_key(report, node,
		    "%s reads no text from images, leave it out",
		    capability_at(capability)->name);
		return;
	}
	if (node_is_empty(node) || (node->kind == NODE_LIST && node->n == 0)) {
		report_value(report, node, "is empty, write %s", wanted);
		return;
	}
	if (!begin_list(report, node, wanted) ||
	    !list_fits(report, node, LIMIT_LANGUAGES))
		return;
	for (const struct node *i = node->first; i != NULL; i = i->next) {
		if (!check_item(report, i, "a language like eng"))
			continue;
		if (text_is_language(i->text))
			(void)text_copy(to->languages[n++],
			    sizeof(to->languages[0]), i->text);
		else
			report_value(report, i,
			    "%s is not a language, write three letters like "
			    "eng or deu, or chi_sim",
			    report_quote(quoted, i->text));
	}
	to->n_languages = n;
}

static size_t
find_tool(const struct capability *capability, const char *name)
{
	size_t i = 0;

	while (capability->tools[i].name != NULL &&
	    strcmp(capability->tools[i].name, name) != 0)
		i++;
	return i;
}

static void
report_no_tool(struct report *report, const struct node *node,
    const struct capability *capability)
{
	char text[200] = "";

	for (size_t i = 0; capability->tools[i].name != NULL; i++) {
		size_t used = strlen(text);

		(void)snprintf(text + used, sizeof(text) - used, "%s %s",
		    i > 0 ? "," : "", capability->tools[i].name);
	}
	report_key(report, node, "%s runs no such program, it runs:%s",
	    capability->name, text);
}

void
value_put_programs(struct report *report, const struct node *node,
    uint32_t capability, struct capability_config *to)
{
	const struct capability *c = capability_at(capability);

	if (node->is_refused || node_is_empty(node))
		return;
	if (node->kind != NODE_MAP) {
		(void)value_refuse_kind(report, node,
		    "a map from a program's name to its path, like "
		    "{ tesseract: /usr/bin/tesseract }");
		return;
	}
	for (const struct node *m = node->first; m != NULL; m = m->next) {
		size_t tool = find_tool(c, m->key);
		struct key as_file = { .type = KEY_FILE };

		if (m->key_is_refused)
			continue;
		if (c->tools[tool].name == NULL)
			report_no_tool(report, m, c);
		else
			value_put(report, &as_file, m, to->program[tool]);
	}
}
