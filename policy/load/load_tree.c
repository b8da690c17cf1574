/* SPDX-License-Identifier: Apache-2.0 */
/* load_tree.c - the one user of libyaml. */
#include "policy/load/load_tree.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "policy/array.h"

#define DEPTH_MAX 32
#define ALIASES_MAX 1000

struct reader {
	struct aw_tree tree;
	struct aw_node *stack[DEPTH_MAX];
	size_t depth, aliases, documents;
	struct aw_tree_error *err;
};

static int fail(struct aw_tree_error *err, yaml_mark_t at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int fail(struct aw_tree_error *err, yaml_mark_t at, const char *fmt, ...)
{
	va_list args;

	err->line = (unsigned)at.line + 1;
	err->column = (unsigned)at.column + 1;
	va_start(args, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, args);
	va_end(args);
	return -1;
}

static int out_of_memory(struct reader *r, yaml_mark_t at)
{
	return fail(r->err, at, "out of memory");
}

static struct aw_node *new_node(
	struct reader *r, enum aw_node_kind kind, yaml_mark_t at)
{
	struct aw_node *node = calloc(1, sizeof(*node));

	if (!node)
		return NULL;
	node->kind = kind;
	node->line = (unsigned)at.line + 1;
	node->column = (unsigned)at.column + 1;
	node->next = r->tree.all;
	r->tree.all = node;
	return node;
}

static char *copy(const void *from, size_t len)
{
	char *to = malloc(len + 1);

	if (to) {
		memcpy(to, from, len);
		to[len] = '\0';
	}
	return to;
}

/* Put a node where the document has got to. */
static int attach(struct reader *r, struct aw_node *node, yaml_mark_t at)
{
	struct aw_node *parent;

	if (r->depth == 0) {
		r->tree.root = node;
		return 0;
	}
	parent = r->stack[r->depth - 1];
	/* NOLINTNEXTLINE(clang-analyzer-core.*): depth counts parents */
	if (parent->count == parent->size) {
		size_t size = parent->size ? 2 * parent->size : 8;
		struct aw_node **items = realloc(parent->items, size * sizeof(*items));

		if (!items)
			return out_of_memory(r, at);
		parent->items = items;
		parent->size = size;
	}
	parent->items[parent->count++] = node;
	return 0;
}

static int set_anchor(struct reader *r, struct aw_node *node, const yaml_char_t *anchor,
	yaml_mark_t at)
{
	if (!anchor)
		return 0;
	node->anchor = copy(anchor, strlen((const char *)anchor));
	return node->anchor ? 0 : out_of_memory(r, at);
}

/* A "!" in front of a word is a tag in YAML, where people mean "not". */
static int check_tag(struct reader *r, const yaml_event_t *e, const yaml_char_t *tag)
{
	if (!tag || strncmp((const char *)tag, "tag:yaml.org,2002:", 18) == 0)
		return 0;
	return fail(r->err, e->start_mark,
		"unexpected tag; put quotes around an entry that begins with '!'");
}

static int add_text(struct reader *r, const yaml_event_t *e)
{
	size_t len = e->data.scalar.length;
	struct aw_node *node;

	if (check_tag(r, e, e->data.scalar.tag) < 0)
		return -1;
	if (memchr(e->data.scalar.value, '\0', len))
		return fail(r->err, e->start_mark, "a NUL byte in a text");
	node = new_node(r, AW_NODE_TEXT, e->start_mark);
	if (!node)
		return out_of_memory(r, e->start_mark);
	node->text = copy(e->data.scalar.value, len);
	if (!node->text)
		return out_of_memory(r, e->start_mark);
	if (set_anchor(r, node, e->data.scalar.anchor, e->start_mark) < 0)
		return -1;
	return attach(r, node, e->start_mark);
}

static int add_alias(struct reader *r, const yaml_event_t *e)
{
	const char *name = (const char *)e->data.alias.anchor;
	struct aw_node *from, *node;

	for (from = r->tree.all; from; from = from->next)
		if (from->anchor && strcmp(from->anchor, name) == 0)
			break;
	if (!from)
		return fail(r->err, e->start_mark,
			"'*%.60s' names no anchor; put quotes around an entry that "
			"begins with '*'",
			name);
	if (from->open)
		return fail(r->err, e->start_mark, "'*%.60s' contains itself", name);
	if (++r->aliases > ALIASES_MAX)
		return fail(r->err, e->start_mark, "more than %d aliases", ALIASES_MAX);
	node = new_node(r, from->kind, e->start_mark);
	if (!node)
		return out_of_memory(r, e->start_mark);
	node->borrowed = true;
	node->text = from->text;
	node->items = from->items;
	node->count = from->count;
	return attach(r, node, e->start_mark);
}

static int push(struct reader *r, const yaml_event_t *e, enum aw_node_kind kind,
	const yaml_char_t *anchor, const yaml_char_t *tag)
{
	struct aw_node *node;

	if (check_tag(r, e, tag) < 0)
		return -1;
	if (r->depth == DEPTH_MAX)
		return fail(
			r->err, e->start_mark, "nested more than %d deep", DEPTH_MAX);
	node = new_node(r, kind, e->start_mark);
	if (!node)
		return out_of_memory(r, e->start_mark);
	node->open = true;
	if (set_anchor(r, node, anchor, e->start_mark) < 0 ||
		attach(r, node, e->start_mark) < 0)
		return -1;
	r->stack[r->depth++] = node;
	return 0;
}

/* One that began before, as libyaml says. */
static void pop(struct reader *r)
{
	if (r->depth > 0)
		r->stack[--r->depth]->open = false;
}

static int take_event(struct reader *r, const yaml_event_t *e)
{
	switch (e->type) {
	case YAML_DOCUMENT_START_EVENT:
		if (++r->documents > 1)
			return fail(r->err, e->start_mark,
				"a second document; a policy is one document");
		return 0;
	case YAML_SCALAR_EVENT:
		return add_text(r, e);
	case YAML_ALIAS_EVENT:
		return add_alias(r, e);
	case YAML_SEQUENCE_START_EVENT:
		return push(r, e, AW_NODE_LIST, e->data.sequence_start.anchor,
			e->data.sequence_start.tag);
	case YAML_MAPPING_START_EVENT:
		return push(r, e, AW_NODE_MAP, e->data.mapping_start.anchor,
			e->data.mapping_start.tag);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		pop(r);
		return 0;
	default:
		return 0;
	}
}

/* For bytes that are not text libyaml knows the offset only. */
static yaml_mark_t mark_of_offset(const char *bytes, size_t len, size_t offset)
{
	yaml_mark_t at = {0, 0, 0};
	size_t i;

	for (i = 0; i < len && i < offset; i++) {
		if (bytes[i] == '\n') {
			at.line++;
			at.column = 0;
		} else if (((unsigned char)bytes[i] & 0xc0) != 0x80) {
			at.column++;
		}
	}
	return at;
}

/* What libyaml means, in words for people; the first row that fits counts. */
static const struct {
	const char *context, *problem; /* parts of libyaml's own words */
	bool at_context;	       /* the mistake is where the context began */
	const char *text;
} mistakes[] = {
	{"simple key", "expected ':'", true,
		"expected a key with ':' and a blank behind it"},
	{"quoted scalar", "end of stream", true, "a quote that is never closed"},
	{"quoted scalar", "", false,
		"an escape that YAML does not have; put a text with backslashes in single quotes"},
	{"flow sequence", "expected ','", false,
		"expected ',' or ']' before this; is a quote or a '[' still open?"},
	{"flow mapping", "expected ','", false,
		"expected ',' or '}' before this; is a quote or a '{' still open?"},
	{"block mapping", "expected key", false,
		"expected a key; keys that belong together begin in the same column"},
	{"block collection", "expected '-'", false,
		"expected '- ' or a key further to the left; entries of a list begin "
		"in the same column"},
	{"", "mapping values are not allowed", false,
		"unexpected ': '; keys that belong together begin in the same column, "
		"and a text with ': ' in it needs quotes"},
	{"scanning an alias", "", false,
		"unexpected '*'; put quotes around an entry that begins with '*'"},
	{"scanning a tag", "", false,
		"unexpected tag; put quotes around an entry that begins with '!'"},
	{"parsing a tag", "", false,
		"unexpected tag; put quotes around an entry that begins with '!'"},
	{"", "cannot start any token", false,
		"unexpected sign; indent with spaces, and put quotes around a text "
		"that begins with a special sign"},
	{"", "incompatible YAML", false,
		"a '%YAML' line for a version that is not known; leave it out"},
};

static int syntax_error(const yaml_parser_t *p, const char *bytes, size_t len,
	struct aw_tree_error *err)
{
	const char *problem = p->problem ? p->problem : "not YAML";
	const char *context = p->context ? p->context : "";
	size_t i;

	if (p->error == YAML_READER_ERROR)
		return fail(err, mark_of_offset(bytes, len, p->problem_offset),
			"%s: is this a text file, in UTF-8?", problem);
	for (i = 0; i < ARRAY_SIZE(mistakes); i++)
		if (strstr(context, mistakes[i].context) &&
			strstr(problem, mistakes[i].problem))
			return fail(err,
				mistakes[i].at_context ? p->context_mark
						       : p->problem_mark,
				"%s", mistakes[i].text);
	return fail(
		err, p->problem_mark, "%s%s%s", context, *context ? ": " : "", problem);
}

int aw_tree_read(
	struct aw_tree *ret, const char *bytes, size_t len, struct aw_tree_error *err)
{
	struct reader r = {.err = err};
	yaml_mark_t start = {0, 0, 0};
	yaml_parser_t parser;
	yaml_event_t event;
	int result = 0;
	bool done = false;

	memset(ret, 0, sizeof(*ret));
	if (!yaml_parser_initialize(&parser))
		return fail(err, start, "out of memory");
	yaml_parser_set_input_string(&parser, (const unsigned char *)bytes, len);
	while (!done && result == 0) {
		if (!yaml_parser_parse(&parser, &event)) {
			result = syntax_error(&parser, bytes, len, err);
			break;
		}
		done = event.type == YAML_STREAM_END_EVENT;
		result = take_event(&r, &event);
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
	if (result < 0)
		aw_tree_free(&r.tree);
	else
		*ret = r.tree;
	return result;
}

void aw_tree_free(struct aw_tree *tree)
{
	struct aw_node *node = tree->all, *next;

	for (; node; node = next) {
		next = node->next;
		if (!node->borrowed) {
			free(node->items);
			free(node->text);
		}
		free(node->anchor);
		free(node);
	}
	memset(tree, 0, sizeof(*tree));
}
