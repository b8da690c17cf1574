/* SPDX-License-Identifier: Apache-2.0 */
/* show.c - agentwatch policy show. */
#include "policy/array.h"
#include "supervisor/commands/policy/policy_command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "policy/load/load.h"
#include "supervisor/cli/say.h"
#include "supervisor/commands/policy/show_json.h"
#include "supervisor/commands/policy/show_plan.h"

static int load(const struct aw_policy_options *values, const struct aw_layers *layers,
	struct aw_policy *ret)
{
	enum aw_mode mode = values->mode && !strcmp(values->mode, "enforce")
				    ? AW_ENFORCE
				    : AW_AUDIT;
	struct aw_diagnostics found = {0};
	int failed = aw_policy_load(layers->sources, layers->count, &layers->variables,
		mode, values->mode != NULL, ret, &found);

	aw_diagnostics_print(&found, stderr);
	aw_diagnostics_free(&found);
	return failed;
}

/* A plan is for one runner, whose sections count. */
static int show_plan(const struct aw_policy_options *values, struct aw_layers *layers,
	struct aw_policy *policy, char **command, struct aw_error *err)
{
	const char *runner = policy->runner_shown ? policy->runner_shown : "bwrap";
	struct aw_policy again;

	if (policy->sections && !values->runner && !policy->runner) {
		runner = layers->variables.runner = "bwrap";
		if (load(values, layers, &again) < 0)
			return aw_fail(err, EINVAL, "the policy has mistakes");
		aw_policy_release(policy);
		*policy = again;
	}
	return aw_plan_show(policy, layers, runner, command, err);
}

/* What no rule is about, or only one that names the very thing: machine.h, calls.def. */
static const char in_any_case[] =
	"# in any case, whatever the rules say: enforce refuses this (docs/LIMITS.md),\n"
	"# held by the supervisor in the engines hybrid and kernel\n"
	"#   system      new namespaces, mounts, io_uring, bpf, keys of the kernel, what\n"
	"#               is about the whole machine\n"
	"#   devices     disks, and devices that no rule below /dev names\n"
	"#   terminals   those of others\n"
	"#   settings    of the kernel, below /proc and /sys, that no rule names\n"
	"#   processes   outside of the session: their memory, descriptors, signals\n"
	"#   agentwatch  the files and sockets of its sessions\n";

static int show(const struct aw_policy_options *values, struct aw_layers *layers,
	struct aw_policy *policy, char **command, struct aw_error *err)
{
	if (values->plan)
		return show_plan(values, layers, policy, command, err);
	if (values->json)
		return aw_show_json(policy, stdout, err);
	aw_trust_print(layers->trust, "# ", stdout);
	aw_policy_print(policy, stdout);
	fputs(in_any_case, stdout);
	return 0;
}

static int show_main(int argc, char **argv)
{
	struct aw_policy_options values = {0};
	struct aw_policy policy = {0};
	struct aw_layers layers;
	struct aw_error err;
	int status, first, r;

	first = aw_policy_start(
		&aw_command_policy_show, argc, argv, &values, &layers, &status);
	if (first < 0)
		return status;
	r = load(&values, &layers, &policy);
	if (!r && show(&values, &layers, &policy, argv + first, &err) < 0)
		status = aw_say_failed(&err);
	if (!r)
		aw_policy_release(&policy);
	aw_layers_release(&layers);
	aw_string_list_free(&values.policies);
	return r < 0 ? AW_EXIT_FAILED : status;
}

#define AT(field) offsetof(struct aw_policy_options, field)

static const struct aw_option show_options[] = {
	{"base", 0, AW_OPT_CHOICE, AT(base), "BASE", "workspace|read-only|open",
		"on this base"},
	{"policy", 'p', AW_OPT_LIST, AT(policies), "FILE", NULL,
		"one more layer on top; may be repeated"},
	{"mode", 'm', AW_OPT_CHOICE, AT(mode), NULL, "audit|enforce",
		"show it for this mode"},
	{"agent", 'a', AW_OPT_STRING, AT(agent), "NAME", NULL,
		"with this agent's layer and preset"},
	{"workspace", 'w', AW_OPT_STRING, AT(workspace), "DIR", NULL,
		"for this directory, not for the one around the working directory"},
	{"plan", 0, AW_OPT_FLAG, AT(plan), NULL, NULL,
		"print the sandbox that run would build: what can be reached, and how"},
	{"runner", 0, AW_OPT_STRING, AT(runner), "NAME", NULL,
		"behind this runner; with --plan and without a word in the policy: bwrap"},
	{"json", 0, AW_OPT_FLAG, AT(json), NULL, NULL,
		"as JSON: \"policy\", and \"origins\" of the same shape"},
};

const struct aw_command aw_command_policy_show = {
	.name = "policy show",
	.arguments = "[--] [COMMAND [ARG...]]",
	.brief = "print the policy that would hold here, with the origin of each entry",
	.details =
		"The layers are the system's /etc/agentwatch/policy.yaml, the user's own, the "
		"agent's, the workspace's .agentwatch.yaml, and the files given with "
		"--policy.\n\n"
		"What is printed is a policy itself: given back with --policy it means the "
		"same,\n"
		"whatever the files below it say.  Variables stand as they were written; rules\n"
		"for one runner are in it when it is the runner that run would take, or "
		"--runner.\n\n"
		"With --plan the sandbox is printed instead that run would build around "
		"COMMAND:\n"
		"what can be read and written there, the network, and the runner's command line.",
	.options = show_options,
	.option_count = ARRAY_SIZE(show_options),
	.main = show_main,
};
