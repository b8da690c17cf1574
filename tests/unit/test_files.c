/* SPDX-License-Identifier: Apache-2.0 */
/* test_files.c - what file and exec rules mean. */
#include "tests/unit/policy_text.h"

struct question {
	enum aw_action action;
	const char *path;
	enum aw_verdict want;
};

static void answer(
	const char *what, const char *text, const struct question *q, size_t count)
{
	struct aw_image *image = image_of(text);
	struct aw_decision d;
	size_t i;

	for (i = 0; i < count; i++) {
		aw_image_decide_path(
			image, q[i].action, q[i].path, strlen(q[i].path), &d);
		ok(d.verdict == q[i].want, "%s: %s %s is %s (%s)", what,
			aw_action_name(q[i].action), q[i].path,
			aw_verdict_name(q[i].want), aw_verdict_name(d.verdict));
	}
	free(image);
}

#define ANSWER(what, text, ...)                                                        \
	do {                                                                           \
		const struct question q[] = {__VA_ARGS__};                             \
		answer(what, text, q, sizeof(q) / sizeof(*q));                         \
	} while (0)

static void nothing_said_is_allowed(void)
{
	ANSWER("no section", "base: workspace", {AW_READ, "/x", AW_ALLOW},
		{AW_WRITE, "/x", AW_DENY}, {AW_WRITE, "/repo/x", AW_ALLOW},
		{AW_METADATA, "/x", AW_ALLOW}, {AW_EXEC, "/bin/sh", AW_ALLOW});
	ANSWER("a section with rules", "base: workspace\nfilesystem: {deny: [/y]}",
		{AW_READ, "/x", AW_ALLOW}, {AW_WRITE, "/x", AW_DENY},
		{AW_WRITE, "/repo/x", AW_ALLOW});
	ANSWER("an open base", "base: open\nfilesystem: {}", {AW_READ, "/x", AW_ALLOW},
		{AW_WRITE, "/x", AW_ALLOW}, {AW_DELETE, "/", AW_ALLOW},
		{AW_METADATA, "/x", AW_ALLOW}, {AW_EXEC, "/bin/sh", AW_ALLOW});
}

static void defaults_decide_last(void)
{
	ANSWER("read-only", "filesystem: {default: read-only, write: [$WORKSPACE]}",
		{AW_READ, "/etc/passwd", AW_ALLOW}, {AW_WRITE, "/etc/passwd", AW_DENY},
		{AW_WRITE, "/repo/a", AW_ALLOW}, {AW_CREATE, "/repo", AW_ALLOW},
		{AW_CREATE, "/workshop", AW_DENY}, {AW_WRITE, "/dev/null", AW_ALLOW},
		{AW_DELETE, "/usr/x", AW_DENY}, {AW_RENAME, "/usr/x", AW_DENY},
		{AW_BIND, "/run/x", AW_DENY}, {AW_METADATA, "/etc/shadow", AW_ALLOW});
	ANSWER("deny", "filesystem: {default: deny, read: [/usr], write: [/repo]}",
		{AW_READ, "/usr/lib/x", AW_ALLOW}, {AW_READ, "/etc/x", AW_DENY},
		{AW_WRITE, "/usr/lib/x", AW_DENY}, {AW_READ, "/repo/x", AW_ALLOW},
		{AW_EXEC, "/usr/bin/ls", AW_ALLOW}, {AW_EXEC, "/opt/x", AW_DENY},
		{AW_METADATA, "/etc/x", AW_ALLOW}, {AW_READ, "/dev/urandom", AW_ALLOW});
	ANSWER("allow", "filesystem: {default: allow, read: [/usr]}",
		{AW_READ, "/usr/x", AW_ALLOW}, {AW_WRITE, "/usr/x", AW_DENY},
		{AW_WRITE, "/etc/x", AW_ALLOW});
}

static void lists_have_their_order(void)
{
	ANSWER("between lists",
		"filesystem:\n"
		"  default: allow\n"
		"  hide: [/a/hide]\n"
		"  deny: [/a/hide, /a/deny]\n"
		"  deny_write: [/a/dw]\n"
		"  ask: [/a]\n"
		"  write: [/a/deny, /a/ok, /a]\n",
		{AW_READ, "/a/hide", AW_HIDE}, {AW_METADATA, "/a/hide/x", AW_HIDE},
		{AW_CREATE, "/a/hide", AW_DENY}, {AW_BIND, "/a/hide/s", AW_DENY},
		{AW_DELETE, "/a/hide", AW_HIDE}, {AW_READ, "/a/deny", AW_DENY},
		{AW_METADATA, "/a/deny", AW_ALLOW}, {AW_WRITE, "/a/dw/x", AW_DENY},
		{AW_READ, "/a/dw/x", AW_ASK}, {AW_READ, "/a/ok", AW_ASK},
		{AW_READ, "/b", AW_ALLOW});
	ANSWER("exception of write",
		"filesystem: {default: read-only, write: [/w, '!/w/.git', /w/.git/tmp]}",
		{AW_WRITE, "/w/a", AW_ALLOW}, {AW_WRITE, "/w/.git/config", AW_DENY},
		{AW_READ, "/w/.git/config", AW_ALLOW},
		{AW_WRITE, "/w/.git/tmp/x", AW_ALLOW});
}

static void the_last_match_decides(void)
{
	ANSWER("exceptions",
		"filesystem: {deny: ['**/.env*', '!**/.env.example', '/s', '!/s/pub', "
		"'/s/pub/x']}",
		{AW_READ, "/repo/.env", AW_DENY}, {AW_READ, "/.env", AW_DENY},
		{AW_READ, "/w/a/b/.env.local", AW_DENY},
		{AW_READ, "/w/a/.env.example", AW_ALLOW}, {AW_READ, "/w/env", AW_ALLOW},
		{AW_READ, "/s/a", AW_DENY}, {AW_READ, "/s/pub/a", AW_ALLOW},
		{AW_READ, "/s/pub/x", AW_DENY}, {AW_READ, "/s", AW_DENY});
	ANSWER("a double keeps its last place", "filesystem: {deny: [/a, '!/a', /a]}",
		{AW_READ, "/a", AW_DENY});
	ANSWER("taken out again", "filesystem: {deny: [/a, /a, '!/a']}",
		{AW_READ, "/a", AW_ALLOW});
}

static void patterns_mean_what_they_say(void)
{
	ANSWER("patterns",
		"filesystem:\n"
		"  deny:\n"
		"    - /a/*/x\n"
		"    - /b/**/y\n"
		"    - /c/**\n"
		"    - '/d/[0-9]?'\n"
		"    - '/e/\\*'\n"
		"    - /f//./g/../h/\n"
		"    - ~/.ssh\n"
		"    - ${HOME}/.aws\n"
		"    - '/g/k*.pem'\n",
		{AW_READ, "/a/1/x", AW_DENY}, {AW_READ, "/a/1/2/x", AW_ALLOW},
		{AW_READ, "/a/x", AW_ALLOW}, {AW_READ, "/b/y", AW_DENY},
		{AW_READ, "/b/1/2/y/z", AW_DENY}, {AW_READ, "/b", AW_ALLOW},
		{AW_READ, "/c", AW_ALLOW}, {AW_READ, "/c/1", AW_DENY},
		{AW_READ, "/c/1/2", AW_DENY}, {AW_READ, "/d/1x", AW_DENY},
		{AW_READ, "/d/1", AW_ALLOW}, {AW_READ, "/e/*", AW_DENY},
		{AW_READ, "/e/x", AW_ALLOW}, {AW_READ, "/f/h", AW_DENY},
		{AW_READ, "/home/ann/.ssh/id", AW_DENY},
		{AW_READ, "/home/ann/.aws", AW_DENY}, {AW_READ, "/g/key.pem", AW_DENY},
		{AW_READ, "/g/key.pub", AW_ALLOW});
	ANSWER("the root", "filesystem: {deny: [/]}", {AW_READ, "/", AW_DENY},
		{AW_READ, "/x", AW_DENY});
	ANSWER("all below the root", "filesystem: {deny: ['**']}",
		{AW_READ, "/", AW_ALLOW}, {AW_READ, "/x", AW_DENY});
}

static void values_of_variables_are_no_patterns(void)
{
	setenv("AW_TEST_DIR", "/odd/[x]*", 1);
	ANSWER("quoted value", "filesystem: {deny: [$env:AW_TEST_DIR]}",
		{AW_READ, "/odd/[x]*/a", AW_DENY}, {AW_READ, "/odd/x", AW_ALLOW});
}

static void run(const char *what, const struct aw_image *image, const char *path,
	const char *line, enum aw_verdict want)
{
	const char *argv[16] = {NULL};
	char copy[200], *word, *rest = NULL;
	struct aw_decision d;
	size_t argc = 0;

	snprintf(copy, sizeof(copy), "%s", line);
	for (word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		argv[argc++] = word;
	aw_image_decide_exec(image, path, strlen(path), argv, argc, &d);
	ok(d.verdict == want, "%s: running '%s' as %s is %s (%s)", what, line, path,
		aw_verdict_name(want), aw_verdict_name(d.verdict));
}

static void commands_match_word_by_word(void)
{
	struct aw_image *image = image_of(
		"exec:\n"
		"  deny: [sudo, 'git push --force*', /opt/bad, 'npm publish', '/usr/bin/python3 "
		"-c *', '!sudo -l', 'py*-config', 'x a\\ b']\n"
		"  ask: ['git push *', 'rm -rf*']\n");

	run("a name", image, "/usr/bin/sudo", "sudo ls", AW_DENY);
	run("a name", image, "/bin/sudo", "anything", AW_DENY);
	run("a name", image, "/usr/bin/sudoedit", "sudoedit", AW_ALLOW);
	run("an exception", image, "/usr/bin/sudo", "sudo -l", AW_ALLOW);
	run("an exception", image, "/usr/bin/sudo", "sudo -l x", AW_DENY);
	run("arguments", image, "/usr/bin/git", "git push --force", AW_DENY);
	run("arguments", image, "/usr/bin/git", "git push --force-with-lease o m",
		AW_DENY);
	run("arguments", image, "/usr/bin/git", "git push origin", AW_ASK);
	run("a last star may be nothing", image, "/usr/bin/git", "git push", AW_ASK);
	run("arguments", image, "/usr/bin/git", "git status", AW_ALLOW);
	run("arguments", image, "/usr/bin/git", "git", AW_ALLOW);
	run("all arguments", image, "/usr/bin/npm", "npm publish", AW_DENY);
	run("all arguments", image, "/usr/bin/npm", "npm publish --dry-run", AW_ALLOW);
	run("a path and arguments", image, "/usr/bin/python3", "python3 -c x", AW_DENY);
	run("a path and arguments", image, "/usr/local/bin/python3", "python3 -c",
		AW_ALLOW);
	run("a name with a star", image, "/usr/bin/python3-config", "p", AW_DENY);
	run("a path", image, "/opt/bad", "bad", AW_DENY);
	run("a folder", image, "/opt/bad/tool", "tool", AW_DENY);
	run("a star within", image, "/bin/rm", "rm -rfv /", AW_ASK);
	run("a star within", image, "/bin/rm", "rm", AW_ALLOW);
	free(image);
	ANSWER("a path that may not run may not be read",
		"exec: {deny: [/opt/bad, sudo]}", {AW_READ, "/opt/bad", AW_DENY},
		{AW_RENAME, "/opt/bad", AW_DENY}, {AW_METADATA, "/opt/bad", AW_ALLOW},
		{AW_EXEC, "/opt/bad", AW_DENY}, {AW_READ, "/usr/bin/sudo", AW_ALLOW},
		{AW_EXEC, "/usr/bin/sudo", AW_DENY});
	ANSWER("only what is listed",
		"exec: {default: deny, allow: [/usr/bin, '!/usr/bin/nc']}",
		{AW_EXEC, "/usr/bin/ls", AW_ALLOW}, {AW_EXEC, "/usr/bin/nc", AW_DENY},
		{AW_EXEC, "/repo/a.out", AW_DENY}, {AW_READ, "/repo/a.out", AW_ALLOW});
	ANSWER("exec needs the read verdict", "filesystem: {ask: [/q], hide: [/h]}",
		{AW_EXEC, "/q/x", AW_ASK}, {AW_EXEC, "/h/x", AW_HIDE});
}

static void the_rule_is_named(void)
{
	struct aw_image *image =
		image_of("filesystem:\n  deny:\n    - /a\n    - '!/a/b'\n");
	struct aw_decision d;
	struct aw_rule rule;

	aw_image_decide_path(image, AW_READ, "/a/x", 4, &d);
	ok(aw_image_rule(image, d.rule, &rule) && rule.line == 4 &&
			strcmp(rule.text, "/a") == 0 &&
			strcmp(rule.layer, "policy") == 0,
		"a verdict carries line, text and layer");
	aw_image_decide_path(image, AW_READ, "/b", 2, &d);
	ok(d.rule == AW_NO_RULE && !aw_image_rule(image, d.rule, &rule),
		"a default carries no rule");
	ok(!aw_image_hides(image),
		"without a hide there is nothing to watch metadata for");
	free(image);
}

int main(void)
{
	nothing_said_is_allowed();
	defaults_decide_last();
	lists_have_their_order();
	the_last_match_decides();
	patterns_mean_what_they_say();
	values_of_variables_are_no_patterns();
	commands_match_word_by_word();
	the_rule_is_named();
	return done();
}
