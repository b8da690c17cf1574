/* SPDX-License-Identifier: Apache-2.0 */
/* test_toml.c - TOML as a tree: what is valid, as text, and what is refused, and where. */
#include <stdio.h>
#include <string.h>

#include "supervisor/import/import.h"
#include "tests/unit/tap.h"

/* The tree in YAML's flow style, all texts in quotes. */
static size_t show(const struct aw_node *node, char *out, size_t size)
{
	bool map = node->kind == AW_NODE_MAP;
	size_t n = 0;

	if (node->kind == AW_NODE_TEXT)
		return (size_t)snprintf(out, size, "'%s'", node->text);
	n += (size_t)snprintf(out, size, "%c", map ? '{' : '[');
	for (size_t i = 0; i < node->count; i++) {
		n += show(node->items[i], out + n, size - n);
		if (i + 1 < node->count)
			n += (size_t)snprintf(
				out + n, size - n, map && i % 2 == 0 ? ":" : ",");
	}
	return n + (size_t)snprintf(out + n, size - n, "%c", map ? '}' : ']');
}

static const struct {
	const char *text, *want; /* a tree, or "LINE:COLUMN word of the reason" */
} cases[] = {
	{"", "{}"},
	{"# nothing\n\n", "{}"},
	{"a = 1", "{'a':'1'}"},
	{"a=true\nb = 1.5e3 # why\r\n", "{'a':'true','b':'1.5e3'}"},
	{"d = 2020-01-02T03:04:05Z", "{'d':'2020-01-02T03:04:05Z'}"},
	{"a.b.c = 1\na.d = 2", "{'a':{'b':{'c':'1'},'d':'2'}}"},
	{"\"a b\".'c.d' = 1", "{'a b':{'c.d':'1'}}"},
	{"a = \"x\\ty\\u00e9\\\"\"", "{'a':'x\ty\xc3\xa9\"'}"},
	{"a = 'C:\\x'", "{'a':'C:\\x'}"},
	{"a = \"\"\"\none\n two\"\"\"", "{'a':'one\n two'}"},
	{"a = \"\"\"one\\\n   two\"\"\"", "{'a':'onetwo'}"},
	{"a = '''it''s'''", "{'a':'it''s'}"},
	{"a = \"\"\"q\"\"\"\"", "{'a':'q\"'}"},
	{"a = [1, [2], # c\n 3,\n]", "{'a':['1',['2'],'3']}"},
	{"a = {b = 1, c.d = 'x'}", "{'a':{'b':'1','c':{'d':'x'}}}"},
	{"[a]\nb = 1\n[a.c]\nd = 2\n[e]", "{'a':{'b':'1','c':{'d':'2'}},'e':{}}"},
	{"[[a]]\nb = 1\n[[a]]\nb = 2\n[a.c]\nd = 3",
		"{'a':[{'b':'1'},{'b':'2','c':{'d':'3'}}]}"},
	{"a = ", "1:5 a value was expected"},
	{"a 1", "1:3 '=' was expected"},
	{"a = 1 b = 2", "1:7 the end of the line"},
	{"a = 1\na = 2", "2:3 a second time"},
	{"a = \"x", "1:7 closing quotes"},
	{"a = 'x\ny'", "1:7 closing quotes"},
	{"a = \"\\q\"", "1:7 unknown escape"},
	{"a = \"\\u12\"", "1:10 4 or 8 digits"},
	{"a = \"\\ud800\"", "1:12 no such character"},
	{"a = [1 2]", "1:8 ',' or ']' was expected"},
	{"a = {b = 1", "1:11 ',' or '}' was expected"},
	{"[a\nb = 1", "1:3 ']' was expected"},
	{"a = 1\n[a.b]\n", "2:4 is no table"},
	{"a = 1\n[[a]]\n", "2:6 is no list of tables"},
	{"= 1", "1:1 a key was expected"},
};

static void check(const char *text, const char *want)
{
	char got[512];
	struct aw_tree tree;
	struct aw_tree_error err;

	if (aw_toml_read(&tree, text, strlen(text), &err) < 0) {
		snprintf(got, sizeof(got), "%u:%u %s", err.line, err.column, err.text);
		ok(strncmp(got, want, strcspn(want, " ")) == 0 &&
				strstr(got, want + strcspn(want, " ") + 1),
			"%.40s: %s, got %s", text, want, got);
		return;
	}
	show(tree.root, got, sizeof(got));
	ok(strcmp(got, want) == 0, "%.40s: %s, got %s", text, want, got);
	aw_tree_free(&tree);
}

/* Every beginning of a text is read or refused, and nothing is lost or overrun. */
static void cut_short(const char *text)
{
	struct aw_tree_error err;
	struct aw_tree tree;
	size_t len = strlen(text);

	for (size_t i = 0; i < len; i++)
		if (aw_toml_read(&tree, text, i, &err) == 0)
			aw_tree_free(&tree);
}

int main(void)
{
	static char deep[200];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		check(cases[i].text, cases[i].want);
		cut_short(cases[i].text);
	}
	memset(deep, '[', sizeof(deep) - 1);
	memcpy(deep, "a=", 2);
	check(deep, "1:35 nested more than");
	return done();
}
