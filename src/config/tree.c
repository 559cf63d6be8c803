/* SPDX-License-Identifier: ISC
 *
 * libyaml's events into a tree, in every process that reads config.yaml. It
 * distrusts the file: what YAML could blow up or turn into something else
 * (aliases, anchors, tags, more documents, deep nesting) is refused while the
 * events come, so the work is bounded by the size of the file. libyaml itself
 * bounds nothing: 100 000 opening brackets cost it half a minute, unless it
 * is stopped early as here.
 */
#include "config/tree.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/limits.h"
#include "base/memory.h"
#include "config/report.h"

struct reader {
	yaml_parser_t parser;
	const char *bytes;
	size_t n;
	struct report *report;
	struct tree tree;
	struct node *open; /* the list or map whose children come now */
	unsigned int depth;
	bool has_document;
	char *key; /* owned: a key that waits for its value */
	unsigned int key_line, key_column;
	bool key_is_refused;
};

static unsigned int
mark_line(yaml_mark_t mark)
{
	return (unsigned int)mark.line + 1;
}

static unsigned int
mark_column(yaml_mark_t mark)
{
	return (unsigned int)mark.column + 1;
}

static int
refuse_at(struct reader *r, yaml_mark_t mark, const char *what)
{
	report_text(r->report, mark_line(mark), mark_column(mark), "%s", what);
	return -1;
}

static bool
is_key_next(const struct reader *r)
{
	return r->open != NULL && r->open->kind == NODE_MAP && r->key == NULL;
}

static struct node *
add_node(struct reader *r, enum node_kind kind, yaml_mark_t mark)
{
	struct node *node = memory_new(1, sizeof(*node));
	struct node *parent = r->open;

	node->kind = kind;
	node->line = mark_line(mark);
	node->column = mark_column(mark);
	node->key = r->key;
	node->key_line = r->key_line;
	node->key_column = r->key_column;
	node->key_is_refused = r->key_is_refused;
	node->parent = parent;
	node->made_before = r->tree.all;
	r->tree.all = node;
	r->key = NULL;
	r->key_is_refused = false;
	if (parent == NULL) {
		r->tree.root = node;
		return node;
	}
	node->index = parent->n++;
	if (parent->last == NULL)
		parent->first = node;
	else
		parent->last->next = node;
	parent->last = node;
	return node;
}

/* Reports an anchor or a tag; true when there was one. */
static bool
refuse_marks(struct reader *r, const yaml_event_t *event, const void *anchor,
    const void *tag)
{
	if (anchor != NULL)
		(void)refuse_at(r, event->start_mark,
		    "an anchor (&name) is not allowed, write the value out");
	if (tag != NULL)
		(void)refuse_at(r, event->start_mark,
		    "a tag (!name) is not allowed, leave it out");
	return anchor != NULL || tag != NULL;
}

static const struct node *
find_member(const struct node *map, const char *key)
{
	for (const struct node *m = map->first; m != NULL; m = m->next) {
		if (strcmp(m->key, key) == 0)
			return m;
	}
	return NULL;
}

static int
take_key(struct reader *r, const yaml_event_t *event)
{
	const char *text = (const char *)event->data.scalar.value;
	const struct node *before;
	bool is_marked;

	if (strlen(text) != event->data.scalar.length)
		return refuse_at(r, event->start_mark,
		    "a key with a NUL byte, leave it out");
	if (r->open->n >= LIMIT_CONFIG_MEMBERS)
		return refuse_at(
		    r, event->start_mark, "too many keys in one place");
	before = find_member(r->open, text);
	is_marked = refuse_marks(
	    r, event, event->data.scalar.anchor, event->data.scalar.tag);
	r->key = memory_text(text);
	r->key_line = mark_line(event->start_mark);
	r->key_column = mark_column(event->start_mark);
	r->key_is_refused = is_marked || before != NULL;
	if (before != NULL)
		report_member(r->report, r->open, text,
		    (struct report_place){ r->key_line, r->key_column },
		    "written twice (first on line %u), leave one out",
		    before->key_line);
	return 0;
}

static int
take_text(struct reader *r, const yaml_event_t *event)
{
	const char *text = (const char *)event->data.scalar.value;
	struct node *node;

	if (is_key_next(r))
		return take_key(r, event);
	node = add_node(r, NODE_TEXT, event->start_mark);
	node->text = memory_text(text);
	node->is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	if (strlen(text) != event->data.scalar.length) {
		report_value(r->report, node, "has a NUL byte, leave it out");
		node->is_refused = true;
	}
	if (refuse_marks(
		r, event, event->data.scalar.anchor, event->data.scalar.tag))
		node->is_refused = true;
	return 0;
}

static int
take_alias(struct reader *r, const yaml_event_t *event)
{
	struct node *node;

	(void)refuse_at(r, event->start_mark,
	    "an alias (*name) is not allowed, write the value out");
	if (is_key_next(r))
		return -1;
	node = add_node(r, NODE_TEXT, event->start_mark);
	node->text = memory_text("");
	node->is_refused = true;
	return 0;
}

static int
take_begin(struct reader *r, const yaml_event_t *event)
{
	bool is_map = event->type == YAML_MAPPING_START_EVENT;
	const void *anchor = is_map ? event->data.mapping_start.anchor
				    : event->data.sequence_start.anchor;
	const void *tag = is_map ? event->data.mapping_start.tag
				 : event->data.sequence_start.tag;
	struct node *node;

	if (r->depth >= LIMIT_CONFIG_DEPTH)
		return refuse_at(
		    r, event->start_mark, "nested too deeply for this file");
	if (is_key_next(r))
		return refuse_at(r, event->start_mark,
		    "a key must be a plain word, not a list or a map");
	node = add_node(r, is_map ? NODE_MAP : NODE_LIST, event->start_mark);
	if (refuse_marks(r, event, anchor, tag))
		node->is_refused = true;
	r->open = node;
	r->depth++;
	return 0;
}

static int
take_document(struct reader *r, const yaml_event_t *event)
{
	if (r->has_document)
		return refuse_at(r, event->start_mark,
		    "a second document begins, one file is one document");
	r->has_document = true;
	if (event->data.document_start.version_directive != NULL ||
	    event->data.document_start.tag_directives.start !=
		event->data.document_start.tag_directives.end)
		return refuse_at(r, event->start_mark,
		    "a directive (%YAML, %TAG) is not allowed, leave it out");
	return 0;
}

/* 0 to go on, 1 at the end, -1 after an error that ends the reading. */
static int
take_event(struct reader *r, const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_DOCUMENT_START_EVENT:
		return take_document(r, event);
	case YAML_ALIAS_EVENT:
		return take_alias(r, event);
	case YAML_SCALAR_EVENT:
		return take_text(r, event);
	case YAML_SEQUENCE_START_EVENT:
	case YAML_MAPPING_START_EVENT:
		return take_begin(r, event);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		r->open = r->open->parent;
		r->depth--;
		return 0;
	case YAML_STREAM_END_EVENT:
		return 1;
	case YAML_NO_EVENT:
	case YAML_STREAM_START_EVENT:
	case YAML_DOCUMENT_END_EVENT:
		break;
	}
	return 0;
}

/* An error of libyaml's reader has an offset in bytes and no mark. */
static struct report_place
place_of(const struct reader *r, size_t offset)
{
	struct report_place place = { 1, 1 };

	for (size_t i = 0; i < offset && i < r->n; i++) {
		unsigned char byte = (unsigned char)r->bytes[i];

		if (byte == '\n') {
			place.line++;
			place.column = 1;
		} else if ((byte & 0xC0) != 0x80) {
			place.column++;
		}
	}
	return place;
}

static int
refuse_syntax(struct reader *r)
{
	const yaml_parser_t *p = &r->parser;
	const char *problem = p->problem != NULL ? p->problem : "unreadable";
	size_t at = p->problem_mark.index;

	if (p->error == YAML_READER_ERROR) {
		struct report_place place = place_of(r, p->problem_offset);

		report_text(r->report, place.line, place.column,
		    "not a text in UTF-8: %s", problem);
		return -1;
	}
	report_text(r->report, mark_line(p->problem_mark),
	    mark_column(p->problem_mark), "not YAML: %s%s%s%s", problem,
	    p->context != NULL ? " " : "", p->context != NULL ? p->context : "",
	    at < r->n && memchr(r->bytes, '\t', r->n) != NULL &&
		    p->error == YAML_SCANNER_ERROR
		? " (is it a tab? indent with spaces)"
		: "");
	return -1;
}

static int
read_events(struct reader *r)
{
	int step = 0;

	while (step == 0) {
		yaml_event_t event;

		if (yaml_parser_parse(&r->parser, &event) == 0)
			return refuse_syntax(r);
		step = take_event(r, &event);
		yaml_event_delete(&event);
	}
	return step;
}

int
tree_parse(
    const char *bytes, size_t n, struct report *report, struct tree *ret_tree)
{
	struct reader r = { .bytes = bytes, .n = n, .report = report };
	int step;

	if (yaml_parser_initialize(&r.parser) == 0)
		abort();
	yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(
	    &r.parser, (const unsigned char *)bytes, n);
	step = read_events(&r);
	yaml_parser_delete(&r.parser);
	free(r.key);
	if (step < 0) {
		tree_done(&r.tree);
		return -1;
	}
	*ret_tree = r.tree;
	return 0;
}

void
tree_done(struct tree *tree)
{
	struct node *node = tree->all;

	while (node != NULL) {
		struct node *before = node->made_before;

		free(node->key);
		free(node->text);
		free(node);
		node = before;
	}
	*tree = (struct tree){ NULL, NULL };
}

bool
node_is_empty(const struct node *node)
{
	return node->kind == NODE_TEXT && node->is_plain &&
	    node->text[0] == '\0';
}
