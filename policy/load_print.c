/* SPDX-License-Identifier: Apache-2.0 */
/* load_print.c - the effective policy, entry by entry, with where it came from. */
#include <stdlib.h>
#include <string.h>

#include "policy/load_internal.h"

static const char *const list_keys[AW_LISTS] = {
	[AW_LIST_HIDE] = "hide",
	[AW_LIST_DENY] = "deny",
	[AW_LIST_DENY_WRITE] = "deny_write",
	[AW_LIST_ASK] = "ask",
	[AW_LIST_WRITE] = "write",
	[AW_LIST_READ] = "read",
	[AW_LIST_EXEC_DENY] = "deny",
	[AW_LIST_EXEC_ASK] = "ask",
	[AW_LIST_EXEC_ALLOW] = "allow",
	[AW_LIST_NET_DENY] = "deny",
	[AW_LIST_NET_ASK] = "ask",
	[AW_LIST_NET_ALLOW] = "allow",
	[AW_LIST_NET_LISTEN] = "listen",
};

static const char *const default_words[] = {"allow", "read-only", "deny"};

static const char *const stratum_notes[AW_STRATA] = {
	[AW_STRATUM_SYSTEM] = "the system policy: nothing below can loosen it",
	[AW_STRATUM_TRUSTED] = "the trusted policy",
	[AW_STRATUM_UNTRUSTED] =
		"what files that are not trusted add: they can only tighten",
	[AW_STRATUM_PROTECTIONS] = "what is protected",
};

void aw_origin_add(struct aw_loader *l, const struct aw_node *at, const char *key,
	const char *value)
{
	char what[512], where[512];
	struct aw_origin *origin;

	snprintf(what, sizeof(what), "%s=%s", key, value);
	snprintf(where, sizeof(where), "%s %s:%u", l->source->layer, l->source->file,
		at->line);
	origin = calloc(1, sizeof(*origin));
	if (!origin) {
		l->failed = true;
		return;
	}
	origin->what = aw_copy(l, what);
	origin->where = aw_copy(l, where);
	origin->next = l->policy.origins;
	l->policy.origins = origin;
}

/* A comment with the last origin of a value; without one it came from the caller. */
static void print_origin(
	const struct aw_policy *policy, const char *key, const char *value, FILE *out)
{
	const struct aw_origin *origin;
	char what[512];

	snprintf(what, sizeof(what), "%s=%s", key, value);
	for (origin = policy->origins; origin; origin = origin->next)
		if (origin->what && origin->where && strcmp(origin->what, what) == 0) {
			fputs("  # ", out);
			fputs(origin->where, out);
			break;
		}
	fputc('\n', out);
}

static void print_quoted(const char *text, FILE *out)
{
	fputc('"', out);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < ' ' || c == 0x7f)
			fprintf(out, "\\x%02x", c);
		else
			fputc(c, out);
	}
	fputc('"', out);
}

/* A path that is a value, not a pattern: its own "$" and "\\" are to be read as such.
 */
static void print_path(const char *path, FILE *out)
{
	char text[8192];
	size_t len = 0;

	for (; *path && len + 2 < sizeof(text); path++) {
		if (*path == '$' || *path == '\\')
			text[len++] = '\\';
		text[len++] = *path;
	}
	text[len] = '\0';
	print_quoted(text, out);
}

static void print_word(
	const struct aw_policy *policy, const char *key, const char *value, FILE *out)
{
	if (!value)
		return;
	fprintf(out, "%s: %s", key, value);
	print_origin(policy, key, value, out);
}

static bool entry_is(const struct aw_image_entry *e, unsigned stratum, unsigned list)
{
	return e->stratum == stratum && e->list == list;
}

static bool has_list(const struct aw_image *image, unsigned stratum, unsigned list)
{
	const struct aw_image_entry *e = aw_part_at(image, AW_PART_ENTRIES);
	uint32_t i;

	for (i = 0; i < image->parts[AW_PART_ENTRIES].count; i++)
		if (entry_is(&e[i], stratum, list))
			return true;
	return list == AW_LIST_NET_LISTEN && image->strata[stratum].listen;
}

void aw_list_print(const struct aw_image *image, unsigned stratum, enum aw_list list,
	const char *key, FILE *out)
{
	const struct aw_image_entry *e = aw_part_at(image, AW_PART_ENTRIES);
	struct aw_rule rule;
	uint32_t i;
	bool any = false;

	if (!has_list(image, stratum, list))
		return;
	fprintf(out, "  %s:", key);
	for (i = 0; i < image->parts[AW_PART_ENTRIES].count; i++) {
		if (!entry_is(&e[i], stratum, list) || !aw_image_rule(image, i, &rule))
			continue;
		fputs(any ? "    - " : "\n    - ", out);
		print_quoted(rule.text, out);
		fprintf(out, "  # %s %s:%u\n", rule.layer, rule.file,
			(unsigned)rule.line);
		any = true;
	}
	if (!any)
		fputs(" []\n", out);
}

static void print_section(const struct aw_policy *policy, unsigned stratum,
	const char *prefix, const char *name, unsigned how, enum aw_list first,
	enum aw_list last, FILE *out)
{
	char key[256];
	int list;

	snprintf(key, sizeof(key), "%s%s.default", prefix, name);
	fprintf(out, "%s:\n  default: %s", name, default_words[how]);
	print_origin(policy, key, default_words[how], out);
	for (list = first; list <= (int)last; list++)
		aw_list_print(policy->image, stratum, (enum aw_list)list,
			list_keys[list], out);
}

static void print_each(const struct aw_policy *policy, const char *key,
	char *const *names, size_t count, FILE *out)
{
	size_t i;

	for (i = 0; i < count; i++) {
		fputs("    - ", out);
		print_quoted(names[i], out);
		print_origin(policy, key, names[i], out);
	}
}

static void print_names(const struct aw_policy *policy, const char *key,
	char *const *names, size_t count, FILE *out)
{
	fprintf(out, "  %s:%s\n", key, count ? "" : " []");
	print_each(policy, key, names, count, out);
}

static void print_environment(const struct aw_policy *policy, FILE *out)
{
	size_t i;

	fputs("environment:\n", out);
	if (policy->environment.inherit_all) {
		fputs("  inherit: all", out);
		print_origin(policy, "inherit", "all", out);
	} else {
		print_names(policy, "inherit", policy->environment.inherit,
			policy->environment.inherit_count, out);
	}
	fprintf(out, "  unset:%s\n",
		policy->environment.unset_count + policy->environment.always_unset_count
			? ""
			: " []");
	print_each(policy, "unset", policy->environment.unset,
		policy->environment.unset_count, out);
	print_each(policy, "unset", policy->environment.always_unset,
		policy->environment.always_unset_count, out);
	if (policy->redirect_home) {
		fputs("  redirect_home: true", out);
		print_origin(policy, "redirect_home", "true", out);
	}
	if (policy->environment.set_count)
		fputs("  set:\n", out);
	for (i = 0; i < policy->environment.set_count; i++) {
		fputs("    ", out);
		print_quoted(policy->environment.set[i].name, out);
		fputs(": ", out);
		print_quoted(policy->environment.set[i].value, out);
		print_origin(policy, "set", policy->environment.set[i].name, out);
	}
}

static void print_exposed(const struct aw_policy *policy, FILE *out)
{
	size_t i;

	if (policy->exposed_count)
		fputs("  expose:\n", out);
	for (i = 0; i < policy->exposed_count; i++) {
		const struct aw_exposed *e = &policy->exposed[i];

		fputs("    - {source: ", out);
		print_path(e->source, out);
		fputs(", target: ", out);
		print_path(e->target, out);
		fprintf(out, ", mode: %s}", e->write ? "rw" : "ro");
		print_origin(policy, "expose", e->target, out);
	}
}

void aw_amount_text(double value, char *text, size_t size)
{
	snprintf(text, size,
		value >= 1 && value == (double)(uint64_t)value ? "%.0f" : "%.9f",
		value);
}

static void print_limit(
	const struct aw_policy *policy, const char *key, double value, FILE *out)
{
	char what[48];

	if (value <= 0)
		return;
	aw_amount_text(value, what, sizeof(what));
	fprintf(out, "  %s: %s", key, what);
	print_origin(policy, key, what, out);
}

static void print_limits(const struct aw_policy *policy, FILE *out)
{
	const struct aw_limits *l = &policy->limits;

	if (!l->memory && l->cpus <= 0 && !l->processes && !l->time && !l->open_files &&
		!l->file_size)
		return;
	fputs("limits:\n", out);
	print_limit(policy, "memory", (double)l->memory, out);
	print_limit(policy, "cpus", l->cpus, out);
	print_limit(policy, "processes", (double)l->processes, out);
	print_limit(policy, "time", (double)l->time, out);
	print_limit(policy, "open_files", (double)l->open_files, out);
	print_limit(policy, "file_size", (double)l->file_size, out);
}

/* Names that are off as a map that can be read again; all rules as comments. */
static void print_protections(const struct aw_policy *policy, FILE *out)
{
	const struct aw_image *image = policy->image;
	const struct aw_image_entry *e = aw_part_at(image, AW_PART_ENTRIES);
	struct aw_rule rule;
	char key[64];
	uint32_t i;

	fputs(policy->unprotected ? "protections:\n" : "protections: on\n", out);
	for (i = 0; aw_protection_name(i); i++) {
		if (!(policy->unprotected & (1u << i)))
			continue;
		fprintf(out, "  %s: off", aw_protection_name(i));
		snprintf(key, sizeof(key), "protections.%s", aw_protection_name(i));
		print_origin(policy, key, "off", out);
	}
	for (i = 0; i < image->parts[AW_PART_ENTRIES].count; i++)
		if (e[i].stratum == AW_STRATUM_PROTECTIONS &&
			aw_image_rule(image, i, &rule)) {
			fprintf(out, "#   %s  ",
				e[i].list == AW_LIST_DENY_WRITE ? "deny_write"
				: e[i].list == AW_LIST_DENY	? "deny"
								: "connect");
			print_quoted(rule.text, out);
			fprintf(out, "  # %s:%u\n", rule.file, (unsigned)rule.line);
		}
}

static void print_presets(const struct aw_policy *policy, FILE *out)
{
	const struct aw_origin *o;

	if (policy->picked)
		fprintf(out, "# preset %s was chosen by the command's name\n",
			policy->picked);
	for (o = policy->origins; o; o = o->next)
		if (o->what && strncmp(o->what, "preset=", 7) == 0 &&
			strncmp(o->where, "built-in", 8) != 0)
			fprintf(out, "# preset %s  # %s\n", o->what + 7, o->where);
}

static bool says_anything(const struct aw_policy *policy, unsigned stratum)
{
	const enum aw_trust trust =
		stratum == AW_STRATUM_SYSTEM ? AW_SYSTEM : AW_UNTRUSTED;
	const struct aw_image *image = policy->image;
	const struct aw_image_stratum *s = &image->strata[stratum];
	unsigned list;

	if (s->files || s->exec || s->network || s->listen)
		return true;
	for (list = 0; list < policy->profile_count; list++)
		if (policy->profiles[list].trust == trust)
			return true;
	for (list = 0; list < AW_LISTS; list++)
		if (has_list(image, stratum, list))
			return true;
	return false;
}

void aw_rules_print(
	const struct aw_policy *policy, unsigned stratum, const char *prefix, FILE *out)
{
	const struct aw_image *image = policy->image;
	const struct aw_image_stratum *s = &image->strata[stratum];

	print_section(policy, stratum, prefix, "filesystem", s->files, AW_LIST_HIDE,
		AW_LIST_READ, out);
	if (stratum == AW_STRATUM_TRUSTED)
		print_exposed(policy, out);
	print_section(policy, stratum, prefix, "exec", s->exec, AW_LIST_EXEC_DENY,
		AW_LIST_EXEC_ALLOW, out);
	print_section(policy, stratum, prefix, "network", s->network, AW_LIST_NET_DENY,
		AW_LIST_NET_LISTEN, out);
}

static void print_stratum(const struct aw_policy *policy, unsigned stratum, FILE *out)
{
	static const enum aw_trust trusts[AW_STRATA] = {
		[AW_STRATUM_SYSTEM] = AW_SYSTEM, [AW_STRATUM_UNTRUSTED] = AW_UNTRUSTED};

	fprintf(out, "# %s\n", stratum_notes[stratum]);
	aw_rules_print(policy, stratum, "", out);
	aw_profiles_print(policy, trusts[stratum], out);
}

/* Policies that are intersected are documents of their own; the strictest one holds. */
void aw_policy_print(const struct aw_policy *policy, FILE *out)
{
	static const unsigned others[] = {AW_STRATUM_SYSTEM, AW_STRATUM_UNTRUSTED};
	size_t i;

	fputs("version: 1\n", out);
	print_word(
		policy, "mode", policy->mode == AW_ENFORCE ? "enforce" : "audit", out);
	print_word(policy, "runner", policy->runner, out);
	print_word(policy, "engine", policy->engine, out);
	print_word(policy, "verdicts", policy->verdicts, out);
	print_word(policy, "on_missing_runner", policy->on_missing_runner, out);
	print_presets(policy, out);
	print_protections(policy, out);
	print_limits(policy, out);
	print_stratum(policy, AW_STRATUM_TRUSTED, out);
	print_environment(policy, out);
	for (i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (says_anything(policy, others[i])) {
			fputs("---\nversion: 1\n", out);
			print_stratum(policy, others[i], out);
		}
}

static void free_names(char **names, size_t count)
{
	while (count > 0)
		free(names[--count]);
	free(names);
}

void aw_policy_release(struct aw_policy *policy)
{
	struct aw_origin *origin, *next;
	size_t i;

	for (origin = policy->origins; origin; origin = next) {
		next = origin->next;
		free(origin->what);
		free(origin->where);
		free(origin);
	}
	free_names(policy->environment.inherit, policy->environment.inherit_count);
	free_names(policy->environment.unset, policy->environment.unset_count);
	free_names(policy->environment.always_unset,
		policy->environment.always_unset_count);
	for (i = 0; i < policy->exposed_count; i++) {
		free(policy->exposed[i].source);
		free(policy->exposed[i].target);
	}
	free(policy->exposed);
	free(policy->picked);
	for (i = 0; i < policy->environment.set_count; i++) {
		free(policy->environment.set[i].name);
		free(policy->environment.set[i].value);
	}
	free(policy->environment.set);
	aw_profiles_free(policy);
	free(policy->runner);
	free(policy->engine);
	free(policy->verdicts);
	free(policy->on_missing_runner);
	free(policy->image);
	memset(policy, 0, sizeof(*policy));
}
