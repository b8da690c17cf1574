/* SPDX-License-Identifier: Apache-2.0 */
/* gitconfig_alias.c - which aliases of git's are harmless: known commands and options. */
#include <string.h>

#include "policy/git/gitconfig.h"

/* Long enough for every option; of other words the beginning is enough. */
enum { WORD_MAX = 64 };

static const char commands[] =
#define AW_GIT_COMMANDS(names) names
#include "policy/git/gitconfig.def"
	;
static const char options[] =
#define AW_GIT_OPTIONS(names) names
#include "policy/git/gitconfig.def"
	;
/* Those of the commands that take an address. */
static const char talking[] = "fetch pull push remote submodule";
static const char letters[] =
#define AW_GIT_LETTERS(text) text
#include "policy/git/gitconfig.def"
	;

/* What parts words for git (git-compat-util.h, isspace). */
static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/*
 * The next word of an alias, as git parts them (alias.c, split_cmdline); what is longer
 * than WORD_MAX is cut.  1: a word; 0: the end; -1: a quote or backslash is left open.
 */
static int next_word(const char **at, char *to, size_t *ret_len)
{
	const char *c = *at;
	char quote = 0;
	size_t len = 0;

	while (is_space(*c))
		c++;
	if (!*c)
		return 0;
	for (; *c && (quote || !is_space(*c)); c++) {
		if (quote ? *c == quote : *c == '\'' || *c == '"') {
			quote = quote ? 0 : *c;
			continue;
		}
		if (*c == '\\' && quote != '\'' && !*++c)
			return -1;
		if (len < WORD_MAX)
			to[len] = *c;
		len++;
	}
	to[len < WORD_MAX ? len : WORD_MAX] = '\0';
	*ret_len = len;
	*at = c;
	return quote ? -1 : 1;
}

static bool is_known_option(const char *word, size_t len)
{
	size_t name = strcspn(word, "=");

	if (word[1] == '-')
		return name <= WORD_MAX - 1 &&
		       (name == 2 ? len == 2
				  : aw_gitconfig_lists(options, word + 2, name - 2));
	return len < WORD_MAX && strspn(word + 1, letters) == len - 1;
}

/*
 * An address, for a command that talks to one: before the colon is a transport or a
 * host. In a refspec it is a branch: "HEAD:refs/for/main", "pull/1/head:x".
 */
static bool is_address(const char *word)
{
	const char *colon = strchr(word, ':');
	size_t before = colon ? (size_t)(colon - word) : 0;

	if (!colon || memchr(word, '/', before))
		return false;
	return strncmp(colon, ":refs/", 6) != 0 || memchr(word, '@', before) ||
	       memchr(word, '.', before);
}

/* Neither the command nor an option. */
static bool is_bad_word(const char *word, size_t len, bool talks)
{
	return talks ? len >= WORD_MAX || is_address(word)
		     : aw_gitconfig_needs_helper(word);
}

/* Of submodule, these alone: "foreach" takes a command. */
static bool is_submodule_word(const char *word)
{
	static const char words[] = "add init status summary sync update";

	return aw_gitconfig_lists(words, word, strlen(word));
}

bool aw_gitconfig_alias_runs(const char *value)
{
	char word[WORD_MAX + 1];
	bool command = false, submodule = false, talks = false;
	size_t len;
	int more;

	while ((more = next_word(&value, word, &len)) == 1) {
		if (!command && strcmp(word, "--no-pager") == 0)
			continue;
		if (!command) {
			if (!aw_gitconfig_lists(commands, word, len))
				return true;
			command = true;
			submodule = strcmp(word, "submodule") == 0;
			talks = aw_gitconfig_lists(talking, word, len);
		} else if (word[0] == '-' ? word[1] && !is_known_option(word, len)
					  : is_bad_word(word, len, talks)) {
			return true;
		} else if (submodule && word[0] != '-') {
			if (!is_submodule_word(word))
				return true;
			submodule = false;
		}
	}
	return more < 0;
}
