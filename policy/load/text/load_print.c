/* SPDX-License-Identifier: Apache-2.0 */
/* load_print.c - the effective policy as YAML, with where each entry came from. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/load/load_internal.h"

enum { DEPTH_MAX = 8 };

/* Where the text has got to.  A map in a list is written on one line. */
struct printer {
	FILE *out;
	struct {
		bool list, flow;
		size_t members;
	} levels[DEPTH_MAX];
	unsigned depth; /* of levels */
	struct aw_where last;
};

/* The character at text, of *ret_len bytes; 0 for bytes that are none. */
static unsigned take_character(const char *text, size_t *ret_len)
{
	const unsigned char *c = (const unsigned char *)text;
	static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t len = c[0] < 0x80   ? 1
		     : c[0] < 0xc2 ? 0
		     : c[0] < 0xe0 ? 2
		     : c[0] < 0xf0 ? 3
		     : c[0] < 0xf5 ? 4
				   : 0;
	unsigned code = len == 1 ? c[0] : c[0] & (0xffu >> (len + 1));
	size_t i;

	*ret_len = 1;
	for (i = 1; i < len; i++) {
		if ((c[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (c[i] & 0x3f);
	}
	if (!len || code < least[len] || (code >= 0xd800 && code < 0xe000) ||
		code > 0x10ffff)
		return 0;
	*ret_len = len;
	return code;
}

/* Signs that are not text, end a line, or mean the order of bytes. */
static bool needs_escape(unsigned code)
{
	return code < ' ' || (code >= 0x7f && code < 0xa0) || code == 0x2028 ||
	       code == 0x2029 || code == 0xfeff || code == 0xfffe || code == 0xffff;
}

/* How much of it is written as it is, seen at once: most text is nothing else. */
static size_t plain_length(const char *text)
{
	size_t len = 0;

	while (text[len] >= ' ' && text[len] < 0x7f && text[len] != '"' &&
		text[len] != '\\')
		len++;
	return len;
}

void aw_policy_print_quoted(const char *text, FILE *out)
{
	size_t len;

	fputc('"', out);
	for (; *text; text += len) {
		unsigned code;

		len = plain_length(text);
		if (len) {
			fwrite(text, 1, len, out);
			continue;
		}
		code = take_character(text, &len);

		if (code == 0)
			fputc('?', out);
		else if (code == '"' || code == '\\')
			fprintf(out, "\\%c", (int)code);
		else if (needs_escape(code))
			fprintf(out, "\\u%04x", code);
		else
			fwrite(text, 1, len, out);
	}
	fputc('"', out);
}

/* Within a comment: on one line, and nothing that is no text. */
static void print_remark(const char *text, FILE *out)
{
	size_t len;

	for (; *text; text += len) {
		unsigned code;

		len = plain_length(text);
		if (len) {
			fwrite(text, 1, len, out);
			continue;
		}
		code = take_character(text, &len);
		if (code == 0 || needs_escape(code))
			fputc('?', out);
		else
			fwrite(text, 1, len, out);
	}
}

static void print_where(const struct aw_where *where, FILE *out)
{
	if (where->layer) {
		fputs("  # ", out);
		print_remark(where->file, out);
		fprintf(out, ":%u (%s)", where->line, where->layer);
	}
	fputc('\n', out);
}

/* What stands in front of a member: its key, or the sign of a list. */
static void print_front(struct printer *p, const char *key)
{
	unsigned level = p->depth - 1, i;

	if (p->levels[level].flow) {
		fputs(p->levels[level].members++ ? ", " : "", p->out);
	} else {
		if (level && !p->levels[level].members)
			fputc('\n', p->out);
		p->levels[level].members++;
		for (i = 0; i < level; i++)
			fputs("  ", p->out);
	}
	if (p->levels[level].list)
		fputs("- ", p->out);
	else if (key[strspn(key, "abcdefghijklmnopqrstuvwxyz_-")] == '\0')
		fprintf(p->out, "%s:", key);
	else {
		aw_policy_print_quoted(key, p->out);
		fputc(':', p->out);
	}
}

static void on_open(void *to, const char *key, bool list)
{
	struct printer *p = to;
	unsigned level = p->depth;

	if (level)
		print_front(p, key);
	p->levels[level].list = list;
	p->levels[level].members = 0;
	p->levels[level].flow = level && p->levels[level - 1].list;
	if (p->levels[level].flow)
		fputc('{', p->out);
	p->depth++;
}

static void on_close(void *to)
{
	struct printer *p = to;
	unsigned level = --p->depth;

	if (p->levels[level].flow) {
		fputc('}', p->out);
		print_where(&p->last, p->out);
	} else if (!p->levels[level].members) {
		fputs(p->levels[level].list ? " []\n" : " {}\n", p->out);
	}
}

static void on_value(void *to, const char *key, const char *text, bool plain,
	const struct aw_where *where)
{
	struct printer *p = to;

	print_front(p, key);
	if (!p->levels[p->depth - 1].list)
		fputc(' ', p->out);
	if (plain)
		fputs(text, p->out);
	else
		aw_policy_print_quoted(text, p->out);
	p->last = *where;
	if (!p->levels[p->depth - 1].flow)
		print_where(where, p->out);
}

static void on_remark(void *to, const char *text)
{
	struct printer *p = to;
	unsigned level = p->depth - 1, i;

	if (level && !p->levels[level].members++)
		fputc('\n', p->out);
	for (i = 0; i < level; i++)
		fputs("  ", p->out);
	fputs("# ", p->out);
	print_remark(text, p->out);
	fputc('\n', p->out);
}

void aw_policy_print(const struct aw_policy *policy, FILE *out)
{
	static const struct aw_policy_teller teller = {
		on_open, on_close, on_value, on_remark};
	struct printer p = {.out = out};

	aw_policy_tell(policy, &teller, &p);
}
