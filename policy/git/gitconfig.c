/* SPDX-License-Identifier: Apache-2.0 */
/* gitconfig.c - the text of a git configuration, entry by entry, as git reads it. */
#include "policy/git/gitconfig.h"

#include <string.h>

static bool is_space(int ch)
{
	return ch == ' ' || ch == '\t' || ch == '\n' || ch == '\r';
}

static bool is_letter(int ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z');
}

static bool is_key(int ch)
{
	return is_letter(ch) || (ch >= '0' && ch <= '9') || ch == '-';
}

static char small(int ch)
{
	return (char)(ch >= 'A' && ch <= 'Z' ? ch - 'A' + 'a' : ch);
}

/* The end reads like one more end of a line; "\r\n" is one as well. */
static int next_char(struct aw_gitconfig *c)
{
	int ch;

	if (c->at >= c->len) {
		c->eof = true;
		return '\n';
	}
	ch = (unsigned char)c->text[c->at++];
	if (ch == '\r' && c->at < c->len && c->text[c->at] == '\n')
		ch = (unsigned char)c->text[c->at++];
	c->now += ch == '\n';
	return ch;
}

void aw_gitconfig_open(
	struct aw_gitconfig *ret, const char *text, size_t len, char *scratch)
{
	static const char mark[] = "\xef\xbb\xbf"; /* U+FEFF, as some editors begin */

	*ret = (struct aw_gitconfig){.text = text,
		.len = len,
		.now = 1,
		.name = scratch,
		.value = scratch + AW_GITCONFIG_SCRATCH(len) / 2,
		.has_nul = len && memchr(text, '\0', len)};
	if (len >= 3 && memcmp(text, mark, 3) == 0)
		ret->at = 3;
}

static void add_name(struct aw_gitconfig *c, char ch)
{
	c->name[c->name_len++] = ch;
}

/* [section "subsection"]: behind the blank after the section. */
static bool read_subsection(struct aw_gitconfig *c, int ch)
{
	do {
		if (ch == '\n')
			return false;
		ch = next_char(c);
	} while (is_space(ch));
	if (ch != '"')
		return false;
	add_name(c, '.');
	while ((ch = next_char(c)) != '"') {
		if (ch == '\\')
			ch = next_char(c);
		if (ch == '\n')
			return false;
		add_name(c, (char)ch);
	}
	return next_char(c) == ']';
}

/* Behind "[". The old form [section.subsection] takes no care of case. */
static bool read_section(struct aw_gitconfig *c)
{
	int ch;

	c->name_len = 0;
	while ((ch = next_char(c)) != ']') {
		if (is_space(ch)) {
			if (c->eof || !read_subsection(c, ch))
				return false;
			break;
		}
		if (!is_key(ch) && ch != '.')
			return false;
		add_name(c, small(ch));
	}
	add_name(c, '.');
	c->stem = c->name_len;
	return true;
}

static bool read_escaped(struct aw_gitconfig *c)
{
	static const char plain[] = "tbn\\\"", means[] = "\t\b\n\\\"";
	int ch = next_char(c);
	const char *found;

	if (ch == '\n')
		return true; /* the value goes on in the next line */
	found = ch ? strchr(plain, ch) : NULL;
	if (found)
		c->value[c->value_len++] = means[found - plain];
	return found != NULL;
}

/* Behind "=".  Blanks within count one each, those around do not. */
static bool read_value(struct aw_gitconfig *c)
{
	bool quoted = false, comment = false;
	size_t blanks = 0;

	c->value_len = 0;
	for (;;) {
		int ch = next_char(c);

		if (ch == '\n')
			return !quoted;
		if (comment)
			continue;
		if (is_space(ch) && !quoted) {
			blanks += c->value_len > 0;
			continue;
		}
		if (!quoted && (ch == ';' || ch == '#')) {
			comment = true;
			continue;
		}
		for (; blanks; blanks--)
			c->value[c->value_len++] = ' ';
		if (ch == '"')
			quoted = !quoted;
		else if (ch != '\\')
			c->value[c->value_len++] = (char)ch;
		else if (!read_escaped(c))
			return false;
	}
}

/* Behind the first letter of a key. */
static bool read_entry(struct aw_gitconfig *c, int ch)
{
	c->name_len = c->stem;
	c->key = c->at - 1;
	do
		add_name(c, small(ch));
	while (is_key(ch = next_char(c)));
	while (ch == ' ' || ch == '\t')
		ch = next_char(c);
	c->has_value = ch != '\n';
	c->value_len = 0;
	if (c->has_value && (ch != '=' || !read_value(c)))
		return false;
	c->name[c->name_len] = c->value[c->value_len] = '\0';
	return true;
}

static void skip_comment(struct aw_gitconfig *c)
{
	while (next_char(c) != '\n')
		;
}

int aw_gitconfig_next(struct aw_gitconfig *c)
{
	c->line = c->now;
	if (c->has_nul)
		return -1;
	while (!c->eof) {
		int ch;

		c->line = c->now;
		ch = next_char(c);
		if (is_space(ch))
			continue;
		if (ch == '#' || ch == ';') {
			skip_comment(c);
		} else if (ch == '[') {
			if (!read_section(c))
				return -1;
		} else {
			return is_letter(ch) && read_entry(c, ch) ? 1 : -1;
		}
	}
	return 0;
}
