/* SPDX-License-Identifier: Apache-2.0 */
/*
 * enforcement.h - what holds the rules of one session, from its policy, plan and
 * sandbox.
 *
 * For the commands that run something, explain a policy or show a plan: each fills one
 * aw_enforcement, and all of them then say the same.
 */
#ifndef AW_SUPERVISOR_DECIDE_ENFORCEMENT_H
#define AW_SUPERVISOR_DECIDE_ENFORCEMENT_H

#include "policy/load/load.h"
#include "supervisor/decide/strength.h"
#include "supervisor/sandbox/runner.h"

struct aw_enforcement {
	struct aw_landlock landlock;	/* version 0: none */
	bool drop_capabilities;		/* root would not be held with all of them */
	struct aw_strength_facts facts; /* point into this struct, policy and plan */
	const char *gate_refused; /* why no open for reading may pass from the gate
				  page; NULL: Landlock refuses whatever a rule does */
};

/*
 * plan and sandbox: NULL without a sandbox; they and policy must outlive *ret.
 * notified: the engine is not `preload`.  In mode audit nothing is held, since nothing
 * is refused.
 */
int aw_enforcement_init(const struct aw_policy *policy, const struct aw_plan *plan,
	const struct aw_sandbox *sandbox, bool notified, struct aw_enforcement *ret,
	struct aw_error *err);

/* For plan.txt, in mode enforce: who refuses reads, and what passes from the gate page. */
void aw_enforcement_print(const struct aw_enforcement *holding, FILE *out);

/* Free the contents, not the struct itself. */
void aw_enforcement_release(struct aw_enforcement *holding);

/*
 * 0 when every rule and default that refuses something is held by `wanted` ("kernel" or
 * "supervisor") or by more.  Else -1, with how many are not in err, and each of them
 * given to say() as "file:line: ...".
 */
int aw_require(const struct aw_strength_facts *facts, const char *wanted,
	void (*say)(const char *fmt, ...), struct aw_error *err);

#endif
