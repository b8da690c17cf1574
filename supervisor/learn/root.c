/* SPDX-License-Identifier: Apache-2.0 */
/* root.c - directories that are known to belong together, and those that never do. */
#include "supervisor/learn/root.h"

#include <string.h>

#include "policy/array.h"
#include "policy/glob.h"

enum { READS = 1, WRITES = 2, EXECS = 4, ALL = READS | WRITES | EXECS };

/* Patterns of the parts below an anchor; "" is the anchor itself. */
static const struct {
	const char *anchor, *pattern;
	unsigned for_what;
} roots[] = {
	/* the system: what is installed may be read as a whole */
	{"", "usr", READS},
	{"", "lib*", READS},
	{"", "bin", READS},
	{"", "sbin", READS},
	{"", "opt/*", READS},
	{"", "etc/ssl", READS},
	{"", "etc/pki", READS},
	{"", "etc/ca-certificates", READS},
	{"", "etc/alternatives", READS},
	{"", "etc/fonts", READS},
	{"", "etc/ld.so.conf.d", READS},
	{"", "etc/zsh", READS},
	{"", "etc/bash_completion.d", READS},
	{"", "sys/*", READS},
	{"", "proc/sys", READS},
	{"", "usr/lib/git-core", EXECS},
	{"", "usr/libexec/git-core", EXECS},
	{"", "usr/lib/gcc", EXECS},
	{"", "usr/libexec/gcc", EXECS},
	/* what belongs to the work */
	{"$WORKSPACE", "", READS},
	{"$WORKSPACE", ".git", WRITES},
	{"$WORKSPACE", "target", ALL},
	{"$WORKSPACE", "build", ALL},
	{"$WORKSPACE", "dist", ALL},
	{"$WORKSPACE", "out", ALL},
	{"$WORKSPACE", ".venv", ALL},
	{"$WORKSPACE", "venv", ALL},
	{"$WORKSPACE", ".tox", ALL},
	{"$WORKSPACE", ".next", WRITES},
	{"$WORKSPACE", ".gradle", WRITES},
	{"$WORKSPACE", "coverage", WRITES},
	{"$WORKSPACE", ".pytest_cache", WRITES},
	{"$WORKSPACE", ".mypy_cache", WRITES},
	{"$WORKSPACE", ".ruff_cache", WRITES},
	/* caches and tools in the home directory, each by its name */
	{"$HOME", ".cache/*", ALL},
	{"$HOME", ".npm", ALL},
	{"$HOME", ".local/share/*", ALL},
	{"$HOME", ".local/state/*", ALL},
	{"$HOME", ".local/lib", READS},
	{"$HOME", ".local/bin", READS},
	{"$HOME", ".nvm", READS},
	{"$HOME", ".pyenv", READS},
	{"$HOME", ".rbenv", READS},
	{"$HOME", ".rustup", READS},
	{"$HOME", ".cargo", READS},
	{"$HOME", ".cargo/registry", WRITES},
	{"$HOME", ".cargo/git", WRITES},
	{"$HOME", ".deno", READS},
	{"$HOME", ".bun", READS},
	{"$HOME", ".volta", READS},
	{"$HOME", ".sdkman", READS},
	{"$HOME", ".gradle", ALL},
	{"$HOME", ".m2/repository", ALL},
	{"$HOME", "go/pkg", ALL},
};

/* Names that mean the same wherever they stand; those of them that programs make anew
 * in every directory stand for each other. */
static const struct {
	const char *name;
	unsigned for_what;
	bool anywhere;
} names[] = {
	{"node_modules", ALL, false},
	{"site-packages", READS, false},
	{"dist-packages", READS, false},
	{"__pycache__", WRITES, true},
};

static const struct {
	const char *anchor, *pattern;
	unsigned for_what;
} wide[] = {
	{"", "", ALL},
	{"", "home", ALL},
	{"", "home/*", ALL},
	{"", "Users", ALL},
	{"", "Users/*", ALL},
	{"", "root", ALL},
	{"", "etc", WRITES},
	{"", "usr", ALL},
	{"", "usr/lib", EXECS},
	{"", "usr/bin", EXECS},
	{"", "usr/sbin", EXECS},
	{"", "usr/local/bin", EXECS},
	{"", "bin", EXECS},
	{"", "sbin", EXECS},
	{"", "usr/local", WRITES | EXECS},
	{"", "lib*", WRITES},
	{"", "var", ALL},
	{"", "var/*", ALL},
	{"", "run", ALL},
	{"", "run/*", ALL},
	{"", "opt", ALL},
	{"", "srv", ALL},
	{"", "mnt", ALL},
	{"", "media", ALL},
	{"", "dev", ALL},
	{"", "proc", ALL},
	{"", "proc/*", ALL},
	{"", "sys", ALL},
	{"", "sys/*", WRITES},
	{"", "boot", ALL},
	{"", "tmp", READS | EXECS},
	{"", "var/tmp", READS | EXECS},
	{"$TMPDIR", "", READS | EXECS},
	{"$HOME", "", ALL},
	{"$HOME", ".config", ALL},
	{"$HOME", ".cache", ALL},
	{"$HOME", ".local", ALL},
	{"$HOME", ".local/share", ALL},
	{"$HOME", ".local/state", ALL},
	{"$HOME", ".local/bin", WRITES},
	{"$HOME", "Documents", ALL},
	{"$HOME", "Desktop", ALL},
	{"$HOME", "Downloads", ALL},
	{"$HOME", "src", ALL},
	{"$HOME", "go", ALL},
	{"$AGENTWATCH_DIR", "", ALL},
};

static const struct {
	const char *anchor, *pattern;
} temporary[] = {{"$TMPDIR", ""}, {"", "tmp"}, {"", "var/tmp"}, {"", "dev/shm"},
	{"", "run/user/*"}};

static unsigned bit(enum aw_access access)
{
	return access == AW_GRANT_READ	  ? READS
	       : access == AW_GRANT_WRITE ? WRITES
					  : EXECS;
}

static int parts_of(const char *text)
{
	int parts = *text != '\0';

	for (; *text; text++)
		parts += *text == '/';
	return parts;
}

/* The length of the first `parts` parts of rest; 0 when there are fewer. */
static size_t length_of(const char *rest, int parts)
{
	const char *at = rest;

	for (; parts > 0; parts--) {
		size_t n = strcspn(at, "/");

		if (!n)
			return 0;
		at += n + (parts > 1 && at[n] == '/');
	}
	return (size_t)(at - rest);
}

static bool matches(const char *pattern, const char *rest, size_t len)
{
	return aw_glob_match(pattern, strlen(pattern), rest, len);
}

static int by_name(const char *rest, unsigned what, bool *ret_anywhere)
{
	int parts = 0;

	while (*rest) {
		size_t n = strcspn(rest, "/");

		parts++;
		for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
			if (!(names[i].for_what & what) || strlen(names[i].name) != n ||
				strncmp(rest, names[i].name, n) != 0)
				continue;
			*ret_anywhere = names[i].anywhere;
			return parts;
		}
		rest += n + (rest[n] == '/');
	}
	return -1;
}

int aw_root_parts(const struct aw_root_style *style, const char *anchor,
	const char *rest, enum aw_access access, bool *ret_anywhere)
{
	unsigned what = bit(access);

	*ret_anywhere = false;
	if (style->whole_workspace && access == AW_GRANT_WRITE &&
		strcmp(anchor, "$WORKSPACE") == 0)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(roots); i++) {
		int parts = parts_of(roots[i].pattern);
		size_t len = length_of(rest, parts);

		if ((roots[i].for_what & what) &&
			strcmp(roots[i].anchor, anchor) == 0 && (len || !parts) &&
			matches(roots[i].pattern, rest, len))
			return parts;
	}
	return by_name(rest, what, ret_anywhere);
}

bool aw_root_is_wide(const char *anchor, const char *rest, enum aw_access access)
{
	for (size_t i = 0; i < ARRAY_SIZE(wide); i++)
		if ((wide[i].for_what & bit(access)) &&
			strcmp(wide[i].anchor, anchor) == 0 &&
			parts_of(wide[i].pattern) == parts_of(rest) &&
			matches(wide[i].pattern, rest, strlen(rest)))
			return true;
	return false;
}

bool aw_root_is_temporary(const char *anchor, const char *rest)
{
	for (size_t i = 0; i < ARRAY_SIZE(temporary); i++)
		if (strcmp(temporary[i].anchor, anchor) == 0 &&
			parts_of(temporary[i].pattern) == parts_of(rest) &&
			matches(temporary[i].pattern, rest, strlen(rest)))
			return true;
	return false;
}
