/* SPDX-License-Identifier: Apache-2.0 */
/* load_document.c - the outermost keys of a policy. */
#include <string.h>

#include "policy/load/load_internal.h"

static const char *const modes[] = {"audit", "enforce", NULL};

static const struct aw_shape version_shape = {.kind = AW_SHAPE_AMOUNT,
	.pattern = "^1$",
	.least = 1,
	.most = 1,
	.whole = true,
	.entry = "1"};
static const struct aw_shape mode_shape = {.kind = AW_SHAPE_WORD, .words = modes};
static const struct aw_shape presets_shape = {
	.kind = AW_SHAPE_LIST, .entry = "names of presets"};
static const char *const merge_words[] = {"extend", "replace", NULL};
static const struct aw_shape merge_shape = {
	.kind = AW_SHAPE_WORD, .words = merge_words};
static const struct aw_shape agents_shape = {.kind = AW_SHAPE_ENTRIES};

static void read_version(struct aw_loader *l, const struct aw_node *value, int argument)
{
	(void)argument;
	if (value->kind != AW_NODE_TEXT || strcmp(value->text, "1") != 0)
		aw_report(l, value, "expected version 1, the only one there is");
}

/* Of several words on the mode the system's and an untrusted file's can only tighten. */
static void read_mode(struct aw_loader *l, const struct aw_node *value, int argument)
{
	int mode = aw_word_read(l, value, modes);

	(void)argument;
	if (mode < 0)
		return;
	if (l->source->trust == AW_UNTRUSTED && mode == AW_AUDIT) {
		aw_warn(l, value, "'mode: audit' is ignored: this file is not trusted");
		return;
	}
	if ((l->policy.fixed & (1u << AW_FIELD_MODE)) && mode == AW_AUDIT) {
		aw_warn(l, value,
			"'mode: audit' is ignored: the system policy enforces");
		return;
	}
	if (l->source->trust == AW_SYSTEM && mode == AW_ENFORCE)
		l->policy.fixed |= 1u << AW_FIELD_MODE;
	l->policy.mode = (enum aw_mode)mode;
	l->policy.mode_set = true;
	aw_origin_add(l, value, "mode", modes[mode]);
}

enum { ANYWHERE = AW_KEY_UNTRUSTED | AW_KEY_PRESET };

static const struct aw_key keys[] = {
	{"version", read_version, 0, ANYWHERE | AW_KEY_TOP | AW_KEY_REQUIRED,
		&version_shape, "the version of the policy language"},
	{"mode", read_mode, 0, AW_KEY_UNTRUSTED, &mode_shape,
		"audit: watch and log what would be denied; enforce: deny it"},
	{"base", aw_field_read, AW_FIELD_BASE, 0, &aw_field_shapes[AW_FIELD_BASE],
		"what holds where no file says anything; workspace when not given"},
	{"runner", aw_field_read, AW_FIELD_RUNNER, 0, &aw_field_shapes[AW_FIELD_RUNNER],
		"the sandbox around the command"},
	{"engine", aw_field_read, AW_FIELD_ENGINE, 0, &aw_field_shapes[AW_FIELD_ENGINE],
		"how calls are seen"},
	{"verdicts", aw_field_read, AW_FIELD_VERDICTS, 0,
		&aw_field_shapes[AW_FIELD_VERDICTS],
		"local: decided in the watched process; ask: every call waits for the supervisor"},
	{"on_missing_runner", aw_field_read, AW_FIELD_MISSING, 0,
		&aw_field_shapes[AW_FIELD_MISSING],
		"when the sandbox cannot be built: do not start, or go on with exec and say so"},
	{"require", aw_field_read, AW_FIELD_REQUIRE, 0,
		&aw_field_shapes[AW_FIELD_REQUIRE],
		"do not start while a rule is held by less"},
	{"quiet", aw_field_read, AW_FIELD_QUIET, 0, &aw_field_shapes[AW_FIELD_QUIET],
		"no lines on stderr of a run that goes well"},
	{"keep_descendants", aw_field_read, AW_FIELD_KEEP, 0,
		&aw_field_shapes[AW_FIELD_KEEP],
		"what the command has started may outlive it"},
	{"log", aw_field_read, AW_FIELD_LOG, 0, &aw_field_shapes[AW_FIELD_LOG],
		"where events go"},
	{"filesystem", aw_rules_read, AW_RULES_FILES, ANYWHERE, &aw_files_shape,
		"what may be read and changed"},
	{"exec", aw_rules_read, AW_RULES_EXEC, ANYWHERE, &aw_exec_shape,
		"what may be run"},
	{"network", aw_rules_read, AW_RULES_NETWORK, ANYWHERE, &aw_network_shape,
		"what may be connected to and listened on"},
	{"environment", aw_environment_read, 0, ANYWHERE, &aw_environment_shape,
		"which variables the command sees"},
	{"ask", aw_ask_read, 0, 0, &aw_ask_shape,
		"how long a question waits for an answer"},
	{"merge", aw_merge_read, 0, 0, &merge_shape,
		"on the layers below, or in their place"},
	{"preset", aw_preset_read, 0, AW_KEY_PRESET, &presets_shape,
		"rules that ship with agentwatch, below those of all files"},
	{"limits", aw_limits_read, 0, AW_KEY_UNTRUSTED, &aw_limits_shape,
		"how much the command and its descendants may use"},
	{"container", NULL, 0, AW_KEY_LATER, NULL, NULL},
	{"user", NULL, 0, AW_KEY_LATER, NULL, NULL},
	{"host_commands", NULL, 0, AW_KEY_LATER, NULL, NULL},
	{"profiles", aw_profiles_read, 0, AW_KEY_UNTRUSTED, &aw_profiles_shape,
		"tighter policies for MCP servers and commands"},
	{"hooks", NULL, 0, AW_KEY_LATER, NULL, NULL},
	{"restricted_runners", aw_runners_read, 0, AW_KEY_UNTRUSTED, &aw_runners_shape,
		"rules that count for one runner alone"},
	{"restricted_runner", aw_older_runner_read, 0, AW_KEY_UNTRUSTED,
		&aw_older_runner_shape,
		"an older form of `runner` and `restricted_runners`, read with a warning"},
	{"protections", aw_protections_read, 0, AW_KEY_PRESET, &aw_protections_shape,
		"what is refused without a word in any file; off switches it off"},
	{"tests", aw_tests_read, 0, ANYWHERE, &aw_tests_shape,
		"what `policy test` expects"},
	{"agents", aw_agents_read, 0, AW_KEY_TOP, &agents_shape,
		"a policy for each agent, right above this file"},
	{"intersect", aw_intersect_read, 0, AW_KEY_TOP, &aw_intersect_shape,
		"what is judged apart, as policy show prints it"},
	{NULL, NULL, 0, 0, NULL, NULL},
};

const struct aw_shape aw_document_shape = {.kind = AW_SHAPE_MAP, .keys = keys};
