/* SPDX-License-Identifier: Apache-2.0 */
/*
 * srt.c - settings of Anthropic's sandbox-runtime (~/.srt-settings.json).
 *
 * There reading is allowed but where it is denied, writing is denied but where it is
 * allowed, and only the named domains are reached.  Claude Code's "sandbox" has the
 * same two sections.
 */
#include <string.h>

#include "supervisor/import/import.h"

static void read_domains(struct aw_import *import, const struct aw_node *value, int key)
{
	for (size_t i = 0; value->kind == AW_NODE_LIST && i < value->count; i++) {
		const struct aw_node *item = value->items[i];

		if (item->kind != AW_NODE_TEXT)
			aw_import_note(import, item, "a domain was expected here");
		else if (strcmp(item->text, "*") == 0)
			aw_import_put(import, AW_IMPORT_NET_DEFAULT, item,
				key == AW_IMPORT_NET_ALLOW ? "allow" : "deny");
		else
			aw_import_put(
				import, (enum aw_import_key)key, item, item->text);
	}
}

static void read_sockets(
	struct aw_import *import, const struct aw_node *value, int argument)
{
	(void)argument;
	for (size_t i = 0; value->kind == AW_NODE_LIST && i < value->count; i++)
		if (value->items[i]->kind == AW_NODE_TEXT)
			aw_import_putf(import, AW_IMPORT_NET_ALLOW, value->items[i],
				"unix:%s", value->items[i]->text);
}

static void read_all_sockets(
	struct aw_import *import, const struct aw_node *value, int argument)
{
	(void)argument;
	if (aw_foreign_true(import, value))
		aw_import_put(import, AW_IMPORT_NET_ALLOW, value, "unix:/**");
}

static void read_binding(
	struct aw_import *import, const struct aw_node *value, int argument)
{
	(void)argument;
	if (!aw_foreign_true(import, value))
		return;
	aw_import_put(import, AW_IMPORT_NET_ALLOW, value, "localhost:*");
	aw_import_put(import, AW_IMPORT_NET_LISTEN, value, "localhost:*");
}

static const char proxies[] = "connections are not made through a proxy here";

void aw_srt_network(struct aw_import *import, const struct aw_node *value, int argument)
{
	static const struct aw_foreign keys[] = {
		{"allowedDomains", read_domains, AW_IMPORT_NET_ALLOW, NULL},
		{"deniedDomains", read_domains, AW_IMPORT_NET_DENY, NULL},
		{"allowUnixSockets", read_sockets, 0, NULL},
		{"allowAllUnixSockets", read_all_sockets, 0, NULL},
		{"allowLocalBinding", read_binding, 0, NULL},
		{"strictAllowlist", NULL, 0, ""},
		{"allowMachLookup", NULL, 0, "a matter of macOS"},
		{"httpProxyPort", NULL, 0, proxies},
		{"socksProxyPort", NULL, 0, proxies},
		{"mitmProxy", NULL, 0, proxies},
		{"parentProxy", NULL, 0, proxies},
		{"tlsTerminate", NULL, 0, proxies},
		{NULL, NULL, 0, NULL},
	};

	(void)argument;
	aw_import_put(import, AW_IMPORT_NET_DEFAULT, value, "deny");
	aw_foreign_read(import, value, "network", true, keys);
}

/* A path, or {path: ..., literal: true}. */
static void put_path(struct aw_import *import, const struct aw_node *item, int key,
	const char *prefix)
{
	const char *text =
		item->kind == AW_NODE_TEXT ? item->text : aw_foreign_text(item, "path");
	char pattern[4200];

	if (!text || !*text || strlen(text) + 2 > sizeof(pattern)) {
		aw_import_note(import, item, "a path was expected here; left out");
		return;
	}
	snprintf(pattern, sizeof(pattern), "%s%s", prefix, text);
	aw_import_path(import, (enum aw_import_key)key, item, pattern);
}

static void read_paths(struct aw_import *import, const struct aw_node *value, int key)
{
	for (size_t i = 0; value->kind == AW_NODE_LIST && i < value->count; i++)
		put_path(import, value->items[i], key, "");
}

/* What may be read all the same: the last entry that matches decides. */
static void read_again(struct aw_import *import, const struct aw_node *value)
{
	for (size_t i = 0; value && value->kind == AW_NODE_LIST && i < value->count;
		i++)
		put_path(import, value->items[i], AW_IMPORT_DENY, "!");
}

void aw_srt_files(struct aw_import *import, const struct aw_node *value, int argument)
{
	static const struct aw_foreign keys[] = {
		{"denyRead", read_paths, AW_IMPORT_DENY, NULL},
		{"allowRead", NULL, 0, ""}, /* behind all of denyRead, below */
		{"allowWrite", read_paths, AW_IMPORT_WRITE, NULL},
		{"denyWrite", read_paths, AW_IMPORT_DENY_WRITE, NULL},
		{"allowGitConfig", NULL, 0,
			"git's configuration is protected by default; 'protections' "
			"switches that off"},
		{"disabled", NULL, 0, "leave 'filesystem' out instead"},
		{NULL, NULL, 0, NULL},
	};
	size_t others = import->others;

	(void)argument;
	aw_import_put(import, AW_IMPORT_FILES_DEFAULT, value, "read-only");
	aw_foreign_read(import, value, "filesystem", true, keys);
	read_again(import, aw_foreign_get(value, "allowRead"));
	import->others = others;
}

int aw_import_srt(struct aw_import *import, const struct aw_import_document *documents,
	size_t count, struct aw_error *err)
{
	static const struct aw_foreign keys[] = {
		{"network", aw_srt_network, 0, NULL},
		{"filesystem", aw_srt_files, 0, NULL},
		{"ignoreViolations", NULL, 0, "every denial is logged"},
		{"enableWeakerNestedSandbox", NULL, 0,
			"a sandbox is never weakened without being told; --runner chooses"},
		{"enableWeakerNetworkIsolation", NULL, 0, "a matter of macOS"},
		{"allowAppleEvents", NULL, 0, "a matter of macOS"},
		{"credentials", NULL, 0,
			"secrets are not masked; environment.unset keeps them away"},
		{"ripgrep", NULL, 0, ""},
		{"mandatoryDenySearchDepth", NULL, 0, ""},
		{"allowPty", NULL, 0, ""},
		{"seccomp", NULL, 0, ""},
		{"bwrapPath", NULL, 0, ""},
		{"socatPath", NULL, 0, ""},
		{NULL, NULL, 0, NULL},
	};

	(void)count;
	(void)err;
	aw_import_put(import, AW_IMPORT_MODE, NULL, "enforce");
	aw_import_put(import, AW_IMPORT_FILES_DEFAULT, NULL, "read-only");
	aw_import_put(import, AW_IMPORT_NET_DEFAULT, NULL, "deny");
	aw_foreign_read(import, documents[0].tree.root, "", true, keys);
	return 0;
}
