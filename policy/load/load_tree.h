/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_tree.h - a YAML document as a tree that remembers where everything stood.
 *
 * An alias is the node it names, at the place where the alias stands.  Depth, size and
 * the number of aliases are bounded.
 */
#ifndef AW_POLICY_LOAD_LOAD_TREE_H
#define AW_POLICY_LOAD_LOAD_TREE_H

#include <stdbool.h>
#include <stddef.h>

enum aw_node_kind { AW_NODE_TEXT, AW_NODE_LIST, AW_NODE_MAP };

struct aw_node {
	enum aw_node_kind kind;
	unsigned line, column;	/* from 1 */
	char *text;		/* terminated; without a NUL inside */
	struct aw_node **items; /* a map's keys and values take turns */
	size_t count, size;
	char *anchor;  /* or NULL */
	bool open;     /* still being read */
	bool borrowed; /* an alias: text and items are another node's */
	struct aw_node *next;
};

struct aw_tree {
	struct aw_node *root; /* NULL for an empty document */
	struct aw_node *all;  /* newest first */
};

/* Where the text cannot be read, and why. */
struct aw_tree_error {
	unsigned line, column;
	char text[256];
};

/* 0, or -1 with the reason.  The tree does not refer to bytes. */
int aw_tree_read(
	struct aw_tree *ret, const char *bytes, size_t len, struct aw_tree_error *err);
void aw_tree_free(struct aw_tree *tree);

#endif
