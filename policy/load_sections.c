/* SPDX-License-Identifier: Apache-2.0 */
/* load_sections.c - what a policy document may say, as tables. */
#include <stdlib.h>
#include <string.h>

#include "policy/load_internal.h"

enum { FIELD_RUNNER, FIELD_ENGINE, FIELD_VERDICTS, FIELD_MISSING };

enum { RULES_FILES, RULES_EXEC, RULES_NETWORK };

static const char *const runners[] = {"exec", "landlock", "bwrap", "firejail", "docker",
	"podman", "user", "sandbox-exec", "restricted-token", NULL};
static const char *const engines[] = {"auto", "hybrid", "kernel", "preload", NULL};
static const char *const verdicts[] = {"local", "ask", NULL};
static const char *const missing[] = {"fail", "exec", NULL};

static const struct {
	const char *key;
	const char *const *words;
	size_t field; /* of struct aw_policy */
} fields[] = {
	[FIELD_RUNNER] = {"runner", runners, offsetof(struct aw_policy, runner)},
	[FIELD_ENGINE] = {"engine", engines, offsetof(struct aw_policy, engine)},
	[FIELD_VERDICTS] = {"verdicts", verdicts, offsetof(struct aw_policy, verdicts)},
	[FIELD_MISSING] = {"on_missing_runner", missing,
		offsetof(struct aw_policy, on_missing_runner)},
};

static void read_version(struct aw_loader *l, const struct aw_node *value, int argument)
{
	(void)argument;
	if (value->kind != AW_NODE_TEXT || strcmp(value->text, "1") != 0)
		aw_report(l, value, "expected version 1, the only one there is");
}

/* Of several words on the mode the system's and an untrusted file's can only tighten.
 */
static void read_mode(struct aw_loader *l, const struct aw_node *value, int argument)
{
	static const char *const modes[] = {"audit", "enforce", NULL};
	int mode = aw_word_read(l, value, modes);

	(void)argument;
	if (mode < 0)
		return;
	if (l->source->trust == AW_UNTRUSTED && mode == AW_AUDIT) {
		aw_warn(l, value, "'mode: audit' is ignored: this file is not trusted");
		return;
	}
	if ((l->fixed & (1u << 31)) && mode == AW_AUDIT) {
		aw_warn(l, value,
			"'mode: audit' is ignored: the system policy enforces");
		return;
	}
	if (l->source->trust == AW_SYSTEM && mode == AW_ENFORCE)
		l->fixed |= 1u << 31;
	l->policy.mode = (enum aw_mode)mode;
	l->policy.mode_set = true;
	aw_origin_add(l, value, "mode", modes[mode]);
}

static void read_field(struct aw_loader *l, const struct aw_node *value, int field)
{
	char **to = (char **)(void *)((char *)&l->policy + fields[field].field), *copy;
	int word = aw_word_read(l, value, fields[field].words);

	if (word < 0)
		return;
	if ((l->fixed & (1u << field)) && l->source->trust != AW_SYSTEM) {
		if (strcmp(*to, value->text) != 0)
			aw_warn(l, value,
				"'%s: %s' is ignored: the system policy says %s",
				fields[field].key, value->text, *to);
		return;
	}
	if (l->source->trust == AW_SYSTEM)
		l->fixed |= 1u << field;
	copy = aw_copy(l, value->text);
	if (!copy)
		return;
	free(*to);
	*to = copy;
	aw_origin_add(l, value, fields[field].key, copy);
}

static void read_default(struct aw_loader *l, const struct aw_node *value, int rules)
{
	static const char *const file_words[] = {"allow", "read-only", "deny", NULL};
	static const char *const words[] = {"allow", "deny", NULL};
	static const char *const keys[] = {
		"filesystem.default", "exec.default", "network.default"};
	struct aw_image_stratum *stratum = &l->draft.strata[l->stratum];
	int word = aw_word_read(l, value, rules == RULES_FILES ? file_words : words);
	char key[256];
	uint8_t how;

	if (word < 0)
		return;
	if (rules == RULES_FILES)
		how = (uint8_t)word;
	else
		how = word ? AW_DEFAULT_DENY : AW_DEFAULT_ALLOW;
	if (rules == RULES_FILES)
		stratum->files = how;
	else if (rules == RULES_EXEC)
		stratum->exec = how;
	else
		stratum->network = how;
	l->default_set[l->stratum][rules] = true;
	snprintf(key, sizeof(key), "%s%s%s", l->profile ? l->profile : "",
		l->profile ? "." : "", keys[rules]);
	aw_origin_add(l, value, key, value->text);
}

enum { ANYWHERE = AW_KEY_UNTRUSTED | AW_KEY_PRESET };

static const struct aw_key file_keys[] = {
	{"default", read_default, RULES_FILES, AW_KEY_UNTRUSTED},
	{"read", aw_path_list_read, AW_LIST_READ, ANYWHERE},
	{"write", aw_path_list_read, AW_LIST_WRITE, ANYWHERE},
	{"deny", aw_path_list_read, AW_LIST_DENY, ANYWHERE},
	{"deny_write", aw_path_list_read, AW_LIST_DENY_WRITE, ANYWHERE},
	{"hide", aw_path_list_read, AW_LIST_HIDE, ANYWHERE},
	{"ask", aw_path_list_read, AW_LIST_ASK, ANYWHERE},
	{"expose", aw_expose_read, 0, 0},
	{NULL, NULL, 0, 0},
};

static const struct aw_key exec_keys[] = {
	{"default", read_default, RULES_EXEC, AW_KEY_UNTRUSTED},
	{"allow", aw_exec_list_read, AW_LIST_EXEC_ALLOW, ANYWHERE},
	{"deny", aw_exec_list_read, AW_LIST_EXEC_DENY, ANYWHERE},
	{"ask", aw_exec_list_read, AW_LIST_EXEC_ASK, ANYWHERE},
	{NULL, NULL, 0, 0},
};

static const struct aw_key network_keys[] = {
	{"default", read_default, RULES_NETWORK, AW_KEY_UNTRUSTED},
	{"allow", aw_net_list_read, AW_LIST_NET_ALLOW, ANYWHERE},
	{"deny", aw_net_list_read, AW_LIST_NET_DENY, ANYWHERE},
	{"ask", aw_net_list_read, AW_LIST_NET_ASK, ANYWHERE},
	{"listen", aw_net_list_read, AW_LIST_NET_LISTEN, ANYWHERE},
	{"container", NULL, 0, AW_KEY_LATER},
	{"verify_tls", NULL, 0, AW_KEY_LATER},
	{"forward", NULL, 0, AW_KEY_LATER},
	{NULL, NULL, 0, 0},
};

static void read_redirect_home(
	struct aw_loader *l, const struct aw_node *value, int argument)
{
	static const char *const words[] = {"false", "true", NULL};
	int word = aw_word_read(l, value, words);

	(void)argument;
	if (word < 0)
		return;
	l->policy.redirect_home = word;
	aw_origin_add(l, value, "redirect_home", words[word]);
}

static const struct aw_key environment_keys[] = {
	{"inherit", aw_inherit_read, 0, 0},
	{"unset", aw_unset_read, 0, ANYWHERE},
	{"set", aw_set_read, 0, 0},
	{"redirect_home", read_redirect_home, 0, 0},
	{NULL, NULL, 0, 0},
};

static void read_rules(struct aw_loader *l, const struct aw_node *value, int rules)
{
	static const struct {
		const char *name;
		const struct aw_key *keys;
	} sections[] = {
		[RULES_FILES] = {"filesystem", file_keys},
		[RULES_EXEC] = {"exec", exec_keys},
		[RULES_NETWORK] = {"network", network_keys},
	};

	if (l->source->trust != AW_UNTRUSTED && !aw_is_preset(l->source) && !l->profile)
		l->rules_named = true;
	aw_keys_read(l, value, sections[rules].name, sections[rules].keys);
}

static void read_environment(
	struct aw_loader *l, const struct aw_node *value, int argument)
{
	(void)argument;
	aw_keys_read(l, value, "environment", environment_keys);
}

/* A wall is the same for all of a session, and so is the command's environment. */
const struct aw_key aw_profile_sections[] = {
	{"when", aw_profile_when_read, 0, AW_KEY_UNTRUSTED},
	{"filesystem", read_rules, RULES_FILES, AW_KEY_UNTRUSTED},
	{"exec", read_rules, RULES_EXEC, AW_KEY_UNTRUSTED},
	{"network", read_rules, RULES_NETWORK, AW_KEY_UNTRUSTED},
	{"environment", NULL, 0, AW_KEY_UNTRUSTED | AW_KEY_LATER},
	{"limits", NULL, 0, AW_KEY_UNTRUSTED | AW_KEY_LATER},
	{NULL, NULL, 0, 0},
};

static const struct aw_key document_keys[] = {
	{"version", read_version, 0, ANYWHERE},
	{"mode", read_mode, 0, AW_KEY_UNTRUSTED},
	{"runner", read_field, FIELD_RUNNER, 0},
	{"engine", read_field, FIELD_ENGINE, 0},
	{"verdicts", read_field, FIELD_VERDICTS, 0},
	{"on_missing_runner", read_field, FIELD_MISSING, 0},
	{"filesystem", read_rules, RULES_FILES, ANYWHERE},
	{"exec", read_rules, RULES_EXEC, ANYWHERE},
	{"network", read_rules, RULES_NETWORK, ANYWHERE},
	{"environment", read_environment, 0, ANYWHERE},
	{"merge", NULL, 0, AW_KEY_LATER},
	{"preset", aw_preset_read, 0, AW_KEY_PRESET},
	{"limits", aw_limits_read, 0, AW_KEY_UNTRUSTED},
	{"container", NULL, 0, AW_KEY_LATER},
	{"user", NULL, 0, AW_KEY_LATER},
	{"host_commands", NULL, 0, AW_KEY_LATER},
	{"profiles", aw_profiles_read, 0, AW_KEY_UNTRUSTED},
	{"hooks", NULL, 0, AW_KEY_LATER},
	{"restricted_runners", NULL, 0, AW_KEY_LATER},
	{"restricted_runner", NULL, 0, AW_KEY_LATER},
	{"protections", aw_protections_read, 0, 0},
	{"tests", NULL, 0, AW_KEY_LATER},
	{"agents", NULL, 0, AW_KEY_LATER},
	{NULL, NULL, 0, 0},
};

static bool has_version(const struct aw_node *root)
{
	size_t i;

	for (i = 0; i < root->count; i += 2)
		if (root->items[i]->kind == AW_NODE_TEXT &&
			strcmp(root->items[i]->text, "version") == 0)
			return true;
	return false;
}

void aw_document_read(struct aw_loader *l, const struct aw_node *root)
{
	if (!root) {
		aw_report_at(l, 1, 1, false,
			"an empty file; at least 'version: 1' is needed");
		return;
	}
	aw_keys_read(l, root, NULL, document_keys);
	if (root->kind == AW_NODE_MAP && !has_version(root))
		aw_report(l, root, "'version: 1' is missing");
}
