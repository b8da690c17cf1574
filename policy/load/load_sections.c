/* SPDX-License-Identifier: Apache-2.0 */
/* load_sections.c - what a policy document may say, as tables. */
#include <stdlib.h>
#include <string.h>

#include "policy/load/load_internal.h"

enum { RULES_FILES, RULES_EXEC, RULES_NETWORK };

const char *const aw_runner_words[] = {"exec", "landlock", "bwrap", "firejail",
	"docker", "podman", "user", "sandbox-exec", "restricted-token", NULL};
static const char *const engines[] = {"auto", "hybrid", "kernel", "preload", NULL};
static const char *const verdicts[] = {"local", "ask", NULL};
static const char *const missing[] = {"fail", "exec", NULL};
static const char *const strengths[] = {"kernel", "supervisor", NULL};

static const char *const modes[] = {"audit", "enforce", NULL};
static const char *const file_words[] = {"allow", "read-only", "deny", NULL};
static const char *const words[] = {"allow", "deny", NULL};
static const char *const switch_words[] = {"false", "true", NULL};

static const struct aw_shape version_shape = {.kind = AW_SHAPE_AMOUNT,
	.pattern = "^1$",
	.least = 1,
	.most = 1,
	.whole = true,
	.entry = "1"};
static const struct aw_shape mode_shape = {.kind = AW_SHAPE_WORD, .words = modes};
static const struct aw_shape base_shape = {
	.kind = AW_SHAPE_WORD, .words = aw_base_words};
static const struct aw_shape runner_shape = {
	.kind = AW_SHAPE_WORD, .words = aw_runner_words};
static const struct aw_shape engine_shape = {.kind = AW_SHAPE_WORD, .words = engines};
static const struct aw_shape verdicts_shape = {
	.kind = AW_SHAPE_WORD, .words = verdicts};
static const struct aw_shape missing_shape = {.kind = AW_SHAPE_WORD, .words = missing};
static const struct aw_shape file_default_shape = {
	.kind = AW_SHAPE_WORD, .words = file_words};
static const struct aw_shape default_shape = {.kind = AW_SHAPE_WORD, .words = words};
const struct aw_shape aw_switch_shape = {.kind = AW_SHAPE_SWITCH};
const struct aw_shape aw_paths_shape = {
	.kind = AW_SHAPE_LIST, .entry = "path patterns"};
static const struct aw_shape programs_shape = {
	.kind = AW_SHAPE_LIST, .entry = "path patterns, names, or names and arguments"};
static const struct aw_shape addresses_shape = {
	.kind = AW_SHAPE_LIST, .entry = "hosts, addresses, networks, unix:PATH"};
static const struct aw_shape names_shape = {
	.kind = AW_SHAPE_LIST, .entry = "names and patterns"};
static const struct aw_shape presets_shape = {
	.kind = AW_SHAPE_LIST, .entry = "names of presets"};

static const struct {
	const char *key;
	const char *const *words; /* NULL: the name of a log */
	size_t field;		  /* of struct aw_policy */
} fields[AW_FIELDS] = {
	[AW_FIELD_BASE] = {"base", aw_base_words, offsetof(struct aw_policy, base)},
	[AW_FIELD_RUNNER] = {"runner", aw_runner_words,
		offsetof(struct aw_policy, runner)},
	[AW_FIELD_ENGINE] = {"engine", engines, offsetof(struct aw_policy, engine)},
	[AW_FIELD_VERDICTS] = {"verdicts", verdicts,
		offsetof(struct aw_policy, verdicts)},
	[AW_FIELD_MISSING] = {"on_missing_runner", missing,
		offsetof(struct aw_policy, on_missing_runner)},
	[AW_FIELD_REQUIRE] = {"require", strengths,
		offsetof(struct aw_policy, require)},
	[AW_FIELD_QUIET] = {"quiet", switch_words, offsetof(struct aw_policy, quiet)},
	[AW_FIELD_KEEP] = {"keep_descendants", switch_words,
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

void aw_log_complete(struct aw_loader *l)
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
	if (field == AW_FIELD_BASE)
		l->replaced = false; /* said again, above what was replaced */
	aw_origin_add(l, value, fields[field].key, text);
}

static void read_default(struct aw_loader *l, const struct aw_node *value, int rules)
{
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

/* expose comes first: what is behind it is all that a profile may say. */
static const struct aw_key file_keys[] = {
	{"expose", aw_expose_read, 0, 0, &aw_exposed_shape,
		"paths of the host that a wall shows, perhaps elsewhere"},
	{"default", read_default, RULES_FILES, AW_KEY_UNTRUSTED, &file_default_shape,
		"what holds where no list says anything; the base's when not given"},
	{"read", aw_path_list_read, AW_LIST_READ, ANYWHERE, &aw_paths_shape,
		"may be read; changing it is denied unless write has it too"},
	{"write", aw_path_list_read, AW_LIST_WRITE, ANYWHERE, &aw_paths_shape,
		"may be read and changed"},
	{"deny", aw_path_list_read, AW_LIST_DENY, ANYWHERE, &aw_paths_shape,
		"may be neither read nor changed"},
	{"deny_write", aw_path_list_read, AW_LIST_DENY_WRITE, ANYWHERE, &aw_paths_shape,
		"may not be changed"},
	{"hide", aw_path_list_read, AW_LIST_HIDE, ANYWHERE, &aw_paths_shape,
		"as if it were not there"},
	{"ask", aw_path_list_read, AW_LIST_ASK, ANYWHERE, &aw_paths_shape,
		"a human is asked"},
	{NULL, NULL, 0, 0, NULL, NULL},
};

static const struct aw_key exec_keys[] = {
	{"default", read_default, RULES_EXEC, AW_KEY_UNTRUSTED, &default_shape,
		"what holds where no list says anything; allow when not given"},
	{"allow", aw_exec_list_read, AW_LIST_EXEC_ALLOW, ANYWHERE, &programs_shape,
		"may be run"},
	{"deny", aw_exec_list_read, AW_LIST_EXEC_DENY, ANYWHERE, &programs_shape,
		"may not be run"},
	{"ask", aw_exec_list_read, AW_LIST_EXEC_ASK, ANYWHERE, &programs_shape,
		"a human is asked"},
	{NULL, NULL, 0, 0, NULL, NULL},
};

/* What is about the whole session comes first: a profile may say the rest. */
enum { NETWORK_OF_SESSION = AW_NETWORK_KEYS };

static const struct aw_key network_keys[] = {
	{"match_sni", aw_match_sni_read, AW_NETWORK_MATCH_SNI, AW_KEY_UNTRUSTED,
		&aw_switch_shape,
		"true: a connection whose TLS or HTTP names another host than the "
		"allowed one is cut"},
	{"proxy", aw_proxy_read, AW_NETWORK_PROXY, 0, &aw_proxy_shape,
		"listen: an HTTP and SOCKS proxy with the same rules; environment: and "
		"HTTP_PROXY and its kin name it"},
	{"refusal", aw_refusal_read, AW_NETWORK_REFUSAL, 0, &aw_refusal_shape,
		"the error of a denied connection; EACCES when not given"},
	{"forward", aw_forwards_read, AW_NETWORK_FORWARD, 0, &aw_forwards_shape,
		"ports inside that are reachable from outside"},
	{"private_names", aw_private_names_read, AW_NETWORK_PRIVATE, 0,
		&aw_host_names_shape, "names that may lead to private addresses"},
	{"default", read_default, RULES_NETWORK, AW_KEY_UNTRUSTED, &default_shape,
		"what holds where no list says anything; the base's when not given"},
	{"allow", aw_net_list_read, AW_LIST_NET_ALLOW, ANYWHERE, &addresses_shape,
		"may be connected and sent to"},
	{"deny", aw_net_list_read, AW_LIST_NET_DENY, ANYWHERE, &addresses_shape,
		"may be neither connected nor sent to, nor looked up when a name for "
		"all ports"},
	{"ask", aw_net_list_read, AW_LIST_NET_ASK, ANYWHERE, &addresses_shape,
		"a human is asked"},
	{"listen", aw_net_list_read, AW_LIST_NET_LISTEN, ANYWHERE, &addresses_shape,
		"may be listened on, and nothing else; an empty list forbids it"},
	{"container", NULL, 0, AW_KEY_LATER, NULL, NULL},
	{NULL, NULL, 0, 0, NULL, NULL},
};

static void read_redirect_home(
	struct aw_loader *l, const struct aw_node *value, int argument)
{
	int word = aw_word_read(l, value, switch_words);

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
	aw_origin_add(l, value, "redirect_home", switch_words[word]);
}

static const struct aw_key environment_keys[] = {
	{"inherit", aw_inherit_read, 0, 0, &aw_inherit_shape,
		"variables that the command gets; all when not given"},
	{"unset", aw_unset_read, 0, ANYWHERE, &names_shape,
		"variables that it does not get; stronger than inherit, !NAME lets one "
		"through"},
	{"set", aw_set_read, 0, 0, &aw_settings_shape,
		"variables with values of their own"},
	{"redirect_home", read_redirect_home, 0, 0, &aw_switch_shape,
		"true: a wall gives the command a home of the session's own"},
	{NULL, NULL, 0, 0, NULL, NULL},
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

	aw_keys_read(l, value, sections[rules].name, sections[rules].keys);
}

static void read_environment(
	struct aw_loader *l, const struct aw_node *value, int argument)
{
	(void)argument;
	aw_keys_read(l, value, "environment", environment_keys);
}

const struct aw_shape aw_files_shape = {.kind = AW_SHAPE_MAP, .keys = file_keys};
const struct aw_shape aw_exec_shape = {.kind = AW_SHAPE_MAP, .keys = exec_keys};
const struct aw_shape aw_network_shape = {.kind = AW_SHAPE_MAP, .keys = network_keys};
const struct aw_shape aw_environment_shape = {
	.kind = AW_SHAPE_MAP, .keys = environment_keys};

static const struct aw_shape profile_files_shape = {
	.kind = AW_SHAPE_MAP, .keys = file_keys + 1};
static const struct aw_shape profile_network_shape = {
	.kind = AW_SHAPE_MAP, .keys = network_keys + NETWORK_OF_SESSION};

/* A wall is the same for all of a session, and so is the command's environment. */
const struct aw_key aw_profile_sections[] = {
	{"when", aw_profile_when_read, 0, AW_KEY_UNTRUSTED, &aw_when_shape,
		"what enters it; one is enough"},
	{"filesystem", read_rules, RULES_FILES, AW_KEY_UNTRUSTED, &profile_files_shape,
		"as above, without expose"},
	{"exec", read_rules, RULES_EXEC, AW_KEY_UNTRUSTED, &aw_exec_shape, "as above"},
	{"network", read_rules, RULES_NETWORK, AW_KEY_UNTRUSTED, &profile_network_shape,
		"as above: default and lists"},
	{"environment", NULL, 0, AW_KEY_UNTRUSTED | AW_KEY_LATER, NULL, NULL},
	{"limits", NULL, 0, AW_KEY_UNTRUSTED | AW_KEY_LATER, NULL, NULL},
	{NULL, NULL, 0, 0, NULL, NULL},
};

static const struct aw_shape profile_shape = {
	.kind = AW_SHAPE_MAP, .keys = aw_profile_sections};
const struct aw_shape aw_profiles_shape = {
	.kind = AW_SHAPE_NAMED, .first = &profile_shape};

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
		{"profiles", aw_profiles_read, 0},
	};
	size_t i;

	for (i = 0; i < sizeof(sections) / sizeof(*sections); i++)
		if (strcmp(sections[i].name, name) == 0)
			sections[i].read(l, value, sections[i].argument);
}

void aw_runner_read(struct aw_loader *l, const struct aw_node *value)
{
	read_field(l, value, AW_FIELD_RUNNER);
}

static const char *const merge_words[] = {"extend", "replace", NULL};
static const struct aw_shape merge_shape = {
	.kind = AW_SHAPE_WORD, .words = merge_words};
static const struct aw_shape require_shape = {
	.kind = AW_SHAPE_WORD, .words = strengths};
static const struct aw_shape log_shape = {
	.kind = AW_SHAPE_TEXT, .entry = "a path, `-` or `none`"};
static const struct aw_shape agents_shape = {.kind = AW_SHAPE_ENTRIES};

const struct aw_key aw_document_keys[] = {
	{"version", read_version, 0, ANYWHERE | AW_KEY_TOP | AW_KEY_REQUIRED,
		&version_shape, "the version of the policy language"},
	{"mode", read_mode, 0, AW_KEY_UNTRUSTED, &mode_shape,
		"audit: watch and log what would be denied; enforce: deny it"},
	{"base", read_field, AW_FIELD_BASE, 0, &base_shape,
		"what holds where no file says anything; workspace when not given"},
	{"runner", read_field, AW_FIELD_RUNNER, 0, &runner_shape,
		"the wall around the command"},
	{"engine", read_field, AW_FIELD_ENGINE, 0, &engine_shape, "how calls are seen"},
	{"verdicts", read_field, AW_FIELD_VERDICTS, 0, &verdicts_shape,
		"local: decided in the watched process; ask: every call waits for the "
		"supervisor"},
	{"on_missing_runner", read_field, AW_FIELD_MISSING, 0, &missing_shape,
		"when the wall cannot be built: do not start, or go on with exec and "
		"say so"},
	{"require", read_field, AW_FIELD_REQUIRE, 0, &require_shape,
		"do not start while a rule is held by less"},
	{"quiet", read_field, AW_FIELD_QUIET, 0, &aw_switch_shape,
		"no lines on stderr of a run that goes well"},
	{"keep_descendants", read_field, AW_FIELD_KEEP, 0, &aw_switch_shape,
		"what the command has started may outlive it"},
	{"log", read_field, AW_FIELD_LOG, 0, &log_shape, "where events go"},
	{"filesystem", read_rules, RULES_FILES, ANYWHERE, &aw_files_shape,
		"what may be read and changed"},
	{"exec", read_rules, RULES_EXEC, ANYWHERE, &aw_exec_shape, "what may be run"},
	{"network", read_rules, RULES_NETWORK, ANYWHERE, &aw_network_shape,
		"what may be connected to and listened on"},
	{"environment", read_environment, 0, ANYWHERE, &aw_environment_shape,
		"which variables the command sees"},
	{"ask", aw_ask_read, 0, 0, &aw_ask_shape,
		"how long a question waits for an answer"},
	{"merge", aw_merge_read, 0, 0, &merge_shape,
		"on the layers below, or in their place"},
	{"preset", aw_preset_read, 0, AW_KEY_PRESET, &presets_shape,
		"rules that ship with agentwatch, below those of all files"},
	{"limits", aw_limits_read, 0, AW_KEY_UNTRUSTED, &aw_limits_shape,
		"how much the command and its descendants may use"},
	{"container", NULL, 0, AW_KEY_LATER, NULL, NULL},
	{"user", NULL, 0, AW_KEY_LATER, NULL, NULL},
	{"host_commands", NULL, 0, AW_KEY_LATER, NULL, NULL},
	{"profiles", aw_profiles_read, 0, AW_KEY_UNTRUSTED, &aw_profiles_shape,
		"tighter policies for MCP servers and commands"},
	{"hooks", NULL, 0, AW_KEY_LATER, NULL, NULL},
	{"restricted_runners", aw_runners_read, 0, AW_KEY_UNTRUSTED, &aw_runners_shape,
		"rules that count for one runner alone"},
	{"restricted_runner", aw_older_runner_read, 0, AW_KEY_UNTRUSTED,
		&aw_older_runner_shape,
		"an older form of `runner` and `restricted_runners`, read with a "
		"warning"},
	{"protections", aw_protections_read, 0, AW_KEY_PRESET, &aw_protections_shape,
		"what is refused without a word in any file; off switches it off"},
	{"tests", aw_tests_read, 0, ANYWHERE, &aw_tests_shape,
		"what `policy test` expects"},
	{"agents", aw_agents_read, 0, AW_KEY_TOP, &agents_shape,
		"a policy for each agent, right above this file"},
	{"intersect", aw_intersect_read, 0, AW_KEY_TOP, &aw_intersect_shape,
		"what is judged apart, as policy show prints it"},
	{NULL, NULL, 0, 0, NULL, NULL},
};

const struct aw_shape aw_document_shape = {
	.kind = AW_SHAPE_MAP, .keys = aw_document_keys};
