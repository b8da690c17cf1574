/* SPDX-License-Identifier: Apache-2.0 */
/* test_may_name.c - names that a policy lets be looked up, and addresses that it
 * admits.
 */
#include <arpa/inet.h>

#include "policy/image/profile.h"
#include "tests/unit/policy_text.h"

struct question {
	const char *name;
	enum aw_verdict want;
	const char *rule; /* NULL: none */
};

static void answer(const char *what, const char *text, const char *profile,
	const struct question *q, size_t count)
{
	struct aw_image *image = image_of(text);
	uint32_t set = profile ? aw_image_profile_set(image, profile) : 0;

	for (size_t i = 0; i < count; i++) {
		struct aw_decision d;
		struct aw_rule rule = {.text = NULL};

		aw_image_decide_name_in(image, set, q[i].name, &d);
		aw_image_rule(image, d.rule, &rule);
		ok(d.verdict == q[i].want &&
				(q[i].rule ? rule.text && strcmp(rule.text,
								  q[i].rule) == 0
					   : !rule.text),
			"%s: %s is %s (%s, %s)", what, q[i].name,
			aw_verdict_name(q[i].want), aw_verdict_name(d.verdict),
			rule.text ? rule.text : "no rule");
	}
	free(image);
}

#define ANSWER(what, text, profile, ...)                                               \
	do {                                                                           \
		const struct question q[] = {__VA_ARGS__};                             \
		answer(what, text, profile, q, sizeof(q) / sizeof(*q));                \
	} while (0)

static void some_port_is_enough(void)
{
	ANSWER("a list",
		"network: {default: deny, allow: ['api.test:443', '*.below.test:22', "
		"'ports.test:1-10', '!ports.test:1-9', 'none.test:5-6', "
		"'!none.test:5', '!none.test:6'], deny: ['bad.below.test', "
		"'half.below.test:443', 'shut.below.test:22'], ask: ['may.test:80']}",
		NULL, {"api.test", AW_ALLOW, "api.test:443"},
		{"x.api.test", AW_DENY, NULL}, {"below.test", AW_DENY, NULL},
		{"a.b.below.test", AW_ALLOW, "*.below.test:22"},
		{"bad.below.test", AW_DENY, "bad.below.test"},
		{"half.below.test", AW_ALLOW, "*.below.test:22"},
		{"shut.below.test", AW_DENY, "shut.below.test:22"},
		{"ports.test", AW_ALLOW, "ports.test:1-10"},
		{"none.test", AW_DENY, NULL}, {"may.test", AW_ASK, "may.test:80"},
		{"other.test", AW_DENY, NULL});
	ANSWER("every name",
		"network: {default: deny, allow: ['*:443'], deny: [no.test]}", NULL,
		{"any.test", AW_ALLOW, "*:443"}, {"no.test", AW_DENY, "no.test"});
	ANSWER("addresses alone",
		"network: {default: deny, allow: ['0.0.0.0/0', '::/0']}", NULL,
		{"any.test", AW_DENY, NULL});
	ANSWER("what is allowed by default",
		"network: {deny: [no.test, 'part.test:443', '*.no.test']}", NULL,
		{"any.test", AW_ALLOW, NULL}, {"no.test", AW_DENY, "no.test"},
		{"a.no.test", AW_DENY, "*.no.test"}, {"part.test", AW_ALLOW, NULL});
}

static void profiles_count_too(void)
{
	static const char text[] =
		"network: {default: deny, allow: [a.test, b.test]}\n"
		"profiles: {p: {when: {exec: x}, network: {default: deny, allow: "
		"[b.test, c.test]}}}";
	ANSWER("in a profile", text, "p", {"a.test", AW_DENY, NULL},
		{"b.test", AW_ALLOW, "b.test"}, {"c.test", AW_DENY, NULL});
	ANSWER("outside of it", text, NULL, {"a.test", AW_ALLOW, "a.test"},
		{"c.test", AW_DENY, NULL});
}

static struct aw_address address_of(const char *text)
{
	struct aw_address a = {.family = strchr(text, ':') ? AF_INET6 : AF_INET};

	if (inet_pton(a.family, text, a.bytes) != 1)
		abort();
	return a;
}

static void addresses_have_rules_of_their_own(void)
{
	static const struct {
		const char *policy, *address;
		bool want;
	} cases[] = {
		{"network: {default: deny, allow: ['10.0.0.0/8:5432']}", "10.1.2.3",
			true},
		{"network: {default: deny, allow: ['10.0.0.0/8:5432']}",
			"::ffff:10.1.2.3", true},
		{"network: {default: deny, allow: ['10.0.0.0/8:5432']}", "192.168.0.1",
			false},
		{"network: {default: deny, allow: ['*:443', '*.test']}", "10.1.2.3",
			false},
		{"network: {default: deny, allow: [localhost]}", "127.0.0.1", true},
		{"network: {default: deny, allow: ['10.1.2.3'], deny: ['10.1.2.3']}",
			"10.1.2.3", false},
		{"network: {deny: [x.test]}", "10.1.2.3", true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct aw_image *image = image_of(cases[i].policy);
		struct aw_address address = address_of(cases[i].address);

		ok(aw_image_admits_address(image, 0, &address) == cases[i].want,
			"%s: %s is %sadmitted", cases[i].policy, cases[i].address,
			cases[i].want ? "" : "not ");
		free(image);
	}
}

static void a_policy_tells_whether_names_matter(void)
{
	static const struct {
		const char *policy;
		bool admits, judges;
	} cases[] = {
		{"network: {default: deny, allow: [a.test]}", true, true},
		{"network: {default: deny, allow: ['*.a.test']}", true, true},
		{"network: {default: deny, allow: ['*:443']}", true, true},
		{"network: {default: deny, ask: [a.test]}", true, true},
		{"network: {default: deny, allow: ['!a.test']}", false, true},
		{"network: {default: deny, allow: ['10.0.0.0/8']}", false, true},
		{"network: {default: deny}", false, true},
		{"network: {deny: ['10.0.0.0/8', '*:25']}", true, false},
		{"network: {deny: [a.test]}", true, true},
		{"network: {}", true, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct aw_image *image = image_of(cases[i].policy);

		ok(aw_image_admits_names(image, 0) == cases[i].admits &&
				aw_image_judges_names(image) == cases[i].judges,
			"%s: %s name can be allowed, %s", cases[i].policy,
			cases[i].admits ? "some" : "no",
			cases[i].judges ? "they are judged" : "nobody minds");
		free(image);
	}
}

int main(void)
{
	some_port_is_enough();
	profiles_count_too();
	addresses_have_rules_of_their_own();
	a_policy_tells_whether_names_matter();
	return done();
}
