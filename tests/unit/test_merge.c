/* SPDX-License-Identifier: Apache-2.0 */
/* test_merge.c - every rule of how layers stand on each other, with an example. */
#include "tests/unit/policy_layers.h"

static void a_double_keeps_its_last_place(void)
{
	static const struct text_layer once[] = {
		{"global", AW_TRUSTED, "filesystem: {deny: [/a, '!/a/x']}"}};
	static const struct text_layer twice[] = {
		{"global", AW_TRUSTED, "filesystem: {deny: [/a, '!/a/x']}"},
		{"policy", AW_TRUSTED, "filesystem: {deny: [/a]}"},
	};
	struct aw_policy p;

	load(once, 1, AW_AUDIT, &p);
	ok(reads(&p, "/a/x") == AW_ALLOW, "'!' takes out of its list");
	aw_policy_release(&p);
	load(twice, 2, AW_AUDIT, &p);
	ok(reads(&p, "/a/x") == AW_DENY, "an entry said again counts where it is last");
	aw_policy_release(&p);
}

static void order_within_a_file_means_nothing(void)
{
	static const struct text_layer layer = {"policy", AW_TRUSTED,
		"filesystem: {default: read-only, write: ['!~/.claude', '!/dev/null']}\n"
		"preset: [claude-code]"};
	struct aw_policy p;

	load(&layer, 1, AW_AUDIT, &p);
	ok(judge(&p, AW_WRITE, "/home/ann/.claude/x").verdict == AW_DENY,
		"a preset stands below the file that names it, whatever comes first");
	ok(judge(&p, AW_WRITE, "/dev/null").verdict == AW_DENY,
		"what hardly any program can do without can be taken away");
	aw_policy_release(&p);
}

static const char everything[] =
	"mode: enforce\nrunner: bwrap\nengine: kernel\nverdicts: ask\n"
	"on_missing_runner: exec\nrequire: kernel\nquiet: true\n"
	"keep_descendants: true\nlog: none\npreset: [claude-code]\n"
	"protections: off\nlimits: {memory: 1g, cpus: 2, time: 1h}\n"
	"filesystem: {default: deny, deny: [/a], expose: [{source: /opt}]}\n"
	"exec: {default: deny}\nnetwork: {default: deny, listen: []}\n"
	"environment: {inherit: none, unset: [A], set: {B: c}, redirect_home: true}";

static void replace_drops_all_that_is_below(void)
{
	static const struct text_layer layers[] = {
		{"global", AW_TRUSTED, everything},
		{"workspace", AW_UNTRUSTED,
			"filesystem: {deny: [/b]}\nlimits: {processes: 3}"},
		{"policy", AW_TRUSTED,
			"filesystem: {deny: [/c]}\nmerge: replace # wherever it stands"},
	};
	struct aw_policy p;

	load(layers, 3, AW_AUDIT, &p);
	ok(reads(&p, "/a") == AW_ALLOW && reads(&p, "/b") == AW_ALLOW, "lists");
	ok(reads(&p, "/c") == AW_DENY, "not its own");
	ok(judge(&p, AW_WRITE, "/etc/x").verdict == AW_ALLOW &&
			connects(&p, "1.1.1.1") == AW_ALLOW &&
			judge_address(&p, AW_BIND, "1.1.1.1", 1, NULL).verdict ==
				AW_ALLOW,
		"defaults");
	ok(p.mode == AW_AUDIT && !p.mode_set && !p.runner && !p.engine && !p.verdicts &&
			!p.on_missing_runner && !p.require && !p.quiet &&
			!p.keep_descendants && !p.log,
		"words");
	ok(!p.limits.memory && p.limits.cpus <= 0 && !p.limits.time &&
			!p.limits.processes,
		"limits");
	ok(!p.exposed_count && !p.environment.set_count && !p.redirect_home,
		"what is exposed and set");
	ok(aw_policy_keeps_variable(&p, "A") && aw_policy_keeps_variable(&p, "X"),
		"what is inherited and unset");
	ok(judge(&p, AW_WRITE, "/home/ann/.bashrc").verdict == AW_DENY,
		"and protections that were off are on");
	aw_policy_release(&p);
}

static void a_preset_falls_with_its_layer(void)
{
	static const struct text_layer layers[] = {
		{"global", AW_TRUSTED, "preset: [codex, node]"},
		{"policy", AW_TRUSTED,
			"merge: replace\nnetwork: {default: deny, allow: [x.org]}"},
	};
	static const struct text_layer again[] = {
		{"global", AW_TRUSTED, "preset: [codex]"},
		{"policy", AW_TRUSTED, "merge: replace\npreset: [codex]"},
	};
	struct aw_policy p;

	load(layers, 2, AW_AUDIT, &p);
	ok(judge_address(&p, AW_CONNECT, "1.1.1.1", 443, "api.openai.com").verdict ==
			AW_DENY,
		"a preset of a replaced layer lets nothing");
	ok(judge_address(&p, AW_CONNECT, "1.1.1.1", 443, "x.org").verdict == AW_ALLOW,
		"what stands above it does");
	aw_policy_release(&p);
	load(again, 2, AW_AUDIT, &p);
	ok(judge_address(&p, AW_CONNECT, "1.1.1.1", 443, "api.openai.com").verdict ==
			AW_ALLOW,
		"named again it is there again");
	aw_policy_release(&p);
}

static void nothing_replaces_the_system(void)
{
	static const struct text_layer layers[] = {
		{"system", AW_SYSTEM,
			"mode: enforce\nrunner: bwrap\nlog: none\nmerge: replace\n"
			"filesystem: {deny: [/s]}\nlimits: {memory: 1g}\n"
			"protections: {private-keys: on}\n"
			"environment: {inherit: [PATH, HOME], unset: [HOME], set: {S: "
			"t}, redirect_home: true}"},
		{"global", AW_TRUSTED, everything},
		{"policy", AW_TRUSTED,
			"merge: replace\nmode: audit\nrunner: exec\nlog: /tmp/x\n"
			"filesystem: {deny: ['!/s', '!/home/ann/.ssh']}\n"
			"protections: off\nlimits: {memory: 2g}\n"
			"environment: {inherit: all, unset: ['!HOME'], set: {S: u}, "
			"redirect_home: false}"},
	};
	struct aw_policy p;
	size_t warnings = load_as(NULL, "exec", layers, 3, &p);

	ok(reads(&p, "/s") == AW_DENY, "its lists stay, and no '!' reaches into them");
	ok(reads(&p, "/home/ann/.ssh/id") == AW_DENY,
		"nor into protections that it has on");
	ok(p.mode == AW_ENFORCE && strcmp(p.runner, "bwrap") == 0 &&
			strcmp(p.log, "none") == 0,
		"its words stay");
	ok(p.limits.memory == 1ull << 30, "its limits count when they are smaller");
	ok(aw_policy_keeps_variable(&p, "PATH") &&
			!aw_policy_keeps_variable(&p, "HOME") &&
			!aw_policy_keeps_variable(&p, "OTHER"),
		"what it inherits and unsets stays");
	ok(p.environment.set_count >= 1 &&
			strcmp(p.environment.set[0].value, "t") == 0 && p.redirect_home,
		"and what it sets");
	ok(aw_policy_fixed(&p, "mode") && aw_policy_fixed(&p, "runner") &&
			aw_policy_fixed(&p, "log") && !aw_policy_fixed(&p, "engine"),
		"it is known what no flag changes");
	ok(strcmp(p.runner_shown, "bwrap") == 0, "a flag for a runner neither");
	ok(warnings == 8, "each attempt is worth a warning (%zu)", warnings);
	aw_policy_release(&p);
}

static void an_untrusted_file_replaces_nothing(void)
{
	static const struct text_layer layers[] = {
		{"global", AW_TRUSTED, "filesystem: {deny: [/a]}"},
		{"workspace", AW_UNTRUSTED,
			"merge: replace\nfilesystem: {deny: [/b]}\n"
			"restricted_runners: {exec: {merge_strategy: replace, "
			"restrictions: {deny_folders: [/c]}}}"},
	};
	struct aw_policy p;

	ok(load_as(NULL, NULL, layers, 2, &p) == 2, "trying to is told");
	ok(reads(&p, "/a") == AW_DENY && reads(&p, "/b") == AW_DENY &&
			reads(&p, "/c") == AW_DENY,
		"its own rules count besides");
	aw_policy_release(&p);
}

/* Mitto's older form: the level's runner, and rules for whichever runner there is. */
static void the_older_form_counts(void)
{
	static const struct text_layer layers[] = {
		{"global", AW_TRUSTED,
			"restricted_runner: {default_type: landlock, "
			"default_restrictions: {deny_folders: [/a]}}"},
		{"agent", AW_TRUSTED,
			"restricted_runner: {type: firejail, restrictions: {deny_folders: [/b]}}"},
	};
	struct aw_policy p;

	ok(load_as(NULL, NULL, layers, 2, &p) == 2, "the older form: a warning each");
	ok(p.runner && strcmp(p.runner, "firejail") == 0, "the last type counts");
	ok(reads(&p, "/a") == AW_DENY && reads(&p, "/b") == AW_DENY,
		"the rules of both levels count");
	aw_policy_release(&p);
}

static void an_agent_has_an_entry(void)
{
	static const struct text_layer layers[] = {
		{"global", AW_TRUSTED,
			"engine: hybrid\nfilesystem: {default: read-only, deny: [/g]}\n"
			"agents:\n"
			"  claude: {engine: kernel, quiet: true, filesystem: {deny: [/c]}}\n"
			"  codex: {merge: replace, filesystem: {deny: [/x]}}\n"},
		{"agent", AW_TRUSTED, "engine: preload\nfilesystem: {deny: ['!/c/y']}"},
	};
	struct aw_policy p;
	struct aw_rule rule;
	struct aw_decision d;

	load_as("claude", NULL, layers, 2, &p);
	ok(reads(&p, "/g") == AW_DENY && reads(&p, "/c") == AW_DENY,
		"the entry stands on its own file");
	ok(reads(&p, "/c/y") == AW_ALLOW && strcmp(p.engine, "preload") == 0,
		"and below the agent's file");
	d = judge(&p, AW_READ, "/c");
	ok(aw_image_rule(p.image, d.rule, &rule) && strcmp(rule.layer, "agent") == 0 &&
			rule.line == 5,
		"its layer and line are known");
	aw_policy_release(&p);
	load_as("codex", NULL, layers, 1, &p);
	ok(reads(&p, "/x") == AW_DENY && reads(&p, "/g") == AW_ALLOW && !p.engine &&
			!p.quiet,
		"an entry may replace what is below");
	aw_policy_release(&p);
	load_as("gemini", NULL, layers, 1, &p);
	ok(reads(&p, "/g") == AW_DENY && reads(&p, "/c") == AW_ALLOW &&
			reads(&p, "/x") == AW_ALLOW,
		"the others' entries count for nobody else");
	aw_policy_release(&p);
}

static void the_system_has_agents_too(void)
{
	static const struct text_layer layers[] = {
		{"system", AW_SYSTEM,
			"filesystem: {deny: [/s]}\nagents: {claude: {merge: replace, "
			"mode: enforce, filesystem: {deny: [/c]}}}"},
		{"global", AW_TRUSTED,
			"merge: replace\nmode: audit\nfilesystem: {deny: ['!/c']}"},
	};
	struct aw_policy p;

	ok(load_as("claude", NULL, layers, 2, &p) == 2, "its replace is no replace");
	ok(reads(&p, "/s") == AW_DENY && reads(&p, "/c") == AW_DENY &&
			p.mode == AW_ENFORCE,
		"and nobody loosens its entry");
	aw_policy_release(&p);
}

static void words_override(void)
{
	static const struct text_layer layers[] = {
		{"global", AW_TRUSTED,
			"require: kernel\nquiet: true\nkeep_descendants: false\n"
			"log: $HOME/log.jsonl"},
		{"policy", AW_TRUSTED,
			"require: supervisor\nkeep_descendants: true\nlog: '-'"},
	};
	struct aw_policy p;

	load(layers, 1, AW_AUDIT, &p);
	ok(strcmp(p.log, "/home/ann/log.jsonl") == 0, "a log may have variables");
	ok(judge(&p, AW_WRITE, p.log).verdict == AW_DENY, "and is protected");
	aw_policy_release(&p);
	load(layers, 2, AW_AUDIT, &p);
	ok(strcmp(p.require, "supervisor") == 0 && strcmp(p.quiet, "true") == 0 &&
			strcmp(p.keep_descendants, "true") == 0 &&
			strcmp(p.log, "-") == 0,
		"the last layer that has a word counts");
	aw_policy_release(&p);
}

static void names_of_variables_are_appended(void)
{
	static const struct text_layer layers[] = {
		{"global", AW_TRUSTED,
			"environment: {inherit: [PATH], unset: ['A*', '!AB'], set: {X: 1, Y: 1}}"},
		{"policy", AW_TRUSTED,
			"environment: {inherit: ['A*'], unset: ['A*', '!AC'], set: {X: 2}}"},
	};
	struct aw_policy p;

	load(layers, 2, AW_AUDIT, &p);
	ok(aw_policy_keeps_variable(&p, "PATH") && aw_policy_keeps_variable(&p, "AC"),
		"names of both layers");
	ok(!aw_policy_keeps_variable(&p, "AB"), "a double counts at its last place");
	ok(p.environment.rules[1].unset.count == 3, "and is there once");
	ok(p.environment.set_count == 2 && strcmp(p.environment.set[0].value, "2") == 0,
		"a later value takes the earlier one's place");
	aw_policy_release(&p);
}

int main(void)
{
	forget_environment();
	a_double_keeps_its_last_place();
	order_within_a_file_means_nothing();
	replace_drops_all_that_is_below();
	a_preset_falls_with_its_layer();
	nothing_replaces_the_system();
	an_untrusted_file_replaces_nothing();
	the_older_form_counts();
	an_agent_has_an_entry();
	the_system_has_agents_too();
	words_override();
	names_of_variables_are_appended();
	return done();
}
