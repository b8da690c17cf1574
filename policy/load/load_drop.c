/* SPDX-License-Identifier: Apache-2.0 */
/* load_drop.c - forgetting what lower layers have said, and the loader at the end. */
#include <stdlib.h>
#include <string.h>

#include "policy/load/load_internal.h"

static void set_text(struct aw_loader *l, char **to, const char *from)
{
	free(*to);
	*to = from ? aw_copy(l, from) : NULL;
}

void aw_base_take(struct aw_loader *l)
{
	struct aw_base *base = &l->base;
	int i;

	for (i = 0; i < AW_FIELDS; i++)
		set_text(l, &base->fields[i], *aw_field_of(&l->policy, i));
	base->mode = l->policy.mode;
	base->mode_set = l->policy.mode_set;
	base->inherit_named = l->inherit_named;
	base->redirect_home = l->policy.redirect_home;
	base->unprotected = l->unprotected;
}

static void drop_entries(struct aw_loader *l)
{
	struct aw_draft *draft = &l->draft;
	size_t i, kept = 0;

	for (i = 0; i < draft->count; i++)
		if (aw_is_systems(l, draft->entries[i].stratum))
			draft->entries[kept++] = draft->entries[i];
		else
			aw_draft_entry_free(&draft->entries[i]);
	draft->count = kept;
}

static void drop_environment(struct aw_loader *l)
{
	struct aw_policy *p = &l->policy;
	size_t i, kept = 0;

	for (i = AW_STRATUM_TRUSTED; i <= AW_STRATUM_UNTRUSTED; i++) {
		struct aw_variable_rules *rules = &p->environment.rules[i];

		aw_variable_names_free(&rules->inherit);
		aw_variable_names_free(&rules->unset);
		rules->some = false;
	}
	for (i = 0; i < p->environment.set_count; i++) {
		struct aw_setting *s = &p->environment.set[i];

		if (s->system) {
			p->environment.set[kept++] = *s;
			continue;
		}
		free(s->name);
		free(s->value);
		free(s->text);
	}
	p->environment.set_count = kept;
	p->redirect_home = l->base.redirect_home;
}

static void drop_exposed(struct aw_policy *p)
{
	size_t i, kept = 0;

	for (i = 0; i < p->exposed_count; i++) {
		struct aw_exposed *e = &p->exposed[i];

		if (e->system)
			p->exposed[kept++] = *e;
		else
			aw_exposed_free(e);
	}
	p->exposed_count = kept;
}

static void drop_fields(struct aw_loader *l)
{
	int i;

	for (i = 0; i < AW_FIELDS; i++)
		set_text(l, aw_field_of(&l->policy, i), l->base.fields[i]);
	l->policy.mode = l->base.mode;
	l->policy.mode_set = l->base.mode_set;
	l->unprotected = l->base.unprotected;
}

static void drop_presets(struct aw_loader *l)
{
	struct aw_preset *p;

	for (p = l->presets; p; p = p->next)
		p->dropped |= p->stratum != AW_STRATUM_SYSTEM;
}

void aw_below_drop(struct aw_loader *l, bool fields)
{
	unsigned s;

	drop_entries(l);
	for (s = AW_STRATUM_TRUSTED; s <= AW_STRATUM_UNTRUSTED; s++) {
		memset(&l->limits[s], 0, sizeof(l->limits[s]));
		l->implied[s] = 0;
	}
	for (s = 0; s < AW_STRATA + l->policy.profile_count; s++) {
		if (aw_is_systems(l, (enum aw_stratum)s))
			continue;
		memset(&l->draft.strata[s], 0, sizeof(l->draft.strata[s]));
		memset(l->default_set[s], 0, sizeof(l->default_set[s]));
	}
	memset(l->loose_limits, 0, sizeof(l->loose_limits));
	if (!l->deadline_fixed)
		l->policy.ask_deadline = 0;
	aw_network_drop(l);
	drop_environment(l);
	drop_exposed(&l->policy);
	drop_presets(l);
	l->inherit_named = l->base.inherit_named;
	l->no_preset = false;
	l->unset_presets = l->unset_built_in = 0;
	if (fields) {
		drop_fields(l);
		l->replaced = true;
	}
	aw_origins_drop(l, fields);
}

static void free_presets(struct aw_loader *l)
{
	struct aw_preset *next;

	for (; l->presets; l->presets = next) {
		next = l->presets->next;
		free(l->presets->name);
		free(l->presets->file);
		free(l->presets);
	}
}

void aw_loader_release(struct aw_loader *l)
{
	int i;

	aw_draft_release(&l->draft);
	free_presets(l);
	for (i = 0; i < AW_FIELDS; i++) {
		free(l->base.fields[i]);
		l->base.fields[i] = NULL;
	}
}

void aw_redundant_read(struct aw_loader *l, const struct aw_node *node,
	void (*read)(struct aw_loader *l, const struct aw_node *node))
{
	struct aw_loader idle = {.source = l->source,
		.variables = l->variables,
		.keys = l->keys,
		.diagnostics = l->diagnostics,
		.stratum = l->stratum,
		.idle = true};

	read(&idle, node);
	l->failed |= idle.failed;
	aw_loader_release(&idle);
	aw_policy_release(&idle.policy);
}
