/* SPDX-License-Identifier: Apache-2.0 */
/* test_carry.c - which folders and programs may not get another name. */
#include "tests/unit/policy_judge.h"

struct way {
	const char *from, *to;
	enum aw_verdict want;
};

static void say(enum aw_verdict have, const struct way *way, const char *what)
{
	ok(have == way->want, "%s %s to %s: %s", what, way->from, way->to,
		aw_verdict_name(way->want));
}

static void try_folders(const char *policy, const struct way *ways, size_t count)
{
	struct aw_policy p;

	load_text(policy, AW_ENFORCE, &p);
	for (size_t i = 0; i < count; i++) {
		struct aw_decision d = {AW_ALLOW, AW_NO_RULE};

		aw_image_carries(p.image, 0, ways[i].from, strlen(ways[i].from),
			ways[i].to, strlen(ways[i].to), &d);
		say(d.verdict, &ways[i], "folder");
	}
	aw_policy_release(&p);
}

static void try_programs(
	const char *policy, bool folder, const struct way *ways, size_t count)
{
	struct aw_policy p;

	load_text(policy, AW_ENFORCE, &p);
	for (size_t i = 0; i < count; i++) {
		struct aw_decision d = {AW_ALLOW, AW_NO_RULE};

		aw_image_carries_programs(p.image, 0, folder, ways[i].from,
			strlen(ways[i].from), ways[i].to, strlen(ways[i].to), &d);
		say(d.verdict, &ways[i], folder ? "folder with programs" : "program");
	}
	aw_policy_release(&p);
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void exceptions_take_nothing_out_by_a_move(void)
{
	static const struct way deep[] = {
		{"/w/a", "/w/open/a", AW_DENY},
		{"/w/a", "/w/open", AW_DENY},
		{"/w/open/a", "/w/a", AW_ALLOW},
		{"/w/a", "/w/b", AW_ALLOW},
		{"/w/open/a", "/w/open/b", AW_ALLOW},
		{"/w/open/in/a", "/w/open/b/c", AW_ALLOW},
	};
	static const struct way one[] = {
		{"/w/vault", "/w/open/vault", AW_DENY},
		{"/w", "/open", AW_DENY},
		{"/w/a", "/w/open/a", AW_ALLOW},
		{"/w/vault/a", "/w/vault/b", AW_ALLOW},
	};
	static const struct way asked[] = {
		{"/w/a", "/w/open/a", AW_ASK},
		{"/w/open/a", "/w/open/b", AW_ALLOW},
	};

	try_folders(
		"filesystem: {deny: ['**/secret', '!/w/open/**']}", deep, COUNT(deep));
	try_folders("filesystem: {deny: ['/w/vault/secret', '!/w/open/**']}", one,
		COUNT(one));
	try_folders(
		"filesystem: {ask: ['**/secret', '!/w/open/**']}", asked, COUNT(asked));
}

static void exceptions_are_of_their_list(void)
{
	static const struct way other[] = {
		{"/w/a", "/w/open/a", AW_ALLOW},
	};
	static const struct way name[] = {
		{"/w/a", "/w/b", AW_ALLOW},
		{"/w/a", "/srv/a", AW_ALLOW},
		{"/w/.env.example", "/w/x", AW_ALLOW},
	};
	static const struct way whole[] = {
		{"/home/ann/work/a", "/home/ann/work/b", AW_ALLOW},
		{"/home/ann/work/a", "/w/a", AW_ALLOW},
		{"/home/ann/a", "/home/ann/work/a", AW_DENY},
		{"/home/ann", "/w/ann", AW_DENY},
	};
	static const struct way again[] = {
		{"/home/ann/work/private/a", "/w/a", AW_DENY},
		{"/home/ann/work/a", "/w/a", AW_ALLOW},
		{"/home/ann/work", "/w/a", AW_DENY},
	};

	try_folders("filesystem: {deny: ['**/secret'], hide: ['!/w/open/**'], "
		    "deny_write: ['!/w/open/**']}",
		other, COUNT(other));
	try_folders("filesystem: {deny: ['**/.env*', '!**/.env.example']}", name,
		COUNT(name));
	try_folders("filesystem: {deny: ['/home/ann/*', '!/home/ann/work']}\n"
		    "protections: off",
		whole, COUNT(whole));
	try_folders("filesystem: {deny: ['/home/ann/*', '!/home/ann/work', "
		    "/home/ann/work/private]}\nprotections: off",
		again, COUNT(again));
}

static void programs_stay_where_they_are_denied(void)
{
	static const struct way denied[] = {
		{"/w/bin", "/w/x", AW_DENY},
		{"/w", "/x", AW_DENY},
		{"/w/bin/sub", "/w/x", AW_ALLOW},
		{"/w/x", "/w/bin", AW_ALLOW},
	};
	static const struct way asked[] = {
		{"/w/bin", "/w/x", AW_ASK},
		{"/w/y", "/w/open", AW_ALLOW},
	};
	static const struct way itself[] = {
		{"/w/bin/tool", "/w/x", AW_ASK},
		{"/w/bin/other", "/w/x", AW_ALLOW},
		{"/w/x", "/w/bin/tool", AW_ALLOW},
		{"/w/tools/a", "/w/tools/b", AW_ALLOW},
		{"/w/tools/a", "/w/tools/free/a", AW_ASK},
		{"/w/x", "/w/tools/free/a", AW_ALLOW},
		{"/w/tools/a", "/w/a", AW_ASK},
	};
	static const struct way deep[] = {
		{"/w/a", "/w/open/a", AW_DENY},
		{"/w/a", "/w/b", AW_ALLOW},
		{"/w/open/a", "/w/b", AW_ALLOW},
	};
	static const char ask[] = "exec: {ask: [/w/bin/tool, /w/tools, "
				  "'!/w/tools/free', /w/bin/git push]}";

	try_programs("exec: {deny: [/w/bin/evil]}", true, denied, COUNT(denied));
	try_programs(ask, true, asked, COUNT(asked));
	try_programs(ask, false, itself, COUNT(itself));
	try_programs(
		"exec: {deny: ['**/evil', '!/w/open/**']}", true, deep, COUNT(deep));
}

/* Each kind of list is asked about by its own function. */
static void kinds_are_apart(void)
{
	static const struct way none[] = {{"/w/bin", "/w/x", AW_ALLOW}};

	try_folders("exec: {deny: [/w/bin/evil], ask: [/w/bin/tool]}", none, 1);
	try_programs("filesystem: {deny: [/w/bin/evil]}", true, none, 1);
}

int main(void)
{
	forget_environment();
	exceptions_take_nothing_out_by_a_move();
	exceptions_are_of_their_list();
	programs_stay_where_they_are_denied();
	kinds_are_apart();
	return done();
}
