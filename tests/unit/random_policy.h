/* SPDX-License-Identifier: Apache-2.0 */
/* random_policy.h - texts of policies that are made up, a section at a time. */
#ifndef AW_TESTS_UNIT_RANDOM_POLICY_H
#define AW_TESTS_UNIT_RANDOM_POLICY_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/random.h"

struct text {
	char bytes[8192];
	size_t len;
};

__attribute__((format(printf, 2, 3))) static void say(
	struct text *t, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	t->len += (size_t)vsnprintf(
		t->bytes + t->len, sizeof(t->bytes) - t->len, fmt, args);
	va_end(args);
	if (t->len >= sizeof(t->bytes))
		abort();
}

static const char *one_of(const char *const *words)
{
	unsigned count = 0;

	while (words[count])
		count++;
	return words[roll(count)];
}

static void say_path(struct text *t, bool pattern)
{
	static const char *const plain[] = {"a", "b", "ab", "abc", ".env", NULL};
	static const char *const wild[] = {
		"*", "a*", "*b", "?", "[ab]", "[!a]*", "a\\*", "**", NULL};
	unsigned depth = 1 + roll(pattern ? 3 : 4);

	while (depth-- > 0)
		say(t, "/%s", one_of(pattern && roll(3) == 0 ? wild : plain));
}

static void say_program(struct text *t)
{
	static const char *const names[] = {"a", "b", "a*", "[ab]", "abc", NULL};
	static const char *const rest[] = {
		"", "", " *", " x", " x*", " x *", " -f y", NULL};

	if (roll(2))
		say_path(t, true);
	else
		say(t, "%s", one_of(names));
	say(t, "%s", one_of(rest));
}

static void say_address(struct text *t)
{
	static const char *const hosts[] = {"x.org", "*.x.org", "a.x.org", "10.0.0.0/8",
		"10.1.2.3", "10.1.0.0/16", "127.0.0.1", "localhost", "*", "[::1]",
		"[fd00::]/8", NULL};
	static const char *const ports[] = {
		"", "", ":80", ":443", ":80-90", ":*", ":0", NULL};
	static const char *const sockets[] = {
		"unix:@n", "unix:@*", "unix:/a/b", "unix:/**/b", "unix:/run", NULL};

	if (roll(4))
		say(t, "%s%s", one_of(hosts), one_of(ports));
	else
		say(t, "%s", one_of(sockets));
}

static void say_name(struct text *t)
{
	static const char *const names[] = {
		"KEY", "TOKEN", "*_KEY", "A*", "?", "PATH", "*", NULL};

	say(t, "%s", one_of(names));
}

static void say_list(struct text *t, const char *key, void (*entry)(struct text *))
{
	unsigned count = roll(5);

	if (roll(3) == 0)
		return;
	say(t, "  %s: [", key);
	for (unsigned i = 0; i < count; i++) {
		say(t, "%s'%s", i ? ", " : "", roll(4) ? "" : "!");
		entry(t);
		say(t, "'");
	}
	say(t, "]\n");
}

static void say_pattern(struct text *t)
{
	say_path(t, true);
}

static void say_rules(struct text *t)
{
	static const char *const files[] = {
		"read", "write", "deny", "deny_write", "hide", "ask", NULL};
	static const char *const how[] = {"allow", "deny", NULL};
	static const char *const files_how[] = {"allow", "read-only", "deny", NULL};
	static const char *const lists[] = {"allow", "deny", "ask", NULL};

	say(t, "filesystem:\n  default: %s\n", one_of(files_how));
	for (unsigned i = 0; files[i]; i++)
		say_list(t, files[i], say_pattern);
	say(t, "exec:\n  default: %s\n", one_of(how));
	for (unsigned i = 0; lists[i]; i++)
		say_list(t, lists[i], say_program);
	say(t, "network:\n  default: %s\n", one_of(how));
	for (unsigned i = 0; lists[i]; i++)
		say_list(t, lists[i], say_address);
	say_list(t, "listen", say_address);
	if (roll(4) == 0)
		say(t, "  match_sni: %s\n", roll(2) ? "true" : "false");
	if (roll(8) == 0)
		say(t, "  proxy: listen\n  forward: [%u]\n", 1 + roll(9));
	if (roll(8) == 0)
		say(t, "  refusal: ECONNREFUSED\n  private_names: [x.org]\n");
}

static void say_limits(struct text *t)
{
	static const char *const keys[] = {"memory", "cpus", "processes", "time",
		"open_files", "file_size", "connections_per_minute", "bytes_out", NULL};

	say(t, "limits:\n  memory: %u\n", 1 + roll(9));
	for (unsigned i = 1; keys[i]; i++)
		if (roll(2))
			say(t, "  %s: %u\n", keys[i], 1 + roll(9));
}

/* What only a trusted file can say, wherever it stands. */
static void say_trusted_keys(struct text *t, bool untrusted)
{
	static const char *const keys[] = {"runner: exec", "runner: bwrap",
		"engine: preload", "verdicts: ask", "on_missing_runner: exec",
		"preset: [names]", "base: open", "base: read-only", "base: workspace",
		NULL};
	static const char *const protections[] = {"off", "{git-hooks: off}",
		"{private-keys: off, agentwatch: off}", NULL};

	if (roll(3) == 0)
		say(t, "%s\n", one_of(keys));
	if (roll(untrusted ? 3 : 8)) /* those of ours are many, and cost time */
		say(t, "protections: %s\n", untrusted ? one_of(protections) : "off");
}

static void say_environment(struct text *t)
{
	static const char *const inherit[] = {
		"all", "none", "[KEY]", "['A*', PATH]", NULL};

	say(t, "environment:\n  redirect_home: %s\n", roll(2) ? "true" : "false");
	if (roll(2))
		say(t, "  inherit: %s\n", one_of(inherit));
	if (roll(3) == 0)
		say(t, "  set: {A: '%u'}\n", roll(3));
	say_list(t, "unset", say_name);
}

static void say_mode(struct text *t)
{
	if (roll(2))
		say(t, "mode: %s\n", roll(2) ? "audit" : "enforce");
}

#endif
