/* SPDX-License-Identifier: ISC
 *
 * config.yaml as a struct, by the same code in supervisor, keep, yard, core
 * and the command. The file is the operator's, but its mistakes are expected:
 * all of them are found in one run, and nothing is used of a file that has
 * one.
 */
#include "config/config.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "config/keys.h"
#include "config/report.h"
#include "config/tree.h"
#include "config/url.h"
#include "config/values.h"

struct parse {
	struct report report;
	struct tree tree;
	struct config *config;
};

/* The key of a member that may be read on; NULL after an error. */
static const struct key *
key_of(struct parse *p, enum key_room room, const struct node *member)
{
	const struct key *key;

	if (member->key_is_refused)
		return NULL;
	key = key_find(room, member->key);
	if (key == NULL) {
		value_report_unknown(&p->report, member, room);
		return NULL;
	}
	if (key->type == KEY_LATER) {
		report_key(
		    &p->report, member, "is not supported yet, leave it out");
		return NULL;
	}
	return key;
}

/* Whether node is a map, or nothing was written for it. */
static bool
check_map(struct parse *p, const struct node *node, const char *wanted)
{
	if (node->is_refused)
		return false;
	if (node->kind == NODE_MAP || node_is_empty(node))
		return true;
	report_value(
	    &p->report, node, "is not a map of keys, write %s", wanted);
	return false;
}

static bool
has_member(const struct node *map, const char *key)
{
	for (const struct node *m = map->first; m != NULL; m = m->next) {
		if (strcmp(m->key, key) == 0)
			return true;
	}
	return false;
}

static void
report_missing(struct parse *p, enum key_room room, const struct node *map)
{
	struct report_place place = { map->key_line, map->key_column };
	size_t n;
	const struct key *keys = keys_of(room, &n);

	for (size_t i = 0; i < n; i++) {
		if (keys[i].is_required && !has_member(map, keys[i].name))
			report_member(&p->report, map, keys[i].name, place,
			    "is missing, write %s", keys[i].about);
	}
}

static void
read_source_key(struct parse *p, const struct key *key, const struct node *node,
    struct source_config *source)
{
	if (key->type == KEY_URL)
		value_put_url(&p->report, node, source);
	else if (key->type == KEY_CAPABILITIES)
		value_put_capabilities(&p->report, node, source);
	else if (key->type == KEY_ADDRESSES)
		value_put_addresses(&p->report, node, source);
	else
		value_put(&p->report, key, node, source);
}

/* http:// needs a loopback address or the operator's word. */
static void
check_clear(
    struct parse *p, const struct node *map, const struct source_config *source)
{
	if (source->url[0] == '\0' || source->is_tls || source->allow_http ||
	    url_is_loopback(source))
		return;
	for (const struct node *m = map->first; m != NULL; m = m->next) {
		if (strcmp(m->key, "url") != 0)
			continue;
		report_value(&p->report, m,
		    "http:// is for loopback addresses (127.0.0.1, [::1]): "
		    "the token would travel in clear; write https://, or "
		    "allow_http: true");
		return;
	}
}

static void
read_source(
    struct parse *p, const struct node *map, struct source_config *source)
{
	if (!text_is_name(map->key)) {
		report_key(&p->report, map,
		    "is not a name for a source, write 1 to 64 of a-z, 0-9, "
		    "_ and -, a letter or digit first");
		return;
	}
	if (!check_map(p, map, "url: and capabilities: below it"))
		return;
	(void)text_copy(source->name, sizeof(source->name), map->key);
	(void)text_copy(source->secret, sizeof(source->secret), map->key);
	value_put_fallbacks(KEYS_SOURCE, source);
	for (const struct node *m = map->first; m != NULL; m = m->next) {
		const struct key *key = key_of(p, KEYS_SOURCE, m);

		if (key != NULL)
			read_source_key(p, key, m, source);
	}
	report_missing(p, KEYS_SOURCE, map);
	check_clear(p, map, source);
}

static void
read_sources(struct parse *p, const struct node *map)
{
	struct config *config = p->config;

	if (!check_map(p, map, "the name of a source and a colon below it"))
		return;
	if (map->n > LIMIT_SOURCES) {
		report_value(&p->report, map,
		    "has %zu sources, at most %d are right", map->n,
		    LIMIT_SOURCES);
		return;
	}
	config->sources = memory_new(map->n + 1, sizeof(config->sources[0]));
	for (const struct node *m = map->first; m != NULL; m = m->next) {
		if (!m->key_is_refused)
			read_source(
			    p, m, &config->sources[config->n_sources++]);
	}
}

static void
read_capability_key(struct parse *p, const struct key *key,
    const struct node *node, uint32_t index)
{
	struct capability_config *to = &p->config->capabilities[index];
	struct key own = *key;

	if (key->type == KEY_LANGUAGES) {
		value_put_languages(&p->report, node, index, to);
	} else if (key->type == KEY_PROGRAMS) {
		value_put_programs(&p->report, node, index, to);
	} else {
		if (key->at == offsetof(struct capability_config, max_input))
			own.max = capability_at(index)->max_input;
		value_put(&p->report, &own, node, to);
	}
}

static void
read_capability(struct parse *p, const struct node *map)
{
	uint32_t index = value_capability(&p->report, map, map->key);

	if (index == CAPABILITY_NONE ||
	    !check_map(p, map, "its settings, like time_limit: 60s, below it"))
		return;
	for (const struct node *m = map->first; m != NULL; m = m->next) {
		const struct key *key = key_of(p, KEYS_CAPABILITY, m);

		if (key != NULL)
			read_capability_key(p, key, m, index);
	}
}

static void
read_capabilities(struct parse *p, const struct node *map)
{
	if (!check_map(p, map, "the name of a capability and a colon below it"))
		return;
	for (const struct node *m = map->first; m != NULL; m = m->next) {
		if (!m->key_is_refused)
			read_capability(p, m);
	}
}

static void
read_top_key(struct parse *p, const struct key *key, const struct node *node)
{
	if (key->type == KEY_SOURCES)
		read_sources(p, node);
	else if (key->type == KEY_CAPABILITY_PARTS)
		read_capabilities(p, node);
	else if (key->type == KEY_WALLS)
		value_put_walls(&p->report, node, &p->config->accept_missing);
	else
		value_put(&p->report, key, node, p->config);
}

static void
read_top(struct parse *p)
{
	const struct node *root = p->tree.root;

	if (root == NULL || !check_map(p, root, "sources: first"))
		return;
	for (const struct node *m = root->first; m != NULL; m = m->next) {
		const struct key *key = key_of(p, KEYS_TOP, m);

		if (key != NULL)
			read_top_key(p, key, m);
	}
}

/* Only said when nothing else is wrong: it may follow from that. */
static void
demand_source(struct parse *p)
{
	const struct node *root = p->tree.root;
	struct report_place place = { 1, 1 };

	if (p->report.errors->n > 0 || p->config->n_sources > 0)
		return;
	for (const struct node *m = root == NULL ? NULL : root->first;
	     m != NULL; m = m->next) {
		if (strcmp(m->key, "sources") == 0)
			place =
			    (struct report_place){ m->key_line, m->key_column };
	}
	report_text(&p->report, place.line, place.column,
	    "sources: names no source, so there is nothing to do: write one "
	    "(sandcastle.yaml(5) has an example)");
}

static void
put_capability_defaults(uint32_t index, struct capability_config *to)
{
	const struct capability *c = capability_at(index);

	value_put_fallbacks(KEYS_CAPABILITY, to);
	for (size_t i = 0; c->tools[i].name != NULL; i++)
		(void)text_copy(
		    to->program[i], sizeof(to->program[i]), c->tools[i].path);
	if (c->has_languages) {
		to->n_languages = 1;
		(void)text_copy(
		    to->languages[0], sizeof(to->languages[0]), "eng");
	}
	to->time_limit_ms = c->time_limit_ms;
	to->memory_limit = c->memory_limit;
	to->tmp_limit = c->tmp_limit;
	to->max_input = c->max_input;
}

static struct config *
new_config(void)
{
	struct config *config = memory_new(1, sizeof(*config));

	value_put_fallbacks(KEYS_TOP, config);
	for (uint32_t i = 0; i < CAPABILITY_COUNT; i++)
		put_capability_defaults(i, &config->capabilities[i]);
	return config;
}

static void
read_file(struct parse *p, const char *bytes, size_t n)
{
	if (n > LIMIT_CONFIG_BYTES) {
		report_text(&p->report, 1, 1,
		    "the file has %zu bytes, at most %d are right", n,
		    LIMIT_CONFIG_BYTES);
		return;
	}
	if (tree_parse(bytes, n, &p->report, &p->tree) == 0)
		read_top(p);
}

static int
finish(struct parse *p, struct config **ret_config)
{
	tree_done(&p->tree);
	if (p->report.errors->n > 0) {
		config_free(p->config);
		return -1;
	}
	*ret_config = p->config;
	return 0;
}

int
config_parse(const char *bytes, size_t n, const char *name,
    struct config **ret_config, struct config_errors *errors)
{
	struct parse p = { .config = new_config() };

	report_init(&p.report, name, errors);
	read_file(&p, bytes, n);
	demand_source(&p);
	return finish(&p, ret_config);
}

int
config_parse_for_boxes(const char *bytes, size_t n, const char *name,
    struct config **ret_config, struct config_errors *errors)
{
	struct parse p = { .config = new_config() };

	report_init(&p.report, name, errors);
	read_file(&p, bytes, n);
	return finish(&p, ret_config);
}

void
config_free(struct config *config)
{
	if (config == NULL)
		return;
	free(config->sources);
	free(config);
}

int
config_find_source(const struct config *config, const char *name)
{
	for (uint32_t i = 0; i < config->n_sources; i++) {
		if (strcmp(config->sources[i].name, name) == 0)
			return (int)i;
	}
	return -1;
}

uint32_t
config_max_job_seconds(const struct config *config, uint32_t capabilities)
{
	uint64_t longest_ms = 0;
	uint64_t around_ms =
	    LIMIT_HELD_MS + LIMIT_RESULT_MS + LIMIT_RESULT_MAX_MS;

	for (uint32_t i = 0; i < CAPABILITY_COUNT; i++) {
		uint64_t ms = config->capabilities[i].time_limit_ms;

		if ((capabilities & 1u << i) != 0 && ms > longest_ms)
			longest_ms = ms;
	}
	return (uint32_t)((longest_ms + around_ms + 999) / 1000);
}
