/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runner.h - the walls: one row each.
 */
#ifndef AW_SUPERVISOR_RUNNER_RUNNER_H
#define AW_SUPERVISOR_RUNNER_RUNNER_H

#include "supervisor/runner/plan.h"

/* What stands around the command, once it is decided. */
struct aw_wall {
	const struct aw_runner *runner;
	char **prefix; /* owned, with its strings: argv before agentwatch-enter, or NULL
			*/
	int *fds;      /* owned: descriptors that prefix names by number, inherited */
	size_t fd_count;
	bool own_mounts, own_pids, own_network; /* namespaces that it makes */
	bool landlock; /* agentwatch-enter applies the plan as a Landlock ruleset */
};

struct aw_runner {
	const char *name;
	const char *install; /* how to get it, for the message when it is missing */
	/* Can it be used here? 0, or -1 with a sentence that says what is missing. */
	int (*probe)(struct aw_error *err);
	/* Turn the plan into a wall. */
	int (*build)(const struct aw_plan_wish *wish, const struct aw_plan *plan,
		struct aw_wall *ret, struct aw_error *err);
};

/* The row of this name, or NULL. */
const struct aw_runner *aw_runner_find(const char *name);

/* Names of all rows, ", " between them. */
const char *aw_runner_names(void);

/* Free the contents, not the struct itself. */
void aw_wall_release(struct aw_wall *wall);

#endif
