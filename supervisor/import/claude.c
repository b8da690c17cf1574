/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claude.c - Claude Code's settings.json: permission rules, env, sandbox.
 *
 * A rule is "Tool" or "Tool(what)".  Read and Edit take patterns of gitignore's kind:
 * "//x" starts at the root, "~/x" at the home, "/x" beside the settings (which is taken
 * for the workspace), "x" and "./x" in the workspace at any depth.
 */
#include <stdio.h>
#include <string.h>

#include "policy/array.h"
#include "supervisor/import/import.h"

enum decision { ALLOW, DENY, ASK };

struct rule {
	const struct aw_node *at;
	char tool[64], what[2048];
	bool has_what;
};

static bool take_apart(
	struct aw_import *import, const struct aw_node *at, struct rule *ret)
{
	const char *text = at->kind == AW_NODE_TEXT ? at->text : "";
	const char *open = strchr(text, '(');
	size_t tool = open ? (size_t)(open - text) : strlen(text);
	size_t rest = open ? strlen(open + 1) : 0;

	if (!tool || tool >= sizeof(ret->tool) || rest >= sizeof(ret->what) ||
		(open && (!rest || open[rest] != ')'))) {
		aw_import_note(
			import, at, "'%.80s' is no rule of the form Tool(what)", text);
		return false;
	}
	ret->at = at;
	ret->has_what = open != NULL;
	snprintf(ret->tool, sizeof(ret->tool), "%.*s", (int)tool, text);
	snprintf(ret->what, sizeof(ret->what), "%.*s", open ? (int)rest - 1 : 0,
		open ? open + 1 : "");
	return true;
}

static void put_pattern(
	struct aw_import *import, enum aw_import_key key, const struct rule *rule)
{
	const char *what = rule->what;
	char text[2100];

	if (!rule->has_what)
		snprintf(text, sizeof(text), "/");
	else if (strncmp(what, "//", 2) == 0)
		snprintf(text, sizeof(text), "%s", what + 1);
	else if (what[0] == '/')
		snprintf(text, sizeof(text), "$WORKSPACE%s", what);
	else if (what[0] == '~' || strncmp(what, "./", 2) == 0 ||
		 strncmp(what, "**", 2) == 0 || strchr(what, '/'))
		snprintf(text, sizeof(text), "%s", what);
	else /* a bare name is meant at any depth */
		snprintf(text, sizeof(text), "$WORKSPACE/**/%s", what);
	aw_import_path(import, key, rule->at, text);
}

static void on_read(
	struct aw_import *import, const struct rule *rule, enum decision how)
{
	static const enum aw_import_key keys[] = {
		AW_IMPORT_READ, AW_IMPORT_DENY, AW_IMPORT_ASK};

	put_pattern(import, keys[how], rule);
}

static void on_edit(
	struct aw_import *import, const struct rule *rule, enum decision how)
{
	static const enum aw_import_key keys[] = {
		AW_IMPORT_WRITE, AW_IMPORT_DENY_WRITE, AW_IMPORT_ASK};

	put_pattern(import, keys[how], rule);
	if (how == ASK)
		aw_import_note(import, rule->at, "'%s': reading is asked for as well",
			rule->at->text);
}

/* "npm run test:*" is "npm run test", alone or with more behind it. */
static void on_bash(
	struct aw_import *import, const struct rule *rule, enum decision how)
{
	enum aw_import_key key = how == DENY ? AW_IMPORT_EXEC_DENY : AW_IMPORT_EXEC_ASK;
	size_t len = strlen(rule->what);

	if (how == ALLOW) {
		import->others++; /* spares a question; nothing is asked here */
	} else if (!rule->has_what || strcmp(rule->what, "*") == 0) {
		if (how == DENY)
			aw_import_note(import, rule->at,
				"'%s': the agent itself is a program; it was not taken over",
				rule->at->text);
		else
			aw_import_put(import, key, rule->at, "/**");
	} else if (len > 2 && strcmp(rule->what + len - 2, ":*") == 0) {
		aw_import_putf(
			import, key, rule->at, "%.*s *", (int)len - 2, rule->what);
	} else {
		aw_import_put(import, key, rule->at, rule->what);
	}
}

static void on_fetch(
	struct aw_import *import, const struct rule *rule, enum decision how)
{
	static const char prefix[] = "domain:";
	const char *domain = rule->what + sizeof(prefix) - 1;

	if (strncmp(rule->what, prefix, sizeof(prefix) - 1) != 0 || !*domain)
		aw_import_note(
			import, rule->at, "'%s' names no domain", rule->at->text);
	else if (how == ASK)
		aw_import_note(import, rule->at, "'%s': connections are not asked for",
			rule->at->text);
	else
		aw_import_put(import,
			how == DENY ? AW_IMPORT_NET_DENY : AW_IMPORT_NET_ALLOW,
			rule->at, domain);
}

static const struct {
	const char *tool;
	void (*put)(struct aw_import *, const struct rule *, enum decision);
} tools[] = {
	{"Read", on_read},
	{"Glob", on_read},
	{"Grep", on_read},
	{"LS", on_read},
	{"Edit", on_edit},
	{"MultiEdit", on_edit},
	{"Write", on_edit},
	{"NotebookEdit", on_edit},
	{"Bash", on_bash},
	{"WebFetch", on_fetch},
};

static void put_rule(
	struct aw_import *import, const struct rule *rule, enum decision how)
{
	for (size_t i = 0; i < ARRAY_SIZE(tools); i++)
		if (strcmp(tools[i].tool, rule->tool) == 0) {
			tools[i].put(import, rule, how);
			return;
		}
	aw_import_note(import, rule->at,
		"'%.80s' is about a tool of the agent, not about what its processes do",
		rule->at->text);
}

static void read_rules(struct aw_import *import, const struct aw_node *value, int how)
{
	struct rule rule;

	for (size_t i = 0; value->kind == AW_NODE_LIST && i < value->count; i++)
		if (take_apart(import, value->items[i], &rule))
			put_rule(import, &rule, (enum decision)how);
}

static void read_permissions(
	struct aw_import *import, const struct aw_node *value, int argument)
{
	static const struct aw_foreign keys[] = {
		{"allow", read_rules, ALLOW, NULL},
		{"deny", read_rules, DENY, NULL},
		{"ask", read_rules, ASK, NULL},
		{"additionalDirectories", aw_foreign_paths, AW_IMPORT_WRITE, NULL},
		{"defaultMode", NULL, 0,
			"when the agent itself asks is its own affair"},
		{"disableBypassPermissionsMode", NULL, 0, ""},
		{NULL, NULL, 0, NULL},
	};

	(void)argument;
	aw_foreign_read(import, value, "permissions", true, keys);
}

static void read_enabled(
	struct aw_import *import, const struct aw_node *value, int argument)
{
	(void)argument;
	if (aw_foreign_true(import, value))
		aw_import_put(import, AW_IMPORT_NET_DEFAULT, value, "deny");
}

static void read_sandbox(
	struct aw_import *import, const struct aw_node *value, int argument)
{
	static const struct aw_foreign keys[] = {
		{"enabled", read_enabled, 0, NULL},
		{"network", aw_srt_network, 0, NULL},
		{"filesystem", aw_srt_files, 0, NULL},
		{"excludedCommands", NULL, 0,
			"no program of the agent is left outside the sandbox"},
		{"ignoreViolations", NULL, 0, "every denial is logged"},
		{"enableWeakerNestedSandbox", NULL, 0,
			"a sandbox is never weakened without being told; --runner chooses"},
		{"autoAllowBashIfSandboxed", NULL, 0, ""},
		{"allowUnsandboxedCommands", NULL, 0, ""},
		{NULL, NULL, 0, NULL},
	};

	(void)argument;
	aw_foreign_read(import, value, "sandbox", true, keys);
}

int aw_import_claude(struct aw_import *import,
	const struct aw_import_document *documents, size_t count, struct aw_error *err)
{
	static const struct aw_foreign keys[] = {
		{"permissions", read_permissions, 0, NULL},
		{"env", aw_foreign_settings, 0, NULL},
		{"sandbox", read_sandbox, 0, NULL},
		{"hooks", NULL, 0,
			"programs that the agent runs are watched like all others"},
		{NULL, NULL, 0, NULL},
	};

	(void)count;
	(void)err;
	aw_import_put(import, AW_IMPORT_MODE, NULL, "enforce");
	aw_import_put(import, AW_IMPORT_PRESET, NULL, "claude-code");
	aw_import_put(import, AW_IMPORT_FILES_DEFAULT, NULL, "read-only");
	aw_import_put(import, AW_IMPORT_WRITE, NULL, "$WORKSPACE");
	aw_import_put(import, AW_IMPORT_WRITE, NULL, "$TMPDIR");
	aw_foreign_read(import, documents[0].tree.root, "", false, keys);
	if (aw_import_has(import, AW_IMPORT_NET_ALLOW))
		aw_import_put(import, AW_IMPORT_NET_DEFAULT, NULL, "deny");
	return 0;
}
