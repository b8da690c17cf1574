/* SPDX-License-Identifier: Apache-2.0 */
/* load_builtin.c - what holds without a word in any file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/load_internal.h"

static const struct aw_policy_source built_in = {"built-in", "built-in", AW_TRUSTED};

/*
 * Hardly a program works without these, so a default that is stricter than "allow" does
 * not take them away.  A deny does: it comes before write.
 */
static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/full",
	"/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts", "/dev/shm",
	"/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/proc/self",
	"/proc/thread-self", "/proc/*/comm", "/proc/*/task/*/comm",
	"/proc/*/oom_score_adj", "/proc/*/coredump_filter",
	/* debuggers; of the session's processes alone, see hand_judge.c */
	"/proc/*/mem", "/proc/*/task/*/mem", NULL};

/* Where a command may work when nobody says where. */
static const struct {
	enum aw_list list;
	const char *text;
} places[] = {
	{AW_LIST_WRITE, "$WORKSPACE"},
	{AW_LIST_WRITE, "$TMPDIR"},
	{AW_LIST_NET_ALLOW, "unix:$WORKSPACE"},
	{AW_LIST_NET_LISTEN, "unix:$WORKSPACE"},
	{AW_LIST_NET_LISTEN, "unix:$TMPDIR"},
};

/* A folder of the command's own, whatever signs its name has. */
static void add_folder(struct aw_loader *l, const char *folder)
{
	char *text = aw_path_quoted(l, folder);
	int s;

	for (s = 0; text && s < AW_STRATA + (int)l->policy.profile_count; s++)
		aw_built_in_entry(l, (enum aw_stratum)s, AW_LIST_WRITE,
			AW_RANK_BUILT_IN, text, 1);
	free(text);
}

/* Whoever speaks to the proxy is judged there; what is denied here stays denied. */
static void add_proxy(struct aw_loader *l, unsigned port)
{
	char text[32];
	int s;

	snprintf(text, sizeof(text), "127.0.0.1:%u", port);
	for (s = 0; s < AW_STRATA + (int)l->policy.profile_count; s++)
		if (l->draft.strata[s].network != AW_DEFAULT_ALLOW)
			aw_built_in_entry(l, (enum aw_stratum)s, AW_LIST_NET_ALLOW,
				AW_RANK_BASE, text, 1);
}

/*
 * Names of variables that carry credentials, in enforce where no file says which are
 * inherited.  A preset or a file lets one through with "!NAME" in `unset`.
 */
static const char *const credentials[] = {"*_TOKEN", "*_SECRET", "*_SECRET_KEY",
	"*_SECRET_ACCESS_KEY", "*_CLIENT_SECRET", "*_PASSWORD", "*_PASSWD",
	"*_PASSPHRASE", "*_API_KEY", "*_APIKEY", "*_API_TOKEN", "*_ACCESS_KEY",
	"*_ACCESS_KEY_ID", "*_PRIVATE_KEY", "*_CREDENTIALS", "*_AUTH_CONFIG", "*_PAT",
	"AWS_*", "!AWS_REGION", "!AWS_DEFAULT_REGION", "AZURE_*", "ARM_CLIENT_*",
	"ARM_ACCESS_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CREDENTIALS",
	"CLOUDSDK_AUTH_*", "VAULT_*", "PGPASSWORD", "PGPASSFILE", "MYSQL_PWD",
	"REDISCLI_AUTH", "npm_config__auth*", "NPM_CONFIG__AUTH*", "npm_config_//*",
	"GPG_AGENT_INFO", "SSH_AUTH_SOCK", NULL};

bool aw_default_built_in(const struct aw_loader *l, unsigned rules)
{
	return rules != 1 && !l->default_set[AW_STRATUM_TRUSTED][rules] &&
	       (!l->rules_named || l->preset_used);
}

struct aw_draft_entry *aw_built_in_entry(struct aw_loader *l, enum aw_stratum stratum,
	enum aw_list list, enum aw_rank rank, const char *text, unsigned line)
{
	const struct aw_node at = {
		.kind = AW_NODE_TEXT, .line = line, .column = 1, .text = (char *)text};
	struct aw_draft_entry *entry;

	l->source = &built_in;
	entry = aw_draft_add(&l->draft);
	if (!entry)
		return NULL;
	entry->stratum = stratum;
	entry->list = list;
	entry->rank = rank;
	entry->file = entry->layer = built_in.file;
	entry->line = line;
	entry->column = 1;
	entry->text = aw_copy(l, text);
	if (!entry->text) {
		l->draft.count--;
		return NULL;
	}
	if (list >= AW_LIST_NET_DENY)
		aw_net_parse(l, &at, entry, text);
	else
		entry->pattern = aw_pattern_read(l, &at, text);
	return entry;
}

static bool has_value(const struct aw_loader *l, const char *text)
{
	const struct aw_policy_variables *v = l->variables;
	const char *value = strstr(text, "$WORKSPACE") ? v->workspace : v->tmpdir;

	return value && value[0] == '/';
}

static void add_places(struct aw_loader *l)
{
	static const unsigned sections[] = {
		[AW_LIST_WRITE] = 0, [AW_LIST_NET_ALLOW] = 2, [AW_LIST_NET_LISTEN] = 2};
	char *git =
		l->variables->git_dir ? aw_path_quoted(l, l->variables->git_dir) : NULL;
	unsigned i;

	for (i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (aw_default_built_in(l, sections[places[i].list]) &&
			has_value(l, places[i].text))
			aw_built_in_entry(l, AW_STRATUM_TRUSTED, places[i].list,
				AW_RANK_BUILT_IN, places[i].text, i + 1);
	if (git && aw_default_built_in(l, 0))
		aw_built_in_entry(l, AW_STRATUM_TRUSTED, AW_LIST_WRITE,
			AW_RANK_BUILT_IN, git, i + 1);
	free(git);
}

static void set_defaults(struct aw_loader *l)
{
	struct aw_image_stratum *trusted = &l->draft.strata[AW_STRATUM_TRUSTED];

	if (aw_default_built_in(l, 0))
		trusted->files = AW_DEFAULT_READ_ONLY;
	if (aw_default_built_in(l, 2))
		trusted->network = AW_DEFAULT_DENY;
}

static void unset_credentials(struct aw_loader *l)
{
	size_t i;

	if (l->policy.mode != AW_ENFORCE || l->inherit_named ||
		(l->rules_named && !l->preset_used))
		return;
	l->source = &built_in;
	for (i = 0; credentials[i]; i++)
		aw_unset_add(l, credentials[i]);
}

/*
 * What presets let be listened on counts where something is refused; a list of its own
 * it is then.
 */
static void settle_listening(struct aw_loader *l)
{
	size_t i, kept = 0;

	for (i = 0; i < l->draft.count; i++) {
		struct aw_draft_entry *e = &l->draft.entries[i];
		struct aw_image_stratum *s = &l->draft.strata[e->stratum];

		if (e->list == AW_LIST_NET_LISTEN && !s->listen &&
			s->network == AW_DEFAULT_ALLOW) {
			aw_draft_entry_free(e);
			continue;
		}
		if (e->list == AW_LIST_NET_LISTEN)
			s->listen = 1;
		l->draft.entries[kept++] = *e;
	}
	l->draft.count = kept;
}

void aw_builtin_add(struct aw_loader *l)
{
	unsigned i;
	int s;

	set_defaults(l);
	add_places(l);
	for (s = 0; s < AW_STRATA + (int)l->policy.profile_count; s++)
		for (i = 0; devices[i] && l->draft.strata[s].files != AW_DEFAULT_ALLOW;
			i++)
			aw_built_in_entry(l, (enum aw_stratum)s, AW_LIST_WRITE,
				AW_RANK_BASE, devices[i], i + 10);
	if (l->variables->instance)
		add_folder(l, l->variables->instance);
	if (l->variables->proxy)
		add_proxy(l, l->variables->proxy);
	unset_credentials(l);
	settle_listening(l);
}
