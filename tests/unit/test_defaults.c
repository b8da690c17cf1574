/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_defaults.c - what holds without a word in any file: protections, presets,
 * limits, variables.
 */
#include <arpa/inet.h>
#include <sys/socket.h>

#include "tests/unit/policy_text.h"

static void load(const struct text_layer *layers, size_t count, enum aw_mode mode,
	struct aw_policy *policy)
{
	struct aw_diagnostics diagnostics;

	if (load_layers(layers, count, mode, policy, &diagnostics) < 0) {
		aw_diagnostics_print(&diagnostics, stderr);
		abort();
	}
	aw_diagnostics_free(&diagnostics);
}

static void load_text(const char *text, enum aw_mode mode, struct aw_policy *policy)
{
	const struct text_layer layer = {"policy", AW_TRUSTED, text};

	load(&layer, text ? 1 : 0, mode, policy);
}

/* As the command of this name, with no file. */
static void load_for(const char *command, struct aw_policy *policy)
{
	struct aw_policy_variables variables = some_variables;
	struct aw_diagnostics diagnostics;

	variables.command = command;
	if (aw_policy_load(
		    NULL, 0, &variables, AW_ENFORCE, false, policy, &diagnostics) < 0) {
		aw_diagnostics_print(&diagnostics, stderr);
		abort();
	}
	aw_diagnostics_free(&diagnostics);
}

static struct aw_decision judge(
	const struct aw_policy *policy, enum aw_action action, const char *path)
{
	struct aw_decision d;

	aw_image_decide_path(policy->image, action, path, strlen(path), &d);
	return d;
}

static struct aw_decision judge_address(const struct aw_policy *policy,
	enum aw_action action, const char *text, uint16_t port, const char *host)
{
	struct aw_address address = {.family = AF_INET, .port = port, .host = host};
	struct aw_decision d;

	if (text[0] == '/' || text[0] == '@') {
		address.family = AF_UNIX;
		address.path = text;
		address.path_len = strlen(text);
	} else if (inet_pton(AF_INET, text, address.bytes) != 1) {
		address.family = AF_INET6;
		if (inet_pton(AF_INET6, text, address.bytes) != 1)
			abort();
	}
	aw_image_decide_address(policy->image, action, &address, &d);
	return d;
}

static bool has_rule(const struct aw_policy *policy, const struct aw_decision *d,
	const char *file, const char *layer, const char *text)
{
	struct aw_rule rule;

	return aw_image_rule(policy->image, d->rule, &rule) &&
	       strstr(rule.file, file) && strcmp(rule.layer, layer) == 0 &&
	       strcmp(rule.text, text) == 0 && rule.line > 0;
}

/* One row a protection at least: what it refuses, and what stands right beside that. */
static const struct {
	const char *name;
	enum aw_action action;
	const char *path, *text, *beside;
} files[] = {
	{"shell-startup", AW_WRITE, "/home/ann/.bashrc", "~/.bashrc",
		"/home/ann/.bashrcs"},
	{"shell-startup", AW_RENAME, "/home/ann/.config/fish/conf.d/x.fish",
		"$CONFIG/fish", "/home/ann/.config/fishy"},
	{"git-hooks", AW_CREATE, "/repo/.git/hooks/post-commit", "**/*.git/hooks",
		"/repo/.git/hook"},
	{"git-hooks", AW_CREATE, "/srv/x.git/hooks/update", "**/*.git/hooks",
		"/repo/hooks/x"},
	{"git-hooks", AW_CREATE, "/repo/.git/modules/a/b/hooks/x",
		"**/.git/modules/**/hooks", "/repo/.git/modules/a/config"},
	{"editor-tasks", AW_WRITE, "/repo/a/.vscode/tasks.json",
		"**/.vscode/tasks.json", "/repo/.vscode/extensions.json"},
	{"editor-tasks", AW_DELETE, "/repo/.idea/workspace.xml", "**/.idea",
		"/repo/.ideas"},
	{"agent-config", AW_WRITE, "/home/ann/.claude/settings.json",
		"**/.claude/settings.json", "/home/ann/.claude/history.jsonl"},
	{"agent-config", AW_CREATE, "/repo/.mcp.json", "**/.mcp.json",
		"/repo/mcp.json"},
	{"agent-config", AW_WRITE, "/home/ann/.codex/config.toml",
		"**/.codex/config.toml", "/home/ann/.codex/history.jsonl"},
	{"agentwatch", AW_WRITE, "/repo/.agentwatch.yaml", "**/.agentwatch.yaml",
		"/repo/agentwatch.yaml"},
	{"agentwatch", AW_WRITE, "/home/ann/.config/agentwatch/policy.yaml",
		"/home/ann/.config/agentwatch", "/home/ann/.config/agentwatcher"},
	{"agentwatch", AW_DELETE,
		"/home/ann/.local/state/agentwatch/sessions/x/events.jsonl",
		"/home/ann/.local/state/agentwatch", "/home/ann/.local/state/x"},
	{"agentwatch", AW_WRITE, "/home/ann/log.jsonl", "/home/ann/log.jsonl",
		"/home/ann/log.json"},
	{"private-keys", AW_READ, "/home/ann/.ssh/id_ed25519", "~/.ssh",
		"/home/ann/.sshx"},
	{"private-keys", AW_READ, "/etc/ssh/ssh_host_rsa_key",
		"/etc/ssh/ssh_host_rsa_key", "/etc/ssh/ssh_host_rsa_key.pub"},
	{"passwords", AW_READ, "/etc/shadow", "/etc/shadow", "/etc/passwd"},
	{"passwords", AW_READ, "/home/ann/.netrc", "~/.netrc", "/home/ann/.netrcs"},
	{"cloud-credentials", AW_READ, "/home/ann/.aws/credentials", "~/.aws",
		"/home/ann/.awsx"},
	{"cloud-credentials", AW_READ, "/home/ann/.config/gh/hosts.yml", "$CONFIG/gh",
		"/home/ann/.config/ghostty/config"},
	{"package-credentials", AW_READ, "/home/ann/.npmrc", "~/.npmrc",
		"/repo/.npmrc"},
	{"browser-profiles", AW_READ, "/home/ann/.mozilla/firefox/x/logins.json",
		"~/.mozilla", "/home/ann/.mozillas"},
};

static const struct {
	const char *name, *address;
	uint16_t port;
	const char *text, *beside;
} addresses[] = {
	{"container-engines", "/run/docker.sock", 0, "unix:/run/docker.sock",
		"/run/docker.socks"},
	{"container-engines", "/home/ann/.docker/run/docker.sock", 0, "unix:~/.docker",
		"/home/ann/docker.sock"},
	{"container-engines", "127.0.0.1", 2375, "localhost:2375-2376", NULL},
	{"metadata-address", "169.254.169.254", 80, "169.254.169.254",
		"169.254.169.253"},
	{"metadata-address", "fd00:ec2::254", 80, "fd00:ec2::254", "fd00:ec2::253"},
	{"metadata-address", "::ffff:169.254.169.254", 80, "169.254.169.254", NULL},
	{"agentwatch", "/run/user/7/agentwatch/x.control", 0,
		"unix:/run/user/7/agentwatch", "/run/user/7/agentwatcher"},
};

static void check_file(const struct aw_policy *p, size_t i)
{
	struct aw_decision d = judge(p, files[i].action, files[i].path);
	char text[200];

	snprintf(text, sizeof(text), "%s: %s", files[i].name, files[i].text);
	ok(d.verdict == AW_DENY && has_rule(p, &d, "protections", "built-in", text),
		"%s keeps %s", files[i].name, files[i].path);
	d = judge(p, files[i].action, files[i].beside);
	ok(d.verdict == AW_ALLOW, "but not %s", files[i].beside);
}

static void check_address(const struct aw_policy *p, size_t i)
{
	struct aw_decision d = judge_address(
		p, AW_CONNECT, addresses[i].address, addresses[i].port, NULL);
	char text[200];

	snprintf(text, sizeof(text), "%s: %s", addresses[i].name, addresses[i].text);
	ok(d.verdict == AW_DENY && has_rule(p, &d, "protections", "built-in", text),
		"%s keeps from %s", addresses[i].name, addresses[i].address);
	if (!addresses[i].beside)
		return;
	d = judge_address(p, AW_CONNECT, addresses[i].beside, addresses[i].port, NULL);
	ok(d.verdict == AW_ALLOW, "but not from %s", addresses[i].beside);
}

/* Each in a policy that allows everything else and tries to take them out. */
static void protections_hold(void)
{
	struct aw_policy p;
	size_t i;

	load_text("filesystem: {default: allow, deny: ['!/home/ann/.ssh', '!/**'], "
		  "write: [/]}\nnetwork: {default: allow, deny: ['!*']}",
		AW_ENFORCE, &p);
	for (i = 0; i < sizeof(files) / sizeof(*files); i++)
		check_file(&p, i);
	for (i = 0; i < sizeof(addresses) / sizeof(*addresses); i++)
		check_address(&p, i);
	ok(judge(&p, AW_READ, "/home/ann/.bashrc").verdict == AW_ALLOW,
		"start-up files may be read");
	ok(judge(&p, AW_METADATA, "/home/ann/.ssh/id_rsa").verdict == AW_ALLOW &&
			!aw_image_hides(p.image),
		"metadata is left alone");
	aw_policy_release(&p);
}

/* A path that a rule's text covers: "~/x", "$CONFIG/x", "a/b", "x" for wildcards. */
static void example_of(const char *text, char path[200])
{
	static const struct {
		const char *from, *to;
	} starts[] = {{"~/", "/home/ann/"}, {"$CONFIG/", "/home/ann/.config/"},
		{"$RUNTIME/", "/run/user/"}, {"**/", "/srv/a/b/"}, {"", ""}};
	size_t i = 0, n;

	while (strncmp(text, starts[i].from, strlen(starts[i].from)) != 0)
		i++;
	n = (size_t)snprintf(path, 100, "%s", starts[i].to);
	if (strcmp(starts[i].from, "$RUNTIME/") == 0)
		n += (size_t)snprintf(path + n, 20, "%u/", (unsigned)geteuid());
	for (text += strlen(starts[i].from); *text; text++) {
		if (strncmp(text, "**", 2) == 0) {
			memcpy(path + n, "any/other", 9);
			n += 9;
			text++;
		} else {
			path[n++] = *text == '*' ? 'x' : *text;
		}
	}
	path[n] = '\0';
}

static void check_network_row(
	const struct aw_policy *p, const char *shown, const char *text)
{
	struct aw_decision d;
	char path[200];

	if (strncmp(text, "unix:", 5) == 0) {
		example_of(text + 5, path);
		d = judge_address(p, AW_CONNECT, path, 0, NULL);
	} else if (strncmp(text, "localhost:", 10) == 0) {
		d = judge_address(p, AW_CONNECT, "::1", 2376, NULL);
	} else if (strchr("0123456789f", text[0])) {
		d = judge_address(p, AW_SEND, text, 80, NULL);
	} else {
		d = judge_address(p, AW_CONNECT, "192.0.2.1", 80, text);
	}
	ok(d.verdict == AW_DENY && has_rule(p, &d, "protections", "built-in", shown),
		"connecting is refused by %s", shown);
}

static void every_row_refuses_what_it_says(void)
{
#define AW_PROTECTION(id, name) static const char name_of_##id[] = name;
#define AW_PROTECT(id, list, text)
#include "policy/protections.def"
	static const struct {
		const char *name, *list, *text;
	} rows[] = {
#define AW_PROTECTION(id, name)
#define AW_PROTECT(id, list, text) {name_of_##id, #list, text},
#include "policy/protections.def"
	};
	struct aw_policy p;
	size_t i;

	load_text("filesystem: {}\nnetwork: {}", AW_ENFORCE, &p);
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		bool read = strcmp(rows[i].list, "DENY") == 0;
		char path[200], shown[200];
		struct aw_decision d;

		snprintf(shown, sizeof(shown), "%s: %s", rows[i].name, rows[i].text);
		if (strcmp(rows[i].list, "NET_DENY") == 0) {
			check_network_row(&p, shown, rows[i].text);
			continue;
		}
		example_of(rows[i].text, path);
		d = judge(&p, read ? AW_READ : AW_WRITE, path);
		ok(d.verdict == AW_DENY &&
				has_rule(&p, &d, "protections", "built-in", shown),
			"%s is refused by %s", path, shown);
		d = judge(&p, AW_READ, path);
		ok(read || d.verdict == AW_ALLOW, "and only what it says");
	}
	aw_policy_release(&p);
}

static void each_can_be_switched_off(void)
{
	char text[200];
	struct aw_policy p;
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(*files); i++) {
		snprintf(text, sizeof(text), "filesystem: {}\nprotections: {%s: off}",
			files[i].name);
		load_text(text, AW_ENFORCE, &p);
		ok(judge(&p, files[i].action, files[i].path).verdict == AW_ALLOW,
			"%s can be switched off for %s", files[i].name, files[i].path);
		ok(judge(&p, AW_WRITE,
			   strcmp(files[i].name, "private-keys") ? "/home/ann/.ssh/x"
								 : "/repo/.mcp.json")
					.verdict == AW_DENY,
			"and the others stay");
		aw_policy_release(&p);
	}
	load_text("filesystem: {}\nnetwork: {}\nprotections: off", AW_ENFORCE, &p);
	ok(judge(&p, AW_READ, "/home/ann/.ssh/x").verdict == AW_ALLOW &&
			judge_address(&p, AW_CONNECT, "169.254.169.254", 80, NULL)
					.verdict == AW_ALLOW,
		"all can");
	aw_policy_release(&p);
	load_text("filesystem: {}", AW_AUDIT, &p);
	ok(judge(&p, AW_READ, "/home/ann/.ssh/x").verdict == AW_DENY,
		"audit judges by them too");
	aw_policy_release(&p);
}

static void only_trusted_files_switch_them_off(void)
{
	static const struct text_layer layers[] = {
		{"system", AW_SYSTEM, "protections: {private-keys: on}"},
		{"policy", AW_TRUSTED,
			"filesystem: {}\nprotections: {private-keys: off, passwords: "
			"off}"},
		{"workspace", AW_UNTRUSTED, "protections: off"},
	};
	struct aw_policy p;

	load(layers, 3, AW_ENFORCE, &p);
	ok(judge(&p, AW_READ, "/home/ann/.ssh/x").verdict == AW_DENY,
		"the system policy keeps one on");
	ok(judge(&p, AW_READ, "/etc/shadow").verdict == AW_ALLOW,
		"what it leaves alone can be switched off");
	ok(judge(&p, AW_READ, "/home/ann/.aws/x").verdict == AW_DENY,
		"an untrusted file switches nothing off");
	aw_policy_release(&p);
}

/* Dotfiles are links into a repository; root's shell may have another's HOME. */
static void links_and_other_homes_count(void)
{
	struct aw_policy_variables variables = some_variables;
	char home[] = "/tmp/aw-home-XXXXXX", link[64], real[64];
	struct aw_diagnostics diagnostics;
	struct aw_policy p;

	if (!mkdtemp(home))
		abort();
	snprintf(link, sizeof(link), "%s/.bashrc", home);
	snprintf(real, sizeof(real), "%s/dot[1]", home);
	if (symlink("dot[1]", link) < 0 || !freopen(real, "w", stdin))
		abort();
	variables.home = home;
	variables.account_home = "/root";
	if (aw_policy_load(NULL, 0, &variables, AW_ENFORCE, false, &p, &diagnostics) <
		0)
		abort();
	aw_diagnostics_free(&diagnostics);
	ok(judge(&p, AW_WRITE, link).verdict == AW_DENY, "a link is protected");
	ok(judge(&p, AW_WRITE, real).verdict == AW_DENY, "so is what it leads to");
	snprintf(link, sizeof(link), "%s/dot1", home);
	ok(judge(&p, AW_WRITE, link).verdict == AW_ALLOW, "and nothing else");
	ok(judge(&p, AW_READ, "/root/.ssh/id_rsa").verdict == AW_DENY,
		"the account's own home is protected as well");
	aw_policy_release(&p);
	unlink(real);
	snprintf(link, sizeof(link), "%s/.bashrc", home);
	unlink(link);
	rmdir(home);
}

static void a_preset_stands_below_the_files(void)
{
	struct aw_policy p;
	struct aw_decision d;

	load_text("preset: [node]\nfilesystem: {write: ['!~/.npm/x']}", AW_ENFORCE, &p);
	d = judge(&p, AW_WRITE, "/home/ann/.npm/y");
	ok(d.verdict == AW_ALLOW &&
			has_rule(&p, &d, "data/presets/node.yaml", "preset", "~/.npm"),
		"its rules show the preset's file");
	ok(judge(&p, AW_WRITE, "/home/ann/.npm/x").verdict == AW_DENY,
		"a file can take them out");
	ok(judge(&p, AW_WRITE, "/etc/x").verdict == AW_DENY &&
			judge_address(&p, AW_CONNECT, "192.0.2.1", 443, NULL).verdict ==
				AW_DENY,
		"beside it the defaults of enforce hold");
	ok(judge(&p, AW_WRITE, "/repo/x").verdict == AW_ALLOW, "so does the workspace");
	ok(judge(&p, AW_CREATE, "/home/ann/.cache").verdict == AW_ALLOW &&
			judge(&p, AW_CREATE, "/home/ann/.cache/other").verdict ==
				AW_DENY,
		"a folder of folders may be made, but not filled");
	ok(!p.picked, "nothing was picked");
	aw_policy_release(&p);
	load_text("preset: [node]\nfilesystem: {default: allow}\nnetwork: {default: "
		  "allow}",
		AW_ENFORCE, &p);
	ok(judge(&p, AW_WRITE, "/etc/x").verdict == AW_ALLOW &&
			judge_address(&p, AW_BIND, "192.0.2.1", 443, NULL).verdict ==
				AW_ALLOW,
		"a default of the file's own is kept");
	aw_policy_release(&p);
}

static void agents_have_presets(void)
{
	static const struct {
		const char *command, *preset, *state, *host;
		const char *kept;
	} agents[] = {
		{"claude", "claude-code", "/home/ann/.claude/x", "api.anthropic.com",
			"ANTHROPIC_API_KEY"},
		{"claude-code-acp", "claude-code", "/home/ann/.claude.json.lock",
			"api.anthropic.com", "CLAUDE_CODE_OAUTH_TOKEN"},
		{"claude-agent-acp", "claude-code", "/home/ann/.claude.json",
			"api.anthropic.com", "ANTHROPIC_AUTH_TOKEN"},
		{"codex", "codex", "/home/ann/.codex/x", "api.openai.com",
			"OPENAI_API_KEY"},
		{"opencode", "opencode", "/home/ann/.local/share/opencode/x",
			"opencode.ai", "OPENCODE_API_KEY"},
		{"gemini", "gemini-cli", "/home/ann/.gemini/x",
			"generativelanguage.googleapis.com", "GEMINI_API_KEY"},
		{"qwen", "qwen-code", "/home/ann/.qwen/x", "dashscope.aliyuncs.com",
			"DASHSCOPE_API_KEY"},
	};
	struct aw_policy p;
	size_t i;

	for (i = 0; i < sizeof(agents) / sizeof(*agents); i++) {
		load_for(agents[i].command, &p);
		ok(p.picked && strcmp(p.picked, agents[i].preset) == 0, "%s picks %s",
			agents[i].command, agents[i].preset);
		ok(judge(&p, AW_WRITE, agents[i].state).verdict == AW_ALLOW,
			"it keeps its own state");
		ok(judge_address(&p, AW_CONNECT, "192.0.2.1", 443, agents[i].host)
					.verdict == AW_ALLOW,
			"it reaches %s", agents[i].host);
		ok(judge_address(&p, AW_CONNECT, "192.0.2.1", 443, "example.com")
					.verdict == AW_DENY,
			"but not everybody");
		ok(judge_address(&p, AW_CONNECT, "127.0.0.1", 8080, NULL).verdict ==
					AW_ALLOW &&
				judge_address(&p, AW_BIND, "127.0.0.1", 0, NULL)
						.verdict == AW_ALLOW,
			"loopback is there");
		ok(aw_policy_keeps_variable(&p, agents[i].kept) &&
				!aw_policy_keeps_variable(&p, "GITHUB_TOKEN"),
			"%s is kept, others' keys are not", agents[i].kept);
		ok(judge(&p, AW_READ, "/home/ann/.ssh/id_ed25519").verdict == AW_DENY,
			"private keys are out of reach");
		aw_policy_release(&p);
	}
	load_for("make", &p);
	ok(!p.picked && judge_address(&p, AW_CONNECT, "127.0.0.1", 80, NULL).verdict ==
				AW_DENY,
		"another command picks none and has no network");
	aw_policy_release(&p);
}

static void an_endpoint_comes_from_the_environment(void)
{
	static const struct {
		const char *url, *address;
		uint16_t port;
		const char *host;
		enum aw_verdict verdict;
	} cases[] = {
		{"http://192.0.2.5:8080/v1", "192.0.2.5", 8080, NULL, AW_ALLOW},
		{"http://192.0.2.5:8080/v1", "192.0.2.5", 8081, NULL, AW_DENY},
		{"https://gate.example/x?y", "192.0.2.5", 443, "gate.example",
			AW_ALLOW},
		{"HTTP://u:p@Gate.Example", "192.0.2.5", 80, "gate.example", AW_ALLOW},
		{"https://[2001:db8::1]:9/v1", "2001:db8::1", 9, NULL, AW_ALLOW},
		{"wss://[2001:db8::1]", "2001:db8::1", 443, NULL, AW_ALLOW},
		{"gate.example:99", "192.0.2.5", 99, "gate.example", AW_ALLOW},
		{"", "192.0.2.5", 99, "gate.example", AW_DENY},
		{"not a url", "192.0.2.5", 99, "gate.example", AW_DENY},
	};
	struct aw_policy p;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		setenv("ANTHROPIC_BASE_URL", cases[i].url, 1);
		load_for("claude", &p);
		ok(judge_address(&p, AW_CONNECT, cases[i].address, cases[i].port,
			   cases[i].host)
					.verdict == cases[i].verdict,
			"with '%s' port %u of %s is %s", cases[i].url, cases[i].port,
			cases[i].address, aw_verdict_name(cases[i].verdict));
		aw_policy_release(&p);
	}
	unsetenv("ANTHROPIC_BASE_URL");
}

static void name_servers_are_those_of_the_system(void)
{
	char line[256], address[64] = "127.0.0.1";
	FILE *file = fopen("/etc/resolv.conf", "r");
	struct aw_policy p;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "nameserver %63s", address) == 1)
			break;
	if (file)
		fclose(file);
	load_text("network: {default: deny, allow: [$NAMESERVERS]}", AW_ENFORCE, &p);
	ok(judge_address(&p, AW_CONNECT, address, 53, NULL).verdict == AW_ALLOW,
		"%s may be asked for names", address);
	ok(judge_address(&p, AW_CONNECT, address, 80, NULL).verdict == AW_DENY,
		"and for nothing else");
	aw_policy_release(&p);
}

static void credentials_are_unset(void)
{
	struct aw_policy p;

	load_text(NULL, AW_ENFORCE, &p);
	ok(!aw_policy_keeps_variable(&p, "AWS_SECRET_ACCESS_KEY") &&
			!aw_policy_keeps_variable(&p, "NPM_TOKEN") &&
			!aw_policy_keeps_variable(&p, "SSH_AUTH_SOCK") &&
			!aw_policy_keeps_variable(&p, "OPENAI_API_KEY"),
		"credentials are unset");
	ok(aw_policy_keeps_variable(&p, "PATH") &&
			aw_policy_keeps_variable(&p, "AWS_REGION") &&
			aw_policy_keeps_variable(&p, "TOKENIZERS_PARALLELISM"),
		"other variables are not");
	aw_policy_release(&p);
	load_text(NULL, AW_AUDIT, &p);
	ok(aw_policy_keeps_variable(&p, "NPM_TOKEN"), "audit changes nothing");
	aw_policy_release(&p);
	load_text("environment: {unset: ['!NPM_TOKEN']}", AW_ENFORCE, &p);
	ok(aw_policy_keeps_variable(&p, "NPM_TOKEN") &&
			!aw_policy_keeps_variable(&p, "GH_TOKEN"),
		"a file lets one through");
	aw_policy_release(&p);
	load_text("environment: {inherit: all}", AW_ENFORCE, &p);
	ok(aw_policy_keeps_variable(&p, "GH_TOKEN"), "or all of them");
	aw_policy_release(&p);
}

static void the_system_unsets_for_good(void)
{
	static const struct text_layer layers[] = {
		{"system", AW_SYSTEM, "environment: {unset: ['S_*', '!S_X']}"},
		{"policy", AW_TRUSTED,
			"environment: {inherit: all, unset: [T, '!S_A', '!U', '!T']}"},
		{"workspace", AW_UNTRUSTED, "environment: {unset: [U]}"},
	};
	struct aw_policy p;

	load(layers, 3, AW_ENFORCE, &p);
	ok(!aw_policy_keeps_variable(&p, "S_A") && aw_policy_keeps_variable(&p, "S_X"),
		"what the system unsets stays unset");
	ok(!aw_policy_keeps_variable(&p, "U"), "and what an untrusted file does");
	ok(aw_policy_keeps_variable(&p, "T"), "the last entry of one's own decides");
	aw_policy_release(&p);
}

static void limits_are_read_and_only_get_smaller(void)
{
	static const struct text_layer layers[] = {
		{"system", AW_SYSTEM, "limits: {processes: 100}"},
		{"global", AW_TRUSTED, "limits: {memory: 1g, time: 2h}"},
		{"workspace", AW_UNTRUSTED,
			"limits: {memory: 512M, time: 3h, open_files: 64}"},
		{"policy", AW_TRUSTED,
			"limits: {memory: 2g, cpus: 1.5, processes: 512, file_size: "
			"1.5k}"},
	};
	struct aw_diagnostics d;
	const struct aw_limits *l;
	struct aw_policy p;

	if (load_layers(layers, 4, AW_ENFORCE, &p, &d) < 0)
		abort();
	ok(d.count == 1 && d.items[0].warning && d.items[0].line == 2 &&
			strstr(d.items[0].text, "'limits.time' is ignored"),
		"a larger one of an untrusted file is worth a warning");
	aw_diagnostics_free(&d);
	l = &p.limits;
	ok(l->memory == 512ull << 20, "an untrusted file makes one smaller");
	ok(l->time == 7200, "but not larger, and a lower layer's stays");
	ok(l->open_files == 64, "it can be the first to say one");
	ok(l->processes == 100, "the system's cannot be raised");
	ok(l->cpus > 1.49 && l->cpus < 1.51, "processors have fractions");
	ok(l->file_size == 1536, "sizes too");
	aw_policy_release(&p);
}

static void what_is_exposed(void)
{
	static const struct text_layer layers[] = {
		{"global", AW_TRUSTED,
			"filesystem: {expose: [{source: /opt/go/, mode: rw}, {source: "
			"~/x, target: /y/../z//w}]}"},
		{"policy", AW_TRUSTED,
			"filesystem: {expose: [{source: /opt/go2, target: /opt/go}]}"},
	};
	struct aw_policy p;

	load(layers, 2, AW_ENFORCE, &p);
	ok(p.exposed_count == 2, "one entry a target");
	ok(strcmp(p.exposed[0].target, "/opt/go") == 0 &&
			strcmp(p.exposed[0].source, "/opt/go2") == 0 &&
			!p.exposed[0].write,
		"the later one wins");
	ok(strcmp(p.exposed[1].source, "/home/ann/x") == 0 &&
			strcmp(p.exposed[1].target, "/z/w") == 0,
		"paths are expanded and clean");
	aw_policy_release(&p);
}

static void all_of_it_is_printed(void)
{
	static const char text[] =
		"preset: [claude-code]\nprotections: {git-hooks: off}\n"
		"limits: {memory: 2g, cpus: 0.5, time: 1h}\n"
		"filesystem: {expose: [{source: '/a b', mode: rw}]}\n"
		"environment: {redirect_home: true}";
	static const char *const expected[] = {"  git-hooks: off  # policy /tmp/aw-",
		"  memory: 2147483648  # policy /tmp/aw-",
		"  cpus: 0.500000000  # policy /tmp/aw-",
		"  time: 3600  # policy /tmp/aw-",
		"- {source: \"/a b\", target: \"/a b\", mode: rw}  # policy /tmp/aw-",
		"  redirect_home: true  # policy /tmp/aw-",
		"# preset claude-code  # policy /tmp/aw-",
		"\"api.anthropic.com:443\"  # preset data/presets/claude-code.yaml:",
		"\"private-keys: ~/.ssh\"  # protections:"};
	char *first = NULL, *second = NULL;
	struct aw_policy p;
	size_t size, i;
	FILE *out;

	load_text(text, AW_ENFORCE, &p);
	out = open_memstream(&first, &size);
	aw_policy_print(&p, out);
	fclose(out);
	aw_policy_release(&p);
	for (i = 0; i < sizeof(expected) / sizeof(*expected); i++)
		ok(strstr(first, expected[i]) != NULL, "printed: %s", expected[i]);
	load_text(strchr(first, '\n') + 1, AW_ENFORCE, &p);
	out = open_memstream(&second, &size);
	aw_policy_print(&p, out);
	fclose(out);
	ok(p.limits.memory == 2ull << 30 && p.redirect_home && p.exposed_count == 1 &&
			strstr(second, "git-hooks: off") &&
			aw_policy_keeps_variable(&p, "ANTHROPIC_API_KEY") &&
			!aw_policy_keeps_variable(&p, "GH_TOKEN") &&
			judge(&p, AW_WRITE, "/home/ann/.claude/x").verdict == AW_ALLOW,
		"and read again it means the same");
	aw_policy_release(&p);
	free(first);
	free(second);
}

int main(void)
{
	static const char *const names[] = {"ANTHROPIC_BASE_URL", "OPENAI_BASE_URL",
		"HTTPS_PROXY", "HTTP_PROXY", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		unsetenv(names[i]);
	protections_hold();
	every_row_refuses_what_it_says();
	links_and_other_homes_count();
	each_can_be_switched_off();
	only_trusted_files_switch_them_off();
	a_preset_stands_below_the_files();
	agents_have_presets();
	an_endpoint_comes_from_the_environment();
	name_servers_are_those_of_the_system();
	credentials_are_unset();
	the_system_unsets_for_good();
	limits_are_read_and_only_get_smaller();
	what_is_exposed();
	all_of_it_is_printed();
	return done();
}
