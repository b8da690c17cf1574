/* SPDX-License-Identifier: Apache-2.0 */
/*
 * landlock.h - a plan as Landlock can hold it.
 *
 * Landlock knows grants alone, and a grant on a directory holds for all below it.  So:
 *
 * - What the plan lets be read or written is granted, from the entry down.
 * - Something out of reach inside a directory that may only be read is carved out: the
 *   directory and those on the way are not granted as trees; what stands in them now is
 *   granted one by one.  They keep the right to be listed, which also lets the kernel
 *   list what was carved out (the supervisor refuses that), but not read it.  What
 *   is created in such a directory later, by someone outside, is not reachable.
 * - Something out of reach, or only to be read, inside a directory that may be written
 *   stays with the supervisor: no grant could leave it out and still let files be
 *   created beside it.
 *
 * With an image in the wish, reading is granted by landlock_reads.c instead: only where
 * no rule can refuse it, so that a process may open for reading by itself.
 *
 * So some of a plan is not held; aw_landlock_holds() looks at the grants themselves
 * and never claims more than they keep.  Nothing is ever created to make a sandbox.
 */
#ifndef AW_SUPERVISOR_SANDBOX_LANDLOCK_H
#define AW_SUPERVISOR_SANDBOX_LANDLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "policy/error.h"
#include "policy/image/image.h"
#include "supervisor/sandbox/plan.h"

struct aw_landlock_rule {
	char *path; /* owned; absolute, symbolic links resolved */
	uint64_t access;
};

struct aw_landlock_port {
	uint16_t port;
	uint64_t access;
};

struct aw_landlock {
	int version;			 /* of the kernel's interface */
	uint64_t files, network, scopes; /* what is handled */
	struct aw_landlock_rule *rules;	 /* owned; sorted by path, one a path */
	size_t count, room;
	struct aw_landlock_port *ports; /* owned */
	size_t port_count;
	bool reads_held;   /* reading is granted only where no rule can refuse it */
	char why_not[256]; /* a phrase, when that could not be; "": nobody wanted it */
};

/* What a ruleset is made from. */
struct aw_landlock_params {
	const struct aw_plan *plan;
	int version;	 /* of the kernel's interface: landlock_apply.h */
	bool own_mounts; /* a view of its own: what is not in it needs no sandbox */
	bool no_ports; /* the supervisor, which is not behind it, connects and binds */
	const struct aw_image *image; /* every refusal of a read in it is to be held;
					 the supervisor opens what is not granted. NULL:
					 what the plan lets be read is granted */
	bool abstract_sockets; /* some rule lets an abstract Unix socket be used */
};

/* Can it be used here? 0, or -1 with a sentence that says what is missing. */
int aw_landlock_probe(struct aw_error *err);

/* True when a rule of this policy may allow connecting to an abstract Unix socket. */
bool aw_landlock_abstract(const struct aw_image *image);

int aw_landlock_make(const struct aw_landlock_params *params, struct aw_landlock *ret,
	struct aw_error *err);

/*
 * Would every grant of reading be made under another policy, too?  False with the path
 * of one that would not.
 */
bool aw_landlock_still(const struct aw_landlock *landlock, const struct aw_image *image,
	const char **ret_path);

/* Put the calling thread behind it, as agentwatch-enter does for the command. */
int aw_landlock_enter(const struct aw_landlock *landlock, struct aw_error *err);

/* The rights that are granted at an absolute, resolved path. */
uint64_t aw_landlock_granted(const struct aw_landlock *landlock, const char *path);

/*
 * True when the kernel refuses this action at path, whatever the supervisor says:
 * for AW_WRITE the contents, since mode, owner, times and attributes are nothing that
 * Landlock knows; for AW_EXEC also as a file that ld.so loads.
 */
bool aw_landlock_holds(
	const struct aw_landlock *landlock, enum aw_action action, const char *path);

/*
 * Where it lets this action be done: the topmost directory whose grant covers path, or
 * NULL when it holds it or does not know the action.
 */
const char *aw_landlock_lets(
	const struct aw_landlock *landlock, enum aw_action action, const char *path);

/* True when the program itself can neither connect nor listen by TCP; NULL is fine. */
bool aw_landlock_has_no_ports(const struct aw_landlock *landlock);

/* For plan.txt: the grants, and what of the plan (NULL: of no interest) they do not
 * hold. */
void aw_landlock_print(
	const struct aw_landlock *landlock, const struct aw_plan *plan, FILE *out);

/* Free the contents, not the struct itself. */
void aw_landlock_release(struct aw_landlock *landlock);

#endif
