/* SPDX-License-Identifier: Apache-2.0 */
/* test_strength.c - by whom a refusal is said to be held. */
#include <string.h>
#include <sys/socket.h>

#include "supervisor/decide/strength.h"
#include "supervisor/linux/landlock_rights.h"
#include "tests/unit/policy_text.h"

static const char policy_text[] =
	"filesystem: {default: read-only, write: [/repo], deny: [/s, '**/.env', '!/s/ok'],\n"
	"  deny_write: [/repo/hooks], hide: [/h]}\n"
	"exec: {deny: [/opt/bad, sudo, 'git push*']}\n"
	"network: {default: deny, allow: ['*:443'], deny: ['10.0.0.0/8']}";

static struct aw_image *image;

/* "/" may be read, /repo written, /s and /h are not there. */
static struct aw_plan_entry entries[] = {
	{.path = (char *)"/",
		.source = (char *)"/",
		.access = AW_PLAN_READ,
		.exists = true,
		.directory = true,
		.why = "policy",
		.rule = AW_NO_RULE},
	{.path = (char *)"/h",
		.source = (char *)"/h",
		.access = AW_PLAN_NOTHING,
		.exists = true,
		.directory = true,
		.why = "policy",
		.rule = 0},
	{.path = (char *)"/opt/bad",
		.source = (char *)"/opt/bad",
		.access = AW_PLAN_NOTHING,
		.exists = true,
		.why = "policy",
		.rule = 0},
	{.path = (char *)"/repo",
		.source = (char *)"/repo",
		.access = AW_PLAN_WRITE,
		.exists = true,
		.directory = true,
		.why = "policy",
		.rule = 0},
	{.path = (char *)"/repo/hooks",
		.source = (char *)"/repo/hooks",
		.access = AW_PLAN_READ,
		.exists = true,
		.directory = true,
		.why = "policy",
		.rule = 0},
	{.path = (char *)"/s",
		.source = (char *)"/s",
		.access = AW_PLAN_NOTHING,
		.exists = true,
		.directory = true,
		.why = "policy",
		.rule = 0},
};

static struct aw_plan plan = {.entries = entries,
	.count = sizeof(entries) / sizeof(entries[0]),
	.network = AW_PLAN_NET_SOME};

/* What is granted when /s, /h and /opt/bad are carved out of "/". */
static struct aw_landlock_rule rules[] = {{(char *)"/", AW_LL_READ_DIR},
	{(char *)"/repo", AW_LL_IOCTL_DEV * 2 - 1}, {(char *)"/usr", AW_LL_READS}};

static struct aw_landlock landlock = {.version = 7,
	.files = AW_LL_IOCTL_DEV * 2 - 1,
	.rules = rules,
	.count = sizeof(rules) / sizeof(rules[0])};

/* Sessions: bare, behind Landlock, behind mounts, with the shim alone, in audit. */
enum { BARE, LANDLOCK, MOUNTS, SHIM, AUDIT, SESSIONS };
static struct aw_strength_facts facts[SESSIONS];
static const char *const session_names[] = {
	"no sandbox", "Landlock", "mounts", "shim", "audit"};

#define S AW_BY_SUPERVISOR
#define R AW_BY_SUPERVISOR_RACED
#define K AW_BY_KERNEL
#define L AW_BY_SHIM

static void calls_have_a_strength(void)
{
	static const struct {
		enum aw_action action;
		const char *call, *path, *path2;
		int family;
		enum aw_strength want[SESSIONS];
	} cases[] = {
		{AW_READ, "openat", "/etc/passwd", NULL, 0, {S, K, S, L, R}},
		/* not there: it might become a folder that can be listed */
		{AW_READ, "openat", "/s/key", NULL, 0, {S, S, S, L, R}},
		{AW_READ, "chdir", "/s", NULL, 0, {R, R, R, L, R}},
		{AW_READ, "openat", "/usr/.env", NULL, 0, {S, S, S, L, R}},
		{AW_READ, "openat", "/repo/.env", NULL, 0, {S, S, S, L, R}},
		{AW_WRITE, "openat", "/usr/x", NULL, 0, {S, K, K, L, R}},
		{AW_WRITE, "truncate", "/usr/x", NULL, 0, {S, K, K, L, R}},
		{AW_WRITE, "fchmodat", "/usr/x", NULL, 0, {S, S, K, L, R}},
		{AW_WRITE, "lchown", "/usr/x", NULL, 0, {S, S, K, L, R}},
		{AW_WRITE, "utimensat", "/usr/x", NULL, 0, {S, S, K, L, R}},
		{AW_WRITE, "setxattr", "/usr/x", NULL, 0, {S, S, K, L, R}},
		{AW_CREATE, "mkdirat", "/usr/new", NULL, 0, {S, K, K, L, R}},
		{AW_DELETE, "unlink", "/usr/x", NULL, 0, {S, K, K, L, R}},
		{AW_WRITE, "openat", "/repo/hooks/x", NULL, 0, {S, S, K, L, R}},
		{AW_CREATE, "openat", "/repo/hooks/x", NULL, 0, {S, S, K, L, R}},
		{AW_RENAME, "rename", "/repo/x", "/usr/x", 0, {S, K, K, L, R}},
		{AW_RENAME, "rename", "/repo/x", "/repo/.env", 0, {S, S, S, L, R}},
		{AW_METADATA, "stat", "/h/x", NULL, 0, {R, R, K, L, R}},
		{AW_EXEC, "execve", "/s/program", NULL, 0, {S, K, S, L, R}},
		{AW_EXEC, "execve", "/opt/bad", NULL, 0, {S, K, S, L, R}},
		{AW_EXEC, "execve", "/usr/bin/sudo", NULL, 0, {R, R, R, L, R}},
		{AW_CONNECT, "connect", NULL, NULL, AF_INET, {S, S, S, L, R}},
		{AW_CONNECT, "connect", "/s/socket", NULL, AF_UNIX, {S, S, S, L, R}},
		{AW_CONNECT, "connect", "@abstract", NULL, AF_UNIX, {S, S, S, L, R}},
		{AW_BIND, "bind", "/usr/socket", NULL, AF_UNIX, {S, K, K, L, R}},
	};
	struct aw_enforced held;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct aw_refused refused = {cases[i].action, cases[i].call,
			cases[i].path, cases[i].path2,
			cases[i].path ? strlen(cases[i].path) : 0,
			cases[i].path2 ? strlen(cases[i].path2) : 0, cases[i].family,
			AW_NO_RULE};

		for (unsigned s = 0; s < SESSIONS; s++) {
			aw_strength_of(&facts[s], &refused, &held);
			ok(held.strength == cases[i].want[s], "%s %s, %s: %s (%s)",
				cases[i].call,
				cases[i].path ? cases[i].path : "an address",
				session_names[s], aw_strength_name(held.strength),
				held.by);
		}
	}
}

/* A cover falls off when what is under it is replaced; what was never there cannot. */
static void what_is_not_mounted_is_held(void)
{
	struct aw_refused read = {
		.action = AW_READ, .call = "openat", .path = "/s/key", .path_len = 6};
	struct aw_enforced held;

	entries[0].access = AW_PLAN_NOTHING;
	aw_strength_of(&facts[MOUNTS], &read, &held);
	ok(held.strength == AW_BY_KERNEL, "what is not mounted is not read");
	entries[0].access = AW_PLAN_READ;
	entries[0].partial = true;
	aw_strength_of(&facts[MOUNTS], &read, &held);
	ok(held.strength == AW_BY_KERNEL, "nor is what is left out of a folder");
	entries[0].whole = true;
	aw_strength_of(&facts[MOUNTS], &read, &held);
	ok(held.strength == AW_BY_SUPERVISOR,
		"but what is covered in one that is mounted as a whole may be");
	entries[0].partial = entries[0].whole = false;
}

static void a_closed_network_is_held_by_the_kernel(void)
{
	struct aw_strength_facts closed = facts[MOUNTS];
	struct aw_refused to = {.action = AW_CONNECT, .family = AF_INET6};
	struct aw_enforced held;

	closed.apart = closed.no_network = true;
	aw_strength_of(&closed, &to, &held);
	ok(held.strength == AW_BY_KERNEL, "connecting where there is no network");
	to.action = AW_BIND;
	aw_strength_of(&closed, &to, &held);
	ok(held.strength == AW_BY_SUPERVISOR, "listening is possible even there");
}

static void ports_are_held_twice(void)
{
	struct aw_landlock none = {
		.version = 4, .network = AW_LL_CONNECT_TCP | AW_LL_BIND_TCP};
	struct aw_strength_facts session = facts[MOUNTS];
	struct aw_refused to = {.action = AW_CONNECT, .family = AF_INET};
	struct aw_enforced held;

	session.landlock = &none;
	session.mounts = NULL;
	aw_strength_of(&session, &to, &held);
	ok(held.strength == AW_BY_SUPERVISOR && strstr(held.by, "TCP by Landlock"),
		"an address is held by the supervisor, and TCP twice");
}

/* The rule with this text, or one past the last. */
static uint32_t rule_with(const char *text)
{
	struct aw_rule rule;
	uint32_t i;

	for (i = 0; aw_image_rule(image, i, &rule); i++)
		if (strcmp(rule.text, text) == 0)
			break;
	return i;
}

static void rules_have_the_weakest_of_what_they_refuse(void)
{
	static const struct {
		const char *text;
		enum aw_strength want[SESSIONS];
	} cases[] = {
		{"/s", {S, S, S, L, R}},
		{"**/.env", {S, S, S, L, R}},
		{"/repo/hooks", {S, S, S, L, R}}, /* the folder itself can be renamed */
		{"/h", {R, R, S, L, R}},
		{"/opt/bad", {S, K, S, L, R}},
		{"sudo", {R, R, R, L, R}},
		{"git push*", {L, L, L, L, R}},
		{"10.0.0.0/8", {S, S, S, L, R}},
	};
	struct aw_enforced held;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (unsigned s = 0; s < SESSIONS; s++) {
			bool found = aw_strength_of_rule(
				&facts[s], rule_with(cases[i].text), &held);

			ok(found && held.strength == cases[i].want[s],
				"rule %s, %s: %s (%s)", cases[i].text, session_names[s],
				found ? aw_strength_name(held.strength) : "none",
				found ? held.by : "");
		}
	ok(!aw_strength_of_rule(&facts[0], rule_with("/repo"), &held) &&
			!aw_strength_of_rule(&facts[0], rule_with("!/s/ok"), &held) &&
			!aw_strength_of_rule(&facts[0], 1000, &held),
		"what refuses nothing has no strength");
}

static void defaults_have_one_too(void)
{
	static const enum aw_strength files[SESSIONS] = {S, S, K, L, R};
	struct aw_enforced held;
	const char *name;

	for (unsigned s = 0; s < SESSIONS; s++) {
		bool found = aw_strength_of_default(&facts[s], 0, &name, &held);

		ok(found && name && held.strength == files[s],
			"the default for files, %s: %s", session_names[s],
			found ? aw_strength_name(held.strength) : "none");
	}
	ok(aw_strength_of_default(&facts[BARE], 1, &name, &held) && !name,
		"one that admits everything has none");
	ok(!aw_strength_of_default(&facts[BARE], 4, &name, &held), "there are no more");
	entries[3].path = (char *)"/other";
	ok(aw_strength_of_default(&facts[MOUNTS], 0, &name, &held) &&
			held.strength == AW_BY_SUPERVISOR,
		"mounts that let more be written than the policy do not hold it");
	entries[3].path = (char *)"/repo";
}

int main(void)
{
	image = image_of(policy_text);
	for (unsigned s = 0; s < SESSIONS; s++)
		facts[s] = (struct aw_strength_facts){
			.notified = s != SHIM, .enforce = s != AUDIT, .image = image};
	facts[LANDLOCK].landlock = &landlock;
	facts[MOUNTS].mounts = &plan;
	facts[AUDIT].mounts = &plan;
	facts[AUDIT].landlock = &landlock;
	calls_have_a_strength();
	what_is_not_mounted_is_held();
	a_closed_network_is_held_by_the_kernel();
	ports_are_held_twice();
	rules_have_the_weakest_of_what_they_refuse();
	defaults_have_one_too();
	free(image);
	return done();
}
