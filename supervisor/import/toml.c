/* SPDX-License-Identifier: Apache-2.0 */
/*
 * toml.c - TOML 1.0 (toml.io) as a tree.
 *
 * For settings that somebody else's parser has accepted: everything valid is read, and
 * of what is not, enough is refused to say where.  There is no C library for it in the
 * distributions that we build on.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/import/import.h"

enum { DEPTH_MAX = 32, TEXT_MAX = 64 * 1024 };

struct reader {
	const char *at, *end, *line_start;
	unsigned line, depth;
	unsigned node_line, node_column; /* where the next node stands */
	struct aw_tree *tree;
	struct aw_node *table; /* where the next keys belong */
	struct aw_tree_error *err;
	char text[TEXT_MAX]; /* of the string or key being read */
};

static int fail(struct reader *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static int fail(struct reader *r, const char *fmt, ...)
{
	va_list args;

	r->err->line = r->line;
	r->err->column = (unsigned)(r->at - r->line_start) + 1;
	va_start(args, fmt);
	vsnprintf(r->err->text, sizeof(r->err->text), fmt, args);
	va_end(args);
	return -1;
}

/* A key or a value begins here. */
static void mark(struct reader *r)
{
	r->node_line = r->line;
	r->node_column = (unsigned)(r->at - r->line_start) + 1;
}

static struct aw_node *new_node(struct reader *r, enum aw_node_kind kind)
{
	struct aw_node *node = calloc(1, sizeof(*node));

	if (!node)
		return NULL;
	node->kind = kind;
	node->line = r->node_line;
	node->column = r->node_column;
	node->next = r->tree->all;
	r->tree->all = node;
	return node;
}

static struct aw_node *new_text(struct reader *r, const char *text)
{
	struct aw_node *node = new_node(r, AW_NODE_TEXT);

	if (node && !(node->text = strdup(text)))
		return NULL;
	return node;
}

static int append(struct reader *r, struct aw_node *parent, struct aw_node *node)
{
	if (!node)
		return fail(r, "out of memory");
	if (parent->count == parent->size) {
		size_t size = parent->size ? 2 * parent->size : 8;
		struct aw_node **items = realloc(parent->items, size * sizeof(*items));

		if (!items)
			return fail(r, "out of memory");
		parent->items = items;
		parent->size = size;
	}
	parent->items[parent->count++] = node;
	return 0;
}

static bool ahead(const struct reader *r, const char *text)
{
	size_t len = strlen(text);

	return (size_t)(r->end - r->at) >= len && memcmp(r->at, text, len) == 0;
}

static void advance(struct reader *r)
{
	if (*r->at++ == '\n') {
		r->line++;
		r->line_start = r->at;
	}
}

static void skip_blanks(struct reader *r)
{
	while (r->at < r->end && (*r->at == ' ' || *r->at == '\t'))
		r->at++;
}

/* Blanks, comments and line ends. */
static void skip_lines(struct reader *r)
{
	while (r->at < r->end) {
		if (*r->at == '#')
			while (r->at < r->end && *r->at != '\n')
				r->at++;
		else if (strchr(" \t\r\n", *r->at))
			advance(r);
		else
			break;
	}
}

static int put_char(struct reader *r, size_t *len, unsigned code)
{
	static const struct {
		unsigned below, lead, bits;
	} forms[] = {{0x80, 0, 0}, {0x800, 0xc0, 6}, {0x10000, 0xe0, 12},
		{0x110000, 0xf0, 18}};
	size_t form = 0;

	while (form < 4 && code >= forms[form].below)
		form++;
	if (form == 4 || code == 0 || (code >= 0xd800 && code < 0xe000))
		return fail(r, "no such character");
	if (*len + 5 > sizeof(r->text))
		return fail(r, "a text of more than %d bytes", TEXT_MAX);
	r->text[(*len)++] = (char)(forms[form].lead | code >> forms[form].bits);
	for (int bits = (int)forms[form].bits - 6; bits >= 0; bits -= 6)
		r->text[(*len)++] = (char)(0x80 | (code >> bits & 0x3f));
	return 0;
}

static int put_byte(struct reader *r, size_t *len)
{
	if (*len + 2 > sizeof(r->text))
		return fail(r, "a text of more than %d bytes", TEXT_MAX);
	if (!*r->at)
		return fail(r, "a NUL byte in a text");
	r->text[(*len)++] = *r->at;
	advance(r);
	return 0;
}

/* Behind a backslash. */
static int read_escape(struct reader *r, size_t *len, bool lines)
{
	static const char from[] = "btnfre\"\\", to[] = "\b\t\n\f\r\033\"\\";
	const char *known = r->at < r->end && *r->at ? strchr(from, *r->at) : NULL;
	int digits = r->at < r->end && *r->at == 'u' ? 4 : 8;
	unsigned code = 0;

	if (known) {
		r->at++;
		return put_char(r, len, (unsigned char)to[known - from]);
	}
	if (lines && r->at < r->end && isspace((unsigned char)*r->at)) {
		while (r->at < r->end && isspace((unsigned char)*r->at))
			advance(r);
		return 0;
	}
	if (r->at == r->end || (*r->at != 'u' && *r->at != 'U'))
		return fail(r, "unknown escape in a text");
	for (r->at++; digits > 0; digits--, r->at++) {
		static const char hex[] = "0123456789abcdef";
		const char *digit =
			r->at < r->end && *r->at
				? strchr(hex, tolower((unsigned char)*r->at))
				: NULL;

		if (!digit)
			return fail(r, "a character's number has 4 or 8 digits");
		code = code * 16 + (unsigned)(digit - hex);
	}
	return put_char(r, len, code);
}

/* A string in one or three quotes of either kind, into r->text. */
static int read_string(struct reader *r)
{
	char quote = *r->at;
	const char close[4] = {quote, quote, quote, '\0'};
	bool lines = ahead(r, close);
	size_t len = 0;

	r->at += lines ? 3 : 1;
	if (lines && ahead(r, "\r\n"))
		r->at++;
	if (lines && ahead(r, "\n"))
		advance(r);
	while (!(lines ? ahead(r, close) : ahead(r, close + 2))) {
		if (r->at >= r->end || (!lines && *r->at == '\n'))
			return fail(r, "a text without its closing quotes");
		if (quote == '"' && *r->at == '\\') {
			r->at++;
			if (read_escape(r, &len, lines) < 0)
				return -1;
		} else if (put_byte(r, &len) < 0) {
			return -1;
		}
	}
	r->at += lines ? 3 : 1;
	while (lines && ahead(r, close + 2) && len + 2 < sizeof(r->text)) {
		r->text[len++] = quote; /* up to two quotes at the end are its own */
		r->at++;
	}
	r->text[len] = '\0';
	return 0;
}

static bool is_bare(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-';
}

static int read_simple_key(struct reader *r)
{
	size_t len = 0;

	skip_blanks(r);
	mark(r);
	if (ahead(r, "\"") || ahead(r, "'"))
		return read_string(r);
	while (r->at < r->end && is_bare(*r->at))
		if (put_byte(r, &len) < 0)
			return -1;
	r->text[len] = '\0';
	return len ? 0 : fail(r, "a key was expected");
}

/* The value of a key of a table; NULL when it has none yet. */
static struct aw_node *look_up(const struct aw_node *table, const char *key)
{
	for (size_t i = 0; i + 1 < table->count; i += 2)
		if (strcmp(table->items[i]->text, key) == 0)
			return table->items[i + 1];
	return NULL;
}

/* The table under the key that was just read, made when it is not there. */
static struct aw_node *descend(struct reader *r, struct aw_node *table)
{
	struct aw_node *found = look_up(table, r->text);

	if (found && found->kind == AW_NODE_LIST && found->count)
		found = found->items[found->count - 1]; /* the last one of [[...]] */
	if (found && found->kind != AW_NODE_MAP) {
		fail(r, "'%.60s' is no table", r->text);
		return NULL;
	}
	if (found)
		return found;
	if (append(r, table, new_text(r, r->text)) < 0)
		return NULL;
	found = new_node(r, AW_NODE_MAP);
	return append(r, table, found) < 0 ? NULL : found;
}

/* A key with dots: *ret_table has its last part, which is in r->text. */
static int read_key(struct reader *r, struct aw_node *table, struct aw_node **ret_table)
{
	for (unsigned depth = 0; depth < DEPTH_MAX; depth++) {
		if (read_simple_key(r) < 0)
			return -1;
		skip_blanks(r);
		*ret_table = table;
		if (!ahead(r, "."))
			return 0;
		r->at++;
		table = descend(r, table);
		if (!table)
			return -1;
	}
	return fail(r, "more than %d dots in a key", DEPTH_MAX);
}

static struct aw_node *read_value(struct reader *r);

static int read_pair(struct reader *r, struct aw_node *table)
{
	struct aw_node *name, *value;

	if (read_key(r, table, &table) < 0)
		return -1;
	if (look_up(table, r->text))
		return fail(r, "'%.60s' stands here a second time", r->text);
	name = new_text(r, r->text);
	if (append(r, table, name) < 0)
		return -1;
	if (!ahead(r, "=")) {
		table->count--;
		return fail(r, "'=' was expected behind '%.60s'", r->text);
	}
	r->at++;
	skip_blanks(r);
	value = read_value(r);
	if (!value || append(r, table, value) < 0) {
		table->count--;
		return -1;
	}
	return 0;
}

static int read_item(struct reader *r, struct aw_node *list)
{
	struct aw_node *value = read_value(r);

	return value ? append(r, list, value) : -1;
}

/* A list or an inline table, up to close. */
static struct aw_node *read_many(struct reader *r, char close)
{
	struct aw_node *node = new_node(r, close == ']' ? AW_NODE_LIST : AW_NODE_MAP);

	if (!node) {
		fail(r, "out of memory");
		return NULL;
	}
	for (r->at++;;) {
		skip_lines(r);
		if (r->at < r->end && *r->at == close) {
			r->at++;
			return node;
		}
		if ((close == ']' ? read_item(r, node) : read_pair(r, node)) < 0)
			return NULL;
		skip_lines(r);
		if (ahead(r, ","))
			r->at++;
		else if (r->at >= r->end || *r->at != close) {
			fail(r, "',' or '%c' was expected", close);
			return NULL;
		}
	}
}

/* Numbers, truth values and dates: as they stand. */
static struct aw_node *read_word(struct reader *r)
{
	size_t len = 0;

	while (r->at < r->end && (is_bare(*r->at) || strchr("+.:", *r->at)))
		if (put_byte(r, &len) < 0)
			return NULL;
	r->text[len] = '\0';
	if (!len) {
		fail(r, "a value was expected");
		return NULL;
	}
	return new_text(r, r->text);
}

static struct aw_node *read_value(struct reader *r)
{
	struct aw_node *node = NULL;

	mark(r);
	if (++r->depth > DEPTH_MAX)
		fail(r, "nested more than %d deep", DEPTH_MAX);
	else if (ahead(r, "\"") || ahead(r, "'"))
		node = read_string(r) < 0 ? NULL : new_text(r, r->text);
	else if (ahead(r, "[") || ahead(r, "{"))
		node = read_many(r, *r->at == '[' ? ']' : '}');
	else
		node = read_word(r);
	r->depth--;
	return node;
}

/* "[a.b]" or "[[a.b]]": the keys that follow belong there. */
static int read_header(struct reader *r)
{
	bool many = ahead(r, "[[");
	struct aw_node *table, *list;

	r->at += many ? 2 : 1;
	if (read_key(r, r->tree->root, &table) < 0)
		return -1;
	if (!ahead(r, many ? "]]" : "]"))
		return fail(r, "'%s' was expected", many ? "]]" : "]");
	r->at += many ? 2 : 1;
	if (!many)
		return (r->table = descend(r, table)) ? 0 : -1;
	list = look_up(table, r->text);
	if (list && list->kind != AW_NODE_LIST)
		return fail(r, "'%.60s' is no list of tables", r->text);
	if (!list) {
		list = new_node(r, AW_NODE_LIST);
		if (append(r, table, new_text(r, r->text)) < 0 ||
			append(r, table, list) < 0)
			return -1;
	}
	r->table = new_node(r, AW_NODE_MAP);
	return append(r, list, r->table);
}

static int read_document(struct reader *r)
{
	for (;;) {
		skip_lines(r);
		if (r->at >= r->end)
			return 0;
		if ((ahead(r, "[") ? read_header(r) : read_pair(r, r->table)) < 0)
			return -1;
		skip_blanks(r);
		if (r->at < r->end && !strchr("#\r\n", *r->at))
			return fail(r, "the end of the line was expected");
	}
}

int aw_toml_read(
	struct aw_tree *ret, const char *bytes, size_t len, struct aw_tree_error *err)
{
	struct reader *r = calloc(1, sizeof(*r));
	int result = -1;

	memset(ret, 0, sizeof(*ret));
	err->line = err->column = 1;
	snprintf(err->text, sizeof(err->text), "out of memory");
	if (!r)
		return -1;
	r->at = r->line_start = bytes;
	r->end = bytes + len;
	r->line = 1;
	r->tree = ret;
	r->err = err;
	ret->root = r->table = new_node(r, AW_NODE_MAP);
	if (r->table)
		result = read_document(r);
	if (result < 0)
		aw_tree_free(ret);
	free(r);
	return result;
}
