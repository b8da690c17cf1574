/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effective_policy.h - the policy that would hold here, and what would hold it.
 *
 * For the commands that say what `run` would do without running anything: layers,
 * policy, engine, runner and wall are chosen as run chooses them.
 */
#ifndef AW_SUPERVISOR_LINT_EFFECTIVE_POLICY_H
#define AW_SUPERVISOR_LINT_EFFECTIVE_POLICY_H

#include "supervisor/decide/enforcement.h"
#include "supervisor/launch/layers.h"
#include "supervisor/launch/run.h"

/* What the command line says; strings are borrowed, NULL where it says nothing. */
struct aw_standing_wish {
	const char *workspace, *agent, *mode, *base, *runner, *engine;
	const struct aw_string_list *policies;
	const char *file; /* this one alone, as a layer or a preset; else NULL */
};

struct aw_standing {
	struct aw_layers layers;
	struct aw_policy_source one;		/* the file of the wish */
	const struct aw_policy_source *sources; /* that one, or those of all layers */
	size_t source_count;
	struct aw_policy policy;
	struct aw_plan plan;
	struct aw_wall wall;
	struct aw_holding holding;
	const char *runner, *engine; /* names */
	bool apart;  /* the session has a network of its own, in audit: would have */
	bool loaded; /* the policy is there */
};

/* Layers and policy alone; what was found wrong or odd goes to *found. */
int aw_standing_load(const struct aw_standing_wish *wish, struct aw_standing *ret,
	struct aw_diagnostics *found, struct aw_error *err);

/* Engine, runner and wall; fails where run would. */
int aw_standing_hold(const struct aw_standing_wish *wish, struct aw_standing *standing,
	struct aw_error *err);

/* Free the contents, not the struct itself; one that is zeroed is fine. */
void aw_standing_release(struct aw_standing *standing);

#endif
