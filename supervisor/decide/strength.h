/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strength.h - by whom a refusal is held in this session.
 *
 * From strong to weak: the kernel (a sandbox or Landlock refuses, whatever anyone
 * says); the supervisor (the call is notified and done on behalf of the process, or
 * refused); the supervisor, raced (it judges, then the call goes on with the memory of
 * the process, which a second thread can change in between); the shim (a library in the
 * process, which may be taken out).  Where several hold, the strongest counts.  In
 * mode audit nothing is held and the answer says by whom it would be seen.
 *
 * Facts are made once and never change, so any thread may ask.  Nothing is allocated.
 */
#ifndef AW_SUPERVISOR_DECIDE_STRENGTH_H
#define AW_SUPERVISOR_DECIDE_STRENGTH_H

#include <stdbool.h>
#include <stdint.h>

#include "supervisor/sandbox/landlock.h"
#include "supervisor/sandbox/plan.h"

enum aw_strength {
	AW_BY_SHIM,
	AW_BY_SUPERVISOR_RACED,
	AW_BY_SUPERVISOR,
	AW_BY_KERNEL,
};

/* As the log has it: "kernel", "supervisor", "supervisor-raced", "shim". */
const char *aw_strength_name(enum aw_strength strength);

struct aw_strength_facts {
	bool notified; /* engine hybrid or kernel: every call can be refused */
	bool enforce;
	const struct aw_image *image;	    /* borrowed */
	uint32_t profiles;		    /* of the process; policy/image/image.h */
	const struct aw_landlock *landlock; /* borrowed, or NULL: none */
	const struct aw_plan *mounts; /* borrowed: the sandbox has mounts made from
					 this plan; NULL: it has not */
	bool apart;	 /* the sandbox has a network of its own, which leads nowhere */
	bool no_network; /* ... and nothing is allowed that the supervisor would make */
};

struct aw_enforced {
	enum aw_strength strength;
	const char *by; /* a phrase: by what, or why not by more */
};

/* Something that was, or would be, refused; all strings need not be terminated. */
struct aw_refused {
	enum aw_action action;
	const char *call; /* its name, or NULL: not known */
	const char *path, *path2;
	size_t path_len, path2_len;
	int family; /* network: AF_*; a Unix path is in `path` */
	uint32_t rule;
};

void aw_strength_of(const struct aw_strength_facts *facts,
	const struct aw_refused *refused, struct aw_enforced *ret);

/* The same for what was allowed: by whom it was judged. */
void aw_strength_of_allowed(const struct aw_strength_facts *facts,
	enum aw_action action, const char *call, struct aw_enforced *ret);

/*
 * How surely rule is held as a whole, over all that it refuses; false when there is no
 * such rule or it refuses nothing.
 */
bool aw_strength_of_rule(
	const struct aw_strength_facts *facts, uint32_t rule, struct aw_enforced *ret);

/*
 * The same for a default that refuses: "filesystem", "exec", "connect" or "listen" by
 * index from 0; false past the last one.  *ret_name is NULL for one that refuses
 * nothing.
 */
bool aw_strength_of_default(const struct aw_strength_facts *facts, unsigned index,
	const char **ret_name, struct aw_enforced *ret);

/*
 * The same for a profile's defaults; the name of the profile comes back in
 * *ret_profile.
 */
bool aw_strength_of_profile_default(const struct aw_strength_facts *facts,
	unsigned profile, unsigned index, const char **ret_profile,
	const char **ret_name, struct aw_enforced *ret);

#endif
