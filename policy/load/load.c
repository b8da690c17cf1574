/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.c - reading all sources, then one image.
 *
 * Every file is read once.  Which sections for runners count is known when all files
 * have been gone over; where there are any they are gone over a second time.
 */
#include "policy/load/load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/load/load_internal.h"

/* A file that has been read; without a tree it has been complained about. */
struct document {
	const struct aw_policy_source *source;
	struct aw_tree tree;
	bool good;
};

/* What is the same in every pass. */
struct loading {
	const struct aw_policy_variables *variables;
	const struct aw_policy_source *sources;
	struct document *documents; /* owned; count of them */
	size_t count;
	enum aw_mode mode;
	bool force_mode;
};

static enum aw_stratum stratum_of(enum aw_trust trust)
{
	return trust == AW_SYSTEM      ? AW_STRATUM_SYSTEM
	       : trust == AW_UNTRUSTED ? AW_STRATUM_UNTRUSTED
				       : AW_STRATUM_TRUSTED;
}

/* Lists that admit change nothing where everything is admitted anyway. */
static void warn_about_idle_lists(struct aw_loader *l)
{
	static const struct {
		enum aw_list list;
		unsigned rules;
		const char *key, *section;
	} lists[] = {
		{AW_LIST_WRITE, 0, "filesystem.write", "filesystem"},
		{AW_LIST_EXEC_ALLOW, 1, "exec.allow", "exec"},
		{AW_LIST_NET_ALLOW, 2, "network.allow", "network"},
	};
	bool told[AW_STRATA_MAX][3] = {{false}};
	struct aw_policy_source source = {NULL, NULL, AW_TRUSTED};
	size_t i, j;

	for (i = 0; i < l->draft.count; i++) {
		const struct aw_draft_entry *e = &l->draft.entries[i];

		for (j = 0; j < 3; j++) {
			if (e->list != lists[j].list || told[e->stratum][j] ||
				e->rank != AW_RANK_FILE ||
				aw_default_built_in(l, e->stratum, lists[j].rules) ||
				l->default_set[e->stratum][lists[j].rules])
				continue;
			told[e->stratum][j] = true;
			source.file = e->file;
			/* read by the report below, and by nobody after it */
			l->source = &source; /* cppcheck-suppress autoVariables */
			aw_report_at(l, e->line, e->column, true,
				"'%s' restricts nothing: '%s.default' is not set, "
				"which means allow",
				lists[j].key, lists[j].section);
		}
	}
}

/* Was something in the judged file not believed? */
static bool was_doubted(const struct aw_loader *l)
{
	const struct aw_diagnostics *d = l->diagnostics;
	size_t i;

	for (i = 0; i < d->count; i++)
		if (aw_is_judged(l, d->items[i].file) &&
			strstr(d->items[i].text, "not trusted"))
			return true;
	return false;
}

/* What there is to say about a file whose trust was judged, once the mode is known. */
static void tell_judgement(struct aw_loader *l)
{
	const struct aw_policy_judged *judged = l->variables->judged;
	const struct aw_policy_source *before = l->source;
	const struct aw_policy_source source = {
		judged ? judged->file : NULL, "workspace", AW_UNTRUSTED};

	if (!source.file)
		return;
	l->source = &source; /* cppcheck-suppress autoVariables */
	if (judged->complaint)
		aw_report_at(l, 1, 1, !judged->fatal || l->policy.mode == AW_AUDIT,
			"%s", judged->complaint);
	else if (judged->advice && was_doubted(l))
		aw_report_at(l, 1, 1, true, "%s", judged->advice);
	l->source = before;
}

/* Flags win over files, but not over what the system policy enforces. */
static void settle_mode(struct aw_loader *l, const struct loading *loading)
{
	if (loading->force_mode &&
		!(l->policy.fixed & (1u << AW_FIELD_MODE) && l->policy.mode_set))
		l->policy.mode = loading->mode;
}

static const char *runner_of(const struct aw_loader *l, const struct loading *loading)
{
	const struct aw_policy *p = &l->policy;
	const struct aw_policy_variables *v = loading->variables;

	if (v->runner && !(p->fixed & (1u << AW_FIELD_RUNNER)))
		return v->runner;
	if (p->runner)
		return p->runner;
	if (!l->sections)
		return NULL;
	return v->default_runner ? v->default_runner(p->mode, p->base_kind) : "exec";
}

static void read_documents(struct aw_loader *l, const struct loading *loading)
{
	size_t i;

	aw_profiles_keep(l);
	l->policy.mode = loading->mode;
	aw_base_take(l);
	for (i = 0; i < loading->count; i++)
		l->system_named |= loading->documents[i].source->trust == AW_SYSTEM;
	for (i = 0; i < loading->count; i++) {
		const struct document *d = &loading->documents[i];

		l->source = d->source;
		l->stratum = stratum_of(d->source->trust);
		if (d->good)
			aw_document_read(l, d->tree.root);
		if (l->stratum == AW_STRATUM_SYSTEM)
			aw_base_take(l);
	}
	settle_mode(l, loading);
	aw_base_complete(l);
}

/* What follows from all files together. */
static void settle(struct aw_loader *l, const struct loading *loading)
{
	tell_judgement(l);
	aw_log_complete(l);
	aw_preset_pick(l);
	aw_implied_complete(l);
	warn_about_idle_lists(l);
	aw_limits_complete(l);
	aw_builtin_add(l);
	aw_protections_add(l, loading->sources, loading->count);
	aw_variable_names_complete(l);
}

static int compile(struct aw_loader *l)
{
	static const struct aw_policy_source none = {"policy", "built-in", AW_TRUSTED};
	struct aw_error err;
	unsigned i;

	l->source = &none;
	l->draft.mode = l->policy.mode;
	for (i = 0; i < l->policy.profile_count; i++)
		l->draft.profiles[i] = l->policy.profiles[i].name;
	l->draft.profile_count = l->policy.profile_count;
	aw_draft_order(&l->draft);
	aw_shown_add(l);
	if (aw_draft_compile(&l->draft, &l->policy.image, &l->policy.image_size, &err) <
		0)
		aw_report_at(l, 1, 1, false, "%s", err.text);
	aw_places_fill(l);
	return l->policy.image ? 0 : -1;
}

/* Go over all files, with the sections for this runner; NULL: with none of them. */
static void pass(struct aw_loader *l, const struct loading *loading, const char *runner)
{
	*l = (struct aw_loader){.variables = loading->variables,
		.keys = aw_document_shape.keys,
		.diagnostics = l->diagnostics,
		.runner = runner,
		.policy.network.refusal = EACCES,
		.failed = l->failed};
	read_documents(l, loading);
}

/* Forget what was said behind the first `count` messages. */
static void forget(struct aw_diagnostics *d, size_t count, size_t errors)
{
	while (d->count > count) {
		free(d->items[--d->count].file);
		free(d->items[d->count].text);
	}
	d->errors = errors;
}

/* Takes runner, which is owned or NULL. */
static void keep_runner(struct aw_loader *l, char *runner)
{
	if (runner && l->sections)
		l->policy.sections = aw_copy(l, runner);
	l->policy.runner_shown = runner;
	l->runner = NULL; /* it may have been the same text */
}

/* The runner may be known from the start, and mostly nobody has sections for one. */
static void read_all(struct aw_loader *l, const struct loading *loading)
{
	size_t count = l->diagnostics->count, errors = l->diagnostics->errors;
	const char *named = loading->variables->runner, *now;
	char *runner;

	pass(l, loading, named);
	now = runner_of(l, loading);
	runner = now ? aw_copy(l, now) : NULL;
	if (l->sections && runner && (!named || strcmp(named, runner) != 0)) {
		aw_loader_release(l);
		aw_policy_release(&l->policy);
		forget(l->diagnostics, count, errors);
		pass(l, loading, runner);
	}
	keep_runner(l, runner);
}

static void read_sources(struct aw_loader *l, struct loading *loading)
{
	size_t i;

	for (i = 0; i < loading->count; i++) {
		struct document *d = &loading->documents[i];

		d->source = l->source = &loading->sources[i];
		d->good = aw_source_read(l, &d->tree);
	}
}

static void free_documents(struct loading *loading)
{
	size_t i;

	for (i = 0; loading->documents && i < loading->count; i++)
		if (loading->documents[i].good)
			aw_tree_free(&loading->documents[i].tree);
	free(loading->documents);
}

int aw_policy_load(const struct aw_policy_source *sources, size_t count,
	const struct aw_policy_variables *variables, enum aw_mode mode, bool force_mode,
	struct aw_policy *ret, struct aw_diagnostics *diagnostics)
{
	struct aw_loader l = {.variables = variables, .diagnostics = diagnostics};
	struct loading loading = {variables, sources, NULL, count, mode, force_mode};
	int result = -1;

	memset(diagnostics, 0, sizeof(*diagnostics));
	loading.documents = calloc(count + 1, sizeof(*loading.documents));
	if (loading.documents) {
		read_sources(&l, &loading);
		read_all(&l, &loading);
		settle(&l, &loading);
	}
	l.failed |= !loading.documents;
	if (!diagnostics->errors && !l.failed)
		result = compile(&l);
	if (l.failed)
		diagnostics->errors++;
	aw_loader_release(&l);
	free_documents(&loading);
	if (result < 0)
		aw_policy_release(&l.policy);
	else
		*ret = l.policy;
	return result;
}
