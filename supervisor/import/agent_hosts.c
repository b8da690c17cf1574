/* SPDX-License-Identifier: Apache-2.0 */
/* agent_hosts.c - agent hosts that isolate what they start: picoclaw, Miclaw, podbot. */
#include <string.h>

#include "policy/array.h"
#include "supervisor/import/import.h"

/* --- picoclaw: "isolation" in config.json --- */

/* One {source, target, mode} under names that differ. */
static void put_exposed(struct aw_import *import, const struct aw_node *item,
	const char *source_key, const char *target_key)
{
	const char *source = aw_foreign_text(item, source_key);
	const char *target = aw_foreign_text(item, target_key);
	const char *mode = aw_foreign_text(item, "mode");

	if (!source || !*source || strpbrk(source, "\"\\$\n") ||
		(target && strpbrk(target, "\"\\$\n")) ||
		(mode && strcmp(mode, "ro") != 0 && strcmp(mode, "rw") != 0)) {
		aw_import_note(import, item,
			"wants '%s', '%s' and a mode of ro or rw; left out", source_key,
			target_key);
		return;
	}
	if (!target || !*target)
		target = source;
	aw_import_putf(import, AW_IMPORT_EXPOSE, item,
		"{source: \"%s\", target: \"%s\", mode: %s}", source, target,
		mode ? mode : "ro");
	aw_import_path(import,
		mode && strcmp(mode, "rw") == 0 ? AW_IMPORT_WRITE : AW_IMPORT_READ,
		item, target);
}

static void read_exposed(
	struct aw_import *import, const struct aw_node *value, int argument)
{
	(void)argument;
	for (size_t i = 0; value->kind == AW_NODE_LIST && i < value->count; i++)
		put_exposed(import, value->items[i], "source", "target");
}

static void read_mounts(
	struct aw_import *import, const struct aw_node *value, int argument)
{
	(void)argument;
	for (size_t i = 0; value->kind == AW_NODE_LIST && i < value->count; i++)
		put_exposed(import, value->items[i], "host", "container");
}

/* Isolated by a view of its own, or not at all. */
static bool read_enabled(struct aw_import *import, const struct aw_node *section)
{
	const struct aw_node *enabled = aw_foreign_get(section, "enabled");
	bool on = enabled && aw_foreign_true(import, enabled);

	aw_import_put(import, AW_IMPORT_MODE, enabled, on ? "enforce" : "audit");
	if (!on)
		return false;
	aw_import_put(import, AW_IMPORT_RUNNER, NULL, "bwrap");
	aw_import_put(import, AW_IMPORT_FILES_DEFAULT, NULL, "deny");
	aw_import_system(import, NULL);
	aw_import_put(import, AW_IMPORT_WRITE, NULL, "$WORKSPACE");
	aw_import_put(import, AW_IMPORT_WRITE, NULL, "$TMPDIR");
	return true;
}

static int no_section(const struct aw_import_document *document, const char *name,
	struct aw_error *err)
{
	return aw_fail(err, 0, "%s: there is no map '%s' in it", document->file, name);
}

int aw_import_picoclaw(struct aw_import *import,
	const struct aw_import_document *documents, size_t count, struct aw_error *err)
{
	static const struct aw_foreign keys[] = {
		{"enabled", NULL, 0, ""},
		{"expose_paths", read_exposed, 0, NULL},
		{NULL, NULL, 0, NULL},
	};
	const struct aw_node *isolation =
		aw_foreign_get(documents[0].tree.root, "isolation");

	(void)count;
	if (!isolation || isolation->kind != AW_NODE_MAP)
		return no_section(&documents[0], "isolation", err);
	if (read_enabled(import, isolation)) {
		aw_import_put(import, AW_IMPORT_REDIRECT_HOME, NULL, "true");
		aw_import_put(import, AW_IMPORT_NET_DEFAULT, NULL, "allow");
	}
	aw_foreign_read(import, isolation, "isolation", true, keys);
	import->others = 0;
	return 0;
}

/* --- Miclaw: "sandbox" in config.json --- */

static void read_network(
	struct aw_import *import, const struct aw_node *value, int argument)
{
	const char *text = value->kind == AW_NODE_TEXT ? value->text : "";

	(void)argument;
	aw_import_put(import, AW_IMPORT_NET_DEFAULT, value,
		strcmp(text, "none") == 0 ? "deny" : "allow");
	if (strcmp(text, "none") != 0 && strcmp(text, "host") != 0)
		aw_import_note(import, value,
			"'sandbox.network': container networks do not exist here; "
			"the host's is used");
}

static void read_host_commands(
	struct aw_import *import, const struct aw_node *value, int argument)
{
	(void)argument;
	for (size_t i = 0; value->kind == AW_NODE_LIST && i < value->count; i++)
		aw_import_note(import, value->items[i],
			"'sandbox.host_commands': '%.60s' runs inside, like every other program, "
			"since commands on the host are not available in this version",
			value->items[i]->kind == AW_NODE_TEXT ? value->items[i]->text
							      : "");
}

int aw_import_miclaw(struct aw_import *import,
	const struct aw_import_document *documents, size_t count, struct aw_error *err)
{
	static const struct aw_foreign keys[] = {
		{"enabled", NULL, 0, ""},
		{"network", read_network, 0, NULL},
		{"mounts", read_mounts, 0, NULL},
		{"host_commands", read_host_commands, 0, NULL},
		{"host_user", NULL, 0, "a label of Miclaw's own audit"},
		{"image", NULL, 0,
			"no container is used; the programs of this system are"},
		{NULL, NULL, 0, NULL},
	};
	const struct aw_node *sandbox =
		aw_foreign_get(documents[0].tree.root, "sandbox");

	(void)count;
	if (!sandbox || sandbox->kind != AW_NODE_MAP)
		return no_section(&documents[0], "sandbox", err);
	if (read_enabled(import, sandbox)) {
		aw_import_put(import, AW_IMPORT_NET_DEFAULT, NULL, "deny");
		aw_import_note(import, sandbox,
			"'sandbox': tools ran in a Docker container; here all runs behind bwrap");
	}
	aw_foreign_read(import, sandbox, "sandbox", true, keys);
	import->others = 0;
	return 0;
}

/* --- podbot: config.toml --- */

static void read_base_dir(
	struct aw_import *import, const struct aw_node *value, int argument)
{
	(void)argument;
	aw_foreign_paths(import, value, AW_IMPORT_WRITE);
}

static void read_workspace(
	struct aw_import *import, const struct aw_node *value, int argument)
{
	static const struct aw_foreign keys[] = {
		{"base_dir", read_base_dir, 0, NULL},
		{NULL, NULL, 0, NULL},
	};

	(void)argument;
	aw_foreign_read(import, value, "workspace", true, keys);
}

static void read_credential(
	struct aw_import *import, const struct aw_node *value, int key)
{
	static const char *const folders[] = {"~/.claude", "~/.codex"};

	if (!aw_foreign_true(import, value))
		return;
	aw_import_put(import, AW_IMPORT_READ, value, folders[key]);
	aw_import_note(import, value,
		"%s was copied into the container; here it is read where it is",
		folders[key]);
}

static void read_credentials(
	struct aw_import *import, const struct aw_node *value, int argument)
{
	static const struct aw_foreign keys[] = {
		{"copy_claude", read_credential, 0, NULL},
		{"copy_codex", read_credential, 1, NULL},
		{NULL, NULL, 0, NULL},
	};

	(void)argument;
	aw_foreign_read(import, value, "creds", true, keys);
}

static void read_agent(
	struct aw_import *import, const struct aw_node *value, int argument)
{
	static const struct {
		const char *kind, *preset;
	} agents[] = {{"claude", "claude-code"}, {"codex", "codex"}};
	const struct aw_node *kind = aw_foreign_get(value, "kind");

	(void)argument;
	for (size_t i = 0; kind && i < ARRAY_SIZE(agents); i++)
		if (kind->kind == AW_NODE_TEXT &&
			strcmp(kind->text, agents[i].kind) == 0) {
			aw_import_put(import, AW_IMPORT_PRESET, kind, agents[i].preset);
			return;
		}
	aw_import_note(import, value, "'agent': there is no preset for this agent");
}

static void read_privileged(
	struct aw_import *import, const struct aw_node *value, int argument)
{
	(void)argument;
	if (aw_foreign_true(import, value))
		aw_import_note(import, value,
			"'sandbox.privileged': nothing is run with more rights here");
}

static void read_sandbox(
	struct aw_import *import, const struct aw_node *value, int argument)
{
	static const struct aw_foreign keys[] = {
		{"privileged", read_privileged, 0, NULL},
		{"mount_dev_fuse", NULL, 0, "no containers are run inside"},
		{NULL, NULL, 0, NULL},
	};

	(void)argument;
	aw_foreign_read(import, value, "sandbox", true, keys);
}

int aw_import_podbot(struct aw_import *import,
	const struct aw_import_document *documents, size_t count, struct aw_error *err)
{
	static const struct aw_foreign keys[] = {
		{"engine_socket", NULL, 0, "no container engine is used"},
		{"image", NULL, 0,
			"no container is used; the programs of this system are"},
		{"github", NULL, 0,
			"no token is made or refreshed in this version; give one with "
			"environment.set"},
		{"workspace", read_workspace, 0, NULL},
		{"creds", read_credentials, 0, NULL},
		{"sandbox", read_sandbox, 0, NULL},
		{"agent", read_agent, 0, NULL},
		{NULL, NULL, 0, NULL},
	};

	(void)count;
	(void)err;
	aw_import_put(import, AW_IMPORT_MODE, NULL, "enforce");
	aw_import_put(import, AW_IMPORT_RUNNER, NULL, "bwrap");
	aw_import_put(import, AW_IMPORT_FILES_DEFAULT, NULL, "read-only");
	aw_import_put(import, AW_IMPORT_WRITE, NULL, "$WORKSPACE");
	aw_import_put(import, AW_IMPORT_WRITE, NULL, "$TMPDIR");
	aw_import_put(import, AW_IMPORT_NET_DEFAULT, NULL, "allow");
	aw_foreign_read(import, documents[0].tree.root, "", true, keys);
	return 0;
}
