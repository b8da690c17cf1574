/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_base.c - what lies below all files is closed: files add to it, trusted ones may
 * open it, and others have no say.
 */
#include "policy/image/region.h"
#include "supervisor/lint/base.h"
#include "tests/unit/policy_layers.h"

static enum aw_verdict writes(const struct aw_policy *p, const char *path)
{
	return judge(p, AW_WRITE, path).verdict;
}

/* On one line, for the name of a test. */
static const char *line_of(const char *text)
{
	static char line[300];

	snprintf(line, sizeof(line), "%s", text);
	for (char *at = line; *at; at++)
		if (*at == '\n')
			*at = ' ';
	return line;
}

/* As closed as with no file at all. */
static bool is_closed(const struct aw_policy *p)
{
	return writes(p, "/repo/x") == AW_ALLOW && writes(p, "/tmp/x") == AW_ALLOW &&
	       writes(p, "/etc/x") == AW_DENY && writes(p, "/home/ann/x") == AW_DENY &&
	       reads(p, "/etc/x") == AW_ALLOW && connects(p, "192.0.2.1") == AW_DENY &&
	       judge_address(p, AW_BIND, "192.0.2.1", 80, NULL).verdict == AW_DENY &&
	       !p->base_replaced && p->base_kind == AW_BASE_WORKSPACE;
}

/* No rule of a file, whichever it is, takes the base away. */
static void one_rule_opens_nothing(void)
{
	static const char *const rules[] = {"filesystem: {deny: [/x]}",
		"filesystem: {write: [/opt/x]}", "filesystem: {}",
		"exec: {deny: [sudo]}", "network: {listen: [\"localhost:*\"]}",
		"network: {allow: [x.org]}", "network: {deny: [x.org]}",
		"environment: {set: {A: b}}", "limits: {time: 5}", "preset: [node]",
		"preset: []",
		"profiles: {p: {when: {exec: x}, network: {default: allow}}}",
		"agents: {claude: {filesystem: {deny: [/x]}}}",
		"restricted_runners: {exec: {restrictions: {deny_folders: [/x]}}}",
		("restricted_runners: {exec: {merge_strategy: replace, restrictions: "
		 "{deny_folders: [/x]}}}"),
		"protections: off"};

	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
		for (int mode = AW_AUDIT; mode <= AW_ENFORCE; mode++) {
			struct aw_policy p;

			load_text(rules[i], (enum aw_mode)mode, &p);
			ok(is_closed(&p), "%s in %s: the base stays closed", rules[i],
				mode == AW_AUDIT ? "audit" : "enforce");
			ok((mode == AW_AUDIT) ==
					aw_policy_keeps_variable(&p, "GITHUB_TOKEN"),
				"and credentials are unset in enforce alone");
			aw_policy_release(&p);
		}
}

static void lists_are_added(void)
{
	struct aw_policy p;

	load_text("filesystem: {write: [/opt/x, '!$WORKSPACE/sub']}\n"
		  "network: {allow: [x.org], listen: ['192.0.2.1:80']}\n"
		  "environment: {unset: ['!GITHUB_TOKEN', MINE]}",
		AW_ENFORCE, &p);
	ok(writes(&p, "/opt/x") == AW_ALLOW && writes(&p, "/repo/x") == AW_ALLOW &&
			writes(&p, "/repo/sub/x") == AW_DENY &&
			writes(&p, "/etc/x") == AW_DENY,
		"what may be changed is added, and can be taken out");
	ok(judge_address(&p, AW_CONNECT, "192.0.2.1", 80, "x.org").verdict ==
				AW_ALLOW &&
			connects(&p, "192.0.2.9") == AW_DENY &&
			judge_address(&p, AW_BIND, "192.0.2.1", 80, NULL).verdict ==
				AW_ALLOW,
		"so is what may be reached and listened on");
	ok(aw_policy_keeps_variable(&p, "GITHUB_TOKEN") &&
			!aw_policy_keeps_variable(&p, "NPM_TOKEN") &&
			!aw_policy_keeps_variable(&p, "MINE"),
		"and which variables are unset");
	aw_policy_release(&p);
	load_text("filesystem: {default: allow}\nnetwork: {default: allow}\n"
		  "environment: {inherit: all}",
		AW_ENFORCE, &p);
	ok(writes(&p, "/etc/x") == AW_ALLOW && connects(&p, "192.0.2.1") == AW_ALLOW &&
			judge_address(&p, AW_BIND, "192.0.2.1", 80, NULL).verdict ==
				AW_ALLOW &&
			aw_policy_keeps_variable(&p, "NPM_TOKEN"),
		"single values take the place of the base's");
	aw_policy_release(&p);
}

static void there_are_three(void)
{
	struct aw_policy p;

	load_text(
		"base: read-only\nfilesystem: {write: [$WORKSPACE/out]}", AW_AUDIT, &p);
	ok(writes(&p, "/repo/x") == AW_DENY && reads(&p, "/repo/x") == AW_ALLOW &&
			writes(&p, "/repo/out/x") == AW_ALLOW &&
			writes(&p, "/tmp/x") == AW_ALLOW &&
			connects(&p, "192.0.2.1") == AW_DENY,
		"read-only: the workspace is for reading, but for what a file adds");
	aw_policy_release(&p);
	load_text("base: open\nfilesystem: {deny: [/x]}", AW_ENFORCE, &p);
	ok(writes(&p, "/etc/x") == AW_ALLOW && connects(&p, "192.0.2.1") == AW_ALLOW &&
			reads(&p, "/x") == AW_DENY &&
			aw_policy_keeps_variable(&p, "NPM_TOKEN"),
		"open: what no rule denies is allowed");
	ok(reads(&p, "/home/ann/.ssh/id") == AW_DENY &&
			writes(&p, "/home/ann/.bashrc") == AW_DENY,
		"but protections hold");
	aw_policy_release(&p);
}

/* A workspace below the temporary folder, or the other way round. */
static void one_folder_may_lie_in_the_other(void)
{
	static const struct text_layer layer = {
		"policy", AW_TRUSTED, "base: read-only"};
	struct aw_policy_variables variables = some_variables;
	struct aw_diagnostics d;
	struct aw_policy p;

	variables.workspace = "/tmp/ws";
	if (load_layers_with(&layer, 1, AW_AUDIT, &variables, &p, &d) < 0)
		abort();
	ok(writes(&p, "/tmp/ws/x") == AW_DENY && writes(&p, "/tmp/x") == AW_ALLOW,
		"a workspace in the temporary folder is not writable");
	aw_policy_release(&p);
	aw_diagnostics_free(&d);
	variables.workspace = "/repo";
	variables.tmpdir = "/repo/tmp";
	if (load_layers_with(&layer, 1, AW_AUDIT, &variables, &p, &d) < 0)
		abort();
	ok(writes(&p, "/repo/x") == AW_DENY && writes(&p, "/repo/tmp/x") == AW_ALLOW,
		"a temporary folder in the workspace is");
	aw_policy_release(&p);
	aw_diagnostics_free(&d);
}

static void the_mode_takes_a_sandbox(void)
{
	static const struct {
		const char *text, *runner;
	} cases[] = {
		{"mode: enforce", "landlock"},
		{"mode: enforce\nfilesystem: {deny: [/x]}", "landlock"},
		{"mode: enforce\nbase: read-only", "landlock"},
		{"mode: enforce\nmerge: replace", "landlock"},
		{"mode: enforce\nbase: open", "exec"},
		{"mode: enforce\nrunner: bwrap", "bwrap"},
		{"mode: audit", "exec"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[200];
		const struct text_layer layer = {"policy", AW_TRUSTED, text};
		struct aw_policy p;

		/* with sections for a runner the loader asks for it */
		snprintf(text, sizeof(text), "%s\nrestricted_runners: {}",
			cases[i].text);
		load_as(NULL, NULL, &layer, 1, &p);
		ok(strcmp(p.runner_shown, cases[i].runner) == 0, "%s: runner %s (%s)",
			line_of(cases[i].text), cases[i].runner, p.runner_shown);
		aw_policy_release(&p);
	}
}

static void it_is_said_what_opens_it(void)
{
	static const struct text_layer layers[] = {
		{"global", AW_TRUSTED, "filesystem: {deny: [/x]}\nbase: open"},
		{"policy", AW_TRUSTED, "merge: replace"},
		{"policy", AW_TRUSTED, "base: workspace"},
	};
	struct aw_permission_diff loose;
	struct aw_policy p;

	load(layers, 1, AW_ENFORCE, &p);
	ok(aw_permission_diff(&p, 0, &loose) && loose.given.line == 3 &&
			strstr(loose.text, "base: open") &&
			!aw_permission_diff(&p, 1, &loose),
		"base: open, with its line");
	aw_policy_release(&p);
	load(layers, 2, AW_ENFORCE, &p);
	ok(p.base_replaced && writes(&p, "/etc/x") == AW_ALLOW,
		"replace drops its rules");
	ok(aw_permission_diff(&p, 0, &loose) && loose.given.line == 2 &&
			strstr(loose.text, "the base and the files below") &&
			!aw_permission_diff(&p, 1, &loose),
		"which is said");
	aw_policy_release(&p);
	load(layers, 3, AW_ENFORCE, &p);
	ok(is_closed(&p) && reads(&p, "/x") == AW_ALLOW, "a word above puts them back");
	ok(aw_permission_diff(&p, 0, &loose) && !strstr(loose.text, "the base"),
		"and the rules of files stay away");
	aw_policy_release(&p);
	load_text("filesystem: {default: allow}", AW_ENFORCE, &p);
	ok(!aw_permission_diff(&p, 0, &loose), "others are not said to");
	aw_policy_release(&p);
}

/* What the system's file admits would mean nothing above a closed base. */
static void the_system_is_added_and_holds(void)
{
	static const struct text_layer layers[] = {
		{"system", AW_SYSTEM,
			"filesystem: {write: [/srv/cache], deny: [/s]}\n"
			"network: {allow: [proxy.corp]}"},
		{"policy", AW_TRUSTED, "filesystem: {write: ['!/srv/cache/x']}"},
	};
	static const struct text_layer fixed[] = {
		{"system", AW_SYSTEM, "base: read-only"},
		{"policy", AW_TRUSTED, "base: open"},
	};
	struct aw_policy p;

	load(layers, 2, AW_ENFORCE, &p);
	ok(writes(&p, "/srv/cache/y") == AW_ALLOW && writes(&p, "/etc/x") == AW_DENY &&
			judge_address(&p, AW_CONNECT, "10.0.0.1", 80, "proxy.corp")
					.verdict == AW_ALLOW &&
			connects(&p, "10.0.0.2") == AW_DENY,
		"what the system policy admits is added to the base");
	ok(writes(&p, "/srv/cache/x") == AW_DENY && reads(&p, "/s") == AW_DENY,
		"below other files, and what it denies holds");
	aw_policy_release(&p);
	ok(load_as(NULL, NULL, fixed, 2, &p) == 1 && writes(&p, "/repo/x") == AW_DENY &&
			p.base_kind == AW_BASE_READ_ONLY,
		"its base is nobody else's to open");
	aw_policy_release(&p);
}

static void a_preset_is_picked_beside_files(void)
{
	static const struct {
		const char *text;
		bool picked, reached;
	} cases[] = {
		{"filesystem: {deny: [/x]}", true, true},
		{"preset: [go]", true, true},
		{"preset: [claude-code]", false, true},
		{"preset: []", false, false},
		{"merge: replace\nnetwork: {default: deny}", false, false},
		{"base: open\nnetwork: {default: deny}", false, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct text_layer layer = {"policy", AW_TRUSTED, cases[i].text};
		struct aw_policy p;

		load_as("claude", NULL, &layer, 1, &p);
		ok((p.picked != NULL) == cases[i].picked, "%s: one is %spicked",
			line_of(cases[i].text), cases[i].picked ? "" : "not ");
		ok((judge_address(&p, AW_CONNECT, "192.0.2.1", 443, "api.anthropic.com")
				   .verdict == AW_ALLOW) == cases[i].reached,
			"and its hosts are %sreached", cases[i].reached ? "" : "not ");
		aw_policy_release(&p);
	}
}

/* Inside a sandbox the loopback is free, but for a list of addresses or an empty one. */
static void unix_sockets_are_no_list_of_addresses(void)
{
	static const struct {
		const char *text;
		bool lists, in_workspace;
	} cases[] = {
		{"filesystem: {}", false, true},
		{"preset: [python]", false, true},
		{"network: {listen: ['unix:/run/x']}", false, true},
		{"preset: [loopback]", true, true},
		{"network: {listen: ['127.0.0.1:80']}", true, true},
		{"network: {listen: []}", true, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct aw_policy p;

		load_text(cases[i].text, AW_ENFORCE, &p);
		ok(aw_image_lists_listening(p.image, 0) == cases[i].lists,
			"%s: the loopback inside is %s", cases[i].text,
			cases[i].lists ? "as listed" : "free");
		ok((judge_address(&p, AW_BIND, "/repo/s", 0, NULL).verdict ==
			   AW_ALLOW) == cases[i].in_workspace,
			"a socket in the workspace may %sbe listened on",
			cases[i].in_workspace ? "" : "not ");
		aw_policy_release(&p);
	}
}

int main(void)
{
	forget_environment();
	one_rule_opens_nothing();
	lists_are_added();
	there_are_three();
	one_folder_may_lie_in_the_other();
	the_mode_takes_a_sandbox();
	it_is_said_what_opens_it();
	the_system_is_added_and_holds();
	a_preset_is_picked_beside_files();
	unix_sockets_are_no_list_of_addresses();
	return done();
}
