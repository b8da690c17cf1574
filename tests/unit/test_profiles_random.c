/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_profiles_random.c - profiles only tighten: random ones against an image of their
 * rules alone.
 */
#include <stdint.h>
#include <stdlib.h>

#include "policy/compile/compile.h"
#include "policy/image/profile.h"
#include "tests/unit/policy_judge.h"
#include "tests/unit/random.h"

enum { POLICIES = 1500, PATHS = 20, SOME = 5 };

/* Few names, so that rules meet each other often. */
static void make_path(char *out, bool pattern)
{
	static const char *const names[] = {"a", "b", "ab", ".env", "*", "a*", "?"};
	unsigned depth = 1 + roll(4), i;

	*out = '\0';
	for (i = 0; i < depth; i++)
		strcat(strcat(out, "/"), names[roll(pattern ? 7 : 4)]);
}

static void add_entry(struct aw_draft *draft, unsigned stratum)
{
	static const char *const hosts[] = {"a.example", "b.example"};
	struct aw_draft_entry *e = aw_draft_add(draft);
	char pattern[64];

	if (!e)
		abort();
	e->stratum = (enum aw_stratum)stratum;
	e->negated = roll(4) == 0;
	e->file = e->layer = "x";
	e->line = (unsigned)draft->count;
	if (roll(4)) {
		make_path(pattern, true);
		e->list = (enum aw_list)roll(AW_LIST_EXEC_ALLOW + 1);
		e->pattern = strdup(pattern);
	} else {
		e->list = (enum aw_list)(AW_LIST_NET_DENY + roll(4));
		snprintf(pattern, sizeof(pattern), "%s", hosts[roll(2)]);
		e->nets = calloc(1, sizeof(*e->nets));
		if (!e->nets)
			abort();
		e->net_count = 1;
		e->nets[0] = (struct aw_draft_net){.kind = AW_NET_HOST,
			.key_len = strlen(pattern),
			.port_high = roll(2) ? 65535 : 80};
		memcpy(e->nets[0].key, pattern, e->nets[0].key_len);
	}
	e->text = strdup(pattern);
}

static struct aw_image_stratum any_defaults(void)
{
	return (struct aw_image_stratum){.files = (uint8_t)roll(3),
		.exec = (uint8_t)(2 * roll(2)),
		.network = (uint8_t)(2 * roll(2)),
		.listen = (uint8_t)roll(2)};
}

static void *compile(struct aw_draft *draft)
{
	struct aw_error err;
	size_t size;
	void *image;

	if (aw_draft_compile(draft, &image, &size, &err) < 0 ||
		aw_image_check(image, size, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		abort();
	}
	return image;
}

/* The rules of one profile as those of a whole policy; owned by the caller. */
static void *alone(const struct aw_draft *draft, unsigned profile)
{
	struct aw_draft one = {.mode = draft->mode};
	void *image;
	size_t i;

	one.strata[AW_STRATUM_TRUSTED] = draft->strata[AW_STRATA + profile];
	for (i = 0; i < draft->count; i++) {
		const struct aw_draft_entry *from = &draft->entries[i];
		struct aw_draft_entry *e;

		if (from->stratum != AW_STRATA + profile)
			continue;
		e = aw_draft_add(&one);
		*e = *from;
		e->dropped = false;
		e->stratum = AW_STRATUM_TRUSTED;
	}
	image = compile(&one);
	free(one.entries);
	return image;
}

static void make_draft(struct aw_draft *draft)
{
	static const char *const names[] = {"p0", "p1", "p2", "p3", "p4"};
	unsigned i, rules = 1 + roll(60);

	memset(draft, 0, sizeof(*draft));
	draft->profile_count = SOME;
	memcpy(draft->profiles, names, sizeof(names));
	for (i = 0; i < AW_STRATA + SOME; i++)
		draft->strata[i] = any_defaults();
	for (i = 0; i < rules; i++)
		add_entry(draft, roll(AW_STRATA + SOME));
}

static enum aw_verdict ask(const struct aw_image *image, uint32_t profiles, int what,
	const char *path, const struct aw_address *address)
{
	static const enum aw_action actions[] = {AW_READ, AW_WRITE, AW_CREATE,
		AW_DELETE, AW_RENAME, AW_METADATA, AW_EXEC};
	struct aw_decision d;

	if (what == 7)
		aw_image_decide_address_in(image, profiles, AW_CONNECT, address, &d);
	else if (what == 8)
		aw_image_decide_address_in(image, profiles, AW_BIND, address, &d);
	else if (what == 9)
		aw_image_decide_host_in(image, profiles, address->host, &d);
	else if (actions[what] == AW_EXEC)
		aw_image_decide_exec_in(
			image, profiles, path, strlen(path), NULL, 0, &d);
	else
		aw_image_decide_path_in(
			image, profiles, actions[what], path, strlen(path), &d);
	return d.verdict;
}

/* A set's verdict is the strictest of all that are in it. */
static unsigned compare(
	const struct aw_draft *draft, const struct aw_image *image, void *const *single)
{
	const struct aw_address address = {.family = AF_INET,
		.port = roll(2) ? 80 : 81,
		.bytes = {192, 0, 2, 1},
		.host = roll(2) ? "a.example" : "b.example"};
	uint32_t set = roll(1u << SOME);
	unsigned wrong = 0, i;
	char path[64];
	int what;

	(void)draft;
	make_path(path, false);
	for (what = 0; what < 10; what++) {
		enum aw_verdict base = ask(image, 0, what, path, &address);
		enum aw_verdict got = ask(image, set, what, path, &address);
		enum aw_verdict apart = AW_ALLOW;

		for (i = 0; i < SOME; i++) {
			enum aw_verdict now = ask(single[i], 0, what, path, &address);

			if (set >> i & 1 && now > apart)
				apart = now;
		}
		wrong += got != (apart > base ? apart : base);
		wrong += ask(image, set | AW_PROFILES_ALONE, what, path, &address) !=
			 apart;
	}
	return wrong;
}

static void random_profiles_only_tighten(void)
{
	unsigned wrong = 0, i, j;

	for (i = 0; i < POLICIES; i++) {
		struct aw_draft draft;
		void *single[SOME], *image;

		make_draft(&draft);
		for (j = 0; j < SOME; j++)
			single[j] = alone(&draft, j);
		image = compile(&draft);
		for (j = 0; j < PATHS; j++)
			wrong += compare(&draft, image, single);
		for (j = 0; j < SOME; j++)
			free(single[j]);
		free(image);
		aw_draft_release(&draft);
	}
	ok(!wrong, "%d policies: a set of profiles gives the strictest verdict of all",
		POLICIES);
}

int main(void)
{
	start_dice();
	random_profiles_only_tighten();
	return done();
}
