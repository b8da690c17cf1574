/* SPDX-License-Identifier: Apache-2.0 */
/* test_probe.c - questions made from rules, and images in which rules are silent. */
#include "policy/glob.h"
#include "policy/image/mask.h"
#include "policy/image/pattern_probe.h"
#include "tests/unit/policy_text.h"

static const char policy_text[] =
	"filesystem: {default: read-only, write: [/w, '!/w/no'], deny: [/w/s, '**/.env*', "
	"'/q/[!a-y]?\\*/**/x'], deny_write: [/w/k], hide: [/h], ask: [/a]}\n"
	"exec: {default: deny, allow: ['/usr/bin/*', 'git pu?h *', '/opt/t/** -x [0-9]'], deny: "
	"[sudo]}\n"
	"network: {default: deny, allow: ['api.example.com:443', '*.example.org:1-9', "
	"'10.0.0.0/8:80', '[2001:db8::]/32', '*:22', 'unix:/run/*/s', 'unix:@a*', 'unix:@b'], "
	"deny: ['10.1.0.0/16'], listen: ['localhost:*']}";

/* What a list leads to when it is the one that speaks. */
static bool is_answered(const struct aw_image *image, uint32_t rule,
	const struct aw_rule_about *about, struct aw_probe *sample)
{
	struct aw_image *copy = aw_mask_create(image);
	struct aw_decision decision;
	bool good;

	for (uint32_t i = 0;; i++) {
		struct aw_rule ignored;

		if (!aw_image_rule(image, i, &ignored))
			break;
		if (i != rule)
			aw_mask_rule(copy, i);
	}
	for (int of = 0; of < AW_RULES_OF; of++)
		aw_mask_defaults(copy, (enum aw_rules_of)of);
	aw_probe_decide(copy, sample, &decision);
	good = about->negated ||
	       (decision.rule == rule && decision.verdict == about->strictest);
	aw_mask_rule(copy, rule);
	aw_probe_decide(copy, sample, &decision);
	good &= decision.verdict == AW_ALLOW && decision.rule == AW_NO_RULE;
	free(copy);
	return good;
}

static void every_sample_is_of_its_rule(void)
{
	struct aw_image *image = image_of(policy_text);
	struct aw_rule_about about;
	struct aw_probe sample;
	struct aw_rule rule;
	bool good;
	unsigned n;

	for (uint32_t i = 0; aw_image_rule(image, i, &rule); i++) {
		if (strcmp(rule.layer, "policy") != 0)
			continue;
		aw_image_rule_about(image, i, &about);
		good = true;
		for (n = 0; aw_probe_make(image, i, n, &sample); n++)
			good &= is_answered(image, i, &about, &sample);
		ok(good && n >= 4, "%u questions about %s \"%s\" are answered by it", n,
			about.list, rule.text);
	}
	free(image);
}

static void a_muted_rule_says_nothing_until_it_is_restored(void)
{
	struct aw_image *image = image_of(policy_text), *copy = aw_mask_create(image);
	struct aw_decision before, during, after;
	static const char path[] = "/w/s/x";

	aw_image_decide_path(copy, AW_READ, path, sizeof(path) - 1, &before);
	aw_mask_rule(copy, before.rule);
	aw_image_decide_path(copy, AW_READ, path, sizeof(path) - 1, &during);
	aw_mask_restore(copy, image, before.rule);
	aw_image_decide_path(copy, AW_READ, path, sizeof(path) - 1, &after);
	ok(before.verdict == AW_DENY && during.verdict == AW_ALLOW,
		"a denial that is silenced does not deny");
	ok(during.rule != before.rule && during.rule != AW_NO_RULE,
		"what stands behind it decides");
	ok(after.verdict == AW_DENY && after.rule == before.rule, "and it comes back");
	ok(memcmp(copy, image, aw_image_size(image)) == 0, "as it was");
	aw_image_decide_path(copy, AW_WRITE, "/x", 2, &before);
	aw_mask_default(copy, AW_RULES_TRUSTED, AW_RULE_FILES);
	aw_image_decide_path(copy, AW_WRITE, "/x", 2, &during);
	ok(before.verdict == AW_DENY && during.verdict == AW_ALLOW,
		"a default can be taken away");
	ok(strcmp(aw_image_default(image, AW_RULES_TRUSTED, AW_RULE_FILES),
		   "read-only") == 0 &&
			strcmp(aw_image_default(
				       image, AW_RULES_TRUSTED, AW_RULE_NETWORK),
				"deny") == 0 &&
			strcmp(aw_image_default(image, AW_RULES_SYSTEM, AW_RULE_EXEC),
				"allow") == 0,
		"and has a word");
	free(copy);
	free(image);
}

static void patterns_that_meet(void)
{
	static const struct {
		const char *a, *b;
		bool meet;
	} cases[] = {
		{"/a/b", "/a/b", true},
		{"/a", "/a/b/c", true},
		{"/a/b", "/a/c", false},
		{"/a/*", "/a/b", true},
		{"/a/*.md", "/a/README*", true},
		{"/a/x*", "/a/y*", false},
		{"/**/.env.example", "/**/.env.*", true},
		{"/**/.env.example", "/home/ann/.env*", true},
		{"/**/x", "/srv/*/data/*", true},
		{"/a/**/b", "/**/c/b/d", true},
		{"/a/[0-9]", "/a/[a-z]", false},
		{"/a/?", "/a/[a-z]", true},
		{"/**", "/", true},
		{"/a/\\*", "/a/b", false},
		{"/**/**/**/**/x", "/**/**/**/**/y*/**/**/z", true},
	};
	char path[4400];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *a = cases[i].a, *b = cases[i].b;
		bool meet = aw_probe_common(
			a, strlen(a), b, strlen(b), 0, path, sizeof(path));
		bool good = !meet ||
			    (aw_glob_covers(a, strlen(a), path, strlen(path)) &&
				    aw_glob_covers(b, strlen(b), path, strlen(path)));

		ok(meet == cases[i].meet && good, "%s and %s %s%s", a, b,
			cases[i].meet ? "meet at " : "do not meet", meet ? path : "");
	}
}

static void too_long_is_no_sample(void)
{
	char small[8];

	ok(!aw_probe_path("/abcdefgh", 9, 0, small, sizeof(small)),
		"a path that does not fit is none");
	ok(!aw_probe_component("abcdefgh", 8, "x", small, sizeof(small)),
		"nor is a name");
	ok(aw_probe_component("a[!a]\\*", 7, "x", small, sizeof(small)) &&
			strcmp(small, "ax*") == 0,
		"classes and quoted signs are filled");
}

int main(void)
{
	every_sample_is_of_its_rule();
	a_muted_rule_says_nothing_until_it_is_restored();
	patterns_that_meet();
	too_long_is_no_sample();
	return done();
}
