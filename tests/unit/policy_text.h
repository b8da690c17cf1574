/* SPDX-License-Identifier: Apache-2.0 */
/* policy_text.h - policies from texts instead of files. */
#ifndef AW_TESTS_UNIT_POLICY_TEXT_H
#define AW_TESTS_UNIT_POLICY_TEXT_H

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/load/load.h"
#include "tests/unit/tap.h"

static const struct aw_policy_variables some_variables = {
	.workspace = "/repo",
	.home = "/home/ann",
	.user = "ann",
	.tmpdir = "/tmp",
	.agentwatch_dir = "/home/ann/.config/agentwatch",
	.presets = "data/presets",
	.state_dir = "/home/ann/.local/state/agentwatch",
	.runtime_dir = "/run/user/7/agentwatch",
	.log = "/home/ann/log.jsonl",
};

struct text_layer {
	const char *layer;
	enum aw_trust trust;
	const char *text; /* without "version: 1" */
};

/* Load up to eight layers; the caller releases both results. */
__attribute__((unused)) static int load_layers_with(const struct text_layer *layers,
	size_t count, enum aw_mode mode, const struct aw_policy_variables *variables,
	struct aw_policy *policy, struct aw_diagnostics *diagnostics)
{
	struct aw_policy_source sources[8] = {{NULL, NULL, AW_TRUSTED}};
	char names[8][32];
	size_t i;
	int result, fd;

	for (i = 0; i < count && i < 8; i++) {
		strcpy(names[i], "/tmp/aw-policy-XXXXXX");
		fd = mkstemp(names[i]);
		if (fd < 0 || dprintf(fd, "version: 1\n%s\n", layers[i].text) < 0)
			abort();
		close(fd);
		sources[i].file = names[i];
		sources[i].layer = layers[i].layer;
		sources[i].trust = layers[i].trust;
	}
	result =
		aw_policy_load(sources, i, variables, mode, false, policy, diagnostics);
	while (i-- > 0)
		unlink(names[i]);
	return result;
}

__attribute__((unused)) static int load_layers(const struct text_layer *layers,
	size_t count, enum aw_mode mode, struct aw_policy *policy,
	struct aw_diagnostics *diagnostics)
{
	return load_layers_with(
		layers, count, mode, &some_variables, policy, diagnostics);
}

/*
 * One trusted layer that must be right; with nothing below it, unless it names a base:
 * what the text means by itself.  The image is malloc'd.
 */
__attribute__((unused)) static struct aw_image *image_of(const char *text)
{
	const struct text_layer layer = {"policy", AW_TRUSTED, text};
	struct aw_diagnostics diagnostics;
	struct aw_policy policy;
	struct aw_error err;
	struct aw_policy_variables variables = some_variables;
	struct aw_image *image;

	variables.base = strstr(text, "base:") ? NULL : "open";
	if (load_layers_with(&layer, 1, AW_AUDIT, &variables, &policy, &diagnostics) <
		0) {
		aw_diagnostics_print(&diagnostics, stderr);
		abort();
	}
	aw_diagnostics_free(&diagnostics);
	if (aw_image_check(policy.image, policy.image_size, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		abort();
	}
	image = policy.image;
	policy.image = NULL;
	aw_policy_release(&policy);
	return image;
}

#endif
