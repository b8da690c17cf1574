/* SPDX-License-Identifier: Apache-2.0 */
/* permission_diff.c - what one policy allows and another one does not. */
#include "supervisor/lint/permission_diff.h"

#include <stdarg.h>
#include <string.h>

#include "policy/array.h"
#include "policy/image/rules.h"
#include "supervisor/cli/say.h"
#include "supervisor/util/cleanup.h"

enum { TEXT_MAX = 1024, SHOWN = 8 };

struct comparison {
	const struct aw_policy *without, *with;
	struct aw_rule_defaults before, after; /* the defaults of both */
	FILE *out;
	unsigned count;
};

static void tell(struct comparison *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void tell(struct comparison *c, const char *fmt, ...)
{
	AW_FREE char *shown = NULL;
	char text[TEXT_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	shown = aw_shown(text, strlen(text));
	fprintf(c->out, "  - %s\n", shown ? shown : "?");
	c->count++;
}

static bool is_protection(const struct aw_rule *rule)
{
	return strcmp(rule->layer, "built-in") == 0 &&
	       strcmp(rule->file, "protections") == 0;
}

static bool same_list(const struct aw_rule_about *a, const struct aw_rule_about *b)
{
	return a->section == b->section && strcmp(a->list, b->list) == 0;
}

/* Does the image have this very rule?  Protections are apart from all others. */
static bool has_rule(const struct aw_image *image, const struct aw_rule_about *about,
	const struct aw_rule *rule)
{
	struct aw_rule_about other;
	struct aw_rule text;

	for (uint32_t i = 0; aw_image_rule_about(image, i, &other); i++)
		if (same_list(about, &other) && about->negated == other.negated &&
			aw_image_rule(image, i, &text) &&
			is_protection(rule) == is_protection(&text) &&
			strcmp(rule->text, text.text) == 0)
			return true;
	return false;
}

/* Has the list entries of the other sign, with "!" or without? */
static bool has_others(const struct aw_image *image, const struct aw_rule_about *about)
{
	struct aw_rule_about other;
	struct aw_rule rule;

	for (uint32_t i = 0; aw_image_rule_about(image, i, &other); i++)
		if (same_list(about, &other) && other.negated != about->negated &&
			aw_image_rule(image, i, &rule) && !is_protection(&rule))
			return true;
	return false;
}

/* Is there a `read` entry, below which nothing may be changed? */
static bool has_read_list(const struct aw_image *image)
{
	struct aw_rule_about other;

	for (uint32_t i = 0; aw_image_rule_about(image, i, &other); i++)
		if (other.section == AW_RULE_FILES && strcmp(other.list, "read") == 0)
			return true;
	return false;
}

/* Is what an admitting entry for files is about, and all below it, allowed anyway? */
static bool files_allowed(const struct comparison *c, const struct aw_rule_about *about)
{
	bool write = strcmp(about->list, "write") == 0;
	struct aw_decision d;

	if (about->strictest == AW_ASK) /* milder than a default or `read` */
		return !c->before.files_change && !has_read_list(c->without->image);
	if (has_others(c->without->image, about) ||
		(write && has_read_list(c->without->image)))
		return false;
	if (!about->literal)
		return write ? !c->before.files_change : !c->before.files_read;
	aw_image_decide_path(c->without->image, write ? AW_WRITE : AW_READ, about->path,
		about->path_len, &d);
	return d.verdict == AW_ALLOW;
}

static bool is_allowed(const struct comparison *c, const struct aw_rule_about *about)
{
	switch (about->section) {
	case AW_RULE_EXEC:
		return !c->before.exec;
	case AW_RULE_NETWORK:
		return strcmp(about->list, "listen") == 0 ? !c->before.listen
							  : !c->before.connect;
	case AW_RULE_FILES:
		break;
	}
	return files_allowed(c, about);
}

static bool admits(const struct comparison *c, const struct aw_rule_about *about)
{
	/* what is not for reading alone any more is as the default has it */
	if (about->section == AW_RULE_FILES && strcmp(about->list, "read") == 0 &&
		about->negated)
		return !c->after.files_change && has_others(c->without->image, about);
	if (about->strictest <= AW_ASK && !about->negated)
		return !is_allowed(c, about);
	return about->strictest > AW_ALLOW && about->negated &&
	       has_others(c->without->image, about);
}

/*
 * Is a rule said without the file, too?  A double in a higher layer comes last in its
 * list, and so behind entries of the other sign that took it back.
 */
static bool is_said(const struct comparison *c, const struct aw_rule_about *about,
	const struct aw_rule *rule)
{
	return has_rule(c->without->image, about, rule) &&
	       (strcmp(rule->layer, "workspace") != 0 ||
		       !has_others(c->without->image, about));
}

static const char *section_name(const struct aw_rule_about *about)
{
	static const char *const names[] = {
		[AW_RULE_FILES] = "filesystem",
		[AW_RULE_EXEC] = "exec",
		[AW_RULE_NETWORK] = "network",
	};

	return names[about->section];
}

/* The rules that a preset brings are told in one line. */
static void tell_preset(struct comparison *c, const char *file, unsigned *rules)
{
	const char *slash = strrchr(file, '/');

	if (*rules)
		tell(c, "the preset in %s, with %u rules that allow something",
			slash ? slash + 1 : file, *rules);
	*rules = 0;
}

static void compare_added(struct comparison *c)
{
	const struct aw_image *image = c->with->image;
	const char *preset = "";
	struct aw_rule_about about;
	unsigned in_preset = 0;
	struct aw_rule rule;

	for (uint32_t i = 0; aw_image_rule_about(image, i, &about); i++) {
		if (!aw_image_rule(image, i, &rule) || is_protection(&rule) ||
			!admits(c, &about) || is_said(c, &about, &rule))
			continue;
		if (strcmp(rule.layer, "preset") == 0) {
			if (strcmp(preset, rule.file) != 0)
				tell_preset(c, preset, &in_preset);
			preset = rule.file;
			in_preset++;
			continue;
		}
		tell(c, "%s.%s: \"%s\" (line %u)", section_name(&about), about.list,
			rule.text, rule.line);
	}
	tell_preset(c, preset, &in_preset);
}

static void compare_dropped(struct comparison *c)
{
	const struct aw_image *image = c->without->image;
	struct aw_rule_about about;
	struct aw_rule rule;

	for (uint32_t i = 0; aw_image_rule_about(image, i, &about); i++)
		if (!about.negated && about.strictest != AW_ALLOW &&
			aw_image_rule(image, i, &rule) && !is_protection(&rule) &&
			!has_rule(c->with->image, &about, &rule))
			tell(c, "%s.%s: \"%s\" of %s does not hold any more",
				section_name(&about), about.list, rule.text, rule.file);
}

static void compare_protections(struct comparison *c)
{
	unsigned off = c->with->unprotected & ~c->without->unprotected;

	for (unsigned i = 0; aw_protection_name(i); i++)
		if (off & (1u << i))
			tell(c, "protections.%s: off", aw_protection_name(i));
}

static void compare_defaults(struct comparison *c)
{
	const struct {
		bool before, after;
		const char *text;
	} defaults[] = {
		{c->before.files_read, c->after.files_read,
			"filesystem: what no list has may be read"},
		{c->before.files_change, c->after.files_change,
			"filesystem: what no list has may be changed"},
		{c->before.exec, c->after.exec, "exec: what no list has may be run"},
		{c->before.connect, c->after.connect,
			"network: what no list has may be reached"},
		{c->before.listen, c->after.listen,
			"network: any address may be listened on"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(defaults); i++)
		if (defaults[i].before && !defaults[i].after)
			tell(c, "%s", defaults[i].text);
}

static void compare_words(struct comparison *c)
{
	const struct {
		const char *key, *before, *after;
	} words[] = {
		{"runner", c->without->runner, c->with->runner},
		{"engine", c->without->engine, c->with->engine},
		{"verdicts", c->without->verdicts, c->with->verdicts},
		{"on_missing_runner", c->without->on_missing_runner,
			c->with->on_missing_runner},
	};

	if (c->with->base_kind != c->without->base_kind &&
		c->without->base_kind != AW_BASE_OPEN &&
		c->with->base_kind != AW_BASE_READ_ONLY)
		tell(c, "base: %s, not %s", aw_base_name(c->with->base_kind),
			aw_base_name(c->without->base_kind));
	if (c->with->base_replaced && !c->without->base_replaced)
		tell(c, "merge: replace, which takes the base's rules away");
	if (c->without->mode == AW_ENFORCE && c->with->mode == AW_AUDIT)
		tell(c, "mode: audit, which refuses nothing");
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (words[i].after &&
			(!words[i].before ||
				strcmp(words[i].before, words[i].after) != 0))
			tell(c, "%s: %s, not %s", words[i].key, words[i].after,
				words[i].before ? words[i].before : "the default");
}

static void compare_limits(struct comparison *c)
{
	const struct aw_limits *before = &c->without->limits, *after = &c->with->limits;
	const struct {
		const char *key;
		double before, after;
	} limits[] = {
		{"memory", (double)before->memory, (double)after->memory},
		{"cpus", before->cpus, after->cpus},
		{"processes", (double)before->processes, (double)after->processes},
		{"time", (double)before->time, (double)after->time},
		{"open_files", (double)before->open_files, (double)after->open_files},
		{"file_size", (double)before->file_size, (double)after->file_size},
		{"connections_per_minute", (double)before->connections_per_minute,
			(double)after->connections_per_minute},
		{"bytes_out", (double)before->bytes_out, (double)after->bytes_out},
	};

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
		if (limits[i].before > 0 &&
			(limits[i].after <= 0 || limits[i].after > limits[i].before))
			tell(c, "limits.%s: %.10g, not %.10g", limits[i].key,
				limits[i].after, limits[i].before);
}

static bool has_name(char *const *names, size_t count, const char *name)
{
	while (count-- > 0)
		if (strcmp(names[count], name) == 0)
			return true;
	return false;
}

/* How many names of one list stand behind this one in another: those it cannot undo. */
static size_t behind(const struct aw_variable_names *names, const char *name,
	const struct aw_variable_names *which)
{
	size_t at = names->count, found = 0;

	while (at > 0 && strcmp(names->items[at - 1], name) != 0)
		at--;
	for (; at < names->count; at++)
		found += names->items[at][0] != '!' &&
			 has_name(which->items, which->count, names->items[at]);
	return found;
}

/* The names that one list has and the other one lacks, a few of them in a line. */
static void tell_missing(struct comparison *c, const char *what, char *const *names,
	size_t count, char *const *others, size_t other_count)
{
	char text[TEXT_MAX / 2] = "";
	size_t used = 0, found = 0;

	for (size_t i = 0; i < count; i++) {
		if (names[i][0] == '!' || has_name(others, other_count, names[i]))
			continue;
		if (found++ < SHOWN && used < sizeof(text))
			used += (size_t)snprintf(text + used, sizeof(text) - used,
				"%s%s", used ? ", " : "", names[i]);
	}
	if (found > SHOWN)
		tell(c, "%s: %s and %zu more", what, text, found - SHOWN);
	else if (found)
		tell(c, "%s: %s", what, text);
}

/* Of the policies that are intersected a trusted file changes only the trusted one. */
static const struct aw_variable_rules *rules_of(const struct aw_policy *policy)
{
	return &policy->environment.rules[AW_RULES_TRUSTED];
}

static void compare_unset(struct comparison *c)
{
	const struct aw_variable_names *a = &rules_of(c->without)->unset;
	const struct aw_variable_names *b = &rules_of(c->with)->unset;

	tell_missing(c, "environment: no longer unset", a->items, a->count, b->items,
		b->count);
	for (size_t i = 0; i < b->count; i++)
		if (b->items[i][0] == '!' &&
			(!has_name(a->items, a->count, b->items[i]) ||
				behind(b, b->items[i], a) < behind(a, b->items[i], a)))
			tell(c, "environment.unset: \"%s\"", b->items[i]);
}

static void compare_variables(struct comparison *c)
{
	const struct aw_variable_rules *a = rules_of(c->without),
				       *b = rules_of(c->with);

	compare_unset(c);
	if (a->some && !b->some)
		tell(c, "environment.inherit: all");
	else if (b->some && a->some)
		tell_missing(c, "environment.inherit", b->inherit.items,
			b->inherit.count, a->inherit.items, a->inherit.count);
	if (c->without->redirect_home && !c->with->redirect_home)
		tell(c, "environment.redirect_home: false");
}

static const struct aw_setting *find_setting(
	const struct aw_policy *policy, const char *name)
{
	for (size_t i = 0; i < policy->environment.set_count; i++)
		if (strcmp(policy->environment.set[i].name, name) == 0)
			return &policy->environment.set[i];
	return NULL;
}

static void compare_settings(struct comparison *c)
{
	for (size_t i = 0; i < c->with->environment.set_count; i++) {
		const struct aw_setting *now = &c->with->environment.set[i];
		const struct aw_setting *was = find_setting(c->without, now->name);

		if (!was || strcmp(was->value, now->value) != 0)
			tell(c, "environment.set: %s=%s", now->name, now->value);
	}
}

static bool has_exposed(const struct aw_policy *policy, const struct aw_exposed *x)
{
	for (size_t i = 0; i < policy->exposed_count; i++) {
		const struct aw_exposed *other = &policy->exposed[i];

		if (strcmp(x->source, other->source) == 0 &&
			strcmp(x->target, other->target) == 0 &&
			(other->write || !x->write))
			return true;
	}
	return false;
}

static void compare_exposed(struct comparison *c)
{
	for (size_t i = 0; i < c->with->exposed_count; i++) {
		const struct aw_exposed *x = &c->with->exposed[i];

		if (!has_exposed(c->without, x))
			tell(c, "filesystem.expose: %s at %s, %s", x->source, x->target,
				x->write ? "rw" : "ro");
	}
}

static bool has_forward(const struct aw_network *network, const char *text)
{
	for (size_t i = 0; i < network->forward_count; i++)
		if (strcmp(network->forwards[i].text, text) == 0)
			return true;
	return false;
}

static void compare_network(struct comparison *c)
{
	const struct aw_network *a = &c->without->network, *b = &c->with->network;

	if (a->match_sni && !b->match_sni)
		tell(c, "network.match_sni: false");
	if (b->proxy > a->proxy)
		tell(c, "network.proxy: %s",
			b->proxy == AW_PROXY_LISTEN ? "listen" : "environment");
	for (size_t i = 0; i < b->forward_count; i++)
		if (!has_forward(a, b->forwards[i].text))
			tell(c, "network.forward: \"%s\"", b->forwards[i].text);
	tell_missing(c, "network.private_names", b->private_names.items,
		b->private_names.count, a->private_names.items, a->private_names.count);
}

unsigned aw_permission_diff_print(
	const struct aw_policy *without, const struct aw_policy *with, FILE *out)
{
	struct comparison c = {.without = without, .with = with, .out = out};

	aw_image_defaults(without->image, &c.before);
	aw_image_defaults(with->image, &c.after);
	compare_words(&c);
	compare_defaults(&c);
	compare_added(&c);
	compare_dropped(&c);
	compare_protections(&c);
	compare_exposed(&c);
	compare_limits(&c);
	compare_variables(&c);
	compare_settings(&c);
	compare_network(&c);
	return c.count;
}
