/* SPDX-License-Identifier: Apache-2.0 */
/* mcp_words.c - does a command line say that it is an MCP server? */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "policy/array.h"
#include "policy/glob.h"
#include "supervisor/process/mcp.h"

enum { WORDS_MAX = 16 };

static const char *base_of(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path ? path : "";
}

/* Is word there as a whole: between ends and signs that are neither letter nor digit? */
static bool has_word(const char *text, size_t len, const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 0; i + n <= len; i++)
		if (strncasecmp(text + i, word, n) == 0 &&
			(i == 0 || !isalnum((unsigned char)text[i - 1])) &&
			(i + n == len || !isalnum((unsigned char)text[i + n])))
			return true;
	return false;
}

/* The other end of such a line is no server. */
static bool is_server_name(const char *text, size_t len)
{
	return has_word(text, len, "mcp") && !has_word(text, len, "inspector") &&
	       !has_word(text, len, "client") && !has_word(text, len, "host");
}

/* Names of entry files and of directories that they are built to: look further up. */
static bool says_nothing(const char *text, size_t len)
{
	static const char *const names[] = {"index.js", "index.mjs", "index.cjs",
		"index.ts", "main.js", "main.mjs", "main.py", "main.ts", "server.js",
		"server.mjs", "server.py", "server.ts", "cli.js", "cli.mjs",
		"__main__.py", "dist", "build", "out", "lib", "bin", "src"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i]) == len && strncmp(names[i], text, len) == 0)
			return true;
	return false;
}

static bool is_component(const char *text, size_t len, const char *component)
{
	return strlen(component) == len && strncmp(text, component, len) == 0;
}

/* Without a version behind "@" and without an ending. */
static void put_name(const char *text, size_t len, char name[AW_MCP_NAME])
{
	static const char *const endings[] = {".js", ".mjs", ".cjs", ".ts", ".py"};
	const char *at = len ? memchr(text + 1, '@', len - 1) : NULL;

	if (at)
		len = (size_t)(at - text);
	for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
		size_t n = strlen(endings[i]);

		if (len > n && strncmp(text + len - n, endings[i], n) == 0)
			len -= n;
	}
	snprintf(name, AW_MCP_NAME, "%.*s", (int)len, text);
}

/* What is published by the protocol's own project, or in the images' directory for it. */
static bool is_published(const char *word, const char *above, size_t len)
{
	return is_component(above, len, "@modelcontextprotocol") ||
	       (word[0] != '/' && word[0] != '.' && is_component(above, len, "mcp"));
}

/*
 * A program, script, package or image: its last component tells, or the directory that
 * it was built in.
 */
static bool word_tells(const char *word, char name[AW_MCP_NAME])
{
	size_t end = strlen(word);

	while (end) {
		size_t start = end, above_end, above;

		while (start && word[start - 1] != '/')
			start--;
		above_end = above = start ? start - 1 : 0;
		while (above && word[above - 1] != '/')
			above--;
		if (is_published(word, word + above, above_end - above) ||
			is_server_name(word + start, end - start)) {
			if (has_word(word + start, end - start, "inspector"))
				return false;
			put_name(word + start, end - start, name);
			return name[0] != '\0';
		}
		if (!says_nothing(word + start, end - start) || !start)
			return false;
		end = start - 1;
	}
	return false;
}

/* Programs that run what their arguments name. */
static bool is_launcher(const char *base)
{
	static const char *const names[] = {"node", "nodejs", "bun", "bunx", "deno",
		"npx", "npx-cli.js", "npm", "npm-cli.js", "pnpm", "pnpx", "yarn", "tsx",
		"ts-node", "python*", "pypy*", "uv", "uvx", "pipx", "docker", "podman",
		"java", "ruby", "dotnet", "env"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (aw_glob_match(names[i], strlen(names[i]), base, strlen(base)))
			return true;
	return false;
}

/* "codex mcp-server", "claude mcp serve". */
static bool is_agent_as_server(const struct aw_started *s)
{
	static const char *const verbs[] = {"serve", "server", "start", "run", "stdio"};

	if (s->argc < 2)
		return false;
	if (strcmp(s->argv[1], "mcp-server") == 0)
		return true;
	if (s->argc < 3 || strcmp(s->argv[1], "mcp") != 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		if (strcmp(s->argv[2], verbs[i]) == 0)
			return true;
	return false;
}

bool aw_mcp_says_so(const struct aw_started *s, char name[AW_MCP_NAME])
{
	const char *asked = s->raw ? s->raw : s->path;
	const char *called = s->argc ? s->argv[0] : asked;

	name[0] = '\0';
	if (is_launcher(base_of(s->path)) || is_launcher(base_of(asked))) {
		for (size_t i = 1; i < s->argc && i < WORDS_MAX; i++)
			if (s->argv[i][0] != '-' && word_tells(s->argv[i], name))
				return true;
		return false;
	}
	if (is_agent_as_server(s)) {
		put_name(base_of(called), strlen(base_of(called)), name);
		return name[0] != '\0';
	}
	return word_tells(base_of(called), name) || word_tells(asked, name) ||
	       word_tells(s->path, name);
}
