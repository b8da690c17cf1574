/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_broken.c - every broken policy gets exactly the messages that stand beside it.
 *
 * tests/golden/errors/NAME.yaml is loaded as trusted, untrusted-NAME.yaml as untrusted,
 * system-NAME.yaml as the system's with over/system-NAME.yaml on top.  The output of
 * aw_diagnostics_print() must be NAME.txt, which AW_GOLDEN=write writes.  Run from the
 * root of the source tree.
 */
#include <dirent.h>

#include "tests/unit/policy_text.h"

static char *read_all(const char *name)
{
	FILE *in = fopen(name, "r");
	char *text = calloc(1, 65536);

	if (in && text && fread(text, 1, 65535, in) == 0)
		text[0] = '\0';
	if (in)
		fclose(in);
	return text;
}

static void check(const char *name)
{
	char over[300];
	struct aw_policy_source sources[] = {
		{name, "policy", AW_TRUSTED}, {over, "policy", AW_TRUSTED}};
	bool system = strncmp(name, "system-", 7) == 0;
	struct aw_diagnostics diagnostics;
	struct aw_policy_variables variables = some_variables;
	struct aw_policy policy;
	char expected_name[300], *expected, *got = NULL;
	size_t size, errors;
	const char *golden = getenv("AW_GOLDEN");
	bool writes = golden && strcmp(golden, "write") == 0;
	FILE *out;

	if (strncmp(name, "untrusted-", 10) == 0)
		sources[0].trust = AW_UNTRUSTED;
	if (system)
		sources[0].trust = AW_SYSTEM;
	snprintf(over, sizeof(over), "over/%s", name);
	variables.presets = "../../../data/presets";
	if (aw_policy_load(sources, system ? 2 : 1, &variables, AW_AUDIT, false,
		    &policy, &diagnostics) == 0)
		aw_policy_release(&policy);
	out = open_memstream(&got, &size);
	if (!out)
		abort();
	aw_diagnostics_print(&diagnostics, out);
	fclose(out);
	errors = diagnostics.errors;
	aw_diagnostics_free(&diagnostics);

	snprintf(expected_name, sizeof(expected_name), "%.*s.txt",
		(int)strlen(name) - 5, name);
	if (writes && (out = fopen(expected_name, "w"))) {
		fputs(got, out);
		fclose(out);
	}
	expected = read_all(expected_name);
	if (!ok(strcmp(got, expected) == 0, "%s is answered as expected (%zu mistakes)",
		    name, errors))
		note("got:\n%s", got);
	free(expected);
	free(got);
}

static int is_policy(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return len > 5 && strcmp(entry->d_name + len - 5, ".yaml") == 0;
}

int main(void)
{
	struct dirent **names;
	int count, i;

	if (chdir("tests/golden/errors") < 0 ||
		(count = scandir(".", &names, is_policy, alphasort)) < 0) {
		ok(false, "broken policies are where they should be");
		return done();
	}
	unsetenv("AW_TEST_NONE");
	for (i = 0; i < count; i++) {
		check(names[i]->d_name);
		free(names[i]);
	}
	free(names);
	ok(count >= 100, "there are %d broken policies", count);
	return done();
}
