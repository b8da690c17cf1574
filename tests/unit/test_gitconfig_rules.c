/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_gitconfig_rules.c - which files are git's configuration: names, the home's, and
 * what those of the home and the workspace include.
 */
#include <sys/stat.h>

#include "policy/image/region.h"
#include "tests/unit/policy_judge.h"

static char top[200];

static void put(const char *name, const char *text)
{
	char path[300];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", top, name);
	out = fopen(path, "w");
	if (!out)
		abort();
	fputs(text, out);
	fclose(out);
}

static void make_folders(void)
{
	static const char *const names[] = {
		"", "/home", "/w", "/w/.git", "/w/conf", "/w/real"};
	char path[300];

	snprintf(top, sizeof(top), "/tmp/aw-rules.%d", (int)getpid());
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s%s", top, names[i]);
		mkdir(path, 0700);
	}
	put("home/.gitconfig", "[include]\n\tpath = more\n"
			       "[includeIf \"gitdir:/x\"]\n\tpath = ~/named\n");
	put("home/more", "[include]\n\tpath = deeper\n");
	put("home/deeper", "[include]\n\tpath = more\n"); /* round and round */
	put("w/.git/config", "[include]\n\tpath = ../conf/shared\n"
			     "\tpath = ../link/x\n\tpath = /nowhere/x\n");
	snprintf(path, sizeof(path), "%s/w/link", top);
	if (symlink("real", path) < 0)
		abort();
}

static void load_at(const char *text, struct aw_policy *ret)
{
	struct aw_policy_variables variables = some_variables;
	char home[300], workspace[300], file[] = "/tmp/aw-rules-policy.XXXXXX";
	struct aw_policy_source source = {file, "policy", AW_TRUSTED};
	struct aw_diagnostics diagnostics;
	int fd = mkstemp(file);

	snprintf(home, sizeof(home), "%s/home", top);
	snprintf(workspace, sizeof(workspace), "%s/w", top);
	variables.home = home;
	variables.workspace = workspace;
	if (fd < 0 || dprintf(fd, "version: 1\n%s\n", text) < 0 ||
		aw_policy_load(&source, 1, &variables, AW_ENFORCE, false, ret,
			&diagnostics) < 0)
		abort();
	aw_diagnostics_free(&diagnostics);
	close(fd);
	unlink(file);
}

static bool keyed(const struct aw_policy *p, const char *below)
{
	char path[300];
	uint32_t rule;

	snprintf(path, sizeof(path), "%s/%s", top, below);
	return aw_image_keyed(p->image, path, strlen(path), &rule);
}

static void includes_are_known(const struct aw_policy *p)
{
	static const struct {
		const char *path;
		bool want;
	} cases[] = {
		{"home/.gitconfig", true},
		{"home/more", true},
		{"home/deeper", true},
		{"home/named", true}, /* not there yet */
		{"home/other", false},
		{"w/.git/config", true},
		{"w/.git/config.lock", false},
		{"w/.git/config.worktree", true},
		{"w/.git/worktrees/x/config.worktree", true},
		{"w/sub/.git/config", true},
		{"w/conf/shared", true}, /* nor this */
		{"w/conf/other", false},
		{"w/real/x", true}, /* where the link leads */
		{"w/config", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		ok(keyed(p, cases[i].path) == cases[i].want, "%s is %sjudged by keys",
			cases[i].path, cases[i].want ? "" : "not ");
}

static void ways_are_told_apart(const struct aw_policy *p)
{
	static const struct {
		enum aw_action action;
		enum aw_verdict in_place;
	} ways[] = {{AW_READ, AW_ALLOW}, {AW_WRITE, AW_DENY}, {AW_CREATE, AW_DENY},
		{AW_DELETE, AW_ALLOW}, {AW_RENAME, AW_ALLOW}};
	struct aw_decision d;
	char path[300];

	snprintf(path, sizeof(path), "%s/w/.git/config", top);
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		aw_image_decide_in_place(
			p->image, ways[i].action, path, strlen(path), &d);
		ok(d.verdict == ways[i].in_place, "%s in place is %s",
			aw_action_name(ways[i].action),
			aw_verdict_name(ways[i].in_place));
		aw_image_decide_path(p->image, ways[i].action, path, strlen(path), &d);
		ok(d.verdict == AW_ALLOW, "%s in another way is allowed",
			aw_action_name(ways[i].action));
	}
}

static bool carries(const struct aw_policy *p, const char *from, const char *to)
{
	char a[300], b[300];
	struct aw_decision found;

	snprintf(a, sizeof(a), "%s/%s", top, from);
	snprintf(b, sizeof(b), "%s/%s", top, to);
	return aw_image_carries(p->image, 0, a, strlen(a), b, strlen(b), &found);
}

/* A sandbox must not close a file that git renames onto. */
static void walls_leave_them(const struct aw_policy *p)
{
	unsigned closed = 0;

	for (size_t i = 0; i < aw_image_pattern_count(p->image); i++) {
		struct aw_boundary boundary;
		char path[300];

		if (aw_image_boundary(p->image, i, path, sizeof(path), &boundary) &&
			boundary.kind == AW_BOUNDARY_FILES && !boundary.wild &&
			strstr(path, "gitconfig"))
			closed++;
	}
	ok(!closed, "no boundary of a sandbox runs along one");
	ok(carries(p, "w/conf", "w/x"), "a folder above an included file stays");
	ok(!carries(p, "w/real2", "w/x"), "another may move");
}

int main(void)
{
	struct aw_policy p;
	char command[300];

	forget_environment();
	make_folders();
	load_at("filesystem: {write: [/]}", &p);
	includes_are_known(&p);
	ways_are_told_apart(&p);
	walls_leave_them(&p);
	aw_policy_release(&p);
	load_at("protections: {git-config: off}", &p);
	ok(!keyed(&p, "w/.git/config") && !keyed(&p, "home/more"),
		"the protection can be switched off");
	aw_policy_release(&p);
	snprintf(command, sizeof(command), "rm -r '%s'", top);
	return system(command) == 0 ? done() : 1;
}
