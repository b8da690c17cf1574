/* SPDX-License-Identifier: Apache-2.0 */
/* test_edit.c - an entry is added to a policy's text, and nothing else changes. */
#include <stdlib.h>
#include <string.h>

#include "policy/load/text/load_edit.h"
#include "tests/unit/policy_text.h"

static const struct aw_edit edit = {"filesystem", "ask", "!/new \"x\"", "why"};

#define LINE "- \"!/new \\\"x\\\"\"  # why\n"
#define ITEM "\"!/new \\\"x\\\"\""

/* The text that comes out, or the refusal, "" for one that cannot be read again. */
static void gives(const char *what, const char *before, const char *after)
{
	char *made = NULL;
	struct aw_error err = {.text = ""};
	int r = aw_edit_add(before, strlen(before), &edit, &made, &err);

	if (!ok(r == 0 && strcmp(made, after) == 0, "%s", what))
		note("got: %s", r ? err.text : made);
	free(made);
}

static void refused(const char *what, const char *before)
{
	char *made = NULL;
	struct aw_error err = {.text = ""};
	int r = aw_edit_add(before, strlen(before), &edit, &made, &err);

	ok(r < 0 && err.text[0], "%s: %s", what, err.text);
	free(made);
}

static void texts(void)
{
	gives("behind the last line of a list",
		"version: 1\nfilesystem:\n  ask:\n    - /a # first\n    # end\n  deny: [/b]\n",
		"version: 1\nfilesystem:\n  ask:\n    - /a # first\n    " LINE
		"    # end\n  deny: [/b]\n");
	gives("as far to the left as the others, without an end of line",
		"version: 1\nfilesystem:\n  ask:\n  - /a",
		"version: 1\nfilesystem:\n  ask:\n  - /a\n  " LINE);
	gives("inside brackets",
		"version: 1\nfilesystem: {default: allow, ask: [/a, '/b']}\nexec: {}\n",
		"version: 1\nfilesystem: {default: allow, ask: [/a, '/b', " ITEM
		"]}  # why\nexec: {}\n");
	gives("behind a comma that is there, in front of a comment",
		"version: 1\nfilesystem: {ask: [/a,]} # c\n",
		"version: 1\nfilesystem: {ask: [/a, " ITEM "]} # c\n");
	gives("in an empty list", "version: 1\nfilesystem: {ask: []}\n",
		"version: 1\nfilesystem: {ask: [" ITEM "]}  # why\n");
	gives("over several lines, with letters of several bytes",
		"version: 1 # \xc3\xa9\nfilesystem:\n  ask: [\n    /a, # \xc3\xbc\n    "
		"/b # two, too\n  ]\n",
		"version: 1 # \xc3\xa9\nfilesystem:\n  ask: [\n    /a, # \xc3\xbc\n    "
		"/b # two, too\n  , " ITEM "]  # why\n");
	gives("a new list in a section",
		"version: 1\nfilesystem:\n  # about\n  default: allow\n",
		"version: 1\nfilesystem:\n  # about\n  ask:\n    " LINE
		"  default: allow\n");
	gives("a new list in braces", "version: 1\nfilesystem: {}\n",
		"version: 1\nfilesystem: {\"ask\": [" ITEM "]}  # why\n");
	gives("a new section", "version: 1\nexec:\n  deny:\n    - x\n",
		"version: 1\nexec:\n  deny:\n    - x\nfilesystem:\n  ask:\n    " LINE);
	gives("a new section in front of the document's end", "---\nversion: 1\n...\n",
		"---\nversion: 1\nfilesystem:\n  ask:\n    " LINE "...\n");
	gives("JSON stays JSON",
		"{\"version\": 1, \"filesystem\": {\"ask\": [\"/a\"]}}\n",
		"{\"version\": 1, \"filesystem\": {\"ask\": [\"/a\", " ITEM "]}}\n");
	gives("the list of this section, not of another",
		"version: 1\nexec:\n  ask:\n    - x\nfilesystem:\n  ask:\n    - /a\n",
		"version: 1\nexec:\n  ask:\n    - x\nfilesystem:\n  ask:\n    - /a\n    " LINE);
	refused("a section with nothing in it", "version: 1\nfilesystem:\nexec: {}\n");
	refused("a list that is an alias",
		"version: 1\nexec: {ask: &l [x]}\nfilesystem: {ask: *l}\n");
	refused("a map where the list should be",
		"version: 1\nfilesystem: {ask: {}}\n");
	refused("a text that is no YAML", "version: [1\n");
	refused("an empty text", "");
}

/* What is added is read back as it was meant. */
static void is_read_back(void)
{
	static const char *const layouts[] = {"filesystem: {ask: [/docs]}",
		"filesystem:\n  ask:\n    - /docs",
		"filesystem:\n  ask:\n  - /docs # x"};
	struct aw_edit entry = {"filesystem", "ask", "!/docs/a \\[1\\] \"q\"", "c"};

	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		struct aw_decision decision;
		struct aw_image *image;
		struct aw_error err;
		char *made = NULL;

		if (aw_edit_add(layouts[i], strlen(layouts[i]), &entry, &made, &err) <
			0)
			abort();
		image = image_of(made);
		aw_image_decide_path(
			image, AW_READ, "/docs/a [1] \"q\"", 15, &decision);
		ok(decision.verdict == AW_ALLOW, "the new entry holds, layout %zu", i);
		aw_image_decide_path(image, AW_READ, "/docs/b", 7, &decision);
		ok(decision.verdict == AW_ASK, "the old one, too");
		free(image);
		free(made);
	}
}

int main(void)
{
	texts();
	is_read_back();
	return done();
}
