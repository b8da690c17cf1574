/* SPDX-License-Identifier: Apache-2.0 */
/* test_presets.c - what each preset for a tool opens, and what stays closed with it. */
#include "tests/unit/policy_judge.h"

static enum aw_verdict reach(const struct aw_policy *p, const char *host)
{
	return judge_address(p, AW_CONNECT, "192.0.2.1", 443, host).verdict;
}

static enum aw_verdict judge_unix(const struct aw_policy *p, const char *path)
{
	return judge_address(p, AW_CONNECT, path, 0, NULL).verdict;
}

static void a_tool_has_its_own_and_no_more(void)
{
	static const struct {
		const char *preset, *cache, *host;
		const char *closed; /* beside it: what is run, or obeyed, outside */
	} tools[] = {
		{"node", "/home/ann/.npm/_cacache/x", "registry.npmjs.org",
			"/home/ann/.local/share/pnpm/global/x"},
		{"node", "/home/ann/.local/share/pnpm/_tmp_1_2", "registry.yarnpkg.com",
			"/home/ann/.npmrc"},
		{"python", "/home/ann/.cache/pip/x", "pypi.org",
			"/home/ann/.local/lib/python3.11/site-packages/x.pth"},
		{"go", "/home/ann/go/pkg/mod/x", "proxy.golang.org",
			"/home/ann/go/bin/x"},
		{"go", "/home/ann/.config/go/telemetry/x", "sum.golang.org",
			"/home/ann/.config/go/env"},
		{"go", "/home/ann/.cache/go-build/00/x", "sum.golang.org",
			"/home/ann/go/pkg/tool/x"},
		{"rust", "/home/ann/.cargo/registry/x", "index.crates.io",
			"/home/ann/.cargo/bin/x"},
		{"rust", "/home/ann/.cargo/.global-cache", "static.crates.io",
			"/home/ann/.cargo/config.toml"},
		{"java", "/home/ann/.m2/repository/x", "repo.maven.apache.org",
			"/home/ann/.m2/settings.xml"},
		{"java", "/home/ann/.gradle/caches/x", "plugins.gradle.org",
			"/home/ann/.gradle/init.d/x.gradle"},
		{"git", "/repo/.git/index", "github.com", "/home/ann/.gitconfig"},
	};
	struct aw_policy p;
	char text[64];
	size_t i;

	for (i = 0; i < sizeof(tools) / sizeof(*tools); i++) {
		snprintf(text, sizeof(text), "preset: [%s]", tools[i].preset);
		load_text(text, AW_ENFORCE, &p);
		ok(judge(&p, AW_CREATE, tools[i].cache).verdict == AW_ALLOW,
			"%s may make %s", tools[i].preset, tools[i].cache);
		ok(judge(&p, AW_CREATE, tools[i].closed).verdict == AW_DENY,
			"but not %s", tools[i].closed);
		ok(reach(&p, tools[i].host) == AW_ALLOW, "it reaches %s",
			tools[i].host);
		ok(reach(&p, "example.com") == AW_DENY &&
				judge_address(
					&p, AW_CONNECT, "192.0.2.1", 80, tools[i].host)
						.verdict == AW_DENY,
			"nobody else, and at no other port");
		ok(judge(&p, AW_READ, "/home/ann/.ssh/id_ed25519").verdict == AW_DENY &&
				!aw_policy_keeps_variable(&p, "NPM_TOKEN") &&
				!aw_policy_keeps_variable(&p, "SSH_AUTH_SOCK"),
			"no secret comes with it");
		aw_policy_release(&p);
	}
}

static void presets_add_up(void)
{
	struct aw_policy p;

	load_text("preset: [go, node, rust, python, java]", AW_ENFORCE, &p);
	ok(judge(&p, AW_CREATE, "/home/ann/.cache/go-build/x").verdict == AW_ALLOW &&
			judge(&p, AW_CREATE, "/home/ann/.cache/pip/x").verdict ==
				AW_ALLOW &&
			judge(&p, AW_CREATE, "/home/ann/.config/go/telemetry/x")
					.verdict == AW_ALLOW &&
			judge(&p, AW_CREATE, "/home/ann/.cargo/git/x").verdict ==
				AW_ALLOW,
		"a later preset takes nothing away from an earlier one");
	ok(judge(&p, AW_CREATE, "/home/ann/.config/x").verdict == AW_DENY &&
			judge(&p, AW_CREATE, "/home/ann/.cargo/env").verdict == AW_DENY,
		"and opens nothing of its folders");
	aw_policy_release(&p);
}

static void an_agent_is_reached_by_its_socket(void)
{
	struct aw_policy p;

	setenv("SSH_AUTH_SOCK", "/run/ssh/agent", 1);
	load_text("preset: [ssh-agent]", AW_ENFORCE, &p);
	ok(judge_unix(&p, "/run/ssh/agent") == AW_ALLOW &&
			aw_policy_keeps_variable(&p, "SSH_AUTH_SOCK"),
		"the agent's socket and its variable are let through");
	ok(judge_unix(&p, "/run/ssh/other") == AW_DENY &&
			judge(&p, AW_READ, "/home/ann/.ssh/known_hosts").verdict ==
				AW_DENY,
		"other sockets are not, nor is anything in ~/.ssh");
	aw_policy_release(&p);
	unsetenv("SSH_AUTH_SOCK");
	load_text("preset: [ssh-agent]", AW_ENFORCE, &p);
	ok(judge_unix(&p, "/run/ssh/agent") == AW_DENY,
		"without the variable there is nothing to reach");
	aw_policy_release(&p);
}

static void an_engine_is_reached_where_it_is_said_to_be(void)
{
	static const struct {
		const char *host, *path, *address;
		uint16_t port;
	} cases[] = {
		{NULL, "/run/docker.sock", NULL, 0},
		{NULL, "/var/run/docker.sock", NULL, 0},
		{NULL, "/run/user/7/podman/podman.sock", NULL, 0},
		{NULL, "/home/ann/.docker/run/docker.sock", NULL, 0},
		{"unix:///srv/engine.sock", "/srv/engine.sock", NULL, 0},
		{"unix:///srv/my engine[1].sock", "/srv/my engine[1].sock", NULL, 0},
		{"tcp://192.0.2.7:2376", NULL, "192.0.2.7", 2376},
		{"tcp://192.0.2.7", NULL, "192.0.2.7", 2375},
	};
	struct aw_policy p;
	size_t i;

	setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (cases[i].host)
			setenv("DOCKER_HOST", cases[i].host, 1);
		load_text("preset: [docker-client]", AW_ENFORCE, &p);
		ok(cases[i].path ? judge_unix(&p, cases[i].path) == AW_ALLOW
				 : judge_address(&p, AW_CONNECT, cases[i].address,
					   cases[i].port, NULL)
						   .verdict == AW_ALLOW,
			"%s is reached", cases[i].path ? cases[i].path : cases[i].host);
		ok(judge_unix(&p, "/run/containerd/containerd.sock") == AW_DENY &&
				judge_unix(&p, "/srv/other.sock") == AW_DENY &&
				judge_unix(&p, "/srv/my engine1.sock") == AW_DENY &&
				judge_address(&p, AW_CONNECT, "127.0.0.1", 2375, NULL)
						.verdict == AW_DENY,
			"others are not");
		ok(judge(&p, AW_READ, "/home/ann/.docker/config.json").verdict ==
					AW_DENY &&
				judge(&p, AW_CREATE, "/home/ann/.docker/cli-plugins/x")
						.verdict == AW_DENY,
			"passwords of registries stay closed");
		aw_policy_release(&p);
	}
	unsetenv("DOCKER_HOST");
	unsetenv("XDG_RUNTIME_DIR");
	load_text("preset: [git, node]", AW_ENFORCE, &p);
	ok(judge_unix(&p, "/run/docker.sock") == AW_DENY,
		"without the preset the engine is protected");
	aw_policy_release(&p);
	load_text("preset: [docker-client]\nnetwork: {default: allow}", AW_ENFORCE, &p);
	ok(judge_unix(&p, "/run/containerd/containerd.sock") == AW_DENY &&
			judge_unix(&p, "/run/libvirt/libvirt-sock") == AW_DENY,
		"engines that docker does not speak to are refused where all else is open");
	aw_policy_release(&p);
}

/* What a file says of a protection holds, in front of the preset's name and behind it. */
static void a_file_has_the_last_word_on_protections(void)
{
	static const struct {
		const char *first, *second;
		enum aw_trust trust;
		unsigned warnings;
	} cases[] = {
		{"protections: {container-engines: on}", "preset: [docker-client]",
			AW_TRUSTED, 1},
		{"preset: [docker-client]", "protections: {container-engines: on}",
			AW_TRUSTED, 0},
		{"protections: on", "preset: [docker-client]", AW_TRUSTED, 1},
		{"protections: {container-engines: on}", "preset: [docker-client]",
			AW_SYSTEM, 1},
	};
	struct text_layer layers[2] = {
		{"system", AW_TRUSTED, NULL}, {"policy", AW_TRUSTED, NULL}};
	struct aw_diagnostics diagnostics;
	struct aw_policy p;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		layers[0].text = cases[i].first;
		layers[0].trust = cases[i].trust;
		layers[1].text = cases[i].second;
		if (load_layers(layers, 2, AW_ENFORCE, &p, &diagnostics) < 0)
			abort();
		ok(judge_unix(&p, "/run/docker.sock") == AW_DENY,
			"on it stays: %s, then %s", cases[i].first, cases[i].second);
		ok(diagnostics.count == cases[i].warnings,
			"a preset that loses says so");
		aw_diagnostics_free(&diagnostics);
		aw_policy_release(&p);
	}
	load_text("protections: {container-engines: off}\npreset: [docker-client]",
		AW_ENFORCE, &p);
	ok(judge_unix(&p, "/run/docker.sock") == AW_ALLOW,
		"off it is when both say so");
	aw_policy_release(&p);
}

static void commands_pick_presets_that_are_there(void)
{
	const char *command, *preset;
	struct aw_policy p;
	size_t i;

	for (i = 0; (command = aw_preset_command(i, &preset)); i++) {
		load_for(command, &p);
		ok(p.picked && strcmp(p.picked, preset) == 0, "%s picks %s", command,
			preset);
		ok(judge_unix(&p, "/run/docker.sock") == AW_DENY,
			"and no engine with it");
		aw_policy_release(&p);
	}
	ok(i >= 9, "there are some");
}

int main(void)
{
	forget_environment();
	unsetenv("CONTAINER_HOST");
	unsetenv("DOCKER_HOST");
	a_tool_has_its_own_and_no_more();
	presets_add_up();
	an_agent_is_reached_by_its_socket();
	an_engine_is_reached_where_it_is_said_to_be();
	a_file_has_the_last_word_on_protections();
	commands_pick_presets_that_are_there();
	return done();
}
