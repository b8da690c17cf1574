/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_rules.h - what `policy check` finds out about one policy.
 */
#ifndef AW_SUPERVISOR_LINT_CHECK_RULES_H
#define AW_SUPERVISOR_LINT_CHECK_RULES_H

#include "supervisor/lint/findings.h"
#include "supervisor/lint/effective_policy.h"

/* What opens the base, or takes it away. */
void aw_check_base(const struct aw_effective *standing, struct aw_findings *findings);

/* Rules that make no difference, whatever the variables stand for. */
void aw_check_redundant(
	const struct aw_effective *standing, struct aw_findings *findings);

/* What this machine and this version cannot do with the rules. */
void aw_check_rules(const struct aw_effective *standing, struct aw_findings *findings);

/*
 * By whom the rules are held with the sandbox and engine of the wish.  require:
 * "kernel" or "supervisor", what is held by less is an error; NULL: a note where it is
 * held softly.
 */
void aw_check_enforced(const struct aw_effective_params *params,
	struct aw_effective *standing, const char *require,
	struct aw_findings *findings);

#endif
