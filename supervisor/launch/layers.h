/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layers.h - which policy files count here, lowest layer first.
 *
 * System, global, agent and workspace policy where they exist, then what was named with
 * --policy.  The workspace's file comes with the repository and is not trusted before
 * its user has said so (supervisor/launch/trust.h).
 */
#ifndef AW_SUPERVISOR_LAUNCH_LAYERS_H
#define AW_SUPERVISOR_LAUNCH_LAYERS_H

#include "policy/error.h"
#include "policy/load/load.h"
#include "supervisor/cli/options.h"
#include "supervisor/launch/trust.h"

/* What the command line says; strings borrowed, NULL where it says nothing. */
struct aw_layers_params {
	const char *workspace, *agent;
	const char *command;	   /* as typed; its base name stands in for agent */
	const char *log;	   /* file that gets the events */
	const char *runner, *base; /* outlive the layers */
	const struct aw_string_list *policies;
};

struct aw_layers {
	struct aw_policy_source *sources; /* owned, with their file names */
	size_t count;
	struct aw_policy_variables variables; /* strings owned */
	struct aw_trust_judgement *trust;     /* owned; of the workspace's file */
};

int aw_layers_find(const struct aw_layers_params *params, struct aw_layers *ret,
	struct aw_error *err);

/*
 * Look again: files that have come since are layers too, and whether the workspace's is
 * still trusted is judged anew.  One that is gone is an error,
 * and leaves the layers as they are.
 */
int aw_layers_again(const struct aw_layers_params *params, struct aw_layers *layers,
	struct aw_error *err);

/* Free what aw_layers_find() filled in, not the struct itself. */
void aw_layers_release(struct aw_layers *layers);

#endif
