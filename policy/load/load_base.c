/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_base.c - what lies below all files: closed, unless somebody trusted opens it.
 *
 * The lists of files are added to those here; a default, a runner or an inherited
 * environment that a trusted file names takes the place of the base's.
 */
#include <stdlib.h>
#include <string.h>

#include "policy/load/load_internal.h"

/*
 * Names of variables that carry credentials, in enforce where no file says which are
 * inherited.  A preset or a file lets one through with "!NAME" in `unset`.
 */
static const char *const credentials[] = {"*_TOKEN", "*_SECRET", "*_SECRET_KEY",
	"*_SECRET_ACCESS_KEY", "*_CLIENT_SECRET", "*_PASSWORD", "*_PASSWD",
	"*_PASSPHRASE", "*_API_KEY", "*_APIKEY", "*_API_TOKEN", "*_ACCESS_KEY",
	"*_ACCESS_KEY_ID", "*_PRIVATE_KEY", "*_CREDENTIALS", "*_AUTH_CONFIG", "*_PAT",
	"AWS_*", "!AWS_REGION", "!AWS_DEFAULT_REGION", "!AWS_PROFILE", "!AWS_PAGER",
	"!AWS_CA_BUNDLE", "AZURE_*", "ARM_CLIENT_*", "ARM_ACCESS_KEY",
	"GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CREDENTIALS", "CLOUDSDK_AUTH_*",
	"VAULT_*", "PGPASSWORD", "PGPASSFILE", "MYSQL_PWD", "REDISCLI_AUTH",
	"npm_config__auth*", "NPM_CONFIG__AUTH*", "npm_config_//*", "GPG_AGENT_INFO",
	"SSH_AUTH_SOCK", NULL};

static enum aw_base_kind kind_of(const char *word)
{
	unsigned i;

	for (i = 0; word && aw_base_words[i]; i++)
		if (strcmp(aw_base_words[i], word) == 0)
			return (enum aw_base_kind)i;
	return AW_BASE_WORKSPACE;
}

/* A flag wins over the files, and the system policy over both. */
void aw_base_complete(struct aw_loader *l)
{
	struct aw_policy *p = &l->policy;
	bool fixed = p->fixed & (1u << AW_FIELD_BASE);
	const char *flag = fixed ? NULL : l->variables->base;

	p->base_kind = kind_of(flag ? flag : p->base);
	p->base_replaced = l->replaced && !flag && !fixed;
}

bool aw_base_closed(const struct aw_loader *l)
{
	return l->policy.base_kind != AW_BASE_OPEN && !l->policy.base_replaced;
}

bool aw_default_built_in(
	const struct aw_loader *l, enum aw_stratum stratum, unsigned rules)
{
	if (rules == AW_RULES_EXEC || !aw_base_closed(l))
		return false;
	/* what the system policy admits is added to the base, too */
	return stratum == AW_STRATUM_SYSTEM ||
	       (stratum == AW_STRATUM_TRUSTED && !l->default_set[stratum][rules]);
}

/* --- files and sockets --- */

static void add(struct aw_loader *l, enum aw_list list, const char *text, unsigned line)
{
	if (text)
		aw_built_in_entry(
			l, AW_STRATUM_TRUSTED, list, AW_RANK_BUILT_IN, text, line);
}

static bool is_below(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	return strncmp(path, folder, len) == 0 && (path[len] == '/' || !path[len]);
}

/* Not writable even where the temporary directory is around it. */
static void close_workspace(struct aw_loader *l, const char *tmpdir)
{
	const struct aw_policy_variables *v = l->variables;
	bool inside = tmpdir && is_below(v->tmpdir, v->workspace);

	add(l, AW_LIST_READ, "$WORKSPACE", 7);
	add(l, AW_LIST_WRITE, inside ? "!$WORKSPACE" : tmpdir, 1);
	add(l, AW_LIST_WRITE, inside ? tmpdir : "!$WORKSPACE", 2);
}

static void add_places(struct aw_loader *l)
{
	const struct aw_policy_variables *v = l->variables;
	bool workspace = v->workspace && v->workspace[0] == '/';
	const char *tmpdir = v->tmpdir && v->tmpdir[0] == '/' ? "$TMPDIR" : NULL;
	char *git;

	if (tmpdir)
		add(l, AW_LIST_NET_LISTEN, "unix:$TMPDIR", 5);
	if (workspace && l->policy.base_kind == AW_BASE_READ_ONLY) {
		close_workspace(l, tmpdir);
		return;
	}
	add(l, AW_LIST_WRITE, workspace ? "$WORKSPACE" : NULL, 1);
	add(l, AW_LIST_WRITE, tmpdir, 2);
	if (!workspace || l->policy.base_kind != AW_BASE_WORKSPACE)
		return;
	add(l, AW_LIST_NET_ALLOW, "unix:$WORKSPACE", 3);
	add(l, AW_LIST_NET_LISTEN, "unix:$WORKSPACE", 4);
	git = v->git_dir ? aw_path_quoted(l, v->git_dir) : NULL;
	add(l, AW_LIST_WRITE, git, 6);
	free(git);
}

/* --- what the system policy admits --- */

/*
 * The system policy is judged apart and can only tighten; what it admits would mean
 * nothing above a closed base.  So that is added to the base, below all other files.
 */
static bool admits(enum aw_list list)
{
	return list == AW_LIST_ASK || list == AW_LIST_WRITE || list == AW_LIST_READ ||
	       list == AW_LIST_NET_ASK || list == AW_LIST_NET_ALLOW ||
	       list == AW_LIST_NET_LISTEN;
}

static void copy_entry(struct aw_loader *l, size_t at)
{
	struct aw_draft_entry *to = aw_draft_add(&l->draft);
	const struct aw_draft_entry *from = &l->draft.entries[at];

	if (!to)
		return;
	aw_draft_like(to, from);
	to->stratum = AW_STRATUM_TRUSTED;
	to->rank = from->rank == AW_RANK_FILE ? AW_RANK_BUILT_IN : from->rank;
	to->text = aw_copy(l, from->text);
	to->pattern = from->pattern ? aw_copy(l, from->pattern) : NULL;
	to->nets = from->net_count ? aw_new(l, from->net_count, sizeof(*from->nets))
				   : NULL;
	if (!to->text || (from->pattern && !to->pattern) ||
		(from->net_count && !to->nets)) {
		aw_entry_drop(l);
		return;
	}
	if (to->nets)
		memcpy(to->nets, from->nets, from->net_count * sizeof(*from->nets));
	to->net_count = from->net_count;
}

static void add_systems(struct aw_loader *l)
{
	size_t i, count = l->draft.count;

	for (i = 0; i < count; i++)
		if (l->draft.entries[i].stratum == AW_STRATUM_SYSTEM &&
			admits(l->draft.entries[i].list))
			copy_entry(l, i);
}

/* --- defaults and variables --- */

static void set_defaults(struct aw_loader *l)
{
	struct aw_image_stratum *trusted = &l->draft.strata[AW_STRATUM_TRUSTED];
	const struct aw_image_stratum *system = &l->draft.strata[AW_STRATUM_SYSTEM];
	const bool *said = l->default_set[AW_STRATUM_TRUSTED];
	const bool *fixed = l->default_set[AW_STRATUM_SYSTEM];

	if (!said[AW_RULES_FILES])
		trusted->files =
			fixed[AW_RULES_FILES] ? system->files : AW_DEFAULT_READ_ONLY;
	if (!said[AW_RULES_NETWORK])
		trusted->network =
			fixed[AW_RULES_NETWORK] ? system->network : AW_DEFAULT_DENY;
}

/* In audit the program sees the variables that it would see without us. */
static void unset_credentials(struct aw_loader *l)
{
	size_t i;

	if (l->policy.mode != AW_ENFORCE || l->inherit_named)
		return;
	for (i = 0; credentials[i]; i++)
		aw_unset_add(l, credentials[i]);
}

void aw_base_defaults(struct aw_loader *l)
{
	if (aw_base_closed(l))
		set_defaults(l);
}

void aw_base_add(struct aw_loader *l)
{
	if (!aw_base_closed(l))
		return;
	add_places(l);
	add_systems(l);
	aw_built_in_source(l);
	unset_credentials(l);
}
