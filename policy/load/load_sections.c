/* SPDX-License-Identifier: Apache-2.0 */
/* load_sections.c - the sections of rules, as tables. */
#include <stdlib.h>
#include <string.h>

#include "policy/array.h"
#include "policy/load/load_internal.h"

static const char *const file_words[] = {"allow", "read-only", "deny", NULL};
static const char *const words[] = {"allow", "deny", NULL};

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

static void read_default(struct aw_loader *l, const struct aw_node *value, int rules)
{
	static const char *const keys[] = {
		"filesystem.default", "exec.default", "network.default"};
	struct aw_image_stratum *stratum = &l->draft.strata[l->stratum];
	int word = aw_word_read(l, value, rules == AW_RULES_FILES ? file_words : words);
	char key[256];
	uint8_t how;

	if (word < 0)
		return;
	if (rules == AW_RULES_FILES)
		how = (uint8_t)word;
	else
		how = word ? AW_DEFAULT_DENY : AW_DEFAULT_ALLOW;
	if (rules == AW_RULES_FILES)
		stratum->files = how;
	else if (rules == AW_RULES_EXEC)
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
		"paths of the host that a sandbox shows, perhaps elsewhere"},
	{"default", read_default, AW_RULES_FILES, AW_KEY_UNTRUSTED, &file_default_shape,
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
	{"default", read_default, AW_RULES_EXEC, AW_KEY_UNTRUSTED, &default_shape,
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
	{"default", read_default, AW_RULES_NETWORK, AW_KEY_UNTRUSTED, &default_shape,
		"what holds where no list says anything; the base's when not given"},
	{"allow", aw_net_list_read, AW_LIST_NET_ALLOW, ANYWHERE, &addresses_shape,
		"may be connected and sent to"},
	{"deny", aw_net_list_read, AW_LIST_NET_DENY, ANYWHERE, &addresses_shape,
		"may be neither connected nor sent to, nor looked up when a name for all ports"},
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
	int word = aw_word_read(l, value, aw_switch_words);

	(void)argument;
	if (word < 0)
		return;
	if (l->base.redirect_home && !word) {
		aw_warn(l, value,
			"'redirect_home: false' is ignored: the system policy says true");
		return;
	}
	l->policy.redirect_home = word;
	aw_origin_add(l, value, "redirect_home", aw_switch_words[word]);
}

static const struct aw_key environment_keys[] = {
	{"inherit", aw_inherit_read, 0, 0, &aw_inherit_shape,
		"variables that the command gets; all when not given"},
	{"unset", aw_unset_read, 0, ANYWHERE, &names_shape,
		"variables that it does not get; stronger than inherit, !NAME lets one through"},
	{"set", aw_set_read, 0, 0, &aw_settings_shape,
		"variables with values of their own"},
	{"redirect_home", read_redirect_home, 0, 0, &aw_switch_shape,
		"true: a sandbox gives the command a home of the session's own"},
	{NULL, NULL, 0, 0, NULL, NULL},
};

void aw_rules_read(struct aw_loader *l, const struct aw_node *value, int rules)
{
	static const struct {
		const char *name;
		const struct aw_key *keys;
	} sections[] = {
		[AW_RULES_FILES] = {"filesystem", file_keys},
		[AW_RULES_EXEC] = {"exec", exec_keys},
		[AW_RULES_NETWORK] = {"network", network_keys},
	};

	aw_keys_read(l, value, sections[rules].name, sections[rules].keys);
}

void aw_environment_read(struct aw_loader *l, const struct aw_node *value, int argument)
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

/* A sandbox is the same for all of a session, and so is the command's environment. */
const struct aw_key aw_profile_sections[] = {
	{"when", aw_profile_when_read, 0, AW_KEY_UNTRUSTED, &aw_when_shape,
		"what enters it; one is enough"},
	{"filesystem", aw_rules_read, AW_RULES_FILES, AW_KEY_UNTRUSTED,
		&profile_files_shape, "as above, without expose"},
	{"exec", aw_rules_read, AW_RULES_EXEC, AW_KEY_UNTRUSTED, &aw_exec_shape,
		"as above"},
	{"network", aw_rules_read, AW_RULES_NETWORK, AW_KEY_UNTRUSTED,
		&profile_network_shape, "as above: default and lists"},
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
		{"filesystem", aw_rules_read, AW_RULES_FILES},
		{"exec", aw_rules_read, AW_RULES_EXEC},
		{"network", aw_rules_read, AW_RULES_NETWORK},
		{"environment", aw_environment_read, 0},
		{"limits", aw_limits_read, 0},
		{"profiles", aw_profiles_read, 0},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sections); i++)
		if (strcmp(sections[i].name, name) == 0)
			sections[i].read(l, value, sections[i].argument);
}
