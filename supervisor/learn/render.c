/* SPDX-License-Identifier: Apache-2.0 */
/* render.c - what was learnt as the text of a policy. */
#include "supervisor/learn/render.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/array.h"
#include "supervisor/cli/say.h"
#include "supervisor/learn/quote.h"

enum { NOTE_COLUMN = 44 };

/* One file being written. */
struct page {
	struct aw_learner *learner;
	FILE *out;
	const char *const *given;
};

static void put_entry(FILE *out, const char *mark, const char *text, const char *rest,
	const char *note)
{
	char whole[20000];
	int n;

	snprintf(whole, sizeof(whole), "%s%s%s", mark[0] == '!' ? "!" : "", text, rest);
	n = fprintf(out, "    - ");
	n += aw_quote_put(out, whole);
	if (note)
		fprintf(out, "%*s# %s", n < NOTE_COLUMN ? NOTE_COLUMN - n : 1, "",
			note);
	putc('\n', out);
}

static void put_line(FILE *out, const struct aw_line *line)
{
	const char *below = strcmp(line->text, "/") == 0 ? "*" : "/*";
	char times[256], note[320];

	aw_counter_text(&line->tally, times, sizeof(times));
	snprintf(note, sizeof(note), "%s%s%s", times,
		line->folder ? "; the directory itself" : "",
		line->missing ? "; not there" : "");
	put_entry(out, "", line->text, "", note);
	if (line->folder)
		put_entry(out, "!", line->text, below, NULL);
	if (line->unnamed)
		put_entry(out, "", line->text, "/#*", "made without a name");
}

static const char *verb_of(const struct aw_learn_question *q)
{
	static const char *const verbs[AW_GRANTS] = {
		"read", "changed", "run", "spoken to", "listened on"};

	return q->missing ? "looked for" : verbs[q->access];
}

/* A comment stays one line, whatever a name has in it. */
static void put_comment(FILE *out, const char *text)
{
	char *shown = aw_shown(text, strlen(text));

	fputs(shown ? shown : "?", out);
	free(shown);
}

static void put_cause(FILE *out, const struct aw_learn_question *q)
{
	const char *text = q->reason.text;

	switch (q->reason.cause) {
	case AW_CAUSE_PROTECTED:
		fprintf(out, "protected (%.*s)", (int)strcspn(text, ":"), text);
		return;
	case AW_CAUSE_DENIED:
		fputs("denied by ", out);
		break;
	default:
		break;
	}
	put_comment(out, text);
}

char *aw_question_text(const struct aw_learn_question *question)
{
	char *subject = aw_shown(question->subject, strlen(question->subject));
	char *text = NULL, times[256];
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out || !subject)
		aw_learn_no_memory();
	aw_counter_text(&question->tally, times, sizeof(times));
	fprintf(out, "%s was %s %s: ", subject, verb_of(question), times);
	put_cause(out, question);
	free(subject);
	if (fclose(out) != 0)
		aw_learn_no_memory();
	return text;
}

static void put_question(
	const struct page *page, const struct aw_learn_question *q, const char *mark)
{
	char times[256];

	aw_counter_text(&q->tally, times, sizeof(times));
	fprintf(page->out, "    # question: ");
	put_comment(
		page->out, q->reason.cause == AW_CAUSE_ADDRESS ? q->subject : q->text);
	fprintf(page->out, " was %s %s: ", verb_of(q), times);
	put_cause(page->out, q);
	if (q->reason.cause == AW_CAUSE_FAMILY) {
		putc('\n', page->out);
		return;
	}
	fprintf(page->out, "; uncomment to allow%s\n",
		q->reason.cause != AW_CAUSE_PROTECTED ? ""
		: page->learner->params.for_whom == AW_LEARN_POLICY
			? ", the protection too"
			: "");
	fprintf(page->out, "    # - ");
	if (*mark) {
		char *text = aw_learn_text("%s%s", mark, q->text);

		aw_quote_put(page->out, text);
		free(text);
	} else {
		aw_quote_put(page->out, q->text);
	}
	putc('\n', page->out);
}

/* Questions about one access, covered or not; how many. */
static size_t count_questions(const struct page *page, unsigned accesses, bool covered)
{
	struct aw_learn_question *q, *next;
	size_t count = 0;

	HASH_ITER(hh, page->learner->questions, q, next)
	count += (accesses >> q->access & 1) && q->covered == covered;
	return count;
}

/* "  name:", as a comment when there is nothing below it but comments. */
static void put_key(const struct page *page, const char *name, size_t entries)
{
	fprintf(page->out, "  %s%s:\n", entries ? "" : "# ", name);
}

static void put_questions(const struct page *page, unsigned accesses)
{
	struct aw_learn_question *q, *next;

	HASH_ITER(hh, page->learner->questions, q, next)
	if ((accesses >> q->access & 1) && !q->covered)
		put_question(page, q, "");
}

/* What an entry admits and only a person may: denied, with the way out beside it. */
static void put_denied(const struct page *page, const char *name, unsigned accesses)
{
	struct aw_learn_question *q, *next;

	if (!count_questions(page, accesses, true))
		return;
	fprintf(page->out, "  %s:\n", name);
	HASH_ITER(hh, page->learner->questions, q, next)
	{
		if (!(accesses >> q->access & 1) || !q->covered)
			continue;
		put_entry(page->out, "", q->text, "", NULL);
		put_question(page, q, "!");
	}
}

static void put_files(const struct page *page, const char *name, enum aw_access access)
{
	struct aw_list_of_lines lines = {0};
	unsigned bit = 1u << access;

	if (access != AW_GRANT_READ || !page->learner->read_only)
		aw_generalize_lines(&page->learner->tree, access, &lines);
	if (lines.count || count_questions(page, bit, false))
		put_key(page, name, lines.count);
	for (size_t i = 0; i < lines.count; i++)
		put_line(page->out, &lines.items[i]);
	put_questions(page, bit);
	aw_list_of_lines_free(&lines);
}

static void put_addresses(const struct page *page, const char *name, bool listen)
{
	unsigned bit = 1u << (listen ? AW_GRANT_LISTEN : AW_GRANT_CONNECT);
	struct aw_destination *d, *next;
	size_t entries = 0;
	char times[256];

	HASH_ITER(hh, page->learner->destinations, d, next)
	entries += d->listen == listen;
	if (entries || count_questions(page, bit, false))
		put_key(page, name, entries);
	HASH_ITER(hh, page->learner->destinations, d, next)
	{
		if (d->listen != listen)
			continue;
		aw_counter_text(&d->tally, times, sizeof(times));
		put_entry(page->out, "", d->text, "", times);
	}
	put_questions(page, bit);
}

static void put_presets(const struct page *page)
{
	const struct aw_presets *presets = &page->learner->presets;
	const char *comma = "preset: [";

	for (size_t i = 0; i < presets->count; i++) {
		if (!(presets->chosen >> i & 1))
			continue;
		fprintf(page->out, "%s%s", comma, presets->items[i].name);
		comma = ", ";
	}
	if (presets->chosen)
		fputs("]\n", page->out);
	else if (page->learner->params.for_whom != AW_LEARN_WORKSPACE)
		fputs("preset: []\n", page->out);
}

static const char *const credentials[] = {"*_TOKEN", "*_SECRET", "*_PASSWORD",
	"*_API_KEY", "*_ACCESS_KEY", "*_PRIVATE_KEY", "*_CREDENTIALS", "AWS_*",
	"AZURE_*", "SSH_AUTH_SOCK"};

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Others are no business of a shell, and none of a line of YAML. */
static bool is_plain_name(const char *name)
{
	return *name && !name[strspn(name, "abcdefghijklmnopqrstuvwxyz"
					   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")];
}

/* The names of those that the policy takes away, sorted; how many. */
static size_t taken_away(const struct page *page, const struct aw_policy *policy,
	char **names, size_t most)
{
	size_t count = 0;

	for (const char *const *v = page->given; v && *v && count < most; v++) {
		char *name = aw_learn_copy(*v, strcspn(*v, "="));

		if (!is_plain_name(name) || aw_policy_keeps_variable(policy, name))
			free(name);
		else
			names[count++] = name;
	}
	qsort(names, count, sizeof(*names), by_name);
	return count;
}

/* A chosen preset brings the list of credentials along, and its own exceptions. */
static void put_environment(const struct page *page, const struct aw_policy *policy)
{
	const char *mark = page->learner->presets.chosen ? "# " : "";
	char *names[64] = {NULL};
	size_t count = policy ? taken_away(page, policy, names, 64) : 0;

	if (*mark && !count)
		return;
	fprintf(page->out, "\n%senvironment:\n%s  unset:\n", mark, mark);
	for (size_t i = 0; !*mark && i < ARRAY_SIZE(credentials); i++)
		put_entry(page->out, "", credentials[i], "", NULL);
	for (size_t i = 0; i < count; i++) {
		fprintf(page->out, "%s    # question: the command was given ", mark);
		put_comment(page->out, names[i]);
		fprintf(page->out, "; uncomment to let it through\n%s    %s- \"!", mark,
			*mark ? "" : "# ");
		put_comment(page->out, names[i]);
		fprintf(page->out, "\"\n");
		free(names[i]);
	}
}

static void put_protections(const struct page *page)
{
	struct aw_learn_question *q, *next, *other, *stop;

	if (page->learner->params.for_whom == AW_LEARN_WORKSPACE)
		return;
	HASH_ITER(hh, page->learner->questions, q, next)
	{
		int len = (int)strcspn(q->reason.text, ":");
		bool said = false;

		if (q->reason.cause != AW_CAUSE_PROTECTED)
			continue;
		for (other = page->learner->questions; other != q;
			other = other->hh.next)
			said = said ||
			       (other->reason.cause == AW_CAUSE_PROTECTED &&
				       strncmp(other->reason.text, q->reason.text,
					       (size_t)len + 1) == 0);
		stop = page->learner->questions;
		while (stop != q && stop->reason.cause != AW_CAUSE_PROTECTED)
			stop = stop->hh.next;
		if (stop == q)
			fputs("\n# for what is protected; each opens more than was "
			      "asked for\n# protections:\n",
				page->out);
		if (!said)
			fprintf(page->out, "#   %.*s: off\n", len, q->reason.text);
	}
}

static void put_head(const struct page *page)
{
	static const char *const uses[] = {
		[AW_LEARN_POLICY] = "agentwatch run --policy FILE -- COMMAND",
		[AW_LEARN_WORKSPACE] = "as .agentwatch.yaml in the workspace",
		[AW_LEARN_AGENT] =
			"as agents/NAME.yaml in agentwatch's directory of settings",
	};

	fprintf(page->out,
		"# Learnt from %llu call%s in %llu session%s; read it before it is used:\n"
		"# %s\n"
		"# What follows a # behind an entry is how often it was wanted, and by "
		"whom.\nversion: 1\nmode: enforce\n%s",
		(unsigned long long)page->learner->calls,
		page->learner->calls == 1 ? "" : "s",
		(unsigned long long)page->learner->sessions,
		page->learner->sessions == 1 ? "" : "s",
		uses[page->learner->params.for_whom],
		page->learner->params.for_whom == AW_LEARN_WORKSPACE
			? ""
			: "base: read-only # what was changed of the workspace is below\n");
}

static void put_page(const struct page *page, const struct aw_policy *policy)
{
	FILE *out = page->out;

	put_head(page);
	put_presets(page);
	fprintf(out, "\nfilesystem:\n  default: %s\n",
		!page->learner->read_only ? "deny"
		: page->learner->params.files == AW_LEARN_READ_ONLY
			? "read-only"
			: "read-only # as presets expect; --default deny lists what was read");
	put_denied(page, "deny", 1u << AW_GRANT_READ);
	put_denied(page, "deny_write", 1u << AW_GRANT_WRITE);
	put_files(page, "write", AW_GRANT_WRITE);
	put_files(page, "read", AW_GRANT_READ);
	fputs("\nexec:\n  default: deny\n", out);
	put_denied(page, "deny", 1u << AW_GRANT_EXEC);
	put_files(page, "allow", AW_GRANT_EXEC);
	fputs("\nnetwork:\n  default: deny\n", out);
	put_denied(page, "deny", 1u << AW_GRANT_CONNECT);
	put_addresses(page, "allow", false);
	put_addresses(page, "listen", true);
	put_environment(page, policy);
	put_protections(page);
}

static char *write_page(struct page *page, const struct aw_policy *policy)
{
	char *text = NULL;
	size_t size;

	page->out = open_memstream(&text, &size);
	if (!page->out)
		aw_learn_no_memory();
	put_page(page, policy);
	if (fclose(page->out) != 0)
		aw_learn_no_memory();
	return text;
}

/* The verdict for the path of a question, as the first call about it would have it. */
static bool is_admitted(
	const struct aw_policy *policy, const struct aw_learn_question *q)
{
	struct aw_decision decision;
	size_t len = strlen(q->subject);

	if (q->access >= AW_GRANT_CONNECT)
		return false;
	if (q->access == AW_GRANT_EXEC)
		aw_image_decide_exec(
			policy->image, q->subject, len, NULL, 0, &decision);
	else
		aw_image_decide_path(policy->image,
			q->access == AW_GRANT_READ ? AW_READ : AW_WRITE, q->subject,
			len, &decision);
	return decision.verdict == AW_ALLOW;
}

char *aw_render(
	struct aw_learner *learner, const char *const *given, struct aw_error *err)
{
	struct page page = {.learner = learner, .given = given};
	struct aw_learn_question *q, *next;
	struct aw_policy policy;
	char *text = write_page(&page, NULL);

	if (aw_judge_load(text, learner->variables, &policy, err) < 0) {
		free(text);
		aw_while(err, "the policy that was learnt");
		return NULL;
	}
	free(text);
	HASH_ITER(hh, learner->questions, q, next)
	q->covered = is_admitted(&policy, q);
	text = write_page(&page, &policy);
	aw_policy_release(&policy);
	return text;
}
