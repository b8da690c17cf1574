/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access_need.h - what a call needs of a policy, and whether a policy may simply give
 * it.
 */
#ifndef AW_SUPERVISOR_LEARN_ACCESS_NEED_H
#define AW_SUPERVISOR_LEARN_ACCESS_NEED_H

#include "supervisor/learn/path_variable.h"
#include "supervisor/learn/reference_policy.h"

enum { AW_NEEDS_MAX = 3 };

/* What becomes of a need. */
enum aw_access_outcome {
	AW_OUTCOME_FREE,   /* every policy admits it */
	AW_OUTCOME_WANTED, /* the policy has to admit it */
	AW_OUTCOME_ASKED,  /* a person has to */
	AW_OUTCOME_LEFT,   /* it failed anyway, or enforce answers it by itself */
};

/* Why a person is asked. */
enum aw_cause {
	AW_CAUSE_PROTECTED, /* a protection refuses it; the text is that of the rule */
	AW_CAUSE_DENIED,    /* the present policy refuses it */
	AW_CAUSE_SECRET,    /* by its name it is a secret */
	AW_CAUSE_ADDRESS,   /* an address of which no name is known */
	AW_CAUSE_FAMILY,    /* no entry can stand for it */
};

struct aw_learn_reason {
	enum aw_cause cause;
	char text[160];
};

/* What needs are held against.  Borrowed policies; present is NULL when none counts. */
struct aw_baseline {
	struct aw_policy floor; /* allows all but what is protected */
	struct aw_policy base;	/* denies all that can be denied */
	struct aw_policy dns;	/* allows the name servers alone */
	const struct aw_policy *present;
	struct aw_path_variables anchors;
};

/* Owned by the caller, for aw_baseline_release(). */
int aw_baseline_init(struct aw_baseline *sieve,
	const struct aw_policy_variables *variables, const struct aw_policy *present,
	struct aw_error *err);
void aw_baseline_release(struct aw_baseline *sieve);

/* What a call needs; returns how many, 0 for a call that no policy is asked about. */
size_t aw_needs_of(const struct aw_baseline *sieve, const struct aw_seen *seen,
	struct aw_access_need needs[AW_NEEDS_MAX]);

/* What becomes of one; *ret_reason is filled in for AW_OUTCOME_ASKED. */
enum aw_access_outcome aw_access_find_outcome(const struct aw_baseline *sieve,
	const struct aw_seen *seen, const struct aw_access_need *need,
	struct aw_learn_reason *ret_reason);

/* A name of a host that is no pattern. */
bool aw_host_is_plain(const char *host);

#endif
