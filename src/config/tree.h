/* SPDX-License-Identifier: ISC
 *
 * A YAML file as a small tree. Every scalar stays the text it was written as;
 * what it means is decided by the table of keys.
 */
#ifndef CONFIG_TREE_H
#define CONFIG_TREE_H

#include <stdbool.h>
#include <stddef.h>

struct report;

enum node_kind {
	NODE_TEXT = 1,
	NODE_LIST,
	NODE_MAP,
};

struct node {
	enum node_kind kind;
	bool is_plain;	 /* NODE_TEXT: written without quotes */
	bool is_refused;     /* an error about the value was reported */
	bool key_is_refused; /* one about its key: not to be read at all */
	unsigned int line, column;	   /* of the value, from 1 */
	unsigned int key_line, key_column; /* of its key */
	char *key;	    /* in a map; else NULL */
	size_t index;	    /* in its list or map, from 0 */
	size_t n;	    /* of children */
	char *text;	    /* NODE_TEXT; else NULL */
	struct node *parent; /* NULL: the root */
	struct node *first;
	struct node *last;
	struct node *next;
	struct node *made_before; /* chain of all nodes */
};

struct tree {
	struct node *root; /* NULL: the file holds no value */
	struct node *all;
};

/*
 * Reads one document. 0: *ret_tree is complete and owned by the caller
 * (tree_done), though errors may have been reported (its nodes are marked).
 * -1: an error after which reading on makes no sense was reported.
 */
int tree_parse(const char *bytes, size_t n, struct report *report,
    struct tree *ret_tree);

void tree_done(struct tree *tree);

/* Whether nothing was written for the value ("key:" and no more). */
bool node_is_empty(const struct node *node);

#endif
