/* SPDX-License-Identifier: Apache-2.0 */
/* load_sections.c - what a policy document may say, as tables. */
#include <stdlib.h>
#include <string.h>

#include "policy/load_internal.h"

enum { RULES_FILES, RULES_EXEC, RULES_NETWORK };

const char *const aw_runner_words[] = {"exec", "landlock", "bwrap", "firejail",
	"docker", "podman", "user", "sandbox-exec", "restricted-token", NULL};
static const char *const engines[] = {"auto", "hybrid", "kernel", "preload", NULL};
static const char *const verdicts[] = {"local", "ask", NULL};
static const char *const missing[] = {"fail", "exec", NULL};
static const char *const strengths[] = {"kernel", "supervisor", NULL};
static const char *const bools[] = {"false", "true", NULL};

static const struct {
	const char *key;
	const char *const *words; /* NULL: the name of a log */
	size_t field;		  /* of struct aw_policy */
} fields[AW_FIELDS] = {
	[AW_FIELD_RUNNER] = {"runner", aw_runner_words,
		offsetof(struct aw_policy, runner)},
	[AW_FIELD_ENGINE] = {"engine", engines, offsetof(struct aw_policy, engine)},
	[AW_FIELD_VERDICTS] = {"verdicts", verdicts,
		offsetof(struct aw_policy, verdicts)},
	[AW_FIELD_MISSING] = {"on_missing_runner", missing,
		offsetof(struct aw_policy, on_missing_runner)},
	[AW_FIELD_REQUIRE] = {"require", strengths,
		offsetof(struct aw_policy, require)},
	[AW_FIELD_QUIET] = {"quiet", bools, offsetof(struct aw_policy, quiet)},
	[AW_FIELD_KEEP] = {"keep_descendants", bools,
		offsetof(struct aw_policy, keep_descendants)},
	[AW_FIELD_LOG] = {"log", NULL, offsetof(struct aw_policy, log_text)},
};

char **aw_field_of(struct aw_policy *policy, int field)
{
	return (char **)(void *)((char *)policy + fields[field].field);
}

const char *aw_field_key(int field)
{
	return fields[field].key;
}

const char *aw_policy_fixed(const struct aw_policy *policy, const char *key)
{
	int i;

	if (strcmp(key, "mode") == 0 && policy->fixed & (1u << AW_FIELD_MODE))
		return "enforce";
	for (i = 0; i < AW_FIELDS; i++)
		if (strcmp(fields[i].key, key) == 0 && policy->fixed & (1u << i))
			return *aw_field_of((struct aw_policy *)policy, i);
	return NULL;
}

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
	if ((l->policy.fixed & (1u << AW_FIELD_MODE)) && mode == AW_AUDIT) {
		aw_warn(l, value,
			"'mode: audit' is ignored: the system policy enforces");
		return;
	}
	if (l->source->trust == AW_SYSTEM && mode == AW_ENFORCE)
		l->policy.fixed |= 1u << AW_FIELD_MODE;
	l->policy.mode = (enum aw_mode)mode;
	l->policy.mode_set = true;
	aw_origin_add(l, value, "mode", modes[mode]);
}

/* A path with its variables expanded, or a word instead of one. */
static char *log_name(struct aw_loader *l, const struct aw_node *value)
{
	return aw_expand(l, value, value->text, AW_EXPAND_PLAIN);
}

/* A word of those that may stand there, or the name of a log; NULL after an error. */
static char *field_text(struct aw_loader *l, const struct aw_node *value, int field)
{
	char *text, *copy;

	if (fields[field].words)
		return aw_word_read(l, value, fields[field].words) < 0
			       ? NULL
			       : aw_copy(l, value->text);
	if (value->kind != AW_NODE_TEXT || !value->text[0]) {
		aw_report(l, value, "expected the path of a file, '-' or 'none'");
		return NULL;
	}
	text = log_name(l, value);
	copy = text ? aw_copy(l, value->text) : NULL;
	if (text && text[0] != '/' && strcmp(text, "-") != 0 &&
		strcmp(text, "none") != 0) {
		aw_report(l, value,
			"'%.100s' is not absolute; did you mean '$HOME/%.100s'?",
			value->text, text);
		free(copy);
		copy = NULL;
	}
	free(text);
	return copy;
}

void aw_log_settle(struct aw_loader *l)
{
	static const struct aw_policy_source none = {"policy", "built-in", AW_TRUSTED};
	const struct aw_node at = {.kind = AW_NODE_TEXT,
		.line = 1,
		.column = 1,
		.text = l->policy.log_text};

	l->source = &none;
	if (at.text)
		l->policy.log = log_name(l, &at);
}

static void read_field(struct aw_loader *l, const struct aw_node *value, int field)
{
	char **to = aw_field_of(&l->policy, field);
	char *text = field_text(l, value, field);

	if (!text)
		return;
	if ((l->policy.fixed & (1u << field)) && l->source->trust != AW_SYSTEM) {
		if (strcmp(*to, text) != 0)
			aw_warn(l, value,
				"'%s: %s' is ignored: the system policy says %s",
				fields[field].key, value->text, *to);
		free(text);
		return;
	}
	if (l->source->trust == AW_SYSTEM)
		l->policy.fixed |= 1u << field;
	free(*to);
	*to = text;
	aw_origin_add(l, value, fields[field].key, text);
}

static void read_default(struct aw_loader *l, const struct aw_node *value, int rules)
{
	static const char *const file_words[] = {"allow", "read-only", "deny", NULL};
	static const char *const words[] = {"allow", "deny", NULL};
	static const char *const keys[] = {
		"filesystem.default", "exec.default", "network.default"};
	struct aw_image_stratum *stratum = &l->draft.strata[l->stratum];
	int word = aw_word_read(l, value, rules == RULES_FILES ? file_words : words);
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
	aw_origin_add(l, value, keys[rules], value->text);
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
	int word = aw_word_read(l, value, bools);

	(void)argument;
	if (word < 0)
		return;
	if (l->base.redirect_home && !word) {
		aw_warn(l, value,
			"'redirect_home: false' is ignored: the system policy says "
			"true");
		return;
	}
	l->policy.redirect_home = word;
	aw_origin_add(l, value, "redirect_home", bools[word]);
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

	if (l->source->trust != AW_UNTRUSTED && !aw_is_preset(l->source))
		l->rules_named = true;
	aw_keys_read(l, value, sections[rules].name, sections[rules].keys);
}

static void read_environment(
	struct aw_loader *l, const struct aw_node *value, int argument)
{
	(void)argument;
	aw_keys_read(l, value, "environment", environment_keys);
}

void aw_section_read(struct aw_loader *l, const struct aw_node *value, const char *name)
{
	static const struct {
		const char *name;
		void (*read)(struct aw_loader *l, const struct aw_node *value, int);
		int argument;
	} sections[] = {
		{"filesystem", read_rules, RULES_FILES},
		{"exec", read_rules, RULES_EXEC},
		{"network", read_rules, RULES_NETWORK},
		{"environment", read_environment, 0},
		{"limits", aw_limits_read, 0},
	};
	size_t i;

	for (i = 0; i < sizeof(sections) / sizeof(*sections); i++)
		if (strcmp(sections[i].name, name) == 0)
			sections[i].read(l, value, sections[i].argument);
}

const struct aw_key aw_document_keys[] = {
	{"version", read_version, 0, ANYWHERE | AW_KEY_TOP},
	{"mode", read_mode, 0, AW_KEY_UNTRUSTED},
	{"runner", read_field, AW_FIELD_RUNNER, 0},
	{"engine", read_field, AW_FIELD_ENGINE, 0},
	{"verdicts", read_field, AW_FIELD_VERDICTS, 0},
	{"on_missing_runner", read_field, AW_FIELD_MISSING, 0},
	{"require", read_field, AW_FIELD_REQUIRE, 0},
	{"quiet", read_field, AW_FIELD_QUIET, 0},
	{"keep_descendants", read_field, AW_FIELD_KEEP, 0},
	{"log", read_field, AW_FIELD_LOG, 0},
	{"filesystem", read_rules, RULES_FILES, ANYWHERE},
	{"exec", read_rules, RULES_EXEC, ANYWHERE},
	{"network", read_rules, RULES_NETWORK, ANYWHERE},
	{"environment", read_environment, 0, ANYWHERE},
	{"ask", aw_ask_read, 0, 0},
	{"merge", aw_merge_read, 0, 0},
	{"preset", aw_preset_read, 0, AW_KEY_PRESET},
	{"limits", aw_limits_read, 0, AW_KEY_UNTRUSTED},
	{"container", NULL, 0, AW_KEY_LATER},
	{"user", NULL, 0, AW_KEY_LATER},
	{"host_commands", NULL, 0, AW_KEY_LATER},
	{"profiles", NULL, 0, AW_KEY_LATER},
	{"hooks", NULL, 0, AW_KEY_LATER},
	{"restricted_runners", aw_runners_read, 0, AW_KEY_UNTRUSTED},
	{"restricted_runner", NULL, 0, AW_KEY_LATER},
	{"protections", aw_protections_read, 0, AW_KEY_PRESET},
	{"tests", aw_tests_read, 0, ANYWHERE},
	{"agents", aw_agents_read, 0, AW_KEY_TOP},
	{"intersect", aw_intersect_read, 0, AW_KEY_TOP},
	{NULL, NULL, 0, 0},
};
