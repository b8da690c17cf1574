/* SPDX-License-Identifier: Apache-2.0 */
/* always.c - from an answer to a rule in a file that is known to hold. */
#include "supervisor/approval/always.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "policy/image/region.h"
#include "supervisor/approval/layer_file.h"
#include "supervisor/approval/rule_text.h"
#include "supervisor/approval/subject_key.h"
#include "supervisor/util/cleanup.h"

/* One answer on its way into a file. */
struct change {
	struct aw_run *run;
	const struct aw_image *image; /* what holds now */
	const struct aw_event *event;
	bool yes;
	struct aw_layer_file file;
	struct aw_rule_entries entries;
	char comment[160];
};

/* A rule for a directory would be about all that is below it. */
static int refuse_folder(
	const struct aw_text *path, const char *call, struct aw_error *err)
{
	struct stat st;
	bool makes = call && strncmp(call, "mkdir", 5) == 0;

	if (!makes && (lstat(path->bytes, &st) < 0 || !S_ISDIR(st.st_mode)))
		return 0;
	return aw_fail(err, EISDIR,
		"'%s' is a directory, and a rule for it would be about all that is "
		"below it: answer with --session, or write the rule by hand",
		path->bytes);
}

static enum aw_verdict of_path(
	const struct aw_image *image, enum aw_action action, const struct aw_text *path)
{
	struct aw_decision decision;

	aw_image_decide_path(image, action, path->bytes, path->len, &decision);
	return decision.verdict;
}

/* The first try for one path: take it out of `ask`, or deny it. */
static int add_path(struct change *c, const struct aw_text *path, enum aw_action action,
	struct aw_error *err)
{
	AW_FREE char *pattern = NULL;
	bool reads = aw_access_of((int)action) == AW_ACCESS_READ;

	if (!path->len || of_path(c->image, action, path) != AW_ASK)
		return 0;
	if (refuse_folder(path, c->event->call, err) < 0 ||
		aw_rule_of_path(path, &pattern, err) < 0)
		return -1;
	if (c->yes)
		return aw_rule_add(&c->entries, "filesystem", "ask", "!", pattern, err);
	return aw_rule_add(&c->entries, "filesystem", reads ? "deny" : "deny_write", "",
		pattern, err);
}

static int add_other(struct change *c, bool exec, const char *prefix, const char *list,
	struct aw_error *err)
{
	AW_FREE char *text = NULL;

	if ((exec ? aw_rule_of_exec : aw_rule_of_address)(c->event, &text, err) < 0)
		return -1;
	return aw_rule_add(
		&c->entries, exec ? "exec" : "network", list, prefix, text, err);
}

static int first_entries(struct change *c, struct aw_error *err)
{
	const struct aw_event *event = c->event;
	bool exec = event->action == AW_EXEC;

	if (exec && of_path(c->image, AW_READ, &event->path) == AW_ASK)
		return add_path(c, &event->path, AW_READ, err);
	if (exec || event->family)
		return c->yes ? add_other(c, exec, "!", "ask", err)
			      : add_other(c, exec, "", "deny", err);
	if (add_path(c, &event->path, aw_rule_action(event, false), err) < 0)
		return -1;
	return add_path(c, &event->path2, aw_rule_action(event, true), err);
}

/* With `ask` out of the way a default may deny it, or allow more than was asked. */
static int adjust_path(struct change *c, const struct aw_image *now,
	const struct aw_text *path, enum aw_action action, struct aw_error *err)
{
	AW_FREE char *pattern = NULL;
	bool reads = aw_access_of((int)action) == AW_ACCESS_READ;

	if (!path->len || of_path(c->image, action, path) != AW_ASK)
		return 0;
	if (aw_rule_of_path(path, &pattern, err) < 0)
		return -1;
	if (of_path(now, action, path) == AW_DENY &&
		aw_rule_add(&c->entries, "filesystem", reads ? "read" : "write", "",
			pattern, err) < 0)
		return -1;
	if (reads && of_path(now, AW_WRITE, path) == AW_ALLOW &&
		of_path(c->image, AW_WRITE, path) != AW_ALLOW)
		return aw_rule_add(
			&c->entries, "filesystem", "deny_write", "", pattern, err);
	return 0;
}

static int more_entries(
	struct change *c, const struct aw_image *now, struct aw_error *err)
{
	const struct aw_event *event = c->event;
	bool exec = event->action == AW_EXEC;

	if (!c->yes)
		return 0;
	if (exec && of_path(c->image, AW_READ, &event->path) == AW_ASK)
		return adjust_path(c, now, &event->path, AW_READ, err);
	if (exec || event->family)
		return aw_rule_verdict(now, event) == AW_DENY
			       ? add_other(c, exec, "", "allow", err)
			       : 0;
	if (adjust_path(c, now, &event->path, aw_rule_action(event, false), err) < 0)
		return -1;
	return adjust_path(c, now, &event->path2, aw_rule_action(event, true), err);
}

/* The whole policy as it would be; *ret is released by the caller. */
static int try_it(struct change *c, struct aw_policy *ret, struct aw_error *err)
{
	if (aw_layer_file_edit(&c->file, &c->entries, c->comment, err) < 0)
		return -1;
	return aw_layer_file_load(&c->file, c->run, ret, err);
}

/* Why the rule does not do it: which layer stands in the way. */
static int does_not_hold(const struct change *c, struct aw_error *err)
{
	const struct aw_rule *rule = c->event->rule;
	const char *layer = rule && rule->layer ? rule->layer : "?";

	if (c->file.trust == AW_UNTRUSTED)
		return aw_fail(err, EPERM,
			"%s is not trusted, so it can only tighten: nothing in it allows what "
			"another layer asks about; choose --layer global or agent",
			c->file.path);
	return aw_fail(err, EPERM,
		"with the rule in %s it would still not be %s: the rule that asks is "
		"in the %s layer (%s:%u), which this layer does not override",
		c->file.path, c->yes ? "allowed" : "denied", layer,
		rule && rule->file ? rule->file : "?", rule ? (unsigned)rule->line : 0);
}

/* Two rounds: what the first leaves denied by a default needs a second entry. */
static int settle(struct change *c, struct aw_error *err)
{
	struct aw_policy policy;
	enum aw_verdict wanted = c->yes ? AW_ALLOW : AW_DENY, got;
	size_t before;
	bool same;
	int r;

	if (first_entries(c, err) < 0)
		return -1;
	if (!c->entries.count)
		return aw_fail(err, EINVAL,
			"the rule that asks is about where this leads, not about its name, so no "
			"rule can answer: answer with --session, or change the rule by hand");
	if (try_it(c, &policy, err) < 0)
		return -1;
	before = c->entries.count;
	r = more_entries(c, policy.image, err);
	if (!r && c->entries.count > before) {
		aw_policy_release(&policy);
		if (try_it(c, &policy, err) < 0)
			return -1;
	}
	got = aw_rule_verdict(policy.image, c->event);
	same = aw_image_same_defaults(c->image, policy.image);
	aw_policy_release(&policy);
	if (r < 0)
		return -1;
	if (!same)
		return aw_fail(err, EPERM,
			"%s would be the first file with rules, which changes what "
			"holds without a policy; write the rule by hand",
			c->file.path);
	return got == wanted ? 0 : does_not_hold(c, err);
}

static void describe(const struct change *c, char *text, size_t size)
{
	size_t at = (size_t)snprintf(text, size, "written to %s:", c->file.path);

	for (size_t i = 0; i < c->entries.count && at < size; i++)
		at += (size_t)snprintf(text + at, size - at, "%s %s.%s: \"%s\"",
			i ? "," : "", c->entries.items[i].section,
			c->entries.items[i].list, c->entries.items[i].text);
	if (c->file.trust == AW_UNTRUSTED && at < size)
		snprintf(text + at, size - at,
			" (this file is not trusted: it can only tighten)");
}

int aw_always_write(struct aw_run *run, const struct aw_image *image,
	const struct aw_event *event, uint64_t question, bool yes, const char *layer,
	char *text, size_t size, struct aw_error *err)
{
	struct change c = {.run = run, .image = image, .event = event, .yes = yes};
	time_t now = time(NULL);
	char when[32];
	struct tm tm;
	int r;

	localtime_r(&now, &tm);
	strftime(when, sizeof(when), "%Y-%m-%d %H:%M", &tm);
	snprintf(c.comment, sizeof(c.comment),
		"agentwatch approve, %s, session %.60s, question %llu", when,
		run->session->id, (unsigned long long)question);
	if (aw_layer_file_find(run, layer, &c.file, err) < 0)
		return -1;
	r = settle(&c, err);
	if (!r)
		r = aw_layer_file_replace(&c.file, run, err);
	if (!r)
		describe(&c, text, size);
	aw_layer_file_release(&c.file);
	aw_rule_release(&c.entries);
	return r;
}
