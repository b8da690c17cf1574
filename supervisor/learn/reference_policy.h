/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reference_policy.h - policies that a call is held against while a policy is learnt.
 */
#ifndef AW_SUPERVISOR_LEARN_REFERENCE_POLICY_H
#define AW_SUPERVISOR_LEARN_REFERENCE_POLICY_H

#include "policy/load/load.h"
#include "supervisor/learn/seen.h"

/* What a need is granted by. */
enum aw_access {
	AW_GRANT_READ,
	AW_GRANT_WRITE,
	AW_GRANT_EXEC,
	AW_GRANT_CONNECT,
	AW_GRANT_LISTEN,
	AW_GRANTS
};

/* One thing that a call wants: each end of a rename is one. */
struct aw_access_need {
	enum aw_access access;
	enum aw_action action; /* what it is judged as */
	const char *path;      /* files and programs; borrowed from the call */
	size_t len;
	bool folder;  /* the directory itself, not what is in it */
	bool made;    /* ... which the call makes, unless it is there */
	bool entered; /* ... which is only entered */
	bool unnamed; /* ... in which a file without a name is made */
	bool missing; /* looked for, and not there */
};

/*
 * Load a policy from text as if it were a trusted file.  -1 with the first mistake in
 * err.  *ret is for aw_policy_release().
 */
int aw_judge_load(const char *text, const struct aw_policy_variables *variables,
	struct aw_policy *ret, struct aw_error *err);

/* The same with nothing below it: not what any run would have. */
int aw_judge_load_alone(const char *text, const struct aw_policy_variables *variables,
	struct aw_policy *ret, struct aw_error *err);

/* The verdict of a policy for one need of a call, as enforce would give it. */
void aw_judge(const struct aw_policy *policy, const struct aw_seen *seen,
	const struct aw_access_need *need, struct aw_decision *ret);

#endif
