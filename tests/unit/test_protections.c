/* SPDX-License-Identifier: Apache-2.0 */
/* test_protections.c - what no policy need say: keys, start-up files, hooks are
 * guarded. */
#include "tests/unit/policy_judge.h"

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
	{"agent-config", AW_CREATE, "/repo/.claude/commands/x.md",
		"**/.claude/commands", "/repo/.claude/command"},
	{"agent-config", AW_CREATE, "/repo/.claude/agents/x.md", "**/.claude/agents",
		"/repo/.claude/todos/x"},
	{"agent-config", AW_CREATE, "/repo/.cursor/hooks.json", "**/.cursor/hooks.json",
		"/repo/.cursor/rules/x"},
	{"agent-config", AW_CREATE, "/repo/.opencode/plugins/x.js",
		"**/.opencode/plugins", "/repo/.opencode/log"},
	{"editor-tasks", AW_CREATE, "/repo/.helix/languages.toml", "**/.helix",
		"/repo/.helixes"},
	{"editor-tasks", AW_CREATE, "/repo/.dir-locals-2.el", "**/.dir-locals-2.el",
		"/repo/.dir-locals-3.el"},
	{"shell-startup", AW_WRITE, "/home/ann/.ripgreprc", "~/.ripgreprc",
		"/repo/.ripgreprc"},
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
	{"name-lookup", AW_WRITE, "/etc/hosts", "/etc/hosts", "/etc/hostname"},
	{"name-lookup", AW_RENAME, "/etc/resolv.conf", "/etc/resolv.conf",
		"/etc/resolv.conf.d"},
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
#define AW_PROTECTION(id, name, about) static const char name_of_##id[] = name;
#define AW_PROTECT(id, list, text)
#include "policy/load/protections.def"
	static const struct {
		const char *name, *list, *text;
	} rows[] = {
#define AW_PROTECTION(id, name, about)
#define AW_PROTECT(id, list, text) {name_of_##id, #list, text},
#include "policy/load/protections.def"
	};
	struct aw_policy p;
	size_t i;

	load_text("base: open", AW_ENFORCE, &p);
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
		if (strcmp(rows[i].list, "KEYED") == 0)
			aw_image_decide_in_place(
				p.image, AW_WRITE, path, strlen(path), &d);
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
		snprintf(text, sizeof(text), "base: open\nprotections: {%s: off}",
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
	load_text("base: open\nprotections: off", AW_ENFORCE, &p);
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
			"filesystem: {}\nprotections: {private-keys: off, passwords: off}"},
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

int main(void)
{
	forget_environment();
	protections_hold();
	every_row_refuses_what_it_says();
	links_and_other_homes_count();
	each_can_be_switched_off();
	only_trusted_files_switch_them_off();
	return done();
}
