/* SPDX-License-Identifier: Apache-2.0 */
/* test_merge_runners.c - rules that count for one runner alone, and who names it. */
#include "tests/unit/policy_layers.h"

static const struct text_layer runners[] = {
	{"global", AW_TRUSTED,
		"filesystem: {deny: [/g]}\nnetwork: {default: deny, allow: [1.1.1.1]}\n"
		"restricted_runners:\n"
		"  bwrap: {restrictions: {filesystem: {deny: ['!/g/b', /b]}}}\n"
		"  exec: {restrictions: {deny_folders: [/e]}}\n"},
	{"policy", AW_TRUSTED,
		"filesystem: {deny: [/p]}\n"
		"restricted_runners:\n"
		"  bwrap: {merge_strategy: extend, restrictions: {exec: {deny: [/x]}}}\n"
		"  landlock: {merge_strategy: replace, restrictions: {filesystem: {deny: [/l]}, "
		"limits: {time: 5}}}\n"},
};

static void rules_are_for_one_runner(void)
{
	struct aw_policy p;

	asked = 0;
	load_as(NULL, NULL, runners, 2, &p);
	ok(reads(&p, "/e") == AW_DENY && reads(&p, "/b") == AW_ALLOW &&
			reads(&p, "/g/b") == AW_DENY,
		"those of exec, where nobody names a runner");
	ok(asked == 1 && strcmp(p.sections, "exec") == 0, "which was asked for once");
	aw_policy_release(&p);
	asked = 0;
	load_as(NULL, "bwrap", runners, 2, &p);
	ok(reads(&p, "/e") == AW_ALLOW && reads(&p, "/b") == AW_DENY &&
			reads(&p, "/g/b") == AW_ALLOW && reads(&p, "/g") == AW_DENY &&
			reads(&p, "/p") == AW_DENY,
		"those of bwrap, where a flag says so, behind their own file's");
	ok(judge(&p, AW_EXEC, "/x").verdict == AW_DENY, "of every layer");
	ok(asked == 0, "and nobody was asked");
	aw_policy_release(&p);
	load_as(NULL, "firejail", runners, 2, &p);
	ok(reads(&p, "/e") == AW_ALLOW && reads(&p, "/b") == AW_ALLOW &&
			reads(&p, "/g") == AW_DENY,
		"none of a runner that has none");
	aw_policy_release(&p);
}

static void a_runner_may_replace(void)
{
	static const struct text_layer enforcing = {"policy", AW_TRUSTED,
		"mode: enforce\nverdicts: ask\nprotections: {private-keys: off}\n"
		"preset: [codex]\nfilesystem: {default: deny, deny: [/g]}\n"
		"environment: {unset: [A]}\n"
		"restricted_runners: {landlock: {merge_strategy: replace, "
		"restrictions: {filesystem: {deny: [/l]}}}}"};
	struct aw_policy p;

	load_as(NULL, "landlock", runners, 2, &p);
	ok(reads(&p, "/l") == AW_DENY && p.limits.time == 5, "what it says counts");
	ok(reads(&p, "/g") == AW_ALLOW && reads(&p, "/p") == AW_ALLOW &&
			connects(&p, "1.1.1.1") == AW_DENY,
		"what stands below does not, in its own file neither");
	ok(judge(&p, AW_WRITE, "/etc/x").verdict == AW_DENY &&
			judge(&p, AW_WRITE, "/repo/x").verdict == AW_ALLOW,
		"but for the base");
	aw_policy_release(&p);
	load_as(NULL, NULL, &enforcing, 1, &p);
	ok(strcmp(p.sections, "landlock") == 0 && reads(&p, "/l") == AW_DENY,
		"the runner that enforce takes");
	ok(reads(&p, "/g") == AW_ALLOW && aw_policy_keeps_variable(&p, "A") &&
			judge_address(&p, AW_CONNECT, "2.2.2.2", 443, "api.openai.com")
					.verdict == AW_DENY,
		"presets and variables are dropped as well");
	ok(p.mode == AW_ENFORCE && strcmp(p.verdicts, "ask") == 0 &&
			reads(&p, "/home/ann/.ssh/id") == AW_ALLOW,
		"words and protections are not for one runner");
	aw_policy_release(&p);
}

static void flags_and_files_name_the_runner(void)
{
	static const struct text_layer layers[] = {
		{"global", AW_TRUSTED,
			"runner: landlock\nrestricted_runners:\n"
			"  landlock: {restrictions: {deny_folders: [/l]}}\n"
			"  bwrap: {restrictions: {deny_folders: [/b]}}\n"
			"  firejail: {restrictions: {deny_folders: [/f]}}"},
		{"policy", AW_TRUSTED, "runner: firejail"},
	};
	struct aw_policy p;

	load_as(NULL, NULL, layers, 1, &p);
	ok(reads(&p, "/l") == AW_DENY && reads(&p, "/b") == AW_ALLOW, "a file");
	aw_policy_release(&p);
	load_as(NULL, NULL, layers, 2, &p);
	ok(reads(&p, "/f") == AW_DENY && reads(&p, "/l") == AW_ALLOW, "a higher file");
	aw_policy_release(&p);
	load_as(NULL, "bwrap", layers, 2, &p);
	ok(reads(&p, "/b") == AW_DENY && reads(&p, "/f") == AW_ALLOW, "a flag");
	aw_policy_release(&p);
}

/* The worked example of the simple form: three layers, one runner. */
static void the_simple_form(void)
{
	static const struct text_layer layers[] = {
		{"global", AW_TRUSTED,
			"agents: {experimental: {restricted_runners: {firejail: {restrictions: "
			"{allow_networking: false, allow_read_folders: ['$HOME/.experimental']}, "
			"merge_strategy: extend}}}}\n"
			"restricted_runners: {firejail: {restrictions: {allow_networking: true, "
			"allow_read_folders: ['$WORKSPACE'], deny_folders: ['$HOME/.aws2']}}}"},
		{"policy", AW_TRUSTED,
			"restricted_runners: {firejail: {restrictions: {allow_read_folders: "
			"['/vendor'], allow_write_folders: ['$WORKSPACE'], docker: {memory_limit: "
			"2g, cpu_limit: '2.0'}}}}"},
	};
	struct aw_policy p;

	load_as("experimental", "firejail", layers, 2, &p);
	ok(connects(&p, "1.1.1.1") == AW_DENY, "the agent's word on networking counts");
	ok(reads(&p, "/repo/x") == AW_ALLOW && reads(&p, "/vendor/x") == AW_ALLOW &&
			reads(&p, "/home/ann/.experimental") == AW_ALLOW,
		"folders of all layers may be read");
	ok(reads(&p, "/home/ann/x") == AW_DENY && reads(&p, "/usr/lib/x") == AW_ALLOW,
		"others not, but what programs are made of");
	ok(judge(&p, AW_WRITE, "/repo/x").verdict == AW_ALLOW &&
			judge(&p, AW_WRITE, "/vendor/x").verdict == AW_DENY,
		"only some may be written to");
	ok(reads(&p, "/home/ann/.aws2/x") == AW_DENY, "and one is denied");
	ok(p.limits.memory == 2ull << 30 && p.limits.cpus > 1.9,
		"limits of a container are limits");
	aw_policy_release(&p);
	load_as("other", "firejail", layers, 2, &p);
	ok(connects(&p, "1.1.1.1") == AW_ALLOW, "another agent has a network");
	aw_policy_release(&p);
	load_as("other", "exec", layers, 2, &p);
	ok(reads(&p, "/home/ann/x") == AW_ALLOW, "another runner has no such rules");
	aw_policy_release(&p);
}

static void networking_off_is_off(void)
{
	static const struct text_layer layers[] = {
		{"global", AW_TRUSTED,
			"preset: [loopback]\nnetwork: {allow: [1.1.1.1], ask: "
			"[2.2.2.2], listen: ['127.0.0.1:80'], deny: [3.3.3.3]}"},
		{"policy", AW_TRUSTED,
			"restricted_runners: {exec: {restrictions: {network: {allow: "
			"[4.4.4.4]}, allow_networking: false}}, bwrap: {restrictions: "
			"{allow_networking: true}}}"},
	};
	struct aw_policy p;

	load_as(NULL, "exec", layers, 2, &p);
	ok(connects(&p, "1.1.1.1") == AW_DENY && connects(&p, "2.2.2.2") == AW_DENY &&
			connects(&p, "127.0.0.1") == AW_DENY &&
			judge_address(&p, AW_BIND, "127.0.0.1", 80, NULL).verdict ==
				AW_DENY,
		"what lower layers let, lets no more");
	ok(connects(&p, "4.4.4.4") == AW_ALLOW, "what is said beside it is");
	aw_policy_release(&p);
	load_as(NULL, "bwrap", layers, 2, &p);
	ok(connects(&p, "5.5.5.5") == AW_ALLOW && connects(&p, "3.3.3.3") == AW_DENY,
		"on, all but what is denied is allowed");
	aw_policy_release(&p);
}

static void defaults_may_be_left_out(void)
{
	static const struct text_layer layers[] = {
		{"global", AW_TRUSTED, "filesystem: {deny: [/g]}"},
		{"policy", AW_TRUSTED,
			"restricted_runners: {exec: {restrictions: "
			"{merge_with_defaults: false, deny_folders: [/p]}}}"},
	};
	static const struct text_layer untrusted[] = {
		{"workspace", AW_UNTRUSTED,
			"restricted_runners: {exec: {restrictions: {allow_networking: "
			"false, allow_write_folders: ['$WORKSPACE']}}}"},
	};
	struct aw_policy p;

	load_as(NULL, NULL, layers, 2, &p);
	ok(reads(&p, "/p") == AW_DENY && reads(&p, "/g") == AW_ALLOW,
		"merge_with_defaults: false is a replace");
	aw_policy_release(&p);
	load_as(NULL, NULL, untrusted, 1, &p);
	ok(connects(&p, "1.1.1.1") == AW_DENY &&
			judge(&p, AW_WRITE, "/etc/x").verdict == AW_DENY &&
			judge(&p, AW_WRITE, "/repo/x").verdict == AW_ALLOW,
		"an untrusted file tightens with the simple form too");
	aw_policy_release(&p);
}

int main(void)
{
	forget_environment();
	rules_are_for_one_runner();
	a_runner_may_replace();
	flags_and_files_name_the_runner();
	the_simple_form();
	networking_off_is_off();
	defaults_may_be_left_out();
	return done();
}
