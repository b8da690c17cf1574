/* SPDX-License-Identifier: Apache-2.0 */
/* codex.c - Codex's config.toml: sandbox and the environment of its commands. */
#include <string.h>

#include "policy/array.h"
#include "supervisor/import/import.h"

struct codex {
	const struct aw_node *root, *write;
};

static bool is_true(const struct aw_node *map, const char *key)
{
	const char *text = aw_foreign_text(map, key);

	return text && strcmp(text, "true") == 0;
}

static void put_workspace(struct aw_import *import, const struct aw_node *write,
	const struct aw_node *mode)
{
	const struct aw_node *roots = aw_foreign_get(write, "writable_roots");
	const struct aw_node *network = aw_foreign_get(write, "network_access");

	aw_import_put(import, AW_IMPORT_WRITE, mode, "$WORKSPACE");
	if (!is_true(write, "exclude_tmpdir_env_var"))
		aw_import_put(import, AW_IMPORT_WRITE, mode, "$TMPDIR");
	if (!is_true(write, "exclude_slash_tmp"))
		aw_import_put(import, AW_IMPORT_WRITE, mode, "/tmp");
	if (roots)
		aw_foreign_paths(import, roots, AW_IMPORT_WRITE);
	aw_import_put(import, AW_IMPORT_NET_DEFAULT, network ? network : mode,
		is_true(write, "network_access") ? "allow" : "deny");
}

/* Codex holds its commands; here the agent itself is held, and needs its own hosts. */
static void put_sandbox(struct aw_import *import, const struct codex *codex)
{
	const struct aw_node *at = aw_foreign_get(codex->root, "sandbox_mode");
	const char *mode = aw_foreign_text(codex->root, "sandbox_mode");

	if (!mode)
		mode = "read-only";
	aw_import_put(import, AW_IMPORT_PRESET, NULL, "codex");
	if (strcmp(mode, "danger-full-access") == 0) {
		aw_import_put(import, AW_IMPORT_MODE, at, "audit");
		return;
	}
	aw_import_put(import, AW_IMPORT_MODE, at, "enforce");
	aw_import_put(import, AW_IMPORT_FILES_DEFAULT, at, "read-only");
	aw_import_put(import, AW_IMPORT_NET_DEFAULT, at, "deny");
	if (strcmp(mode, "workspace-write") == 0)
		put_workspace(import, codex->write, at);
	else if (strcmp(mode, "read-only") != 0)
		aw_import_note(
			import, at, "'%.60s' is no mode that is known here", mode);
}

static void read_inherit(
	struct aw_import *import, const struct aw_node *value, int argument)
{
	static const char *const core[] = {"HOME", "LOGNAME", "PATH", "SHELL", "USER",
		"USERNAME", "TMPDIR", "TEMP", "TMP"};
	const char *text = value->kind == AW_NODE_TEXT ? value->text : "";

	(void)argument;
	if (strcmp(text, "core") == 0)
		for (size_t i = 0; i < ARRAY_SIZE(core); i++)
			aw_import_put(import, AW_IMPORT_INHERIT_ONLY, value, core[i]);
	else if (strcmp(text, "all") == 0 || strcmp(text, "none") == 0)
		aw_import_put(import, AW_IMPORT_INHERIT, value, text);
	else
		aw_import_note(import, value, "'%.60s' is not all, core or none", text);
}

/* Codex leaves these away unless it is told not to. */
static void read_default_excludes(
	struct aw_import *import, const struct aw_node *value, int argument)
{
	static const char *const globs[] = {"*KEY*", "*SECRET*", "*TOKEN*"};

	(void)argument;
	if (!aw_foreign_true(import, value))
		for (size_t i = 0; i < ARRAY_SIZE(globs); i++)
			aw_import_put(import, AW_IMPORT_UNSET, value, globs[i]);
}

static void read_environment(
	struct aw_import *import, const struct aw_node *value, int argument)
{
	static const struct aw_foreign keys[] = {
		{"inherit", read_inherit, 0, NULL},
		{"ignore_default_excludes", read_default_excludes, 0, NULL},
		{"exclude", aw_foreign_texts, AW_IMPORT_UNSET, NULL},
		{"include_only", aw_foreign_texts, AW_IMPORT_INHERIT_ONLY, NULL},
		{"set", aw_foreign_settings, 0, NULL},
		{"experimental_use_profile", NULL, 0, ""},
		{NULL, NULL, 0, NULL},
	};

	(void)argument;
	aw_import_note(import, value,
		"'shell_environment_policy' is about Codex's commands alone; here it "
		"applies to Codex too, whose own keys are let through");
	aw_foreign_read(import, value, "shell_environment_policy", true, keys);
}

/*
 * Codex takes these from its own environment and leaves them away for its commands;
 * here both have the same one.
 */
static void keep_own_variables(struct aw_import *import)
{
	static const char *const own[] = {"OPENAI_API_KEY", "CODEX_API_KEY",
		"OPENAI_BASE_URL", "CODEX_HOME", "TERM"};

	for (size_t i = 0; i < ARRAY_SIZE(own); i++) {
		if (aw_import_has(import, AW_IMPORT_INHERIT_ONLY))
			aw_import_put(import, AW_IMPORT_INHERIT_ONLY, NULL, own[i]);
		if (strstr(own[i], "_KEY") && aw_import_has(import, AW_IMPORT_UNSET))
			aw_import_putf(import, AW_IMPORT_UNSET, NULL, "!%s", own[i]);
	}
}

int aw_import_codex(struct aw_import *import,
	const struct aw_import_document *documents, size_t count, struct aw_error *err)
{
	static const struct aw_foreign keys[] = {
		{"sandbox_mode", NULL, 0, ""},
		{"sandbox_workspace_write", NULL, 0, ""},
		{"shell_environment_policy", read_environment, 0, NULL},
		{"approval_policy", NULL, 0,
			"when the agent itself asks is its own affair"},
		{"profile", NULL, 0, "the profile's settings are not taken over"},
		{"default_permissions", NULL, 0,
			"permission profiles are not taken over"},
		{"permissions", NULL, 0, "permission profiles are not taken over"},
		{NULL, NULL, 0, NULL},
	};
	struct codex codex = {.root = documents[0].tree.root};
	size_t others;

	(void)count;
	(void)err;
	codex.write = aw_foreign_get(codex.root, "sandbox_workspace_write");
	put_sandbox(import, &codex);
	aw_foreign_read(import, codex.root, "", false, keys);
	keep_own_variables(import);
	others = (aw_foreign_get(codex.root, "sandbox_mode") ? 1u : 0u) +
		 (codex.write ? 1u : 0u);
	import->others -= others;
	return 0;
}
