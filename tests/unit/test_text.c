/* SPDX-License-Identifier: Apache-2.0 */
/* test_text.c - paths and patterns as texts. */
#include "policy/glob.h"
#include "policy/path.h"
#include "policy/verdict.h"

#include <string.h>
#include <time.h>

#include "tests/unit/tap.h"

static void paths_are_joined_and_cleaned(void)
{
	static const struct {
		const char *base, *path, *want;
	} cases[] = {
		{"/a", "b", "/a/b"},
		{"/a", "/b", "/b"},
		{"/a", "", "/a"},
		{"/a/", ".", "/a"},
		{"/a//b/", "./c//d/", "/a/b/c/d"},
		{"/a/b", "..", "/a"},
		{"/a/b", "../../../c", "/c"},
		{"/", "..", "/"},
		{"/", "", "/"},
		{"", "/x/..", "/"},
		{"/a", "...", "/a/..."},
		{"/a", "..b", "/a/..b"},
		{"/a", ".b/../c", "/a/c"},
		{"relative", "/x", "/x"},
		{"relative", "x", ""},
		{"", "x", ""},
		{"/a", "\xff\x01", "/a/\xff\x01"},
	};
	char out[64];
	size_t i, len;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		out[0] = '\0';
		len = aw_path_join(cases[i].base, strlen(cases[i].base), cases[i].path,
			strlen(cases[i].path), out, sizeof(out));
		ok(len == strlen(cases[i].want) && strcmp(out, cases[i].want) == 0,
			"'%s' and '%s' make '%s' (%s)", cases[i].base, cases[i].path,
			cases[i].want, out);
	}
}

static void a_path_that_does_not_fit_is_refused(void)
{
	char out[6];

	ok(aw_path_join("/ab", 3, "cd", 2, out, 6) == 0,
		"six bytes do not hold /ab/cd");
	ok(aw_path_join("/ab", 3, "c", 1, out, 6) == 5, "six bytes hold /ab/c");
	ok(aw_path_join("/", 1, "", 0, out, 2) == 1, "two bytes hold /");
	ok(aw_path_join("/", 1, "", 0, out, 1) == 0, "one byte holds no path");
	ok(aw_path_join("/", 1, "", 0, out, 0) == 0, "no bytes hold no path");
}

static void globs_match_one_component(void)
{
	static const struct {
		const char *pattern, *text;
		bool want;
	} cases[] = {
		{"", "", true},
		{"", "a", false},
		{"a", "a", true},
		{"a", "b", false},
		{"*", "", true},
		{"*", "abc", true},
		{"a*", "a", true},
		{"a*", "ba", false},
		{"*c", "abc", true},
		{"a*c", "abdc", true},
		{"a*c", "abd", false},
		{"*.tar.*", "x.tar.gz", true},
		{"**", "x", true},
		{"?", "", false},
		{"?", "x", true},
		{"a?c", "abc", true},
		{"a?c", "ac", false},
		{"[abc]", "b", true},
		{"[abc]", "d", false},
		{"[a-c]x", "bx", true},
		{"[!a-c]", "d", true},
		{"[!a-c]", "b", false},
		{"[^a]", "b", true},
		{"[]]", "]", true},
		{"[!]]", "]", false},
		{"[a-]", "-", true},
		{"[\\]]", "]", true},
		{"[a\\-c]", "b", false},
		{"[a\\-c]", "-", true},
		{"[", "[", true},
		{"[a", "[a", true},
		{"\\*", "*", true},
		{"\\*", "x", false},
		{"\\", "\\", true},
		{"a\\b", "ab", true},
		{"[\x80-\xff]", "\xc3", true},
		{"*[0-9]", "v12", true},
		{".env*", ".env.local", true},
		{".env*", "x.env", false},
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		ok(aw_glob_match(cases[i].pattern, strlen(cases[i].pattern),
			   cases[i].text, strlen(cases[i].text)) == cases[i].want,
			"'%s' %s '%s'", cases[i].pattern,
			cases[i].want ? "matches" : "does not match", cases[i].text);
}

static void patterns_cover_folders(void)
{
	static const struct {
		const char *pattern, *path;
		bool want;
	} cases[] = {
		{"/", "/", true},
		{"/", "/a/b", true},
		{"/a", "/a", true},
		{"/a", "/a/b/c", true},
		{"/a", "/ab", false},
		{"/a/b", "/a", false},
		{"/a/*", "/a", false},
		{"/a/*", "/a/b", true},
		{"/*/b", "/a/b/c", true},
		{"/**/b", "/b", true},
		{"/**/b", "/a/a/b/c", true},
		{"/**/b", "/a", false},
		{"/a/**/b/c", "/a/b/x/b/c", true},
		{"/a/**/b/c", "/a/b/x/c", false},
		{"/**/a/**/b", "/x/a/y/b", true},
		{"/**/a/**/b", "/x/b/y/a", false},
		{"/**/a*/b", "/a1/a2/b", true},
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		ok(aw_glob_covers(cases[i].pattern, strlen(cases[i].pattern),
			   cases[i].path, strlen(cases[i].path)) == cases[i].want,
			"%s %s %s", cases[i].pattern,
			cases[i].want ? "covers" : "does not cover", cases[i].path);
}

static void no_pattern_takes_forever(void)
{
	char pattern[201], text[4001];
	clock_t start = clock();
	size_t i;

	for (i = 0; i < 200; i += 2) {
		pattern[i] = '*';
		pattern[i + 1] = 'a';
	}
	pattern[199] = 'b';
	memset(text, 'a', 4000);
	ok(!aw_glob_match(pattern, 200, text, 4000), "a hundred stars do not match");
	ok(clock() - start < CLOCKS_PER_SEC, "and that is known at once");
}

static void names_are_those_of_the_log(void)
{
	ok(strcmp(aw_verdict_name(AW_HIDE), "hide") == 0, "a verdict has a name");
	ok(strcmp(aw_verdict_name((enum aw_verdict)9), "?") == 0,
		"an unknown one is '?'");
	ok(strcmp(aw_action_name(AW_METADATA), "read") == 0,
		"metadata is logged as read");
	ok(strcmp(aw_action_name(AW_BIND), "bind") == 0, "an action has a name");
	ok(strcmp(aw_action_name(AW_ACTIONS), "?") == 0, "an unknown one is '?'");
}

int main(void)
{
	paths_are_joined_and_cleaned();
	a_path_that_does_not_fit_is_refused();
	globs_match_one_component();
	patterns_cover_folders();
	no_pattern_takes_forever();
	names_are_those_of_the_log();
	return done();
}
