/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_learn.c - names, secrets, folding, presets and the proof of learning a policy.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/learn/component.h"
#include "supervisor/learn/render.h"
#include "supervisor/learn/replay.h"
#include "supervisor/learn/secret.h"
#include "tests/unit/tap.h"

static char folder[] = "/tmp/aw-learn-XXXXXX";
static char log_name[64], presets_name[64];

static const struct aw_policy_variables variables = {
	.workspace = "/home/me/work",
	.home = "/home/me",
	.user = "me",
	.tmpdir = "/tmp",
	.presets = presets_name,
};

static void made_up_names(void)
{
	static const struct {
		const char *name, *pattern;
		bool temporary, python;
	} cases[] = {
		{"package.json", "package.json", false, false},
		{"libz.so.1.2.13", "libz.so.1.2.13", false, false},
		{"a b*c", "a\\ b\\*c", false, false},
		{"price$[1]", "price\\$\\[1\\]", false, false},
		{"caf\xc3\xa9", "caf\xc3\xa9", false, false},
		{"caf\xe9", "caf?", false, false},
		{"x.tmp.1950.da136fec589c", "x.tmp.*", false, false},
		{"daae28fe-500b-4953-86fc-fc0e22bc5f0f.jsonl", "*.jsonl", false, false},
		{"lock.4711", "lock.*", false, false}, /* the process's own number */
		{"tmp_obj_MvCNQl", "tmp_obj_*", false, false},
		{"tmpab12cd_x", "tmp*", true, true},
		{"zshP6A6QR", "zsh*", true, false},
		{"ccOs3Xpa.s", "cc*.s", true, false},
		{"pymp-1a2b3c4d", "pymp-*", true, false},
		{"l5rsgtgj", "????????", true, true},
		{"projects", "projects", true, false},
		{"node-compile-cache", "node-compile-cache", true, false},
		{"claude-c08f-cwd", "claude-*-cwd", true, false},
	};
	char out[AW_COMPONENT_SIZE];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct aw_name_maker maker = {4711, cases[i].python, NULL};

		aw_component_pattern(cases[i].name, strlen(cases[i].name),
			cases[i].temporary, maker, out);
		if (!ok(strcmp(out, cases[i].pattern) == 0, "%zu: a name is %s", i,
			    cases[i].pattern))
			note("got %s", out);
	}
}

static void secrets(void)
{
	static const char *const yes[] = {"/home/me/work/.env", "/srv/.env.production",
		"/home/me/work/server.key", "/home/you/.ssh/config", "/data/id_rsa",
		"/srv/app/credentials.json", "/home/me/.config/chromium/Default/x",
		"/dev/sda1", "/home/me/.zsh_history"};
	static const char *const no[] = {"/home/me/work/.env.example",
		"/usr/share/x/test.pem", "/etc/ssl/certs/a.pem", "/etc/passwd",
		"/home/me/work/tokens.c", "/home/me/work/src/secrets.ts",
		"/home/me/work/node_modules/x/test.key", "/home/me/.sshx/a"};

	for (size_t i = 0; i < sizeof(yes) / sizeof(*yes); i++)
		ok(aw_secret_file(yes[i]) != NULL, "%s is a secret", yes[i]);
	for (size_t i = 0; i < sizeof(no) / sizeof(*no); i++)
		ok(aw_secret_file(no[i]) == NULL, "%s is none", no[i]);
	ok(aw_secret_socket("/tmp/ssh-XXabc/agent.12") != NULL, "the ssh agent is one");
	ok(aw_secret_socket("@/tmp/.X11-unix/X0") != NULL, "the screen, too");
	ok(aw_secret_socket("/run/nscd/socket") == NULL, "a cache of names is none");
}

static void anchors(void)
{
	struct aw_path_variables a;
	const char *rest;

	aw_path_variables_init(&a, &variables);
	ok(strcmp(a.items[aw_path_variable_of(&a, "/home/me/work/a/b", &rest)].name,
		   "$WORKSPACE") == 0 &&
			strcmp(rest, "a/b") == 0,
		"the nearest variable is put back");
	ok(strcmp(a.items[aw_path_variable_of(&a, "/home/me/workshop", &rest)].name,
		   "$HOME") == 0,
		"a name that goes on is another name");
	ok(aw_path_variable_of(&a, "/etc/passwd", &rest) == 0 &&
			strcmp(rest, "etc/passwd") == 0,
		"what no variable stands for is below the root");
	ok(aw_path_variable_within(&a, "/home", false) &&
			aw_path_variable_within(&a, "/", false),
		"what holds a variable's folder is known");
	ok(!aw_path_variable_within(&a, "/home/me/work", false),
		"a variable's own does not");
}

/* One log of these calls, and what is made of it. */
struct trial {
	struct aw_learner learner;
	char *text;
	struct aw_replay replay;
};

#define HEAD "{\"v\":1,\"pid\":4711,\"exe\":\"/usr/bin/node\",\"event\":\"call\","
#define FILE_CALL(call, action, path)                                                  \
	HEAD "\"call\":\"" call "\",\"action\":\"" action "\",\"path\":\"" path        \
	     "\",\"verdict\":\"allow\",\"result\":\"ok\"}\n"
#define READ(path) FILE_CALL("openat", "read", path)
#define WRITE(path) FILE_CALL("openat", "create", path)

static void write_file(const char *name, const char *text)
{
	FILE *file = fopen(name, "w");

	if (!file || fputs(text, file) < 0 || fclose(file) != 0)
		abort();
}

static void try_with(struct trial *t, const char *log, struct aw_learn_params params)
{
	struct aw_log_reader reader;
	struct aw_policy policy;
	struct aw_seen seen;
	struct aw_error err = {0, ""};

	memset(t, 0, sizeof(*t));
	write_file(log_name, log);
	if (!params.siblings)
		params.siblings = 5;
	if (aw_learner_init(&t->learner, &params, &variables, NULL, &err) < 0 ||
		aw_log_reader_open(&reader, log_name, &err) < 0)
		abort();
	reader.quiet = true;
	while (aw_log_reader_next(&reader, &seen, &err) > 0)
		aw_learner_add(&t->learner, &seen);
	aw_log_reader_close(&reader);
	aw_learner_complete(&t->learner);
	t->text = aw_render(&t->learner, NULL, &err);
	if (!t->text || aw_judge_load(t->text, &variables, &policy, &err) < 0 ||
		aw_replay_log(&t->learner, &policy, log_name, &t->replay, &err) < 0) {
		note("%s", err.text);
		abort();
	}
	aw_policy_release(&policy);
}

static void try(struct trial *t, const char *log)
{
	try_with(t, log, (struct aw_learn_params){.files = AW_LEARN_DENY});
}

static void end(struct trial *t)
{
	aw_learner_release(&t->learner);
	free(t->text);
}

static bool has(const struct trial *t, const char *text)
{
	if (strstr(t->text, text))
		return true;
	note("not there: %s", text);
	return false;
}

static void folding(void)
{
	struct trial t;

	try(&t, WRITE("/home/me/data/a") WRITE("/home/me/data/b")
			WRITE("/home/me/data/c") WRITE("/home/me/data/d")
				READ("/home/me/data/d"));
	ok(has(&t, "- \"$HOME/data/d\" ") && !strstr(t.text, "- \"$HOME/data\" "),
		"four names in a folder stay four");
	ok(!strstr(t.text, "  read:"), "what may be written needs no entry to be read");
	end(&t);
	try(&t, WRITE("/home/me/data/a") WRITE("/home/me/data/b")
			WRITE("/home/me/data/c") WRITE("/home/me/data/d")
				WRITE("/home/me/data/e"));
	ok(has(&t, "- \"$HOME/data\" "), "five become the folder");
	end(&t);
	try(&t, READ("/home/me/data/a") READ("/home/me/data/b") READ("/home/me/data/c")
			READ("/home/me/data/d") READ("/home/me/data/e")
				READ("/home/me/data/.env"));
	ok(has(&t, "- \"$HOME/data/e\" ") && !strstr(t.text, "- \"$HOME/data\" "),
		"a secret in it stops that");
	ok(has(&t, "# question: $HOME/data/.env was read 1 time, by node") &&
			has(&t, "# - \"$HOME/data/.env\""),
		"and is a question, commented out");
	ok(t.replay.asked == 1 && t.replay.admitted == 5 && !t.replay.wrong,
		"the proof knows it");
	end(&t);
	try(&t, READ("/home/me/a") READ("/home/me/b") READ("/home/me/c")
			READ("/home/me/d") READ("/home/me/e") READ("/home/me/f"));
	ok(has(&t, "- \"$HOME/a\" ") && !strstr(t.text, "- \"$HOME\" "),
		"the home folder never stands for what is in it");
	end(&t);
	try(&t, FILE_CALL("opendir", "read", "/home/me") READ("/home/me/a"));
	ok(has(&t, "- \"$HOME\" ") && has(&t, "- \"!$HOME/*\"\n    - \"$HOME/a\" "),
		"it can be listed all the same, and nothing more");
	end(&t);
	try(&t, WRITE("/tmp"));
	ok(has(&t, "- \"!$TMPDIR/*\"\n    - \"$TMPDIR/#*\" "),
		"a file without a name is made in a folder");
	end(&t);
}

static void roots(void)
{
	struct trial t;

	try(&t, READ("/usr/lib/x86_64-linux-gnu/libc.so.6")
			READ("/home/me/work/src/a.c")
				WRITE("/home/me/work/.git/objects/ab/cdef")
					WRITE("/home/me/work/pkg/__pycache__/a.pyc")
						WRITE("/home/me/.cache/tool/x/y")
							WRITE("/tmp/tmpab12cd_x/f"));
	ok(has(&t, "- \"/usr\" ") && has(&t, "- \"$WORKSPACE\" "),
		"system and workspace are read as a whole");
	ok(has(&t, "- \"$WORKSPACE/.git\" ") && has(&t, "- \"$HOME/.cache/tool\" ") &&
			has(&t, "- \"$WORKSPACE/**/__pycache__\" "),
		"known folders are written as a whole");
	ok(has(&t, "- \"$TMPDIR/tmp*\" "), "a made-up name is a pattern");
	ok(!t.replay.wrong && t.replay.admitted == 6, "the proof admits all");
	end(&t);
	try(&t, READ("/var/lib/tool/me/state"));
	ok(has(&t, "- \"/var/lib/tool/$USER/state\" "), "the user's name is put back");
	end(&t);
	try(&t, READ("/home/me/work/a") READ("/home/me/work/.env"));
	ok(has(&t, "  deny:\n    - \"$WORKSPACE/.env\"\n") &&
			has(&t, "# - \"!$WORKSPACE/.env\""),
		"a secret in a known folder is denied, with the way out beside it");
	ok(t.replay.asked == 1 && !t.replay.wrong, "and refused in the proof");
	end(&t);
	try_with(&t, WRITE("/home/me/work/a"),
		(struct aw_learn_params){.for_whom = AW_LEARN_AGENT});
	ok(has(&t, "write:\n    - \"$WORKSPACE\" "),
		"an agent may write to all of the workspace");
	end(&t);
}

static void outcomes(void)
{
	static const char failed[] = HEAD
		"\"call\":\"open\",\"action\":\"create\",\"path\":\"/data/x\","
		"\"verdict\":\"allow\",\"result\":\"ENOENT\"}\n" HEAD
		"\"call\":\"open\",\"action\":\"read\",\"path\":\"/data/y\","
		"\"verdict\":\"allow\",\"result\":\"ENOENT\"}\n" HEAD
		"\"call\":\"mkdir\",\"action\":\"create\",\"path\":\"/data/z\","
		"\"verdict\":\"allow\",\"result\":\"EEXIST\"}\n" HEAD
		"\"call\":\"execve\",\"action\":\"exec\",\"path\":\"/opt/bin/git\","
		"\"verdict\":\"allow\",\"result\":\"ENOENT\"}\n" HEAD
		"\"call\":\"stat\",\"action\":\"read\",\"path\":\"/data/s\","
		"\"verdict\":\"allow\"}\n" HEAD
		"\"call\":\"openat\",\"action\":\"read\",\"path\":\"/proc/4711/maps\","
		"\"verdict\":\"allow\"}\n" HEAD
		"\"call\":\"openat\",\"action\":\"read\",\"path\":\"/proc/99/stat\","
		"\"verdict\":\"allow\"}\n";
	struct trial t;

	try(&t, failed);
	ok(!strstr(t.text, "write:"), "a change that failed needs nothing");
	ok(has(&t, "- \"/data/y\"") && has(&t, "; not there"),
		"a look-up is kept where the default would refuse it");
	ok(has(&t, "- \"/data/z\"") && has(&t, "- \"!/data/z/*\""),
		"a folder that was there already is only looked at");
	ok(!strstr(t.text, "/opt/bin"), "a program that is not there needs nothing");
	ok(!strstr(t.text, "/data/s"), "looking at metadata needs nothing");
	ok(!strstr(t.text, "maps") && has(&t, "- \"/proc/[0-9]*/stat\""),
		"a process may look at itself; others are a pattern");
	ok(t.replay.left == 2 && !t.replay.wrong, "the proof counts what is left out");
	end(&t);
	try(&t, HEAD "\"call\":\"openat\",\"action\":\"create\",\"path\":\"/data/n\","
		     "\"verdict\":\"deny\",\"enforced\":true,\"result\":\"EACCES\"}\n");
	ok(has(&t, "write:\n    - \"/data/n\" "),
		"what a default refused can be learnt");
	end(&t);
	try(&t, HEAD "\"call\":\"openat\",\"action\":\"create\",\"path\":\"/data/n\","
		     "\"verdict\":\"deny\",\"enforced\":true,\"result\":\"EACCES\","
		     "\"rule\":{\"file\":\"/p.yaml\",\"line\":3,\"text\":\"/data\","
		     "\"layer\":\"global\"}}\n");
	ok(has(&t, "by node: denied by /p.yaml:3: /data; uncomment"),
		"what a rule refused is a question");
	end(&t);
	try_with(&t, failed, (struct aw_learn_params){.files = AW_LEARN_READ_ONLY});
	ok(!strstr(t.text, "read:") && !t.replay.wrong,
		"with read-only there is nothing to list");
	end(&t);
}

static void addresses(void)
{
	static const char log[] = HEAD
		"\"call\":\"connect\",\"action\":\"connect\",\"address\":\"192.0.2.1\","
		"\"port\":443,\"host\":\"api.example.com\",\"family\":\"inet\"}\n" HEAD
		"\"call\":\"connect\",\"action\":\"connect\",\"address\":\"192.0.2.2\","
		"\"port\":443,\"family\":\"inet\"}\n" HEAD
		"\"call\":\"getaddrinfo\",\"action\":\"connect\",\"port\":8443,"
		"\"host\":\"git.example.com\"}\n" HEAD
		"\"call\":\"connect\",\"action\":\"connect\",\"address\":\"192.0.2.3\","
		"\"port\":8443,\"family\":\"inet\"}\n" HEAD
		"\"call\":\"connect\",\"action\":\"connect\",\"address\":\"127.0.0.1\","
		"\"port\":41234,\"family\":\"inet\"}\n" HEAD
		"\"call\":\"bind\",\"action\":\"bind\",\"address\":\"::1\","
		"\"port\":8080,\"family\":\"inet6\"}\n" HEAD
		"\"call\":\"bind\",\"action\":\"bind\",\"address\":\"0.0.0.0\","
		"\"port\":0,\"family\":\"inet\"}\n" HEAD
		"\"call\":\"connect\",\"action\":\"connect\","
		"\"address\":\"/run/docker.sock\",\"family\":\"unix\"}\n" HEAD
		"\"call\":\"bind\",\"action\":\"bind\","
		"\"address\":\"/home/me/work/s.sock\",\"family\":\"unix\"}\n" HEAD
		"\"call\":\"bind\",\"action\":\"bind\",\"family\":\"netlink\"}\n";
	struct trial t;

	try(&t, log);
	ok(has(&t, "- \"api.example.com:443\" "), "a host that is known by its name");
	ok(has(&t, "# - \"192.0.2.2:443\""), "an address alone is a question");
	ok(has(&t, "# question: 192.0.2.3:8443 was spoken to") &&
			has(&t, "# - \"git.example.com:8443\""),
		"with the name that was looked up before");
	ok(has(&t, "- \"localhost:32768-65535\" "), "a port that the system picks");
	ok(has(&t, "listen:\n    - \"*:0\" ") && has(&t, "- \"localhost:8080\" "),
		"what was listened on");
	ok(has(&t, "# - \"unix:/run/docker.sock\"") &&
			has(&t, "#   container-engines: off"),
		"a container engine is protected");
	ok(has(&t, "- \"unix:$WORKSPACE/s.sock\" ") &&
			has(&t, "write:\n    - \"$WORKSPACE/s.sock\" "),
		"a socket that is bound is a file, too");
	ok(t.replay.calls == 10 && t.replay.admitted == 7 && t.replay.asked == 3 &&
			!t.replay.wrong,
		"the proof admits the rest");
	end(&t);
}

static void presets(void)
{
	static const char npm[] = WRITE("/home/me/.npm/_cacache/x") HEAD
		"\"call\":\"connect\",\"action\":\"connect\",\"address\":\"192.0.2.1\","
		"\"port\":443,\"host\":\"registry.npmjs.org\",\"family\":\"inet\"}\n";
	struct trial t;

	try(&t, npm);
	ok(has(&t, "preset: [node]\n") && !strstr(t.text, ".npm\""),
		"a preset takes the place of its rules");
	end(&t);
	try(&t, READ("/home/me/.npm/_cacache/x"));
	ok(has(&t, "preset: []\n") && has(&t, "- \"$HOME/.npm\" "),
		"but not for what was only read");
	end(&t);
	try_with(&t, npm, (struct aw_learn_params){.for_whom = AW_LEARN_WORKSPACE});
	ok(!strstr(t.text, "preset:") && has(&t, "- \"$HOME/.npm\" "),
		"a workspace's policy may name none");
	end(&t);
	try(&t, "{\"pid\":1,\"exe\":\"/usr/bin/curl\",\"event\":\"call\","
		"\"call\":\"connect\",\"action\":\"connect\",\"address\":\"192.0.2.1\","
		"\"port\":443,\"host\":\"registry.npmjs.org\",\"family\":\"inet\"}\n");
	ok(has(&t, "preset: []\n") && has(&t, "- \"registry.npmjs.org:443\" "),
		"and not when its program did not run");
	end(&t);
}

/* Whoever chose a name must not choose what the policy says, or how it looks. */
static void names_that_deceive(void)
{
	struct trial t;

	try(&t, WRITE("/data/a\\n- x\\\"b") WRITE("/data/\xe2\x80\xaertl")
			WRITE("/data/*[a]$HOME") WRITE("/data/x\xee\xbe\xaay"));
	ok(has(&t, "- \"/data/a\\u000a-\\\\ x\\\"b\" "), "no line ends in a name");
	ok(has(&t, "- \"/data/\\u202ertl\" "), "no name turns the writing round");
	ok(has(&t, "- \"/data/\\\\*\\\\[a\\\\]\\\\$HOME\" "),
		"no name is a pattern or a variable");
	ok(has(&t, "- \"/data/x?y\" "), "a byte that is not UTF-8 is any byte");
	ok(t.replay.admitted == 4 && !t.replay.wrong, "and all of them are admitted");
	end(&t);
	try(&t, HEAD
		"\"call\":\"openat\",\"action\":\"read\",\"path\":\"/data/n\","
		"\"verdict\":\"deny\",\"rule\":{\"file\":\"/p\\n- /\",\"line\":3,"
		"\"text\":\"/\\n- /\",\"layer\":\"workspace\"}}\n" HEAD
		"\"call\":\"getaddrinfo\",\"action\":\"connect\",\"port\":443,\"host\":\"*\"}\n" HEAD
		"\"call\":\"connect\",\"action\":\"connect\",\"address\":\"192.0.2.3\","
		"\"port\":443,\"host\":\"*\",\"family\":\"inet\"}\n");
	ok(has(&t, "denied by /p\\x0a- /:3"),
		"a comment is one line, whoever wrote the rule");
	ok(has(&t, "# - \"192.0.2.3:443\"") && !strstr(t.text, "*:443"),
		"no host is a pattern");
	end(&t);
}

/* The proof must be able to fail. */
static void the_proof_can_fail(void)
{
	static const char wrong[] =
		"version: 1\nmode: enforce\n"
		"filesystem: {default: deny, read: [\"/data/.env\"]}\n";
	struct aw_policy policy;
	struct aw_error err;
	struct trial t;

	try(&t, READ("/data/a") READ("/data/.env"));
	memset(&t.replay, 0, sizeof(t.replay));
	if (aw_judge_load(wrong, &variables, &policy, &err) < 0 ||
		aw_replay_log(&t.learner, &policy, log_name, &t.replay, &err) < 0)
		abort();
	ok(t.replay.wrong == 2, "a refusal and a secret that is let through are found");
	aw_policy_release(&policy);
	end(&t);
}

/* Memory is bounded by the folders that are used, not by the files. */
static void many_files(void)
{
	size_t size = 200000;
	char *log = malloc(size);
	struct trial t;
	size_t at = 0;

	for (int i = 0; log && i < 600; i++)
		at += (size_t)snprintf(
			log + at, size - at, WRITE("/data/many/n%dx"), i);
	if (!log)
		abort();
	try(&t, log);
	ok(has(&t, "- \"/data/many\" ") && !t.replay.wrong && t.replay.admitted == 600,
		"a folder with hundreds of names stands for them");
	end(&t);
	free(log);
}

static void damaged_lines(void)
{
	struct aw_log_reader reader;
	struct aw_seen seen;
	struct aw_error err;
	int calls = 0;

	write_file(log_name, READ("/a") "{\"event\":\n\n[]\n{}\n" READ("/b") "{\"ev");
	if (aw_log_reader_open(&reader, log_name, &err) < 0)
		abort();
	reader.quiet = true;
	while (aw_log_reader_next(&reader, &seen, &err) > 0)
		calls++;
	ok(calls == 2 && reader.damaged == 5,
		"damaged lines are passed over and counted");
	aw_log_reader_close(&reader);
}

int main(void)
{
	char file[128];

	if (!mkdtemp(folder))
		abort();
	snprintf(log_name, sizeof(log_name), "%s/log", folder);
	snprintf(presets_name, sizeof(presets_name), "%s", folder);
	snprintf(file, sizeof(file), "%s/node.yaml", folder);
	write_file(file, "version: 1\nfilesystem: {write: [\"~/.npm\"]}\n"
			 "network: {allow: [\"registry.npmjs.org:443\"]}\n");
	made_up_names();
	secrets();
	anchors();
	folding();
	roots();
	outcomes();
	addresses();
	presets();
	names_that_deceive();
	the_proof_can_fail();
	many_files();
	damaged_lines();
	unlink(file);
	unlink(log_name);
	rmdir(folder);
	return done();
}
