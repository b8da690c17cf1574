/* SPDX-License-Identifier: Apache-2.0 */
/* log_filter.c - which lines of a log are wanted. */
#include "supervisor/audit/read/log_filter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/array.h"
#include "policy/glob.h"
#include "policy/path.h"
#include "supervisor/audit/log_words.h"
#include "supervisor/cli/suggest.h"
#include "supervisor/cli/when.h"
#include "supervisor/util/cleanup.h"
#include "supervisor/util/json.h"

/* Verdicts as the log writes them. */
static const char *verdict_at(size_t i)
{
	static const char *const names[] = {
		"allow", "deny", "hide", "ask-allow", "ask-deny"};

	return i < ARRAY_SIZE(names) ? names[i] : NULL;
}

static const char *action_at(size_t i)
{
	return i < AW_METADATA ? aw_action_name((enum aw_action)i) : NULL;
}

static const char *event_at(size_t i)
{
	return aw_event_name((enum aw_event_kind)i);
}

/* Every value is one of those that name_at() counts out. */
static int check_words(const struct aw_string_list *list, const char *option,
	const char *(*name_at)(size_t), struct aw_error *err)
{
	for (size_t i = 0; i < list->count; i++) {
		struct aw_suggestion near;
		const char *name, *best;
		bool known = false;

		aw_suggest_init(&near, list->items[i]);
		for (size_t j = 0; (name = name_at(j)); j++) {
			known = known || !strcmp(name, list->items[i]);
			aw_suggest_offer(&near, name);
		}
		if (known)
			continue;
		best = aw_suggest_best(&near);
		if (best)
			return aw_fail(err, EINVAL,
				"--%s does not know '%s'; did you mean '%s'?", option,
				list->items[i], best);
		return aw_fail(err, EINVAL,
			"--%s does not know '%s'; see: agentwatch help log", option,
			list->items[i]);
	}
	return 0;
}

static int check_numbers(
	const struct aw_string_list *list, const char *option, struct aw_error *err)
{
	for (size_t i = 0; i < list->count; i++) {
		const char *text = list->items[i];

		if (!*text || strspn(text, "0123456789") != strlen(text))
			return aw_fail(err, EINVAL, "--%s wants a number, not '%s'",
				option, text);
	}
	return 0;
}

int aw_log_filter_prepare(struct aw_log_filter *filter, struct aw_error *err)
{
	filter->from = INT64_MIN;
	filter->to = INT64_MAX;
	if (check_words(&filter->actions, "action", action_at, err) < 0 ||
		check_words(&filter->verdicts, "verdict", verdict_at, err) < 0 ||
		check_words(&filter->events, "event", event_at, err) < 0 ||
		check_numbers(&filter->pids, "pid", err) < 0)
		return -1;
	if (filter->since &&
		aw_when_parse_option(filter->since, &filter->from, err) < 0)
		return aw_while(err, "--since");
	if (filter->until && aw_when_parse_option(filter->until, &filter->to, err) < 0)
		return aw_while(err, "--until");
	return 0;
}

/* The absolute path of a "." that a pattern begins with; malloc'd, NULL: not one. */
static char *from_here(const char *pattern)
{
	AW_FREE char *here = getcwd(NULL, 0);
	char joined[8192];

	if (!here || !aw_path_join(here, strlen(here), pattern, strlen(pattern), joined,
			     sizeof(joined)))
		return NULL;
	return strdup(joined);
}

static bool begins(const char *pattern, const char *word)
{
	size_t len = strlen(word);

	return strncmp(pattern, word, len) == 0 &&
	       (!pattern[len] || pattern[len] == '/');
}

static char *expand(const char *pattern, const char *workspace)
{
	const char *tmpdir = getenv("TMPDIR");
	const struct {
		const char *word, *value;
	} words[] = {{"~", getenv("HOME")}, {"$HOME", getenv("HOME")},
		{"$WORKSPACE", workspace}, {"$TMPDIR", tmpdir ? tmpdir : "/tmp"}};
	char *whole;

	if (begins(pattern, ".") || begins(pattern, ".."))
		return from_here(pattern);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (!begins(pattern, words[i].word) || !words[i].value)
			continue;
		return asprintf(&whole, "%s%s", words[i].value,
			       pattern + strlen(words[i].word)) < 0
			       ? NULL
			       : whole;
	}
	return NULL;
}

void aw_log_filter_expand(struct aw_log_filter *filter, const char *workspace)
{
	filter->expanded = calloc(filter->paths.count + 1, sizeof(*filter->expanded));
	for (size_t i = 0; filter->expanded && i < filter->paths.count; i++) {
		AW_FREE char *whole = expand(filter->paths.items[i], workspace);

		if (whole)
			filter->paths.items[i] = whole;
		filter->expanded[i] = aw_take_ptr(&whole);
	}
}

void aw_log_filter_release(struct aw_log_filter *filter)
{
	for (size_t i = 0; filter->expanded && i < filter->paths.count; i++)
		free(filter->expanded[i]);
	free(filter->expanded);
	aw_string_list_free(&filter->pids);
	aw_string_list_free(&filter->programs);
	aw_string_list_free(&filter->actions);
	aw_string_list_free(&filter->paths);
	aw_string_list_free(&filter->verdicts);
	aw_string_list_free(&filter->events);
	aw_string_list_free(&filter->calls);
	aw_string_list_free(&filter->mcps);
	aw_string_list_free(&filter->profiles);
}

const char *aw_event_word(const cJSON *line, const char *key)
{
	return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(line, key));
}

char *aw_event_text(const cJSON *line, const char *key)
{
	const char *word = aw_event_word(line, key);
	char *text = word ? strdup(word) : NULL;

	if (text)
		aw_text_decode(text, strlen(text));
	return text;
}

bool aw_verdict_refuses(const char *verdict)
{
	return !strcmp(verdict, "deny") || !strcmp(verdict, "hide") ||
	       !strcmp(verdict, "ask-deny");
}

/*
 * True when pattern matches path or a directory above it.  "*", "?" and "[...]" stay
 * within a component, "**" crosses; a pattern without a slash may match any component.
 */
static bool covers_path(const char *pattern, const char *path)
{
	AW_FREE char *anywhere = NULL;

	if (pattern[0] != '/') {
		if (asprintf(&anywhere, "/**/%s", pattern) < 0) {
			anywhere = NULL;
			return false;
		}
		pattern = anywhere;
	}
	return aw_glob_covers(pattern, strlen(pattern), path, strlen(path));
}

static bool name_glob(const char *pattern, const char *name)
{
	return aw_glob_match(pattern, strlen(pattern), name, strlen(name));
}

static bool word_matches(
	const struct aw_string_list *list, const cJSON *line, const char *key)
{
	const char *word = aw_event_word(line, key);

	if (!list->count)
		return true;
	for (size_t i = 0; word && i < list->count; i++)
		if (!strcmp(word, list->items[i]))
			return true;
	return false;
}

/* One of several names in a member, ", " between them, against patterns. */
static bool names_match(
	const struct aw_string_list *list, const cJSON *line, const char *key)
{
	AW_FREE char *names = list->count ? aw_event_text(line, key) : NULL;
	char *rest = names;

	if (!list->count)
		return true;
	for (char *name; rest && *rest;) {
		name = rest;
		rest = strstr(rest, ", ");
		if (rest) {
			*rest = '\0';
			rest += 2;
		}
		for (size_t i = 0; i < list->count; i++)
			if (name_glob(list->items[i], name))
				return true;
	}
	return false;
}

static bool pid_matches(const struct aw_string_list *list, const cJSON *line)
{
	const cJSON *pid = cJSON_GetObjectItemCaseSensitive(line, "pid");

	if (!list->count)
		return true;
	for (size_t i = 0; cJSON_IsNumber(pid) && i < list->count; i++)
		if ((double)strtol(list->items[i], NULL, 10) == pid->valuedouble)
			return true;
	return false;
}

static bool program_matches(const struct aw_string_list *list, const cJSON *line)
{
	AW_FREE char *exe = NULL;
	const char *base;

	if (!list->count)
		return true;
	exe = aw_event_text(line, "exe");
	if (!exe)
		return false;
	base = strrchr(exe, '/') ? strrchr(exe, '/') + 1 : exe;
	for (size_t i = 0; i < list->count; i++) {
		const char *glob = list->items[i];

		if (strchr(glob, '/') ? covers_path(glob, exe) : name_glob(glob, base))
			return true;
	}
	return false;
}

static bool path_matches(const struct aw_string_list *list, const cJSON *line)
{
	static const char *const keys[] = {"path", "path2"};

	if (!list->count)
		return true;
	for (size_t k = 0; k < 2; k++) {
		AW_FREE char *path = aw_event_text(line, keys[k]);

		for (size_t i = 0; path && i < list->count; i++)
			if (covers_path(list->items[i], path))
				return true;
	}
	return false;
}

static bool time_matches(const struct aw_log_filter *filter, const cJSON *line)
{
	const char *text = aw_event_word(line, "ts");
	int64_t when;

	if (!filter->since && !filter->until)
		return true;
	return text && !aw_when_parse(text, &when) && when >= filter->from &&
	       when <= filter->to;
}

static bool denied_matches(const struct aw_log_filter *filter, const cJSON *line)
{
	const char *verdict = aw_event_word(line, "verdict");

	return !filter->denied || (verdict && aw_verdict_refuses(verdict));
}

bool aw_log_filter_matches(const struct aw_log_filter *filter, const cJSON *line)
{
	return denied_matches(filter, line) && pid_matches(&filter->pids, line) &&
	       word_matches(&filter->events, line, "event") &&
	       word_matches(&filter->actions, line, "action") &&
	       word_matches(&filter->verdicts, line, "verdict") &&
	       word_matches(&filter->calls, line, "call") &&
	       names_match(&filter->mcps, line, "mcp") &&
	       names_match(&filter->profiles, line, "profile") &&
	       time_matches(filter, line) && program_matches(&filter->programs, line) &&
	       path_matches(&filter->paths, line);
}
