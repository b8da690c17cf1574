/* SPDX-License-Identifier: Apache-2.0 */
/* gitconfig_values.c - which values of a key of git's configuration count. */
#include <string.h>
#include <strings.h>

#include "policy/git/gitconfig.h"

static const char merging[] =
#define AW_GIT_MERGING(words) words
#include "policy/git/gitconfig.def"
	;

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static bool is_one_of(const char *value, const char *const *words)
{
	for (; *words; words++)
		if (strcasecmp(value, *words) == 0)
			return true;
	return false;
}

/* A plain number: git reads it as yes or no, too. */
static bool is_number(const char *value)
{
	return !value[strspn(value, "0123456789")];
}

/* No value is a yes. */
static bool is_yes(const char *value)
{
	static const char *const words[] = {"true", "yes", "on", NULL};

	return !value || is_one_of(value, words) ||
	       (is_number(value) && value[strspn(value, "0")]);
}

static bool is_boolean(const char *value)
{
	static const char *const words[] = {"false", "no", "off", NULL};

	return is_yes(value) || is_one_of(value, words) || is_number(value);
}

/* git-config(1), protocol.allow: ext is never let by itself, unknown ones not always. */
static bool loosens(const char *sub, size_t sub_len, const char *value)
{
	if (strcmp(value, "never") == 0)
		return false;
	if (sub && aw_gitconfig_lists("http https git ssh", sub, sub_len))
		return false;
	return !sub || aw_gitconfig_lists("ext", sub, sub_len) ||
	       strcmp(value, "user") != 0;
}

/* git's transport.c, transport_get(): "foo::x" and "foo://x" run git-remote-foo. */
bool aw_gitconfig_needs_helper(const char *address)
{
	static const char own[] = "http https git ssh git+ssh ssh+git file";
	size_t n = strspn(address, "abcdefghijklmnopqrstuvwxyz"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-");

	return begins(address + n, "::") ||
	       (begins(address + n, "://") && !aw_gitconfig_lists(own, address, n));
}

/* Where git takes names of remotes, or one: it takes an address or a path as well. */
static bool is_address(const char *value)
{
	const char blanks[] = " \t\n\r";

	if (strchr(value, ':') || strstr(value, ".."))
		return true;
	for (value += strspn(value, blanks); *value; value += strspn(value, blanks)) {
		if (strchr("/~-", *value) || begins(value, "./"))
			return true;
		value += strcspn(value, blanks);
	}
	return false;
}

/* git-config(1), pathname: these lead out of the work tree, or may. */
static bool leads_outside(const char *value)
{
	return strchr("/~%:", *value) ? *value : strstr(value, "..") != NULL;
}

/*
 * A remote that is called like an address takes that one's place where somebody gives
 * the address to git; "." is the repository itself.
 */
static bool is_named_like_address(const char *sub, size_t len)
{
	return len && (memchr(sub, ':', len) || strchr("/~", *sub) || *sub == '.');
}

static bool has_other_options(const char *value)
{
	const char blanks[] = " \t\n\r";

	for (value += strspn(value, blanks); *value; value += strspn(value, blanks)) {
		size_t n = strcspn(value, blanks);

		if (!aw_gitconfig_lists(merging, value, n))
			return true;
		value += n;
	}
	return false;
}

bool aw_gitconfig_counts(
	enum aw_gitconfig_when when, const char *sub, size_t sub_len, const char *value)
{
	if (when == AW_GITCONFIG_PROGRAM)
		return !is_boolean(value);
	if (when == AW_GITCONFIG_OFF)
		return !is_yes(value);
	if (when == AW_GITCONFIG_NAMED)
		return is_named_like_address(sub, sub_len);
	if (when == AW_GITCONFIG_ALWAYS || !value)
		return when == AW_GITCONFIG_ALWAYS;
	switch (when) {
	case AW_GITCONFIG_FILLED:
		return *value;
	case AW_GITCONFIG_ALIAS:
		return aw_gitconfig_alias_runs(value);
	case AW_GITCONFIG_BANG:
		return *value == '!';
	case AW_GITCONFIG_INSIDE:
		return strchr(value, '/') != NULL;
	case AW_GITCONFIG_HELPER:
		return *value == '-' || aw_gitconfig_needs_helper(value);
	case AW_GITCONFIG_ADDRESS:
		return is_address(value);
	case AW_GITCONFIG_OUTSIDE:
		return leads_outside(value);
	case AW_GITCONFIG_OPTIONS:
		return has_other_options(value);
	default:
		return loosens(sub, sub_len, value);
	}
}
