/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effective_policy.h - the policy that would hold here, and what would hold it.
 *
 * For the commands that say what `run` would do without running anything: layers,
 * policy, engine, runner and sandbox are chosen as run chooses them.
 */
#ifndef AW_SUPERVISOR_LINT_EFFECTIVE_POLICY_H
#define AW_SUPERVISOR_LINT_EFFECTIVE_POLICY_H

#include "supervisor/decide/enforcement.h"
#include "supervisor/launch/layers.h"
#include "supervisor/launch/run.h"

/* What the command line says; strings are borrowed, NULL where it says nothing. */
struct aw_effective_params {
	const char *workspace, *agent, *mode, *base, *runner, *engine;
	const struct aw_string_list *policies;
	const char *file; /* this one alone, as a layer or a preset; else NULL */
};

struct aw_effective {
	struct aw_layers layers;
	struct aw_policy_source one;		/* the file of the wish */
	const struct aw_policy_source *sources; /* that one, or those of all layers */
	size_t source_count;
	struct aw_policy policy;
	struct aw_plan plan;
	struct aw_sandbox sandbox;
	struct aw_enforcement holding;
	const char *runner, *engine; /* names */
	bool apart;  /* the session has a network of its own, in audit: would have */
	bool loaded; /* the policy is there */
};

/* Layers and policy alone; what was found wrong or odd goes to *found. */
int aw_effective_load(const struct aw_effective_params *params,
	struct aw_effective *ret, struct aw_diagnostics *found, struct aw_error *err);

/* Engine, runner and sandbox; fails where run would. */
int aw_effective_hold(const struct aw_effective_params *params,
	struct aw_effective *standing, struct aw_error *err);

/* Free the contents, not the struct itself; one that is zeroed is fine. */
void aw_effective_release(struct aw_effective *standing);

#endif
