/* SPDX-License-Identifier: Apache-2.0 */
/* test_defaults.c - presets, credentials, limits and what is exposed. */
#include "tests/unit/policy_judge.h"

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
	load_text(
		"preset: [node]\nfilesystem: {default: allow}\nnetwork: {default: allow}",
		AW_ENFORCE, &p);
	ok(judge(&p, AW_WRITE, "/etc/x").verdict == AW_ALLOW &&
			judge_address(&p, AW_BIND, "192.0.2.1", 443, NULL).verdict ==
				AW_ALLOW,
		"a default of the file's own is kept");
	aw_policy_release(&p);
}

/* A tool that somebody runs by itself has what its preset opens, and nothing else. */
static void tools_have_presets(void)
{
	static const struct {
		const char *commands, *preset, *state, *host;
	} tools[] = {
		{"node npm npx pnpm yarn", "node", "/home/ann/.npm/x",
			"registry.npmjs.org"},
		{"python python3 pip pip3 uv uvx", "python", "/home/ann/.cache/pip/x",
			"pypi.org"},
		{"cargo rustc", "rust", "/home/ann/.cargo/registry/x",
			"static.crates.io"},
		{"go", "go", "/home/ann/.cache/go-build/x", "proxy.golang.org"},
		{"mvn gradle", "java", "/home/ann/.m2/repository/x",
			"repo.maven.apache.org"},
	};
	char names[80], *at, *name;
	struct aw_policy p;
	size_t i;

	for (i = 0; i < sizeof(tools) / sizeof(*tools); i++) {
		strcpy(names, tools[i].commands);
		for (at = names; (name = strsep(&at, " "));) {
			load_for(name, &p);
			ok(p.picked && strcmp(p.picked, tools[i].preset) == 0,
				"%s picks %s", name, tools[i].preset);
			ok(judge(&p, AW_WRITE, tools[i].state).verdict == AW_ALLOW &&
					judge_address(&p, AW_CONNECT, "192.0.2.1", 443,
						tools[i].host)
							.verdict == AW_ALLOW,
				"it keeps its cache and reaches %s", tools[i].host);
			ok(judge(&p, AW_WRITE, "/home/ann/x").verdict == AW_DENY &&
					judge_address(&p, AW_CONNECT, "192.0.2.1", 443,
						"example.com")
							.verdict == AW_DENY,
				"but nothing else");
			aw_policy_release(&p);
		}
	}
}

static void agents_have_presets(void)
{
	static const struct {
		const char *command, *preset, *state, *host;
		const char *kept;
	} agents[] = {
		{"aider", "aider", "/home/ann/.aider/caches/x", "api.deepseek.com",
			"DEEPSEEK_API_KEY"},
		{"claude", "claude-code", "/home/ann/.claude/x", "api.anthropic.com",
			"ANTHROPIC_API_KEY"},
		{"claude-code-acp", "claude-code", "/home/ann/.claude.json.lock",
			"api.anthropic.com", "CLAUDE_CODE_OAUTH_TOKEN"},
		{"claude-agent-acp", "claude-code", "/home/ann/.claude.json",
			"api.anthropic.com", "ANTHROPIC_AUTH_TOKEN"},
		{"codex", "codex", "/home/ann/.codex/x", "api.openai.com",
			"OPENAI_API_KEY"},
		{"goose", "goose", "/home/ann/.local/share/goose/x", "openrouter.ai",
			"GOOGLE_API_KEY"},
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
	tools_have_presets();
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
			"limits: {memory: 2g, cpus: 1.5, processes: 512, file_size: 1.5k}"},
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
	static const char *const expected[] = {"  git-hooks: off  # /tmp/aw-",
		"  memory: 2147483648  # /tmp/aw-", "  cpus: 0.500000000  # /tmp/aw-",
		"  time: 3600  # /tmp/aw-",
		"- {source: \"/a b\", target: \"/a b\", mode: rw}  # /tmp/aw-",
		"  redirect_home: true  # /tmp/aw-", "# preset claude-code  # /tmp/aw-",
		"\"api.anthropic.com:443\"  # data/presets/claude-code.yaml:",
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
	forget_environment();
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
