/* SPDX-License-Identifier: Apache-2.0 */
/* policy_judge.h - loading a policy that must load, and asking it. */
#ifndef AW_TESTS_UNIT_POLICY_JUDGE_H
#define AW_TESTS_UNIT_POLICY_JUDGE_H

#include <arpa/inet.h>
#include <sys/socket.h>

#include "tests/unit/policy_text.h"

/* What a caller's environment would add to the built-in rules. */
__attribute__((unused)) static void forget_environment(void)
{
	static const char *const names[] = {"ANTHROPIC_BASE_URL", "OPENAI_BASE_URL",
		"HTTPS_PROXY", "HTTP_PROXY", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		unsetenv(names[i]);
}

__attribute__((unused)) static void load(const struct text_layer *layers, size_t count,
	enum aw_mode mode, struct aw_policy *policy)
{
	struct aw_diagnostics diagnostics;

	if (load_layers(layers, count, mode, policy, &diagnostics) < 0) {
		aw_diagnostics_print(&diagnostics, stderr);
		abort();
	}
	aw_diagnostics_free(&diagnostics);
}

__attribute__((unused)) static void load_text(
	const char *text, enum aw_mode mode, struct aw_policy *policy)
{
	const struct text_layer layer = {"policy", AW_TRUSTED, text};

	load(&layer, text ? 1 : 0, mode, policy);
}

/* As the command of this name, with no file. */
__attribute__((unused)) static void load_for(
	const char *command, struct aw_policy *policy)
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

__attribute__((unused)) static struct aw_decision judge(
	const struct aw_policy *policy, enum aw_action action, const char *path)
{
	struct aw_decision d;

	aw_image_decide_path(policy->image, action, path, strlen(path), &d);
	return d;
}

__attribute__((unused)) static struct aw_decision judge_address(
	const struct aw_policy *policy, enum aw_action action, const char *text,
	uint16_t port, const char *host)
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

__attribute__((unused)) static bool has_rule(const struct aw_policy *policy,
	const struct aw_decision *d, const char *file, const char *layer,
	const char *text)
{
	struct aw_rule rule;

	return aw_image_rule(policy->image, d->rule, &rule) &&
	       strstr(rule.file, file) && strcmp(rule.layer, layer) == 0 &&
	       strcmp(rule.text, text) == 0 && rule.line > 0;
}

#endif
