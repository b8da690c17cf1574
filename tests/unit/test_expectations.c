/* SPDX-License-Identifier: Apache-2.0 */
/* test_expectations.c - what a loaded policy remembers of its files. */
#include "policy/image/rules.h"
#include "tests/unit/policy_text.h"

static void load(
	const struct text_layer *layers, size_t count, struct aw_policy *policy)
{
	struct aw_diagnostics diagnostics;

	if (load_layers(layers, count, AW_AUDIT, policy, &diagnostics) < 0) {
		aw_diagnostics_print(&diagnostics, stderr);
		abort();
	}
	aw_diagnostics_free(&diagnostics);
}

static bool is(const struct aw_expectation *e, enum aw_action action, const char *asked,
	enum aw_verdict expect, unsigned line)
{
	return e->action == action && strcmp(e->asked, asked) == 0 &&
	       e->expect == expect && e->line == line;
}

static void tests_of_all_files(void)
{
	static const struct text_layer layers[] = {
		{"global", AW_TRUSTED,
			"tests:\n"
			"- {read: $WORKSPACE/x, expect: deny}\n"
			"- {exec: ~/bin/x $USER, expect: ask, agent: claude, name: n}\n"
			"- {connect: 'unix:~/s', expect: allow, mode: enforce}"},
		{"workspace", AW_UNTRUSTED,
			"tests: [{listen: 80, expect: hide}, {delete: '/a b', expect: allow}]"},
	};
	struct aw_policy p;
	const struct aw_expectation *t;

	load(layers, 2, &p);
	t = p.tests;
	if (!ok(p.test_count == 5, "tests of all files are there, %zu", p.test_count))
		return;
	ok(is(&t[0], AW_READ, "/repo/x", AW_DENY, 3), "variables are expanded");
	ok(strcmp(t[0].text, "$WORKSPACE/x") == 0 && strcmp(t[0].word, "read") == 0,
		"and kept as written");
	ok(!t[0].agent && !t[0].name && !t[0].mode_set,
		"what is not said is not there");
	ok(is(&t[1], AW_EXEC, "/home/ann/bin/x ann", AW_ASK, 4) &&
			strcmp(t[1].agent, "claude") == 0 &&
			strcmp(t[1].name, "n") == 0,
		"programs, agents and names");
	ok(is(&t[2], AW_CONNECT, "unix:/home/ann/s", AW_ALLOW, 5) && t[2].mode_set &&
			t[2].mode == AW_ENFORCE,
		"sockets and modes");
	ok(is(&t[3], AW_BIND, "80", AW_HIDE, 2) && strcmp(t[3].file, t[0].file) != 0,
		"a file that is not trusted has its own");
	ok(is(&t[4], AW_DELETE, "/a b", AW_ALLOW, 2), "a path may have a blank");
	aw_policy_release(&p);
}

/* A file in a folder, until the end of the test. */
static void put_file(const char *folder, const char *name, const char *text, char *path)
{
	FILE *out;

	sprintf(path, "%s/%s", folder, name);
	out = fopen(path, "w");
	if (!out || fputs(text, out) < 0 || fclose(out) != 0)
		abort();
}

static void tests_of_presets(void)
{
	struct aw_policy_variables variables = some_variables;
	char folder[] = "/tmp/aw-presets-XXXXXX", preset[64], file[64];
	struct aw_policy_source source = {file, "policy", AW_TRUSTED};
	struct aw_diagnostics diagnostics;
	struct aw_policy p;
	int failed;

	if (!mkdtemp(folder))
		abort();
	unsetenv("AW_TEST_UNSET");
	put_file(folder, "some.yaml",
		"version: 1\ntests:\n- {read: '$env:AW_TEST_UNSET', expect: deny}\n"
		"- {read: /x, expect: deny}\n",
		preset);
	put_file(folder, "file",
		"version: 1\npreset: [some]\ntests: [{read: /y, expect: allow}]\n",
		file);
	variables.presets = folder;
	failed = aw_policy_load(
		&source, 1, &variables, AW_AUDIT, false, &p, &diagnostics);
	if (ok(!failed && p.test_count == 2,
		    "a preset's tests count, but those about what is not set")) {
		ok(is(&p.tests[0], AW_READ, "/x", AW_DENY, 4) &&
				strcmp(p.tests[0].file, preset) == 0,
			"with their place");
		ok(is(&p.tests[1], AW_READ, "/y", AW_ALLOW, 3), "and the file's own");
		aw_policy_release(&p);
	}
	aw_diagnostics_free(&diagnostics);
	unlink(preset);
	unlink(file);
	rmdir(folder);
}

static void places_of_entries(void)
{
	static const struct text_layer layer = {"policy", AW_TRUSTED,
		"filesystem:\n"
		"  deny: [/a, '~/b', /c,\n"
		"    /home/ann/b, '!/a/x']\n"
		"exec: {deny: [sudo, sudo]}"};
	struct aw_policy p;
	struct aw_rule rule;
	size_t doubles = 0, good = 0;

	load(&layer, 1, &p);
	for (size_t i = 0; i < p.place_count; i++) {
		const struct aw_entry_place *place = &p.places[i];
		bool there = aw_image_rule(p.image, place->rule, &rule);

		if (place->doubled) {
			doubles++;
			good += there &&
				((place->line == 3 && place->column == 14 &&
					 strcmp(place->doubled, "~/b") == 0 &&
					 rule.line == 4) ||
					(place->line == 5 && place->column == 15 &&
						rule.line == 5));
		} else if (there && strcmp(rule.layer, "policy") == 0) {
			good += rule.line == place->line && place->column > 1;
		}
	}
	ok(doubles == 2, "doubles are known, also by other words");
	ok(good == 2 + 5, "every entry has its line and column, %zu", good);
	aw_policy_release(&p);
}

static void places_of_values(void)
{
	static const struct text_layer layers[] = {
		{"global", AW_TRUSTED, "filesystem: {default: deny}\nrunner: exec"},
		{"policy", AW_TRUSTED, "\n\nfilesystem: {default: read-only}"},
	};
	struct aw_given given;
	struct aw_policy p;

	load(layers, 2, &p);
	ok(aw_policy_given(&p, "filesystem.default", 0, &given) && given.line == 4 &&
			strcmp(given.value, "read-only") == 0 &&
			strcmp(given.layer, "policy") == 0 && given.file[0] == '/',
		"the last place that gave a default");
	ok(aw_policy_given(&p, "filesystem.default", 1, &given) && given.line == 2 &&
			strcmp(given.value, "deny") == 0,
		"and the one before");
	ok(!aw_policy_given(&p, "filesystem.default", 2, &given) &&
			!aw_policy_given(&p, "exec.default", 0, &given) &&
			!aw_policy_given(&p, "filesystem", 0, &given),
		"and no others");
	aw_policy_release(&p);
}

int main(void)
{
	tests_of_all_files();
	tests_of_presets();
	places_of_entries();
	places_of_values();
	return done();
}
