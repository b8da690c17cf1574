/* SPDX-License-Identifier: Apache-2.0 */
/* test_shown.c - rules for what is exposed, under its other name. */
#include <stdio.h>

#include "tests/unit/policy_judge.h"

struct answer {
	enum aw_action action;
	const char *path;
	enum aw_verdict want;
};

static void compare(
	const struct aw_policy *p, const struct answer *answers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		ok(judge(p, answers[i].action, answers[i].path).verdict ==
				answers[i].want,
			"%s %s: %s", aw_action_name(answers[i].action), answers[i].path,
			aw_verdict_name(answers[i].want));
}

static void check(const char *policy, const struct answer *answers, size_t count)
{
	struct aw_policy p;

	load_text(policy, AW_ENFORCE, &p);
	compare(&p, answers, count);
	aw_policy_release(&p);
}

static void check_layers(const struct text_layer *layers, size_t n,
	const struct answer *answers, size_t count)
{
	struct aw_policy p;

	load(layers, n, AW_ENFORCE, &p);
	compare(&p, answers, count);
	aw_policy_release(&p);
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define EXPOSE "expose: [{source: /no/src, target: /no/dst, mode: rw}]"

static void each_list_holds(void)
{
	static const struct answer answers[] = {
		{AW_READ, "/no/dst/deny/x", AW_DENY},
		{AW_READ, "/no/dst/hide", AW_HIDE},
		{AW_WRITE, "/no/dst/keep", AW_DENY},
		{AW_READ, "/no/dst/keep", AW_ALLOW},
		{AW_READ, "/no/dst/ask", AW_ASK},
		{AW_EXEC, "/no/dst/run", AW_DENY},
		{AW_EXEC, "/no/dst/may", AW_ASK},
		{AW_READ, "/no/dst/a/b/x.pem", AW_DENY},
		{AW_READ, "/no/dst/*/odd", AW_DENY},
		{AW_READ, "/no/dst/x/odd", AW_ALLOW},
		{AW_READ, "/no/dst/fine", AW_ALLOW},
		{AW_READ, "/no/dst", AW_ALLOW},
		{AW_READ, "/no/dst2/deny", AW_ALLOW},
		{AW_READ, "/no/src/deny", AW_DENY},
	};
	static const struct answer whole[] = {
		{AW_READ, "/no/dst", AW_DENY},
		{AW_READ, "/no/dst/x", AW_DENY},
	};

	check("filesystem: {default: allow, deny: [/no/src/deny, '/no/src/**/*.pem', "
	      "'/no/src/\\*/odd'], hide: [/no/src/hide], deny_write: [/no/src/keep], "
	      "ask: [/no/src/ask], " EXPOSE
	      "}\nexec: {deny: [/no/src/run], ask: [/no/src/may]}",
		answers, COUNT(answers));
	check("filesystem: {default: allow, deny: [/no], " EXPOSE "}\n", whole,
		COUNT(whole));
}

static void exceptions_hold(void)
{
	static const struct answer source[] = {
		{AW_READ, "/no/dst/x", AW_DENY},
		{AW_READ, "/no/dst/pub", AW_ALLOW},
		{AW_READ, "/no/dst/sub/free", AW_ALLOW},
		{AW_READ, "/no/dst/pub/held", AW_DENY},
	};
	static const struct answer target[] = {
		{AW_READ, "/no/dst/secret", AW_DENY},
		{AW_READ, "/no/secret", AW_DENY},
		{AW_READ, "/no/dst/fine", AW_ALLOW},
	};
	static const struct answer other[] = {
		{AW_READ, "/no/dst/.env", AW_DENY},
		{AW_READ, "/no/dst/.env.example", AW_ALLOW},
	};

	check("filesystem: {default: allow, deny: [/no/src/*, '!/no/src/pub', "
	      "'!**/free', /no/dst/pub/held], " EXPOSE "}",
		source, COUNT(source));
	check("filesystem: {default: allow, deny: ['**/secret', '!/no/dst'], " EXPOSE
	      "}",
		target, COUNT(target));
	check("filesystem: {default: allow, deny: ['**/.env*', '!**/.env.example'], " EXPOSE
	      "}",
		other, COUNT(other));
}

static void sockets_are_refused(void)
{
	struct aw_policy p;

	load_text("filesystem: {default: allow, " EXPOSE "}\nnetwork: {default: allow, "
		  "deny: ['unix:/no/src/held.sock']}",
		AW_ENFORCE, &p);
	ok(judge_address(&p, AW_CONNECT, "/no/dst/held.sock", 0, NULL).verdict ==
				AW_DENY &&
			judge_address(&p, AW_CONNECT, "/no/dst/x.sock", 0, NULL)
					.verdict == AW_ALLOW,
		"a socket is not reached by another name");
	aw_policy_release(&p);
}

/* The system policy knows the thing itself, whatever name others give to it. */
static void the_system_is_not_got_round(void)
{
	static const struct text_layer layers[] = {
		{"system", AW_SYSTEM,
			"filesystem: {default: deny, read: [/no/src/may, /usr], write: "
			"[/no/dst, /no/src/change]}"},
		{"global", AW_TRUSTED, "filesystem: {default: allow, " EXPOSE "}"}};
	static const struct text_layer lists[] = {
		{"system", AW_SYSTEM,
			"filesystem: {default: allow, read: [/no/src/ro, /no/dst/too]}"},
		{"global", AW_TRUSTED, "filesystem: {default: allow, " EXPOSE "}"}};
	static const struct answer by_default[] = {
		{AW_READ, "/no/dst/x", AW_DENY},
		{AW_READ, "/no/dst/may", AW_ALLOW},
		{AW_WRITE, "/no/dst/may", AW_DENY},
		{AW_WRITE, "/no/dst/change", AW_ALLOW},
	};
	static const struct answer by_list[] = {
		{AW_WRITE, "/no/dst/x", AW_ALLOW},
		{AW_WRITE, "/no/dst/ro", AW_DENY},
		{AW_WRITE, "/no/dst/too", AW_DENY},
	};

	check_layers(layers, 2, by_default, COUNT(by_default));
	check_layers(lists, 2, by_list, COUNT(by_list));
}

static void what_is_shown_stays(void)
{
	static const struct answer answers[] = {
		{AW_READ, "/no/dst/secret", AW_DENY},
		{AW_READ, "/no/new/secret", AW_ALLOW},
	};
	static const char *const texts[] = {"filesystem: {default: allow, " EXPOSE "}",
		"filesystem: {default: allow, deny: [/no/src/secret], expose: "
		"[{source: /no/src, target: /no/new}]}"};
	struct aw_policy_variables variables = some_variables;
	struct aw_diagnostics found;
	struct aw_policy first, second;

	load_text(texts[0], AW_ENFORCE, &first);
	variables.before = &first;
	ok(load_layers_with(&(struct text_layer){"policy", AW_TRUSTED, texts[1]}, 1,
		   AW_ENFORCE, &variables, &second, &found) == 0,
		"a policy that exposes something else is read");
	aw_diagnostics_free(&found);
	compare(&second, answers, COUNT(answers));
	ok(second.exposed_count == 1 &&
			strcmp(second.exposed[0].target, "/no/dst") == 0,
		"the session shows what it showed");
	aw_policy_release(&second);
	aw_policy_release(&first);
}

static void links_are_followed(void)
{
	static const char text[] =
		"filesystem: {default: allow, deny: ['%s/real/secret'], "
		"expose: [{source: '%s/link', target: '%s/way/at'}]}";
	char top[] = "/tmp/aw-shown-XXXXXX", policy[600], path[200], command[300];
	struct aw_policy p;

	if (!mkdtemp(top))
		abort();
	snprintf(command, sizeof(command),
		"mkdir %s/real && ln -s real %s/link && ln -s real %s/way", top, top,
		top);
	if (system(command) != 0)
		abort();
	snprintf(policy, sizeof(policy), text, top, top, top);
	load_text(policy, AW_ENFORCE, &p);
	snprintf(path, sizeof(path), "%s/real/at/secret", top);
	ok(judge(&p, AW_READ, path).verdict == AW_DENY,
		"links on the way to source and target are followed");
	aw_policy_release(&p);
	snprintf(command, sizeof(command), "rm -r '%s'", top);
	ok(system(command) == 0, "nothing else was made");
}

int main(void)
{
	forget_environment();
	each_list_holds();
	exceptions_hold();
	sockets_are_refused();
	the_system_is_not_got_round();
	what_is_shown_stays();
	links_are_followed();
	return done();
}
