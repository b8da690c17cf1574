/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mcp_toml.c - the sections [mcp_servers.NAME] of codex' configuration (toml.io).
 *
 * Everything else in the file is passed over line by line, and what is not understood
 * too: the worst that can come of it is a server without its name.
 */
#include <string.h>

#include "supervisor/process/mcp_internal.h"

#define TEXT_MAX 4096

struct reader {
	const char *at;
	char text[TEXT_MAX]; /* the string that was read last */
	size_t len;
};

static void skip_blanks(struct reader *r)
{
	r->at += strspn(r->at, " \t");
}

static void skip_line(struct reader *r)
{
	r->at += strcspn(r->at, "\n");
	r->at += *r->at == '\n';
}

/* Blanks, ends of lines and comments, as they may stand within a list. */
static void skip_space(struct reader *r)
{
	for (;;) {
		r->at += strspn(r->at, " \t\r\n");
		if (*r->at != '#')
			return;
		skip_line(r);
	}
}

static char unescaped(char c)
{
	static const char from[] = "btnfr", to[] = "\b\t\n\f\r";
	const char *at = strchr(from, c);

	return c && at ? to[at - from] : c;
}

/* "basic" with escapes, or 'literal'; false: there is none here. */
static bool read_string(struct reader *r)
{
	char quote = *r->at;

	if (quote != '"' && quote != '\'')
		return false;
	r->len = 0;
	for (r->at++; *r->at && *r->at != quote && *r->at != '\n'; r->at++) {
		char c = *r->at;

		if (quote == '"' && c == '\\' && r->at[1])
			c = unescaped(*++r->at);
		if (r->len < TEXT_MAX - 1)
			r->text[r->len++] = c;
	}
	r->text[r->len] = '\0';
	if (*r->at != quote)
		return false;
	r->at++;
	return true;
}

/* A key, bare or quoted. */
static bool read_key(struct reader *r)
{
	size_t n;

	skip_blanks(r);
	if (read_string(r))
		return true;
	n = strspn(r->at,
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-");
	if (!n || n >= TEXT_MAX)
		return false;
	memcpy(r->text, r->at, n);
	r->text[n] = '\0';
	r->len = n;
	r->at += n;
	return true;
}

static bool take(struct reader *r, char c)
{
	skip_blanks(r);
	r->at += *r->at == c;
	return r->at[-1] == c;
}

/* "[mcp_servers.NAME]": the server; NULL for every other section. */
static struct aw_mcp_server *read_section(
	struct reader *r, struct aw_mcp_servers *servers)
{
	if (*r->at != '[')
		return NULL;
	r->at++;
	if (!read_key(r) || strcmp(r->text, "mcp_servers") != 0 || !take(r, '.') ||
		!read_key(r) || !take(r, ']'))
		return NULL;
	return aw_mcp_server_add(servers, r->text, r->len);
}

static void read_args(struct reader *r, struct aw_mcp_server *server)
{
	if (!take(r, '['))
		return;
	for (skip_space(r); read_string(r); skip_space(r)) {
		aw_mcp_word_add(server, r->text, r->len);
		skip_space(r);
		r->at += *r->at == ',';
	}
}

/* The command stands first, wherever in its section it is written. */
static void put_first(struct aw_mcp_server *server)
{
	char *last;

	if (server->count < 2)
		return;
	last = server->words[server->count - 1];
	memmove(server->words + 1, server->words,
		(server->count - 1) * sizeof(server->words[0]));
	server->words[0] = last;
}

static void read_value(struct reader *r, struct aw_mcp_server *server)
{
	size_t before = server->count;

	if (!read_key(r))
		return;
	if (strcmp(r->text, "args") == 0 && take(r, '=')) {
		read_args(r, server);
	} else if (strcmp(r->text, "command") == 0 && take(r, '=')) {
		skip_blanks(r);
		if (read_string(r))
			aw_mcp_word_add(server, r->text, r->len);
		if (server->count > before)
			put_first(server);
	}
}

void aw_mcp_toml_read(struct aw_mcp_servers *servers, const char *text)
{
	struct reader r = {.at = text};
	struct aw_mcp_server *server = NULL;

	for (; *r.at; skip_line(&r)) {
		skip_blanks(&r);
		if (*r.at == '[')
			server = read_section(&r, servers);
		else if (server)
			read_value(&r, server);
	}
}
