/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access_need.h - what a call needs of a policy, and whether a policy may simply give
 * it.
 */
#ifndef AW_SUPERVISOR_LEARN_ACCESS_NEED_H
#define AW_SUPERVISOR_LEARN_ACCESS_NEED_H

#include "supervisor/learn/path_variable.h"
#include "supervisor/learn/reference_policy.h"

enum { AW_NEEDS_MOST = 3 };

/* What becomes of a need. */
enum aw_fate {
	AW_FATE_FREE,	/* every policy admits it */
	AW_FATE_WANTED, /* the policy has to admit it */
	AW_FATE_ASKED,	/* a person has to */
	AW_FATE_LEFT,	/* it failed anyway, or enforce answers it by itself */
};

/* Why a person is asked. */
enum aw_cause {
	AW_CAUSE_PROTECTED, /* a protection refuses it; the text is that of the rule */
	AW_CAUSE_DENIED,    /* the present policy refuses it */
	AW_CAUSE_SECRET,    /* by its name it is a secret */
	AW_CAUSE_ADDRESS,   /* an address of which no name is known */
	AW_CAUSE_FAMILY,    /* no entry can stand for it */
};

struct aw_reason {
	enum aw_cause cause;
	char text[160];
};

/* What needs are held against.  Borrowed policies; present is NULL when none counts. */
struct aw_sieve {
	struct aw_policy floor; /* allows all but what is protected */
	struct aw_policy base;	/* denies all that can be denied */
	struct aw_policy dns;	/* allows the name servers alone */
	const struct aw_policy *present;
	struct aw_anchors anchors;
};

/* Owned by the caller, for aw_sieve_release(). */
int aw_sieve_init(struct aw_sieve *sieve, const struct aw_policy_variables *variables,
	const struct aw_policy *present, struct aw_error *err);
void aw_sieve_release(struct aw_sieve *sieve);

/* What a call needs; returns how many, 0 for a call that no policy is asked about. */
size_t aw_needs_of(const struct aw_sieve *sieve, const struct aw_seen *seen,
	struct aw_need needs[AW_NEEDS_MOST]);

/* What becomes of one; *ret_reason is filled in for AW_FATE_ASKED. */
enum aw_fate aw_need_fate(const struct aw_sieve *sieve, const struct aw_seen *seen,
	const struct aw_need *need, struct aw_reason *ret_reason);

/* A name of a host that is no pattern. */
bool aw_host_is_plain(const char *host);

#endif
