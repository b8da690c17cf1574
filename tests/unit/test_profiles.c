/* SPDX-License-Identifier: Apache-2.0 */
/* test_profiles.c - what the texts of profiles mean. */
#include <stdlib.h>

#include "policy/image/profile.h"
#include "tests/unit/policy_judge.h"

static uint32_t entered(const struct aw_policy *p, const char *path, ...)
{
	const char *argv[8];
	size_t argc = 0;
	va_list args;

	va_start(args, path);
	argv[argc++] = path;
	while (argc < 8 && (argv[argc] = va_arg(args, const char *)))
		argc++;
	va_end(args);
	return aw_image_entered(p->image, path, strlen(path), argv, argc);
}

static void programs_and_servers_enter(void)
{
	struct aw_policy p;

	load_text("profiles:\n"
		  "  a: {when: {exec: 'node *server*'}, network: {default: deny}}\n"
		  "  b: {when: {exec: [/opt/tools, '!/opt/tools/x', sudo]}}\n"
		  "  c: {when: {mcp: ['doc*', '!docs-own']}}\n",
		AW_AUDIT, &p);
	ok(aw_image_profiles(p.image) == 3 && p.profile_count == 3, "three profiles");
	ok(entered(&p, "/usr/bin/node", "/x/server.js", "y", NULL) == 1,
		"a program with arguments enters");
	ok(!entered(&p, "/usr/bin/node", "/x/other.js", NULL) &&
			!entered(&p, "/usr/bin/node", NULL),
		"with others it does not");
	ok(entered(&p, "/opt/tools/y", NULL) == 2 &&
			entered(&p, "/bin/sudo", NULL) == 2,
		"a folder and a name do");
	ok(!entered(&p, "/opt/tools/x", NULL), "but for what '!' takes out");
	ok(aw_image_entered_by_mcp(p.image, "docs") == 4 &&
			!aw_image_entered_by_mcp(p.image, "docs-own") &&
			!aw_image_entered_by_mcp(p.image, "other"),
		"a server by its name");
	ok(aw_image_profile_set(p.image, "b") == 2 &&
			!aw_image_profile_set(p.image, "x"),
		"a profile is found by its name");
	ok(!aw_image_profiles_refuse_reads(p.image), "none of them refuses to read");
	aw_policy_release(&p);
}

static enum aw_verdict reading(
	const struct aw_policy *p, uint32_t set, const char *path)
{
	struct aw_decision d;

	aw_image_decide_path_in(p->image, set, AW_READ, path, strlen(path), &d);
	return d.verdict;
}

static void files_do_not_loosen_each_other(void)
{
	static const struct text_layer layers[] = {
		{"system", AW_SYSTEM,
			"profiles: {a: {when: {exec: x}, filesystem: {deny: [/s]}}}"},
		{"global", AW_TRUSTED,
			"filesystem: {default: allow, deny: [/g]}\n"
			"profiles: {a: {when: {exec: x}, filesystem: {deny: [/t, /u]}}}"},
		{"policy", AW_TRUSTED,
			"profiles: {a: {when: {exec: y}, filesystem: "
			"{deny: ['!/u', '!/s', '!/g']}}}"},
		{"workspace", AW_UNTRUSTED,
			"profiles: {a: {when: {exec: x}, filesystem: {deny: [/w, '!/t']}}}"},
	};
	struct aw_policy p;
	uint32_t all, y;

	load(layers, 4, AW_AUDIT, &p);
	all = entered(&p, "/bin/x", NULL);
	y = entered(&p, "/bin/y", NULL);
	ok(p.profile_count == 3 && aw_image_profile_set(p.image, "a") == 7,
		"one name in three kinds of files is three profiles");
	ok(all == 7 && y == 2, "each is entered by what its own files say");
	ok(reading(&p, all, "/s") == AW_DENY, "the system's cannot be loosened");
	ok(reading(&p, all, "/t") == AW_DENY && reading(&p, all, "/w") == AW_DENY,
		"a file that is not trusted adds and takes nothing away");
	ok(reading(&p, y, "/u") == AW_ALLOW, "trusted files are one, the last decides");
	ok(reading(&p, y, "/g") == AW_DENY, "and none reaches into what holds for all");
	ok(reading(&p, 0, "/t") == AW_ALLOW, "outside of it nothing of it holds");
	ok(aw_image_profiles_refuse_reads(p.image), "some of them refuse to read");
	aw_policy_release(&p);
}

/* Sections inside a profile are no rules of the file's own. */
static void the_rest_stays_as_it_is(void)
{
	static const char text[] =
		"profiles: {a: {when: {exec: x}, filesystem: {default: deny}}}";
	struct aw_policy with, without;

	load_text(text, AW_ENFORCE, &with);
	load_text(NULL, AW_ENFORCE, &without);
	ok(reading(&with, 0, "/etc/hosts") == AW_ALLOW &&
			judge(&with, AW_WRITE, "/etc/hosts").verdict ==
				judge(&without, AW_WRITE, "/etc/hosts").verdict,
		"without other rules the built-in ones hold");
	ok(reading(&with, 1, "/etc/hosts") == AW_DENY,
		"a profile's default is its own");
	ok(reading(&with, 1, "/dev/null") == AW_ALLOW, "devices stay");
	ok(reading(&with, 1, "/home/ann/.ssh/id") == AW_DENY, "protections, too");
	aw_policy_release(&with);
	aw_policy_release(&without);
}

static void numbers_are_kept(void)
{
	struct aw_policy_variables variables = some_variables;
	struct aw_diagnostics found;
	struct aw_policy before, after;
	char file[] = "/tmp/aw-policy-XXXXXX";
	const struct aw_policy_source source = {file, "policy", AW_TRUSTED};
	int fd = mkstemp(file);

	if (fd < 0 || dprintf(fd, "version: 1\nprofiles: {c: {when: {exec: z}}, "
				  "b: {when: {exec: y}}}\n") < 0)
		abort();
	close(fd);
	load_text("profiles: {a: {when: {exec: x}}, b: {when: {exec: y}, network: "
		  "{default: deny}}}",
		AW_AUDIT, &before);
	variables.before = &before;
	if (aw_policy_load(&source, 1, &variables, AW_AUDIT, false, &after, &found) < 0)
		abort();
	aw_diagnostics_free(&found);
	ok(aw_image_profile_set(after.image, "b") == 2 &&
			aw_image_profile_set(after.image, "c") == 4,
		"a profile keeps its number over a reload, a new one gets another");
	ok(!entered(&after, "/bin/x", NULL), "nothing enters one that is gone");
	unlink(file);
	aw_policy_release(&before);
	aw_policy_release(&after);
}

/* The numbers stay, the rules go; the system's are not a layer that goes. */
static void a_replace_drops_those_below(void)
{
	static const struct text_layer layers[] = {
		{"system", AW_SYSTEM,
			"profiles: {a: {when: {exec: x}, filesystem: {deny: [/s]}}}"},
		{"global", AW_TRUSTED,
			"profiles: {b: {when: {exec: x}, filesystem: {default: deny, "
			"read: [/s, /t]}}}"},
		{"policy", AW_TRUSTED,
			"merge: replace\nprofiles: {c: {when: {exec: x}, filesystem: {deny: "
			"[/t]}}}\nagents: {other: {profiles: {c: {exec: {deny: [y]}}}}}"},
	};
	struct aw_policy p;
	uint32_t all;

	load(layers, 2, AW_AUDIT, &p);
	ok(reading(&p, entered(&p, "/bin/x", NULL), "/u") == AW_DENY,
		"two files, two profiles");
	aw_policy_release(&p);
	load(layers, 3, AW_AUDIT, &p);
	all = entered(&p, "/bin/x", NULL);
	ok(all == 5 && reading(&p, 7, "/u") == AW_ALLOW,
		"'merge: replace' drops the profiles of the files below");
	ok(reading(&p, all, "/s") == AW_DENY, "the system policy's stays");
	ok(reading(&p, all, "/t") == AW_DENY, "what comes with it holds");
	aw_policy_release(&p);
}

/* Judged by its keys, whoever asks; and a folder is not moved out of a profile's rule. */
static void changes_are_judged_in_a_profile(void)
{
	struct aw_policy p;
	struct aw_decision d;
	uint32_t rule;

	load_text("filesystem: {default: allow}\nprofiles: {a: {when: {exec: x}, "
		  "filesystem: {deny_write: [/d/x/y]}}}",
		AW_ENFORCE, &p);
	ok(aw_image_keyed(p.image, "/r/.git/config", 14, &rule),
		"git's keys are known");
	aw_image_decide_in_place_in(p.image, 1, AW_WRITE, "/r/.git/config", 14, &d);
	ok(d.verdict == AW_DENY, "what is judged by its keys is so in a profile");
	aw_image_decide_in_place_in(p.image, 1, AW_WRITE, "/d/x/y", 6, &d);
	ok(d.verdict == AW_DENY, "the profile's rule holds beside it");
	aw_image_decide_in_place_in(p.image, 0, AW_WRITE, "/d/x/y", 6, &d);
	ok(d.verdict == AW_ALLOW, "in it alone");
	ok(aw_image_carries(p.image, 1, "/d/x", 4, "/d/z", 4, &d) &&
			d.verdict == AW_DENY &&
			!aw_image_carries(p.image, 0, "/d/x", 4, "/d/z", 4, &d),
		"a folder is not moved away with a rule of its");
	aw_policy_release(&p);
}

static void mistakes_are_reported(void)
{
	static const struct {
		const char *text, *say;
	} cases[] = {
		{"profiles: [a]", "expected a map of profiles"},
		{"profiles: {'a b': {when: {exec: x}}}",
			"is not the name of a profile"},
		{"profiles: {a: {network: {default: deny}}}",
			"nothing enters profile 'a'"},
		{"profiles: {a: {when: {mcp: ['!x']}}}", "nothing enters profile 'a'"},
		{"profiles: {a: {when: {}}}", "'when' says nothing"},
		{"profiles: {a: {when: {exe: x}}}", "did you mean 'exec'?"},
		{"profiles: {a: {when: {mcp: '[x'}}}", "never closed"},
		{"profiles: {a: {when: {exec: x}, environment: {}}}",
			"'profiles.a.environment' is not available"},
		{"profiles: {a: {when: {exec: x}, limits: {}}}",
			"'profiles.a.limits' is not available"},
		{"profiles: {a: {when: {exec: x}, runner: exec}}",
			"unknown key 'runner' in 'profiles.a'"},
		{"profiles: {a: {when: {exec: x}, filesystem: {expose: []}}}",
			"'expose' has no place in a profile"},
		{"profiles: {a: {when: {exec: x}}, a: {when: {exec: y}}}",
			"a second time"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct text_layer layer = {"policy", AW_TRUSTED, cases[i].text};
		struct aw_diagnostics found;
		struct aw_policy p;
		int failed = load_layers(&layer, 1, AW_AUDIT, &p, &found);

		ok(failed && found.count && strstr(found.items[0].text, cases[i].say),
			"refused: %s (%s)", cases[i].text,
			found.count ? found.items[0].text : "");
		aw_diagnostics_free(&found);
		if (!failed)
			aw_policy_release(&p);
	}
}

static void too_many_are_refused(void)
{
	const struct text_layer layer = {"policy", AW_TRUSTED, NULL};
	struct text_layer many = layer;
	char text[4096] = "profiles:\n";
	struct aw_diagnostics found;
	struct aw_policy p;
	unsigned i;

	for (i = 0; i < AW_PROFILES; i++)
		snprintf(text + strlen(text), 64, "  p%u: {when: {exec: x%u}}\n", i, i);
	many.text = text;
	ok(load_layers(&many, 1, AW_AUDIT, &p, &found) == 0 &&
			entered(&p, "/bin/x23", NULL) == 1u << 23,
		"%d profiles are fine", AW_PROFILES);
	aw_diagnostics_free(&found);
	aw_policy_release(&p);
	strcat(text, "  more: {when: {exec: x}}\n");
	ok(load_layers(&many, 1, AW_AUDIT, &p, &found) < 0 &&
			strstr(found.items[0].text, "more than 24 profiles"),
		"one more is not");
	aw_diagnostics_free(&found);
}

static void a_print_can_be_read_again(void)
{
	char *text = NULL, *again = NULL;
	struct aw_policy p, q;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	load_text("profiles:\n  a: {when: {exec: 'node *x*', mcp: [a, '!b']}, network: "
		  "{default: deny, allow: ['h:1']}}\n",
		AW_AUDIT, &p);
	aw_policy_print(&p, out);
	fclose(out);
	load_text(strchr(text, '\n') + 1, AW_AUDIT, &q);
	out = open_memstream(&again, &size);
	aw_policy_print(&q, out);
	fclose(out);
	ok(strstr(text,
		   "profiles:\n  a:\n    when:\n      exec:\n        - \"node *x*\"") !=
			NULL,
		"a profile is printed as it is written");
	ok(strstr(again, "        - \"!b\"") && strstr(again, "default: deny"),
		"and read again");
	free(text);
	free(again);
	aw_policy_release(&p);
	aw_policy_release(&q);
}

int main(void)
{
	forget_environment();
	programs_and_servers_enter();
	files_do_not_loosen_each_other();
	the_rest_stays_as_it_is();
	numbers_are_kept();
	a_replace_drops_those_below();
	changes_are_judged_in_a_profile();
	mistakes_are_reported();
	too_many_are_refused();
	a_print_can_be_read_again();
	return done();
}
