/* SPDX-License-Identifier: Apache-2.0 */
/* test_mcp.c - which command lines are MCP servers, and under which name. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/process/mcp.h"
#include "supervisor/process/mcp_internal.h"
#include "tests/unit/tap.h"

enum { WORDS = 12 };

/* The first word is argv[0], and the path where it begins with a slash. */
static struct aw_started started(const char *const *words)
{
	struct aw_started s = {.path = words[0], .argv = words, .pid = getpid()};

	while (s.argc < WORDS && words[s.argc])
		s.argc++;
	return s;
}

static void command_lines_tell(void)
{
	static const struct {
		const char *name, *words[WORDS];
	} cases[] = {
		{"server-filesystem", {"/usr/bin/node",
					      "/x/node_modules/@modelcontextprotocol/"
					      "server-filesystem/dist/index.js",
					      "/docs"}},
		{"server-everything",
			{"npx", "-y", "@modelcontextprotocol/server-everything@1.2"}},
		{"mcp-server-git", {"uvx", "mcp-server-git", "--repository", "."}},
		{"mcp_server_git", {"/usr/bin/python3.11", "-m", "mcp_server_git"}},
		{"mcp-server-filesystem",
			{"/x/node_modules/.bin/mcp-server-filesystem", "/docs"}},
		{"github", {"docker", "run", "-i", "--rm", "mcp/github"}},
		{"codex", {"/usr/bin/codex", "mcp-server"}},
		{"claude", {"/opt/claude", "mcp", "serve"}},
		{"my-mcp", {"node", "/home/me/my-mcp/dist/index.js"}},
		{"weather-mcp", {"node", "--import", "tsx", "weather-mcp.ts"}},
		{NULL, {"/usr/bin/grep", "mcp"}},
		{NULL, {"/usr/bin/node", "/home/me/my-mcp/scripts/lint.js"}},
		{NULL, {"/usr/bin/node", "index.js"}},
		{NULL, {"/usr/bin/cat", "/x/mcp-server"}},
		{NULL, {"/x/.bin/mcp-inspector", "--cli", "mcp-server-git"}},
		{NULL, {"/usr/bin/node", "/x/@modelcontextprotocol/inspector/cli.js"}},
		{NULL, {"/opt/claude", "mcp", "list"}},
		{NULL, {"/usr/bin/cmcpx"}},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct aw_started s = started(cases[i].words);
		char name[AW_MCP_NAME] = "";
		bool says = aw_mcp_says_so(&s, name);

		ok(says == (cases[i].name != NULL) &&
				(!says || !strcmp(name, cases[i].name)),
			"%s %s is %s (%s)", s.argv[0], s.argc > 1 ? s.argv[1] : "",
			cases[i].name ? cases[i].name : "no server", name);
	}
}

static bool has(const struct aw_mcp_servers *servers, size_t i, const char *name,
	size_t count, const char *first, const char *last)
{
	const struct aw_mcp_server *s = &servers->items[i];

	return i < servers->count && !strcmp(s->name, name) && s->count == count &&
	       (!count || (!strcmp(s->words[0], first) &&
				  !strcmp(s->words[count - 1], last)));
}

static void json_is_read(void)
{
	char text[] =
		"{ // a comment\n \"mcpServers\": {\"docs\": {\"command\": \"npx\", \"args\": "
		"[\"-y\", \"${PKG}@1\", 7, \"a*\"]},\"far\": {\"url\": \"https://x\"}, \"odd\": "
		"3, \"\": {\"command\": \"x\"}},\"projects\": {\"/w\": {\"mcpServers\": {\"own\": "
		"{\"command\": \"~/srv\"}}}, \"/v\": []}}";
	char vector[] = "{\"mcp\": {\"a\": {\"type\": \"local\", "
			"\"command\": [\"uvx\", \"mcp-a\"]}}}";
	char broken[] = "{\"mcpServers\": {\"docs\": {\"command\": \"npx\"";
	struct aw_mcp_servers servers = {.count = 0};

	aw_mcp_json_read(&servers, text, "mcpServers");
	ok(servers.count == 2, "programs count, addresses and nonsense do not");
	ok(has(&servers, 0, "docs", 4, "npx", "a\\*"),
		"what is filled in later may be anything, other signs mean themselves");
	ok(!strcmp(servers.items[0].words[2], "*@1"), "${...} is a wildcard");
	ok(has(&servers, 1, "own", 1, "*/srv", "*/srv"), "projects have servers too");
	aw_mcp_json_read(&servers, vector, "mcp");
	ok(has(&servers, 2, "a", 2, "uvx", "mcp-a"), "a command may be the vector");
	aw_mcp_json_read(&servers, broken, "mcpServers");
	ok(servers.count == 3, "broken JSON adds nothing");
	aw_mcp_servers_free(&servers);
}

static void toml_is_read(void)
{
	static const char text[] =
		"model = \"x\"\n[mcp_servers.docs]\n"
		"args = [ # a comment\n  \"-y\", 'C:\\n',\n\t\"a\\\"b\" , ]\n"
		"command = \"npx\"\nenv = { KEY = \"v\" }\n"
		"[mcp_servers.docs.env]\ncommand = \"no\"\n"
		"[mcp_servers.\"two words\"]\ncommand = '/bin/srv'\n"
		"[other]\ncommand = \"no\"\n[mcp_servers.open\ncommand = \"no\"\n"
		"[mcp_servers.far]\nurl = \"https://x\"\n"
		"[mcp_servers.last]\nargs = [\"never closed\n";
	struct aw_mcp_servers servers = {.count = 0};

	aw_mcp_toml_read(&servers, text);
	ok(has(&servers, 0, "docs", 4, "npx", "a\"b"),
		"a list over several lines; the command may come last");
	ok(!strcmp(servers.items[0].words[2], "C:\\\\n"), "a literal has no escapes");
	ok(has(&servers, 1, "two words", 1, "/bin/srv", "/bin/srv"), "a quoted name");
	ok(servers.count == 4 && !servers.items[2].count && !servers.items[3].count,
		"a server without a command has no words");
	aw_mcp_servers_free(&servers);
}

static void write_file(const char *folder, const char *name, const char *text)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	if (!file || fputs(text, file) < 0)
		abort();
	fclose(file);
}

static void files_are_found(void)
{
	static const char *const words[] = {"/usr/bin/node", "/x/srv.js", NULL},
				 *const late[] = {"uvx", "mcp-late", NULL},
				 *const more[] = {"node", "/x/srv.js", "-v", NULL};
	struct aw_started s = started(words), l = started(late), m = started(more);
	char folder[] = "/tmp/aw-mcp-XXXXXX", path[512], name[AW_MCP_NAME];
	struct aw_mcp *mcp;

	if (!mkdtemp(folder))
		abort();
	write_file(folder, ".mcp.json",
		"{\"mcpServers\": {\"mine\": {\"command\": \"node\", \"args\": [\"/x/srv.js\"]}}}");
	snprintf(path, sizeof(path), "%s/.codex", folder);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/.codex/config.toml", folder);
	mkfifo(path, 0600); /* is not waited for */
	mcp = aw_mcp_create(folder, NULL);
	ok(mcp && aw_mcp_count(mcp) == 1,
		"the workspace's file is read, a pipe is not");
	ok(aw_mcp_configured(mcp, &s, name) && !strcmp(name, "mine"),
		"a command line of a file has its name");
	ok(!aw_mcp_configured(mcp, &m, name), "with one more argument it has not");
	ok(!aw_mcp_configured(mcp, &l, name), "one that is in no file has none");
	write_file(folder, ".mcp.json",
		"{\"mcpServers\": {\"late\": {\"command\": \"uvx\", \"args\": [\"mcp-late\"]}}}");
	sleep(1);
	ok(aw_mcp_configured(mcp, &l, name) && !strcmp(name, "late"),
		"what looks like a server has the files read again");
	aw_mcp_free(mcp);
	unlink(path);
	write_file(folder, "config.toml",
		"[mcp_servers.moved]\ncommand = \"node\"\nargs = ['/x/srv.js']\n");
	setenv("CODEX_HOME", folder, 1);
	mcp = aw_mcp_create(NULL, NULL);
	ok(mcp && aw_mcp_configured(mcp, &s, name) && !strcmp(name, "moved"),
		"a variable puts an agent's file elsewhere");
	aw_mcp_free(mcp);
	unsetenv("CODEX_HOME");
	*strrchr(path, '/') = '\0';
	rmdir(path);
	snprintf(path, sizeof(path), "%s/.mcp.json", folder);
	unlink(path);
	snprintf(path, sizeof(path), "%s/config.toml", folder);
	unlink(path);
	rmdir(folder);
}

static void pipes_are_looked_at(void)
{
	static const char *const words[] = {"uvx", "mcp-server-git", NULL};
	struct aw_started s = started(words);
	char name[AW_MCP_NAME];
	int in[2], out[2], saved[2] = {dup(0), dup(1)}, null;
	bool piped, nobody, without;

	fflush(stdout);
	null = open("/dev/null", O_RDWR);
	dup2(null, 0);
	without = aw_mcp_looks_like(&s, name);
	if (pipe(in) < 0 || pipe(out) < 0)
		abort();
	dup2(in[0], 0);
	dup2(out[1], 1);
	s.parent = getpid(); /* holds the other ends */
	piped = aw_mcp_looks_like(&s, name);
	s.parent = 1;
	nobody = access("/proc/1/fd", R_OK) == 0 && aw_mcp_looks_like(&s, name);
	dup2(saved[0], 0);
	dup2(saved[1], 1);
	ok(!without, "what reads from a device is no server");
	ok(piped, "one whose parent holds its pipes is");
	ok(!nobody, "one whose pipes its parent does not hold is not");
}

int main(void)
{
	unsetenv("CODEX_HOME");
	unsetenv("CLAUDE_CONFIG_DIR");
	unsetenv("XDG_CONFIG_HOME");
	command_lines_tell();
	json_is_read();
	toml_is_read();
	files_are_found();
	pipes_are_looked_at();
	return done();
}
