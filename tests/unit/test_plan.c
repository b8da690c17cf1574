/* SPDX-License-Identifier: Apache-2.0 */
/* test_plan.c - from a policy to what a sandbox shows and hides. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include "supervisor/sandbox/runner.h"
#include "supervisor/util/cleanup.h"
#include "tests/unit/policy_text.h"

/* A tree of its own: D/home, D/repo and so on, with what a case needs. */
static char root[PATH_MAX];

static const char *const folders[] = {"home", "home/.ssh", "home/.config", "home/docs",
	"repo", "repo/.git", "repo/.git/hooks", "repo/src", "opt", "opt/tool",
	"opt/tool/node_modules", "opt/tool/node_modules/x", "opt/tool/bin"};
static const char *const files[] = {"home/.netrc", "home/notes", "home/.ssh/id",
	"home/.ssh/known_hosts", "repo/.env", "repo/main.c",
	"opt/tool/node_modules/x/cli.js", "opt/tool/package.json"};

static char *in_root(const char *name)
{
	static char path[2 * PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	return path;
}

static void make_tree(void)
{
	char template[] = "/tmp/aw-plan-XXXXXX";

	if (!mkdtemp(template) || !realpath(template, root))
		abort();
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		mkdir(in_root(folders[i]), 0755);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		int fd = open(in_root(files[i]), O_WRONLY | O_CREAT | O_CLOEXEC, 0755);

		if (strstr(files[i], "cli.js") && write(fd, "#!/bin/sh\n", 10) != 10)
			abort();
		close(fd);
	}
	if (symlink("docs", in_root("home/link")) < 0 ||
		symlink("../node_modules/x/cli.js", in_root("opt/tool/bin/x")) < 0)
		abort();
}

/* Every % in text becomes the tree's root; owned. */
static char *with_root(const char *text)
{
	size_t size = 0;
	char *to;
	FILE *out = open_memstream(&to, &size);

	for (; out && *text; text++)
		if (*text == '%')
			fputs(root, out);
		else
			fputc(*text, out);
	if (!out || fclose(out) != 0)
		abort();
	return to;
}

struct made {
	struct aw_policy policy;
	struct aw_policy_variables variables;
	struct aw_plan plan;
	char home[PATH_MAX + 8], repo[PATH_MAX + 8];
};

static int plan_for(const char *policy, struct aw_plan_params *params, struct made *m,
	struct aw_error *err)
{
	AW_FREE char *text = with_root(policy);
	/* the base and the protections have tests of their own, and rules by pattern */
	struct text_layer layers[] = {{"policy", AW_TRUSTED, text},
		{"policy", AW_TRUSTED, "base: open\nprotections: off"}};
	struct aw_diagnostics found;

	if (load_layers(layers, 2, AW_ENFORCE, &m->policy, &found) < 0) {
		aw_diagnostics_print(&found, stderr);
		abort();
	}
	aw_diagnostics_free(&found);
	snprintf(m->home, sizeof(m->home), "%s/home", root);
	snprintf(m->repo, sizeof(m->repo), "%s/repo", root);
	m->variables = some_variables;
	m->variables.home = m->home;
	m->variables.workspace = m->repo;
	params->policy = &m->policy;
	params->variables = &m->variables;
	return aw_plan_make(params, &m->plan, err);
}

static const char access_names[] = {'-', 'r', 'w'};

/* "PATH ACCESS" questions: what does the plan let be done? */
static void reaches(
	const char *what, const char *policy, const char *const (*questions)[2])
{
	struct aw_plan_params params = {.cwd = root};
	struct made m;
	struct aw_error err;

	if (!ok(plan_for(policy, &params, &m, &err) == 0, "%s: there is a plan",
		    what)) {
		note("%s", err.text);
		return;
	}
	for (; (*questions)[0]; questions++) {
		AW_FREE char *path = with_root((*questions)[0]);
		char got = access_names[aw_plan_reach(&m.plan, path)];

		if (!ok(got == (*questions)[1][0], "%s: %c for %s", what,
			    (*questions)[1][0], (*questions)[0])) {
			note("got %c", got);
			aw_plan_print(&m.plan, stderr);
		}
	}
	aw_plan_release(&m.plan);
	aw_policy_release(&m.policy);
}

#define REACHES(what, policy, ...)                                                     \
	reaches(what, policy, (const char *const[][2]){__VA_ARGS__, {NULL, NULL}})

static void the_policy_is_what_is_there(void)
{
	REACHES("nothing said", "filesystem: {}", {"/", "w"}, {"/etc/passwd", "w"});
	REACHES("read-only",
		"filesystem: {default: read-only, write: ['%/repo', '%/home/notes']}",
		{"/", "r"}, {"%", "r"}, {"%/repo", "w"}, {"%/repo/src/x", "w"},
		{"%/home/notes", "w"}, {"%/home/docs", "r"}, {"/dev/null", "w"});
	REACHES("denied folder and file",
		"filesystem: {deny: ['%/home/.ssh', '%/home/.netrc']}",
		{"%/home/.ssh", "-"}, {"%/home/.ssh/id", "-"}, {"%/home/.netrc", "-"},
		{"%/home/notes", "w"}, {"%/home/.sshx", "w"});
	REACHES("taken out of a deny",
		"filesystem: {deny: ['%/home/.ssh', '!%/home/.ssh/known_hosts']}",
		{"%/home/.ssh", "-"}, {"%/home/.ssh/known_hosts", "w"},
		{"%/home/.ssh/id", "-"});
	REACHES("all below a folder", "filesystem: {deny: ['%/home/.ssh/**']}",
		{"%/home/.ssh/id", "-"}, {"%/home/notes", "w"});
	REACHES("hidden", "filesystem: {hide: ['%/home/docs']}", {"%/home/docs", "-"},
		{"%/home", "w"});
	REACHES("not to be changed",
		"filesystem: {deny_write: ['%/repo/.git/hooks', '%/repo/.git/new']}",
		{"%/repo/.git/hooks/x", "r"}, {"%/repo/.git/config", "w"},
		{"%/repo/.git/new", "w"});
	REACHES("a program", "exec: {deny: ['%/opt/tool']}", {"%/opt/tool", "-"},
		{"%/opt", "w"});
}

static void patterns_are_never_given_less(void)
{
	REACHES("a deny by pattern", "filesystem: {deny: ['**/.env*']}",
		{"%/repo/.env", "w"}, {"/", "w"});
	REACHES("a deny by pattern below a folder",
		"filesystem: {deny: ['%/repo/*/secret']}", {"%/repo/src", "w"});
	REACHES("an exception by pattern",
		"filesystem: {deny: ['%/home', '!%/home/**/notes']}",
		{"%/home/docs/notes", "w"});
	REACHES("a write by pattern",
		"filesystem: {default: read-only, write: ['%/repo/**/build']}",
		{"%/repo/src/build", "w"}, {"%/home", "r"});
	REACHES("a write by pattern in a denied folder",
		"filesystem: {default: read-only, write: ['**/build'], deny: ['%/home/.ssh']}",
		{"%/home/.ssh/build", "-"}, {"%/repo/build", "w"});
	REACHES("a question", "filesystem: {ask: ['%/home/docs']}",
		{"%/home/docs/x", "w"});
}

static void what_is_not_there_yet(void)
{
	REACHES("a missing secret in a folder nobody may change",
		"filesystem: {default: read-only, deny: ['%/home/.aws']}",
		{"%/home/.aws", "-"}, {"%/home/.aws/x", "-"}, {"%/home/notes", "r"},
		{"%/home/came-later", "-"}, {"%/home", "r"}, {"%/repo", "r"});
	REACHES("a missing secret deeper down",
		"filesystem: {default: read-only, deny: ['%/home/.x/y/z']}",
		{"%/home/.x", "-"}, {"%/home/docs/a", "r"});
	REACHES("a missing secret in a folder that may be changed",
		"filesystem: {deny: ['%/home/.aws']}", {"%/home/.aws", "w"});
	REACHES("a missing file that may be written",
		"filesystem: {default: read-only, write: ['%/home/.cache']}",
		{"%/home/.cache", "w"}, {"%/home/notes", "r"}, {"%/home/.ssh/id", "r"});
	REACHES("a missing file whose folder is missing too",
		"filesystem: {default: read-only, write: ['%/home/.a/b']}",
		{"%/home/.a/b", "r"}, {"%/home", "r"});
	REACHES("both in one folder",
		"filesystem: {default: read-only, write: ['%/home/.cache'], deny: "
		"['%/home/.aws']}",
		{"%/home/.cache", "w"}, {"%/home/notes", "r"});
}

static void links_are_left_out(void)
{
	REACHES("a deny of a link", "filesystem: {deny: ['%/home/link']}",
		{"%/home/docs", "w"}, {"%/home", "w"});
	REACHES("a deny through a link", "filesystem: {deny: ['%/home/link/x']}",
		{"%/home/docs/x", "w"});
}

static void the_minimal_view(void)
{
	AW_FREE char *program = strdup(in_root("opt/tool/bin/x"));
	AW_FREE char *argument = strdup(in_root("home/notes"));
	AW_FREE char *cwd = strdup(in_root("home/docs"));
	AW_FREE char *part = strdup(in_root("repo/main.c"));
	char *command[] = {(char *)"x", (char *)"-v", argument, NULL};
	const char *const parts[] = {part, NULL};
	struct aw_plan_params params = {.program = program,
		.command = command,
		.cwd = cwd,
		.parts = parts,
		.instance = in_root("opt")};
	static const char *const questions[][2] = {
		{"/", "-"},
		{"/usr/bin/env", "r"},
		{"/etc/passwd", "r"},
		{"/var", "-"},
		{"%/home", "-"},
		{"%/home/.ssh/id", "-"},
		{"%/home/notes", "r"},
		{"%/home/docs/a", "r"},
		{"%/opt/tool/node_modules/x/cli.js", "r"},
		{"%/opt/tool/bin/x", "r"},
		{"%/repo/src/a", "w"},
		{"%/repo/main.c", "r"},
		{"%/repo/.env", "-"},
	};
	struct made m;
	struct aw_error err;
	bool link = false;

	params.instance = NULL;
	if (!ok(plan_for("filesystem: {default: deny, write: ['%/repo/src']}", &params,
			&m, &err) == 0,
		    "default deny: there is a plan")) {
		note("%s", err.text);
		return;
	}
	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
		AW_FREE char *path = with_root(questions[i][0]);
		char got = access_names[aw_plan_reach(&m.plan, path)];

		ok(got == questions[i][1][0], "minimal view: %c for %s",
			questions[i][1][0], questions[i][0]);
	}
	for (size_t i = 0; i < m.plan.link_count; i++)
		link |= strcmp(m.plan.links[i].path, "/bin") == 0;
	ok(link || access("/usr/bin", F_OK) < 0 || readlink("/bin", m.home, 1) < 0,
		"minimal view: /bin is still a link");
	aw_plan_release(&m.plan);
	aw_policy_release(&m.policy);
}

static void exposed_and_instance(void)
{
	AW_FREE char *target = strdup(in_root("home/docs"));
	AW_FREE char *source = strdup(in_root("opt/tool"));
	AW_FREE char *instance = strdup(in_root("home/.config"));
	struct aw_exposed exposed = {
		.source = source, .target = target, .write = true, .line = 3};
	struct aw_plan_params params = {.instance = instance};
	struct aw_plan plan;
	struct made m;
	struct aw_error err;

	if (plan_for("filesystem: {default: read-only}", &params, &m, &err) < 0)
		abort();
	aw_plan_release(&m.plan);
	m.policy.exposed = &exposed;
	m.policy.exposed_count = 1;
	ok(aw_plan_make(&params, &plan, &err) == 0, "expose: there is a plan");
	ok(aw_plan_reach(&plan, target) == AW_PLAN_WRITE,
		"expose: rw may be written to");
	for (size_t i = 0; i < plan.count; i++)
		if (strcmp(plan.entries[i].path, target) == 0)
			ok(strcmp(plan.entries[i].source, source) == 0,
				"expose: it comes from its source");
	ok(aw_plan_reach(&plan, instance) == AW_PLAN_WRITE,
		"the instance's folder may be written to");
	aw_plan_release(&plan);
	exposed.source = (char *)"/no/such/folder";
	ok(aw_plan_make(&params, &plan, &err) < 0 &&
			strstr(err.text, "/no/such/folder") &&
			strstr(err.text, "line 3"),
		"expose: a source that is not there is an error with its line");
	m.policy.exposed = NULL;
	m.policy.exposed_count = 0;
	aw_policy_release(&m.policy);
}

/* What a rule refuses is not exposed, by its own name or another one. */
static void exposed_against_rules(void)
{
	static const char policy[] =
		"filesystem: {default: read-only, deny: ['%/home/docs'], deny_write: ['%/opt'], "
		"expose: [{source: '%/home/docs', mode: rw}, {source: '%/opt/tool', target: "
		"'%/home/docs2/tool', mode: rw}, {source: '%/opt', mode: rw}]}";
	struct aw_plan_params params = {.instance = NULL};
	struct aw_error err;
	struct made m;

	if (plan_for(policy, &params, &m, &err) < 0)
		abort();
	ok(aw_plan_reach(&m.plan, in_root("home/docs")) == AW_PLAN_NOTHING,
		"expose: what is denied is not shown");
	ok(aw_plan_reach(&m.plan, in_root("opt")) == AW_PLAN_READ,
		"expose: what is kept from changes is shown for reading");
	ok(aw_plan_reach(&m.plan, in_root("home/docs2/tool")) == AW_PLAN_READ,
		"expose: by another name as well");
	aw_plan_release(&m.plan);
	aw_policy_release(&m.policy);
}

static void networks(void)
{
	static const struct {
		const char *policy;
		enum aw_plan_network network;
		const char *ports;
	} cases[] = {
		{"network: {}", AW_PLAN_NET_ALL, "all all"},
		{"network: {default: deny}", AW_PLAN_NET_NONE, "0 0"},
		{"network: {default: deny, allow: ['unix:/run/x']}", AW_PLAN_NET_NONE,
			"0 0"},
		{"network: {default: deny, allow: ['unix:@x']}", AW_PLAN_NET_SOME,
			"0 0"},
		{"network: {default: deny, allow: ['a.example:443', '*:80-81']}",
			AW_PLAN_NET_SOME, "3 0"},
		{"network: {default: deny, allow: ['localhost:*']}", AW_PLAN_NET_SOME,
			"all 0"},
		{"network: {deny: ['192.0.2.1']}", AW_PLAN_NET_SOME, "all all"},
		{"network: {listen: ['localhost:8080']}", AW_PLAN_NET_SOME, "all 1"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct aw_plan_params params = {.cwd = root};
		char connect[16], listen[16], got[40];
		struct made m;
		struct aw_error err;

		if (plan_for(cases[i].policy, &params, &m, &err) < 0)
			abort();
		snprintf(connect, sizeof(connect), "%zu", m.plan.connect_count);
		snprintf(listen, sizeof(listen), "%zu", m.plan.listen_count);
		snprintf(got, sizeof(got), "%s %s",
			m.plan.all_connect_ports ? "all" : connect,
			m.plan.all_listen_ports ? "all" : listen);
		ok(m.plan.network == cases[i].network, "the network of %s",
			cases[i].policy);
		if (!ok(strcmp(got, cases[i].ports) == 0, "the ports of %s",
			    cases[i].policy))
			note("got %s", got);
		aw_plan_release(&m.plan);
		aw_policy_release(&m.policy);
	}
}

static void nothing_was_made(void)
{
	AW_FREE char *command = NULL;

	ok(access(in_root("home/.aws"), F_OK) < 0 &&
			access(in_root("home/.cache"), F_OK) < 0,
		"planning makes nothing in the user's tree");
	if (asprintf(&command, "rm -rf '%s'", root) < 0 || system(command) != 0)
		abort();
}

static void runners_have_names(void)
{
	ok(aw_runner_find("bwrap") && aw_runner_find("exec") &&
			aw_runner_find("docker"),
		"known runners have a row");
	ok(!aw_runner_find("brwap"), "others have none");
	ok(strstr(aw_runner_names(), "bwrap, landlock, firejail"),
		"the list names them");
}

int main(void)
{
	make_tree();
	the_policy_is_what_is_there();
	patterns_are_never_given_less();
	what_is_not_there_yet();
	links_are_left_out();
	the_minimal_view();
	exposed_and_instance();
	exposed_against_rules();
	networks();
	nothing_was_made();
	runners_have_names();
	return done();
}
