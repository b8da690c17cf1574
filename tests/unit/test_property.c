/* SPDX-License-Identifier: Apache-2.0 */
/* test_property.c - the image agrees with the plain meaning on random policies. */
#include <stdlib.h>
#include <time.h>

#include "policy/compile/compile.h"
#include "policy/image/region.h"
#include "tests/unit/random.h"
#include "tests/unit/reference.h"
#include "tests/unit/tap.h"

#define POLICIES 3000
#define PATHS 40

static char *copy(const char *text)
{
	char *to = malloc(strlen(text) + 1);

	if (!to)
		abort();
	return strcpy(to, text);
}

/* Few names, so that rules meet each other often. */
static void make_path(char *out, bool pattern)
{
	static const char *const plain[] = {"a", "b", "ab", "abc", ".env", "a*"};
	static const char *const wild[] = {"*", "a*", "*b", "?", "[ab]", "a?c", "[!a]*",
		"*b*", "\\a*", "a\\*", "**", "**"};
	unsigned depth = roll(pattern ? 5 : 9), i;

	*out = '\0';
	for (i = 0; i < depth; i++) {
		const char *name = pattern && roll(2) ? wild[roll(12)] : plain[roll(6)];

		if (pattern && strcmp(name, "a*") == 0 && roll(2))
			name = "a\\*";
		/* as the loader writes them: "**" neither doubled nor last */
		if (strcmp(name, "**") == 0) {
			size_t len = strlen(out);

			if (i + 1 >= depth ||
				(len > 2 && strcmp(out + len - 3, "/**") == 0))
				name = "*";
		}
		strcat(strcat(out, "/"), name);
	}
	if (!*out)
		strcpy(out, "/");
}

static void make_policy(struct aw_draft *draft)
{
	unsigned rules = 1 + roll(roll(4) ? 12 : 120), i;
	char pattern[64], text[80];

	memset(draft, 0, sizeof(*draft));
	for (i = 0; i < AW_STRATA; i++) {
		draft->strata[i].files = (uint8_t)roll(3);
		draft->strata[i].exec = (uint8_t)(2 * roll(2));
	}
	for (i = 0; i < rules; i++) {
		struct aw_draft_entry *e = aw_draft_add(draft);

		if (!e)
			abort();
		make_path(pattern, true);
		e->stratum = (enum aw_stratum)roll(AW_STRATA);
		e->list = (enum aw_list)roll(AW_LIST_EXEC_ALLOW + 1);
		e->negated = roll(4) == 0;
		e->file = "file";
		e->layer = "layer";
		e->line = i + 1;
		e->pattern = copy(pattern);
		snprintf(text, sizeof(text), "%s%s", e->negated ? "!" : "", pattern);
		e->text = copy(text);
	}
}

/* The last entry of a list that matches, when it is not a "!". */
static bool in_list(
	const struct aw_draft *d, unsigned s, enum aw_list list, const char *path)
{
	bool in = false;
	size_t i;

	for (i = 0; i < d->count; i++)
		if (d->entries[i].stratum == s && d->entries[i].list == list &&
			plain_covers(d->entries[i].pattern, path))
			in = !d->entries[i].negated;
	return in;
}

static enum aw_verdict judge_exec(
	const struct aw_draft *d, unsigned s, const char *path)
{
	if (in_list(d, s, AW_LIST_EXEC_DENY, path))
		return AW_DENY;
	if (in_list(d, s, AW_LIST_EXEC_ASK, path))
		return AW_ASK;
	if (in_list(d, s, AW_LIST_EXEC_ALLOW, path))
		return AW_ALLOW;
	return d->strata[s].exec ? AW_DENY : AW_ALLOW;
}

static enum aw_verdict judge_file(
	const struct aw_draft *d, unsigned s, enum aw_action action, const char *path)
{
	bool change = action != AW_READ;
	bool program = action == AW_READ || action == AW_WRITE || action == AW_RENAME;

	if (in_list(d, s, AW_LIST_HIDE, path))
		return action == AW_CREATE ? AW_DENY : AW_HIDE;
	if (action == AW_METADATA)
		return AW_ALLOW;
	if (in_list(d, s, AW_LIST_DENY, path))
		return AW_DENY;
	if (change && in_list(d, s, AW_LIST_DENY_WRITE, path))
		return AW_DENY;
	if (program && in_list(d, s, AW_LIST_EXEC_DENY, path))
		return AW_DENY;
	if (in_list(d, s, AW_LIST_ASK, path))
		return AW_ASK;
	if (in_list(d, s, AW_LIST_WRITE, path))
		return AW_ALLOW;
	if (in_list(d, s, AW_LIST_READ, path))
		return change ? AW_DENY : AW_ALLOW;
	if (d->strata[s].files == AW_DEFAULT_READ_ONLY)
		return change ? AW_DENY : AW_ALLOW;
	return d->strata[s].files == AW_DEFAULT_DENY ? AW_DENY : AW_ALLOW;
}

static enum aw_verdict judge(
	const struct aw_draft *d, enum aw_action action, const char *path)
{
	enum aw_verdict worst = AW_ALLOW, now;
	unsigned s;

	for (s = 0; s < AW_STRATA; s++) {
		now = judge_file(d, s, action == AW_EXEC ? AW_READ : action, path);
		if (action == AW_EXEC && judge_exec(d, s, path) > now)
			now = judge_exec(d, s, path);
		if (now > worst)
			worst = now;
	}
	return worst;
}

static unsigned compare(const struct aw_draft *draft, const struct aw_image *image)
{
	static const enum aw_action actions[] = {AW_READ, AW_WRITE, AW_CREATE,
		AW_DELETE, AW_RENAME, AW_EXEC, AW_METADATA};
	unsigned i, wrong = 0;
	struct aw_decision d;
	char path[64];

	for (i = 0; i < PATHS; i++) {
		enum aw_action action = actions[roll(7)];
		enum aw_verdict want;

		make_path(path, false);
		want = judge(draft, action, path);
		aw_image_decide_path(image, action, path, strlen(path), &d);
		if (d.verdict == want)
			continue;
		wrong++;
		note("%s %s is %s, not %s", aw_action_name(action), path,
			aw_verdict_name(want), aw_verdict_name(d.verdict));
	}
	return wrong;
}

/* Where all may be read, no name at or below can be refused; and the other way round. */
static unsigned ask_below(const struct aw_draft *draft, const struct aw_image *image,
	unsigned *all, unsigned *some)
{
	char folder[64], path[160], rest[64];
	bool clean, refused = false;
	unsigned i;

	make_path(folder, false);
	folder[roll(3) ? 3 * (strlen(folder) > 4) : strlen(folder)] = '\0';
	if (folder[0] != '/' || (folder[1] && folder[strlen(folder) - 1] == '/'))
		strcpy(folder, "/");
	clean = aw_image_reads_all(image, folder, strlen(folder));
	*(clean ? all : some) += 1;
	for (i = 0; i < PATHS && !refused; i++) {
		make_path(rest, false);
		snprintf(path, sizeof(path), "%s%s", folder[1] ? folder : "", rest);
		if (folder[1] && !rest[1])
			strcpy(path, folder);
		refused = judge(draft, AW_READ, path) != AW_ALLOW;
	}
	if (clean && refused)
		note("all of %s may be read, but not %s", folder, path);
	return clean && refused;
}

/* A list that a move is judged by. */
struct guard {
	enum aw_list list;
	enum aw_verdict verdict;
};

/* Is something at `rest` below the one path in a list, and below the other in none? */
static enum aw_verdict set_free(const struct aw_draft *d, const struct guard *guards,
	unsigned count, const char *from, const char *to)
{
	enum aw_verdict worst = AW_ALLOW;

	for (unsigned s = 0; s < AW_STRATA; s++)
		for (unsigned i = 0; i < count; i++)
			if (guards[i].verdict > worst &&
				in_list(d, s, guards[i].list, from) &&
				!in_list(d, s, guards[i].list, to))
				worst = guards[i].verdict;
	return worst;
}

/* What a move sets free it carries along. */
static bool frees_unnoticed(const struct aw_draft *draft, const struct aw_image *image,
	bool programs, bool folder)
{
	static const struct guard files[] = {{AW_LIST_DENY, AW_DENY},
		{AW_LIST_HIDE, AW_DENY}, {AW_LIST_DENY_WRITE, AW_DENY},
		{AW_LIST_ASK, AW_ASK}},
				  program[] = {{AW_LIST_EXEC_DENY, AW_DENY},
					  {AW_LIST_EXEC_ASK, AW_ASK}};
	char from[64], to[64], rest[64], old[160], new[160];
	struct aw_decision found = {AW_ALLOW, AW_NO_RULE};
	enum aw_verdict want = AW_ALLOW, now;

	make_path(from, false);
	make_path(to, false);
	if (!from[1] || !to[1])
		return false;
	if (programs)
		aw_image_carries_programs(
			image, 0, folder, from, strlen(from), to, strlen(to), &found);
	else
		aw_image_carries(image, 0, from, strlen(from), to, strlen(to), &found);
	for (int i = 0; i < PATHS && want <= found.verdict; i++) {
		make_path(rest, false);
		if (!folder || !rest[1])
			*rest = '\0';
		snprintf(old, sizeof(old), "%s%s", from, rest);
		snprintf(new, sizeof(new), "%s%s", to, rest);
		now = programs ? set_free(draft, program, 2, old, new)
			       : set_free(draft, files, 4, old, new);
		want = now > want ? now : want;
	}
	if (want > found.verdict)
		note("%s to %s frees %s", from, to, old);
	return want > found.verdict;
}

static unsigned move_around(const struct aw_draft *draft, const struct aw_image *image)
{
	unsigned freed = 0;

	for (unsigned i = 0; i < 8; i++)
		freed += frees_unnoticed(draft, image, false, true) +
			 frees_unnoticed(draft, image, true, i % 2);
	return freed;
}

static void random_policies_mean_what_they_say(void)
{
	unsigned i, wrong = 0, bad = 0, unclean = 0, freed = 0, all = 0, some = 0;
	struct aw_draft draft;
	struct aw_error err;
	size_t size;
	void *image;

	for (i = 0; i < POLICIES && wrong == 0; i++) {
		make_policy(&draft);
		if (aw_draft_compile(&draft, &image, &size, &err) < 0)
			abort();
		bad += aw_image_check(image, size, &err) < 0;
		wrong += compare(&draft, image);
		for (int k = 0; k < 8; k++)
			unclean += ask_below(&draft, image, &all, &some);
		freed += move_around(&draft, image);
		free(image);
		aw_draft_release(&draft);
	}
	ok(bad == 0, "every image passes its own check");
	ok(unclean == 0 && all > 100 && some > 100,
		"where all may be read nothing is refused (%u folders, %u others)", all,
		some);
	ok(freed == 0, "no move frees anything unnoticed (%u)", freed);
	ok(wrong == 0, "%d policies give the plain verdict on %d paths each", POLICIES,
		PATHS);
}

static void add_rule(struct aw_draft *draft, enum aw_list list, const char *pattern)
{
	struct aw_draft_entry *e = aw_draft_add(draft);

	if (!e)
		abort();
	e->list = list;
	e->stratum = AW_STRATUM_TRUSTED;
	e->file = e->layer = "x";
	e->line = 1;
	e->text = copy(pattern);
	e->pattern = copy(pattern);
}

/* More "**" alive than the walk has room for: the slow way must say the same. */
static void an_overflow_stays_exact(void)
{
	struct aw_draft draft = {0};
	char pattern[400], path[1024] = "";
	struct aw_error err;
	struct aw_decision d;
	size_t size, n;
	void *image;
	int i, k;

	for (i = 1; i < 60; i++) {
		for (n = 0, k = 0; k < i; k++)
			n += (size_t)snprintf(
				pattern + n, sizeof(pattern) - n, "/**/a");
		snprintf(pattern + n, sizeof(pattern) - n, "/b%d", i);
		add_rule(&draft, AW_LIST_DENY, pattern);
	}
	if (aw_draft_compile(&draft, &image, &size, &err) < 0)
		abort();
	for (i = 0; i < 100; i++)
		strcat(path, "/a");
	aw_image_decide_path(image, AW_READ, path, strlen(path), &d);
	ok(d.verdict == AW_ALLOW, "a hundred folders 'a' match none of the rules");
	strcat(path, "/b59");
	aw_image_decide_path(image, AW_READ, path, strlen(path), &d);
	ok(d.verdict == AW_DENY && d.rule == 58,
		"and with b59 behind them the last one");
	free(image);
	aw_draft_release(&draft);
}

static double cost(unsigned rules)
{
	static const char *const paths[] = {"/usr/lib/x86_64-linux-gnu/libc.so.6",
		"/srv/part3/dir7/file7", "/repo/src/main.c", "/srv/part1/none/x"};
	struct aw_draft draft = {0};
	struct timespec from, to;
	struct aw_decision d;
	struct aw_error err;
	char pattern[64];
	unsigned i, turns = 400000;
	double best = 1e9, now;
	size_t size;
	void *image;
	int round;

	add_rule(&draft, AW_LIST_DENY, "/**/.env*");
	for (i = 0; i < rules; i++) {
		snprintf(pattern, sizeof(pattern), "/srv/part%u/dir%u/file%u", i % 10,
			i, i);
		add_rule(&draft, AW_LIST_DENY, pattern);
	}
	if (aw_draft_compile(&draft, &image, &size, &err) < 0)
		abort();
	for (round = 0; round < 5; round++) {
		clock_gettime(CLOCK_MONOTONIC, &from);
		for (i = 0; i < turns; i++)
			aw_image_decide_path(
				image, AW_READ, paths[i % 4], strlen(paths[i % 4]), &d);
		clock_gettime(CLOCK_MONOTONIC, &to);
		now = ((double)(to.tv_sec - from.tv_sec) * 1e9 +
			      (double)(to.tv_nsec - from.tv_nsec)) /
		      turns;
		best = now < best ? now : best;
	}
	free(image);
	aw_draft_release(&draft);
	return best;
}

int main(void)
{
	double few, some, many;

	start_dice();
	random_policies_mean_what_they_say();
	an_overflow_stays_exact();
	few = cost(10);
	some = cost(100);
	many = cost(10000);
	note("a verdict costs %.0f ns with 10 rules, %.0f with 100, %.0f with 10,000: %.2f times",
		few, some, many, many / few);
	return done();
}
