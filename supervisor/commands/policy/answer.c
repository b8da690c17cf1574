/* SPDX-License-Identifier: Apache-2.0 */
/* answer.c - how an answer of policy explain is printed. */
#include "supervisor/commands/policy/answer.h"

#include <stdio.h>
#include <string.h>

#include "supervisor/cli/say.h"
#include "supervisor/linux/landlock_rights.h"
#include "supervisor/util/cleanup.h"
#include "supervisor/util/json.h"

/* --- for people --- */

/* What decided, without the verdict: 'FILE:LINE: "RULE" (LAYER)'. */
static void print_reason(const struct aw_source_line *word)
{
	AW_FREE char *text =
		word->by_rule ? aw_shown(word->rule.text, strlen(word->rule.text))
			      : NULL;

	if (word->kept)
		printf("agentwatch itself: %s", word->kept);
	else if (word->inside && word->decision.verdict == AW_ALLOW)
		printf("the sandbox, whose network is the session's own");
	else if (word->by_rule)
		printf("%s:%u: \"%s\" (%s)", word->rule.file, word->rule.line,
			text ? text : "?", word->rule.layer);
	else if (word->built_in)
		printf("the default (%s: %s; no file says otherwise)", word->key,
			word->value);
	else if (word->given.line)
		printf("the default of %s:%u: %s: %s (%s)", word->given.file,
			word->given.line, word->key, word->value, word->given.layer);
	else
		printf("the default (%s: %s)", word->key, word->value);
}

static void print_source(
	const struct aw_source_verdict *source, const struct aw_source_line *word)
{
	printf("      %-11s ", source->layer);
	if (source->unreadable)
		printf("%-5s %s cannot be loaded by itself", "?", source->file);
	else if (!word->says)
		printf("%-5s %s%ssays nothing", "-", source->file ? source->file : "",
			source->file ? " " : "");
	else {
		printf("%-5s ", aw_verdict_name(word->decision.verdict));
		print_reason(word);
	}
	puts(source->trusted ? "" : "; not trusted, so it can only tighten");
}

static void print_sources(const struct aw_answer *a)
{
	for (size_t i = 0; i < a->words->count; i++) {
		const struct aw_source_verdict *source = &a->words->items[i];
		struct aw_source_line word;

		aw_source_verdicts_ask(source, a->subject, &word);
		if (word.says || strcmp(source->layer, "preset") != 0)
			print_source(source, &word);
	}
}

static void print_granted(const struct aw_answer *a)
{
	const struct aw_landlock *landlock = &a->standing->holding.landlock;
	bool used = aw_landlock_granted(landlock, a->granted) & AW_LL_READ_FILE;

	printf("      not held by Landlock, which lets %s be %s as a whole\n",
		a->granted, used ? "used" : "listed");
}

/* One of git's configurations, and asked whether it may be changed. */
static bool is_keyed(const struct aw_answer *a)
{
	const struct aw_asked_subject *subject = a->subject;
	uint32_t rule;

	return (subject->action == AW_WRITE || subject->action == AW_CREATE) &&
	       aw_image_keyed(a->standing->policy.image, subject->path,
		       strlen(subject->path), &rule);
}

void aw_answer_print(const struct aw_answer *a)
{
	AW_FREE char *asked = aw_shown(a->subject->asked, strlen(a->subject->asked));
	AW_FREE char *path = aw_shown(a->subject->path, strlen(a->subject->path));
	bool denied = a->word.decision.verdict != AW_ALLOW;

	printf("%-5s %s %s\n", aw_verdict_name(a->word.decision.verdict), a->verb,
		asked ? asked : "?");
	if (path && path[0] && asked && strcmp(path, asked) != 0)
		printf("      which is %s\n", path);
	printf("      by ");
	print_reason(&a->word);
	putchar('\n');
	if (a->word.unknown)
		printf("      \"%s\" %s:%u covers the name, but names with a wildcard "
		       "are not looked up by the engine preload\n",
			a->word.wildcard.text, a->word.wildcard.file,
			a->word.wildcard.line);
	if (denied && !a->standing->holding.facts.enforce)
		printf("      not refused in mode audit; seen by %s", a->held.by);
	else
		printf("      %s by %s: %s", denied ? "held" : "judged",
			aw_strength_name(a->held.strength), a->held.by);
	printf(" (runner %s, engine %s)\n", a->standing->runner, a->standing->engine);
	if (a->word.inside && denied)
		printf("      but %sthe session has a loopback of its own, and reaches "
		       "what it serves there itself\n",
			a->standing->holding.facts.enforce ? "" : "in enforce ");
	if (is_keyed(a))
		printf("      but not a rename onto it, as git makes it, when no key "
		       "that runs a program comes with it\n");
	if (a->granted)
		print_granted(a);
	print_sources(a);
}

/* --- for programs --- */

static void put_key(struct aw_json *json, const char *key)
{
	if (json->len && json->bytes[json->len - 1] != '{')
		AW_JSON_LITERAL(json, ",");
	aw_json_string(json, key, strlen(key));
	AW_JSON_LITERAL(json, ":");
}

static void put_text(struct aw_json *json, const char *key, const char *text)
{
	put_key(json, key);
	aw_json_string(json, text, strlen(text));
}

static void put_place(struct aw_json *json, const char *file, unsigned line)
{
	put_text(json, "file", file);
	put_key(json, "line");
	aw_json_unsigned(json, line);
}

static void put_rule(struct aw_json *json, const char *key, const struct aw_rule *rule)
{
	put_key(json, key);
	AW_JSON_LITERAL(json, "{");
	put_place(json, rule->file, rule->line);
	put_text(json, "text", rule->text);
	put_text(json, "layer", rule->layer);
	AW_JSON_LITERAL(json, "}");
}

/* "rule": {...}, or "default": {...} */
static void put_reason(struct aw_json *json, const struct aw_source_line *word)
{
	if (word->kept) {
		put_text(json, "reason", word->kept);
	} else if (word->by_rule) {
		put_rule(json, "rule", &word->rule);
	} else if (word->key) {
		put_key(json, "default");
		AW_JSON_LITERAL(json, "{");
		put_text(json, "key", word->key);
		put_text(json, "value", word->value);
		if (word->given.line) {
			put_place(json, word->given.file, word->given.line);
			put_text(json, "layer", word->given.layer);
		}
		AW_JSON_LITERAL(json, "}");
	}
}

static void put_source(struct aw_json *json, const struct aw_source_verdict *source,
	const struct aw_asked_subject *subject)
{
	struct aw_source_line word;

	aw_source_verdicts_ask(source, subject, &word);
	AW_JSON_LITERAL(json, "{");
	put_text(json, "layer", source->layer);
	if (source->file)
		put_text(json, "file", source->file);
	put_key(json, "trusted");
	aw_json_raw(json, source->trusted ? "true" : "false", source->trusted ? 4 : 5);
	if (word.says) {
		put_text(json, "verdict", aw_verdict_name(word.decision.verdict));
		put_reason(json, &word);
	} else {
		put_key(json, "verdict");
		AW_JSON_LITERAL(json, "null");
	}
	AW_JSON_LITERAL(json, "}");
}

void aw_answer_print_json(const struct aw_answer *a)
{
	struct aw_json json = {.bytes = NULL};

	AW_JSON_LITERAL(&json, "{");
	put_text(&json, "action", a->verb);
	put_text(&json, "subject", a->subject->asked);
	if (a->subject->path[0])
		put_text(&json, "path", a->subject->path);
	put_text(&json, "verdict", aw_verdict_name(a->word.decision.verdict));
	put_text(&json, "mode",
		a->standing->holding.facts.enforce ? "enforce" : "audit");
	put_text(&json, "runner", a->standing->runner);
	put_text(&json, "engine", a->standing->engine);
	put_text(&json, "strength", aw_strength_name(a->held.strength));
	put_text(&json, "by", a->held.by);
	if (a->granted)
		put_text(&json, "granted", a->granted);
	put_reason(&json, &a->word);
	if (a->word.inside) {
		put_key(&json, "inside");
		AW_JSON_LITERAL(&json, "true");
	}
	if (a->word.unknown)
		put_rule(&json, "wildcard", &a->word.wildcard);
	put_key(&json, "layers");
	AW_JSON_LITERAL(&json, "[");
	for (size_t i = 0; i < a->words->count; i++) {
		aw_json_raw(&json, ",", i > 0);
		put_source(&json, &a->words->items[i], a->subject);
	}
	AW_JSON_LITERAL(&json, "]}\n");
	fwrite(json.bytes, 1, json.failed ? 0 : json.len, stdout);
	aw_json_free(&json);
}
