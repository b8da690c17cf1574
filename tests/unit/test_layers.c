/* SPDX-License-Identifier: Apache-2.0 */
/* test_layers.c - how files are merged, intersected, and printed. */
#include "tests/unit/policy_text.h"

static enum aw_verdict verdict(
	const struct aw_policy *policy, enum aw_action action, const char *path)
{
	struct aw_decision d;

	aw_image_decide_path(policy->image, action, path, strlen(path), &d);
	return d.verdict;
}

static size_t load(const struct text_layer *layers, size_t count, enum aw_mode mode,
	struct aw_policy *policy)
{
	struct aw_diagnostics diagnostics;
	size_t warnings;

	if (load_layers(layers, count, mode, policy, &diagnostics) < 0) {
		aw_diagnostics_print(&diagnostics, stderr);
		abort();
	}
	warnings = diagnostics.count;
	aw_diagnostics_free(&diagnostics);
	return warnings;
}

static void trusted_layers_are_appended(void)
{
	static const struct text_layer layers[] = {
		{"global", AW_TRUSTED,
			"runner: exec\nfilesystem: {default: allow, deny: [/a, /b]}"},
		{"policy", AW_TRUSTED,
			"runner: bwrap\nmode: enforce\n"
			"filesystem: {default: read-only, deny: ['!/b/x']}"},
	};
	struct aw_policy p;

	load(layers, 2, AW_AUDIT, &p);
	ok(verdict(&p, AW_READ, "/a") == AW_DENY, "lists of lower layers stay");
	ok(verdict(&p, AW_READ, "/b/x") == AW_ALLOW, "a later layer can take out");
	ok(verdict(&p, AW_WRITE, "/c") == AW_DENY, "a later default overrides");
	ok(strcmp(p.runner, "bwrap") == 0, "a later scalar overrides");
	ok(p.mode == AW_ENFORCE && p.mode_set, "a mode in a file counts");
	ok(aw_image_mode(p.image) == AW_ENFORCE, "and is compiled in");
	aw_policy_release(&p);
}

static void the_system_cannot_be_loosened(void)
{
	static const struct text_layer layers[] = {
		{"system", AW_SYSTEM,
			"mode: enforce\nrunner: bwrap\nfilesystem: {deny: [/etc/shadow]}\n"
			"network: {deny: ['10.0.0.0/8']}"},
		{"global", AW_TRUSTED,
			"mode: audit\nrunner: exec\n"
			"filesystem: {deny: ['!/etc/shadow'], ask: [/etc]}"},
	};
	struct aw_policy p;

	ok(load(layers, 2, AW_AUDIT, &p) == 2, "trying to is worth a warning");
	ok(verdict(&p, AW_READ, "/etc/shadow") == AW_DENY,
		"'!' does not reach into it");
	ok(verdict(&p, AW_READ, "/etc/passwd") == AW_ASK, "others can be stricter");
	ok(p.mode == AW_ENFORCE, "its mode stays");
	ok(strcmp(p.runner, "bwrap") == 0, "its runner stays");
	aw_policy_release(&p);
}

static void an_untrusted_file_only_tightens(void)
{
	static const struct text_layer layers[] = {
		{"global", AW_TRUSTED,
			"filesystem: {default: read-only, write: [/repo], deny: [/s]}\n"
			"network: {default: deny, allow: ['*:443']}"},
		{"workspace", AW_UNTRUSTED,
			"mode: enforce\n"
			"filesystem: {deny: ['!/s', /repo/x], hide: [/s/h], write: [/]}\n"
			"network: {default: deny, allow: ['1.1.1.1', '2.2.2.2:80']}\n"
			"environment: {unset: ['*_KEY'], set: {A: b}}\n"
			"runner: exec\n"},
	};
	struct aw_address one = {.family = 2, .port = 443, .bytes = {1, 1, 1, 1}};
	struct aw_address two = {.family = 2, .port = 80, .bytes = {2, 2, 2, 2}};
	struct aw_decision d;
	struct aw_policy p;
	size_t warnings = load(layers, 2, AW_AUDIT, &p);

	ok(verdict(&p, AW_READ, "/s") == AW_DENY, "it cannot take a deny back");
	ok(verdict(&p, AW_READ, "/s/h") == AW_HIDE, "it can hide");
	ok(verdict(&p, AW_WRITE, "/etc/x") == AW_DENY, "its write list widens nothing");
	ok(verdict(&p, AW_WRITE, "/repo/y") == AW_ALLOW, "what it leaves alone stays");
	ok(verdict(&p, AW_WRITE, "/repo/x") == AW_DENY, "it can deny");
	aw_image_decide_address(p.image, AW_CONNECT, &one, &d);
	ok(d.verdict == AW_ALLOW, "an address that both admit is allowed");
	aw_image_decide_address(p.image, AW_CONNECT, &two, &d);
	ok(d.verdict == AW_DENY, "an address that it alone admits is not");
	ok(p.mode == AW_ENFORCE, "it can turn enforcing on");
	ok(!p.runner && p.environment.set_count == 1 &&
			strcmp(p.environment.set[0].name, "GIT_TEMPLATE_DIR") == 0,
		"it chooses no runner or value");
	ok(!aw_policy_keeps_variable(&p, "API_KEY"), "it can unset variables");
	ok(warnings == 3, "what is ignored is told (%zu)", warnings);
	aw_policy_release(&p);
}

static void enforcing_without_rules_protects(void)
{
	static const struct text_layer layers[] = {
		{"workspace", AW_UNTRUSTED, "filesystem: {default: allow}"},
		{"policy", AW_TRUSTED, "filesystem: {default: allow}"},
	};
	struct aw_policy p;
	struct aw_decision d;
	struct aw_rule rule;

	load(layers, 0, AW_ENFORCE, &p);
	ok(verdict(&p, AW_WRITE, "/repo/x") == AW_ALLOW, "the workspace is writable");
	aw_image_decide_path(p.image, AW_WRITE, "/repo/x", 7, &d);
	ok(aw_image_rule(p.image, d.rule, &rule) &&
			strcmp(rule.layer, "built-in") == 0 && rule.line > 0,
		"by a built-in rule");
	ok(verdict(&p, AW_WRITE, "/tmp/x") == AW_ALLOW,
		"the temporary folder is writable");
	ok(verdict(&p, AW_WRITE, "/dev/null") == AW_ALLOW, "/dev/null is writable");
	ok(verdict(&p, AW_WRITE, "/home/ann/x") == AW_DENY, "the home folder is not");
	ok(verdict(&p, AW_READ, "/home/ann/x") == AW_ALLOW, "but can be read");
	aw_policy_release(&p);
	load(layers, 1, AW_ENFORCE, &p);
	ok(verdict(&p, AW_WRITE, "/etc/x") == AW_DENY,
		"an untrusted file changes nothing");
	aw_policy_release(&p);
	load(layers, 2, AW_ENFORCE, &p);
	ok(verdict(&p, AW_WRITE, "/etc/x") == AW_ALLOW,
		"a trusted file's rules replace it");
	aw_policy_release(&p);
	load(layers, 0, AW_AUDIT, &p);
	ok(verdict(&p, AW_WRITE, "/etc/x") == AW_DENY, "audit judges by the same");
	ok(p.image && aw_image_mode(p.image) == AW_AUDIT, "and there is an image");
	aw_policy_release(&p);
}

static void variables_are_let_through(void)
{
	static const struct text_layer layer = {"policy", AW_TRUSTED,
		"environment: {inherit: [PATH, 'LC_*'], unset: [LC_ALL], "
		"set: {A: '$HOME/x', B: 'a\\$b', C: '~/y'}}"};
	struct aw_policy p;

	load(&layer, 1, AW_AUDIT, &p);
	ok(aw_policy_keeps_variable(&p, "PATH"), "a name that is listed");
	ok(aw_policy_keeps_variable(&p, "LC_TIME"), "a name that matches");
	ok(!aw_policy_keeps_variable(&p, "LC_ALL"), "not one that is unset");
	ok(!aw_policy_keeps_variable(&p, "HOME"), "not one that is not listed");
	ok(p.environment.set_count == 3 &&
			strcmp(p.environment.set[0].value, "/home/ann/x") == 0 &&
			strcmp(p.environment.set[1].value, "a$b") == 0 &&
			strcmp(p.environment.set[2].value, "/home/ann/y") == 0,
		"values are expanded");
	aw_policy_release(&p);
	load(&layer, 0, AW_AUDIT, &p);
	ok(aw_policy_keeps_variable(&p, "HOME"), "without a word all are");
	aw_policy_release(&p);
}

static void what_is_printed_can_be_loaded(void)
{
	static const struct text_layer layer = {"policy", AW_TRUSTED,
		"mode: enforce\nrunner: bwrap\n"
		"filesystem: {default: deny, read: [/usr, \"/a\\\"\\\\\\\\x\"], deny: "
		"['!/x']}\n"
		"exec: {ask: ['git push *']}\n"
		"network: {default: deny, listen: [], allow: ['[::1]:80']}\n"
		"environment: {inherit: [A], unset: ['B*'], set: {C: \"d\\ne\"}}"};
	struct text_layer again = {"policy", AW_TRUSTED, NULL};
	char *first = NULL, *second = NULL;
	struct aw_policy p;
	size_t size;
	FILE *out;

	load(&layer, 1, AW_AUDIT, &p);
	out = open_memstream(&first, &size);
	aw_policy_print(&p, out);
	fclose(out);
	aw_policy_release(&p);
	ok(strstr(first, "- \"/usr\"  # /tmp/aw-policy-") != NULL,
		"an entry carries its origin");
	ok(strstr(first, "runner: bwrap  # /tmp/aw-policy-") != NULL,
		"a word carries its origin");
	again.text = strchr(first, '\n') + 1;
	load(&again, 1, AW_AUDIT, &p);
	out = open_memstream(&second, &size);
	aw_policy_print(&p, out);
	fclose(out);
	ok(verdict(&p, AW_READ, "/a\"\\x") == AW_ALLOW, "the printed policy loads");
	ok(strstr(second, "\"C\": \"d\\u000ae\"") != NULL, "and says the same");
	aw_policy_release(&p);
	free(first);
	free(second);
}

static void all_files_are_reported(void)
{
	static const struct text_layer layers[] = {
		{"global", AW_TRUSTED, "oops: 1"},
		{"policy", AW_TRUSTED, "mode: x"},
	};
	struct aw_policy_source missing = {"/no/such/file", "policy", AW_TRUSTED};
	struct aw_policy_source folder = {"/tmp", "workspace", AW_UNTRUSTED};
	struct aw_diagnostics d;
	struct aw_policy p = {.image_size = 7};

	ok(load_layers(layers, 2, AW_AUDIT, &p, &d) < 0 && d.errors == 2,
		"the mistakes of two files come together");
	ok(p.image_size == 7, "and the policy is left alone");
	aw_diagnostics_free(&d);
	ok(aw_policy_load(&missing, 1, &some_variables, AW_AUDIT, false, &p, &d) < 0 &&
			d.errors == 1,
		"a file that is not there is a mistake");
	aw_diagnostics_free(&d);
	ok(aw_policy_load(&folder, 1, &some_variables, AW_AUDIT, false, &p, &d) < 0 &&
			d.errors == 1,
		"a folder is no policy");
	aw_diagnostics_free(&d);
}

static void flags_win(void)
{
	static const char name[] = "/dev/null";
	struct aw_policy_source none = {name, "policy", AW_TRUSTED};
	struct aw_diagnostics d;
	struct aw_policy p;

	ok(aw_policy_load(&none, 0, &some_variables, AW_ENFORCE, true, &p, &d) == 0 &&
			p.mode == AW_ENFORCE && !p.mode_set,
		"a mode that is forced is final");
	aw_diagnostics_free(&d);
	aw_policy_release(&p);
}

int main(void)
{
	trusted_layers_are_appended();
	the_system_cannot_be_loosened();
	an_untrusted_file_only_tightens();
	enforcing_without_rules_protects();
	variables_are_let_through();
	what_is_printed_can_be_loaded();
	all_files_are_reported();
	flags_win();
	return done();
}
