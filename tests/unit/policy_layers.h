/* SPDX-License-Identifier: Apache-2.0 */
/* policy_layers.h - loading layers as an agent and behind a runner, and asking them. */
#ifndef AW_TESTS_UNIT_POLICY_LAYERS_H
#define AW_TESTS_UNIT_POLICY_LAYERS_H

#include "tests/unit/policy_judge.h"

/* Who is asked for the runner that nobody names. */
__attribute__((unused)) static const char *any_runner = "landlock";
__attribute__((unused)) static unsigned asked;

__attribute__((unused)) static const char *default_runner(
	enum aw_mode mode, enum aw_base_kind base)
{
	asked++;
	return mode == AW_ENFORCE && base != AW_BASE_OPEN ? any_runner : "exec";
}

/* As agent, behind runner (either may be NULL); the warnings that there were. */
__attribute__((unused)) static size_t load_as(const char *agent, const char *runner,
	const struct text_layer *layers, size_t count, struct aw_policy *policy)
{
	struct aw_policy_variables variables = some_variables;
	struct aw_diagnostics d;
	size_t warnings;

	variables.command = agent;
	variables.runner = runner;
	variables.default_runner = default_runner;
	if (load_layers_with(layers, count, AW_AUDIT, &variables, policy, &d) < 0) {
		aw_diagnostics_print(&d, stderr);
		abort();
	}
	warnings = d.count;
	aw_diagnostics_free(&d);
	return warnings;
}

__attribute__((unused)) static enum aw_verdict reads(
	const struct aw_policy *p, const char *path)
{
	return judge(p, AW_READ, path).verdict;
}

__attribute__((unused)) static enum aw_verdict connects(
	const struct aw_policy *p, const char *address)
{
	return judge_address(p, AW_CONNECT, address, 443, NULL).verdict;
}

#endif
