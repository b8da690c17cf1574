/* SPDX-License-Identifier: Apache-2.0 */
/* test_trust.c - records of trust, what a judgement is worth, what a policy loosens. */
#include <sys/stat.h>

#include "supervisor/launch/trust.h"
#include "supervisor/lint/permission_diff.h"
#include "tests/unit/policy_text.h"

static char scratch[] = "/tmp/aw-trust-XXXXXX";

static const char *in_scratch(const char *name)
{
	static char paths[4][200];
	static unsigned turn;
	char *path = paths[turn++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", scratch, name);
	return path;
}

static void put(const char *name, const char *text, mode_t mode)
{
	FILE *file = fopen(in_scratch(name), "w");

	if (!file || fputs(text, file) < 0 || fclose(file) < 0 ||
		chmod(in_scratch(name), mode) < 0)
		abort();
}

static enum aw_trust_state state_of(const char *workspace)
{
	struct aw_trust_judgement *j;
	enum aw_trust_state state;

	if (aw_trust_judge(workspace, &j, NULL) < 0)
		abort();
	state = j->state;
	aw_trust_free(j);
	return state;
}

static void record(const char *text)
{
	char sha256[AW_SHA256_TEXT];
	struct aw_error err;

	aw_sha256(text, strlen(text), sha256);
	if (aw_trust_record(in_scratch("ws"), sha256, geteuid(), &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		abort();
	}
}

static void a_file_is_judged(void)
{
	static const char text[] = "version: 1\n";
	char ws[200];
	bool found;

	snprintf(ws, sizeof(ws), "%s", in_scratch("ws"));
	ok(state_of(ws) == AW_TRUST_NOTHING, "without records nothing is trusted");
	put("ws/.agentwatch.yaml", text, 0644);
	ok(state_of(ws) == AW_TRUST_NOTHING, "nor a file that is there");
	record(text);
	ok(state_of(ws) == AW_TRUST_HOLDS, "what was recorded is");
	record(text);
	put("ws/.agentwatch.yaml", "version: 2\n", 0644);
	ok(state_of(ws) == AW_TRUST_CHANGED, "one byte is enough");
	put("ws/.agentwatch.yaml", text, 0646);
	ok(state_of(ws) == AW_TRUST_UNFIT, "nobody else may write to it");
	unlink(in_scratch("ws/.agentwatch.yaml"));
	ok(state_of(ws) == AW_TRUST_GONE, "it must be there");
	put("ws/real", text, 0644);
	ok(symlink("real", in_scratch("ws/.agentwatch.yaml")) == 0 &&
			state_of(ws) == AW_TRUST_UNFIT,
		"not as a link");
	unlink(in_scratch("ws/.agentwatch.yaml"));
	ok(mkfifo(in_scratch("ws/.agentwatch.yaml"), 0600) == 0 &&
			state_of(ws) == AW_TRUST_UNFIT,
		"nor as a pipe, which nobody waits for");
	unlink(in_scratch("ws/.agentwatch.yaml"));
	ok(aw_trust_forget(ws, &found, NULL) == 0 && found &&
			state_of(ws) == AW_TRUST_NOTHING,
		"trust can be taken back");
	ok(aw_trust_forget(ws, &found, NULL) == 0 && !found, "once");
}

static void broken_records_are_refused(void)
{
	static const struct {
		const char *what, *text, *said;
		mode_t mode;
	} cases[] = {
		{"no JSON", "hello\n", "line 1: it is no record", 0600},
		{"a list", "[]\n", "line 1: it is no record", 0600},
		{"half a record", "{\"workspace\":\"/w\"}\n", "it is no record", 0600},
		{"a short digest",
			"{\"workspace\":\"/w\",\"sha256\":\"ab\",\"date\":\"2\",\"owner\":0}\n",
			"it is no record", 0600},
		{"a record cut off", "\n\n{\"workspace\":\"/w\",\"sha2",
			"line 3: it is no record", 0600},
		{"one that others can write to", "", "others can write to it", 0622},
	};
	struct aw_trust_records records;
	struct aw_error err;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		put("agentwatch/trusted.jsonl", cases[i].text, cases[i].mode);
		ok(aw_trust_read(&records, &err) < 0 &&
				strstr(err.text, cases[i].said) &&
				state_of("/w") == AW_TRUST_NO_RECORDS,
			"records: %s (%s)", cases[i].what, err.text);
	}
	unlink(in_scratch("agentwatch/trusted.jsonl"));
	ok(symlink("elsewhere", in_scratch("agentwatch/trusted.jsonl")) == 0 &&
			aw_trust_read(&records, &err) < 0 &&
			strstr(err.text, "symbolic link"),
		"records: a link");
	unlink(in_scratch("agentwatch/trusted.jsonl"));
}

static int load_judged(const struct aw_policy_judged *judged, enum aw_trust trust,
	enum aw_mode mode, struct aw_policy *policy, struct aw_diagnostics *d)
{
	const struct aw_policy_source source = {judged->file, "workspace", trust};
	struct aw_policy_variables variables = some_variables;

	variables.judged = judged;
	return aw_policy_load(
		&source, judged->bytes ? 1 : 0, &variables, mode, false, policy, d);
}

static void the_bytes_that_were_judged_count(void)
{
	static const char text[] = "version: 1\nrunner: landlock\n";
	struct aw_policy_judged judged = {
		.file = in_scratch("other.yaml"), .bytes = text, .len = strlen(text)};
	struct aw_diagnostics d;
	struct aw_policy p;

	put("other.yaml", "version: 1\nrunner: exec\n", 0644);
	ok(load_judged(&judged, AW_TRUSTED, AW_AUDIT, &p, &d) == 0 &&
			strcmp(p.runner, "landlock") == 0,
		"the file is not read a second time");
	aw_policy_release(&p);
	aw_diagnostics_free(&d);
	judged.advice = "say trust";
	ok(load_judged(&judged, AW_UNTRUSTED, AW_AUDIT, &p, &d) == 0 && d.count == 2 &&
			strcmp(d.items[1].text, "say trust") == 0,
		"where something is ignored there is advice");
	aw_policy_release(&p);
	aw_diagnostics_free(&d);
	judged = (struct aw_policy_judged){
		.file = "/w/f", .complaint = "is gone", .fatal = true};
	ok(load_judged(&judged, AW_TRUSTED, AW_AUDIT, &p, &d) == 0 && d.count == 1 &&
			d.items[0].warning,
		"a fatal complaint is a warning in audit");
	aw_policy_release(&p);
	aw_diagnostics_free(&d);
	ok(load_judged(&judged, AW_TRUSTED, AW_ENFORCE, &p, &d) < 0 && d.errors == 1,
		"and an error in enforce");
	aw_diagnostics_free(&d);
}

/* What `with` loosens, on top of `global`. */
static char *loosened(const char *global, const char *with)
{
	const struct text_layer layers[] = {
		{"global", AW_TRUSTED, global}, {"workspace", AW_TRUSTED, with}};
	struct aw_policy before, after;
	struct aw_diagnostics d;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out || load_layers(layers, 1, AW_ENFORCE, &before, &d) < 0)
		abort();
	aw_diagnostics_free(&d);
	if (load_layers(layers, 2, AW_ENFORCE, &after, &d) < 0)
		abort();
	aw_diagnostics_free(&d);
	aw_permission_diff_print(&before, &after, out);
	fclose(out);
	aw_policy_release(&before);
	aw_policy_release(&after);
	return text;
}

static void loosening_is_seen(void)
{
	static const char some[] =
		"mode: enforce\nrunner: bwrap\n"
		"filesystem: {default: read-only, write: [/w], deny: [/s]}\n"
		"exec: {default: deny, allow: [/usr/bin]}\n"
		"network: {default: deny, match_sni: true}\n"
		"environment: {inherit: [PATH], unset: [KEY], redirect_home: true}\n"
		"limits: {memory: 1g, cpus: 2, bytes_out: 1k}\n";
	static const struct {
		const char *with, *said; /* NULL: nothing */
	} cases[] = {
		{"mode: enforce", NULL},
		{"filesystem: {deny: [/x], write: [/w/sub], read: [/usr]}", NULL},
		{"filesystem: {hide: ['!/nothing']}", NULL},
		{"limits: {memory: 1m}", NULL},
		{"environment: {unset: [MORE]}", NULL},
		{"mode: audit", "mode: audit"},
		{"runner: exec", "runner: exec, not bwrap"},
		{"on_missing_runner: exec", "on_missing_runner: exec, not the default"},
		{"filesystem: {default: allow}", "what no list has may be changed"},
		{"filesystem: {write: [/x]}", "filesystem.write: \"/x\" (line 2)"},
		{"filesystem: {write: ['**/x']}", "filesystem.write: \"**/x\""},
		{"filesystem: {deny: ['!/s/x']}", "filesystem.deny: \"!/s/x\""},
		{"exec: {default: allow}", "exec: what no list has may be run"},
		{"exec: {allow: [sh]}", "exec.allow: \"sh\""},
		{"network: {default: allow}", "network: what no list has"},
		{"network: {allow: ['x.org']}", "network.allow: \"x.org\""},
		{"network: {listen: ['*:80']}", "network.listen: \"*:80\""},
		{"protections: {git-hooks: off}", "protections.git-hooks: off"},
		{"environment: {inherit: all}", "environment.inherit: all"},
		{"environment: {inherit: [HOME]}", "environment.inherit: HOME"},
		{"environment: {unset: ['!KEY']}", "environment.unset: \"!KEY\""},
		{"environment: {set: {A: b}}", "environment.set: A=b"},
		{"environment: {redirect_home: false}", "redirect_home: false"},
		{"network: {match_sni: false}", "network.match_sni: false"},
		{"network: {refusal: ECONNREFUSED}", NULL},
		{"network: {proxy: listen}", "network.proxy: listen"},
		{"network: {forward: [3000]}", "network.forward: \"3000\""},
		{"network: {private_names: [X.org]}", "network.private_names: x.org"},
		{"limits: {bytes_out: 2g}", "limits.bytes_out: 2147483648, not 1024"},
		{"limits: {memory: 2g}", "limits.memory: 2147483648, not 1073741824"},
		{"limits: {cpus: 3}", "limits.cpus: 3, not 2"},
		{"filesystem: {expose: [{source: /x}]}", "filesystem.expose: /x at /x"},
		{"preset: [names]", "the preset in names.yaml, with"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *text = loosened(some, cases[i].with);

		if (!ok(cases[i].said ? strstr(text, cases[i].said) != NULL : !*text,
			    "%s loosens %s", cases[i].with,
			    cases[i].said ? cases[i].said : "nothing"))
			note("got: %s", text);
		free(text);
	}
	{
		char *text = loosened("exec: {deny: [x]}", "environment: {set: {}}");

		ok(!*text, "an empty map loosens nothing");
		free(text);
	}
}

/* Where the order of entries decides, a double is not what it was. */
static void doubles_are_seen(void)
{
	static const struct {
		const char *global, *with, *said;
	} cases[] = {
		{"filesystem: {default: read-only, write: [/w, '!/w/z']}",
			"filesystem: {write: [/w]}", "filesystem.write: \"/w\""},
		{"filesystem: {default: read-only, write: [/w, '!/w/s/z']}",
			"filesystem: {write: [/w/s]}", "filesystem.write: \"/w/s\""},
		{"filesystem: {default: allow, read: [/r]}",
			"filesystem: {write: ['**/x']}", "filesystem.write: \"**/x\""},
		{"filesystem: {deny: ['!/s/x', /s]}", "filesystem: {deny: ['!/s/x']}",
			"filesystem.deny: \"!/s/x\""},
		{"environment: {unset: ['!A', A]}", "environment: {unset: ['!A']}",
			"environment.unset: \"!A\""},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *text = loosened(cases[i].global, cases[i].with);

		ok(strstr(text, cases[i].said) != NULL, "%s loosens %s", cases[i].with,
			cases[i].global);
		free(text);
	}
}

static void the_base_is_opened_aloud(void)
{
	static const char *const opening[] = {"base: open", "merge: replace"};
	char *text = loosened("", "exec: {deny: [sudo]}");

	ok(strcmp(text, "") == 0, "a file with rules of its own takes none away");
	free(text);
	for (size_t i = 0; i < 2; i++) {
		text = loosened("", opening[i]);
		ok(strstr(text, opening[i]) &&
				strstr(text,
					"filesystem: what no list has may be changed") &&
				strstr(text,
					"network: what no list has may be reached") &&
				strstr(text, "environment: no longer unset: *_TOKEN, "),
			"what %s takes away is told", opening[i]);
		free(text);
	}
	text = loosened("base: read-only", "base: workspace");
	ok(strstr(text, "base: workspace, not read-only") &&
			strstr(text, "filesystem.write: \"$WORKSPACE\""),
		"and so is a workspace that may be changed");
	free(text);
}

/* A session whose state is elsewhere must not reach the records of others. */
static void usual_records_are_protected(void)
{
	static const char path[] = "/home/ann/.local/state/agentwatch/trusted.jsonl";
	struct aw_policy_variables variables = some_variables;
	struct aw_decision decision;
	struct aw_diagnostics d;
	struct aw_policy p;

	variables.state_dir = "/elsewhere/agentwatch";
	variables.workspace = "/home/ann";
	if (aw_policy_load(NULL, 0, &variables, AW_ENFORCE, false, &p, &d) < 0)
		abort();
	aw_image_decide_path(p.image, AW_WRITE, path, strlen(path), &decision);
	ok(decision.verdict == AW_DENY, "the usual place of the records is protected");
	aw_policy_release(&p);
	aw_diagnostics_free(&d);
}

int main(void)
{
	char command[100];

	umask(022);
	if (!mkdtemp(scratch) || setenv("XDG_STATE_HOME", scratch, 1) < 0 ||
		mkdir(in_scratch("ws"), 0755) < 0)
		abort();
	a_file_is_judged();
	broken_records_are_refused();
	the_bytes_that_were_judged_count();
	loosening_is_seen();
	doubles_are_seen();
	the_base_is_opened_aloud();
	usual_records_are_protected();
	snprintf(command, sizeof(command), "rm -r %s", scratch);
	ok(system(command) == 0, "the scratch folder can be removed");
	return done();
}
