/* SPDX-License-Identifier: Apache-2.0 */
/* mcp_config.c - finding and reading the agents' configuration files. */
#include "policy/array.h"
#include "supervisor/process/mcp_internal.h"

#include <cjson/cJSON.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/util/cleanup.h"

#define FILE_MAX (16 * 1024 * 1024)
#define WORD_MAX 4096

enum place { WORKSPACE = 1, HOME = 2, BOTH = 3 };

/* Where each agent keeps its servers; no key: TOML. */
static const struct {
	enum place place;
	const char *file, *key;
} files[] = {
	{BOTH, ".mcp.json", "mcpServers"},
	{HOME, ".claude.json", "mcpServers"},
	{BOTH, ".claude/settings.json", "mcpServers"},
	{BOTH, ".codex/config.toml", NULL},
	{WORKSPACE, "opencode.json", "mcp"},
	{WORKSPACE, "opencode.jsonc", "mcp"},
	{WORKSPACE, ".opencode/opencode.json", "mcp"},
	{HOME, ".config/opencode/opencode.json", "mcp"},
	{HOME, ".config/opencode/opencode.jsonc", "mcp"},
	{BOTH, ".gemini/settings.json", "mcpServers"},
	{BOTH, ".qwen/settings.json", "mcpServers"},
	{BOTH, ".cursor/mcp.json", "mcpServers"},
	{WORKSPACE, ".vscode/mcp.json", "servers"},
	{HOME, ".config/Code/User/mcp.json", "servers"},
};

/* Variables that put such a file elsewhere. */
static const struct {
	const char *variable, *file, *key;
} moved[] = {
	{"CLAUDE_CONFIG_DIR", ".claude.json", "mcpServers"},
	{"CODEX_HOME", "config.toml", NULL},
	{"XDG_CONFIG_HOME", "opencode/opencode.json", "mcp"},
	{"XDG_CONFIG_HOME", "opencode/opencode.jsonc", "mcp"},
};

void aw_mcp_servers_free(struct aw_mcp_servers *servers)
{
	for (size_t i = 0; i < servers->count; i++) {
		for (size_t w = 0; w < servers->items[i].count; w++)
			free(servers->items[i].words[w]);
		free(servers->items[i].name);
	}
	free(servers->items);
	*servers = (struct aw_mcp_servers){.count = 0};
}

struct aw_mcp_server *aw_mcp_server_add(
	struct aw_mcp_servers *servers, const char *name, size_t len)
{
	struct aw_mcp_server *grown;

	if (!len || servers->count == AW_MCP_SERVERS)
		return NULL;
	grown = realloc(servers->items, (servers->count + 1) * sizeof(*grown));
	if (!grown)
		return NULL;
	servers->items = grown;
	grown += servers->count;
	*grown = (struct aw_mcp_server){.name = strndup(name, len)};
	if (!grown->name)
		return NULL;
	servers->count++;
	return grown;
}

void aw_mcp_word_add(struct aw_mcp_server *server, const char *text, size_t len)
{
	char *word, *to;
	size_t at = 0;

	if (!server || server->count == AW_MCP_WORDS || len > WORD_MAX ||
		!(word = malloc(2 * len + 2)))
		return;
	to = word;
	if (len && text[0] == '~') {
		*to++ = '*';
		at = 1;
	}
	while (at < len) {
		const char *end = text[at] == '$' && at + 1 < len && text[at + 1] == '{'
					  ? memchr(text + at, '}', len - at)
					  : NULL;

		if (end) {
			*to++ = '*';
			at = (size_t)(end - text) + 1;
			continue;
		}
		if (strchr("*?[]\\", text[at]))
			*to++ = '\\';
		*to++ = text[at++];
	}
	*to = '\0';
	server->words[server->count++] = word;
}

static void add_text(struct aw_mcp_server *server, const cJSON *value)
{
	if (cJSON_IsString(value))
		aw_mcp_word_add(server, value->valuestring, strlen(value->valuestring));
}

static void add_texts(struct aw_mcp_server *server, const cJSON *list)
{
	const cJSON *one;

	if (!cJSON_IsArray(list))
		return;
	cJSON_ArrayForEach(one, list)
	{
		add_text(server, one);
	}
}

/* {command: "npx", args: [...]}, or the whole vector as the command. */
static void add_server(struct aw_mcp_servers *servers, const cJSON *item)
{
	const cJSON *command = cJSON_GetObjectItemCaseSensitive(item, "command");
	const cJSON *args = cJSON_GetObjectItemCaseSensitive(item, "args");
	struct aw_mcp_server *server;

	if (!item->string || (!cJSON_IsString(command) && !cJSON_IsArray(command)))
		return; /* a server at an address is nobody's program */
	server = aw_mcp_server_add(servers, item->string, strlen(item->string));
	if (!server)
		return;
	add_text(server, command);
	add_texts(server, command);
	add_texts(server, args);
}

static void add_map(struct aw_mcp_servers *servers, const cJSON *from, const char *key)
{
	const cJSON *map = cJSON_GetObjectItemCaseSensitive(from, key), *item;

	if (!cJSON_IsObject(map))
		return;
	cJSON_ArrayForEach(item, map)
	{
		add_server(servers, item);
	}
}

void aw_mcp_json_read(struct aw_mcp_servers *servers, char *text, const char *key)
{
	const cJSON *projects, *project;
	cJSON *root;

	cJSON_Minify(text); /* some of them may have comments */
	root = cJSON_Parse(text);
	add_map(servers, root, key);
	projects = cJSON_GetObjectItemCaseSensitive(root, "projects");
	cJSON_ArrayForEach(project, projects)
	{
		add_map(servers, project, key);
	}
	cJSON_Delete(root);
}

/* A whole regular file, terminated and owned by the caller; NULL: it does not count. */
static char *read_file(const char *path)
{
	AW_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	AW_FREE char *text = NULL;
	struct stat st;
	size_t len = 0;
	ssize_t n = 1;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size <= 0 ||
		st.st_size > FILE_MAX || !(text = malloc((size_t)st.st_size + 1)))
		return NULL;
	while (len < (size_t)st.st_size && n > 0) {
		n = read(fd, text + len, (size_t)st.st_size - len);
		len += n > 0 ? (size_t)n : 0;
	}
	text[len] = '\0';
	return aw_take_ptr(&text);
}

static void add_file(struct aw_mcp_servers *servers, const char *folder,
	const char *file, const char *key)
{
	AW_FREE char *path = NULL, *text = NULL;

	if (!folder || asprintf(&path, "%s/%s", folder, file) < 0) {
		path = NULL;
		return;
	}
	text = read_file(path);
	if (text && key)
		aw_mcp_json_read(servers, text, key);
	else if (text)
		aw_mcp_toml_read(servers, text);
}

/* The nearest first: a workspace's own name for a command line wins. */
void aw_mcp_config_read(
	struct aw_mcp_servers *servers, const char *workspace, const char *home)
{
	enum { FILES = ARRAY_SIZE(files) };

	for (size_t i = 0; i < FILES; i++)
		if (files[i].place & WORKSPACE)
			add_file(servers, workspace, files[i].file, files[i].key);
	for (size_t i = 0; i < ARRAY_SIZE(moved); i++)
		add_file(servers, getenv(moved[i].variable), moved[i].file,
			moved[i].key);
	for (size_t i = 0; i < FILES; i++)
		if (files[i].place & HOME)
			add_file(servers, home, files[i].file, files[i].key);
}
