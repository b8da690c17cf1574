/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_internal.h - a plan while it is being made; for plan*.c.
 *
 * Places are gathered first: boundaries of the policy, and what must be seen.  Sorted,
 * each is given what the policy and its wish allow there, and becomes an entry when
 * that is not what the directory above it has already.
 */
#ifndef AW_SUPERVISOR_SANDBOX_PLAN_INTERNAL_H
#define AW_SUPERVISOR_SANDBOX_PLAN_INTERNAL_H

#include "supervisor/sandbox/plan.h"

struct aw_plan_place {
	char *path;	 /* owned */
	char *source;	 /* owned; NULL: path itself */
	const char *why; /* "policy" when nobody wishes for it */
	bool wished;	 /* to be read at least, unless a rule denies it */
	bool forced;	 /* `access` holds, whatever the policy says */
	bool exposed;	 /* forced, but not against a rule that refuses */
	bool taken_out;	 /* a "!" entry names it */
	bool socket;	 /* a Unix socket that may be used */
	bool listed;	 /* found in a directory that is listed one by one */
	bool partial;	 /* to be listed one by one */
	bool raised;	 /* new names are to be made in it */
	bool stays;	 /* an entry even when it says nothing new */
	enum aw_plan_access access;
};

struct aw_plan_maker {
	const struct aw_plan_params *params;
	const struct aw_image *image;
	bool minimal;
	struct aw_plan_place *places; /* owned */
	size_t count, room;
	struct aw_plan *plan;
	char *real;  /* owned; the last directory that was found to be its own real path
		      */
	bool failed; /* out of memory */
};

/* A new place (path is copied), or an aside one after a failed allocation. */
struct aw_plan_place *aw_plan_place_add(
	struct aw_plan_maker *maker, const char *path, const char *why);

/* The `expose` entry that a path is shown by, or NULL. */
const struct aw_exposed *aw_plan_exposed_at(
	const struct aw_plan_maker *maker, const char *path);

/* Where a path is on the host; NULL: out of memory. */
char *aw_plan_host_path(const struct aw_plan_maker *maker, const char *path);

/* Is it shown under another name, and not to be changed there? */
bool aw_plan_is_shown_to_read(const struct aw_plan_maker *maker, const char *path);

/* Sort, and make one of several at the same path. */
void aw_places_merge(struct aw_plan_maker *maker);
void aw_plan_place_free(struct aw_plan_place *place);

/* identity.c: note which file an entry's source is. */
void aw_plan_identify(struct aw_plan_entry *entry);

/* A path to be read: its real path, and every symbolic link on the way. */
void aw_plan_want(struct aw_plan_maker *maker, const char *path, const char *why);

/* plan_view.c: what a minimal view holds besides the policy. */
void aw_plan_want_minimal(struct aw_plan_maker *maker);

/*
 * plan_missing.c: what is not there yet.  A denied path makes its directory one that is
 * listed one by one, a writable one makes its directory one where new names can be
 * made.
 */
void aw_plan_look_for_missing(struct aw_plan_maker *maker);

/* plan_whole.c: once all entries are made. */
void aw_plan_mark_whole(struct aw_plan_maker *maker);

/* What the policy says about a place. */
struct aw_grade {
	enum aw_plan_access access; /* the most that is allowed somewhere in it */
	bool hidden;		    /* as if nothing were there */
	bool reads_denied;	    /* somewhere in it */
	uint32_t rule;
};
void aw_grade_file(
	const struct aw_image *image, const char *path, struct aw_grade *ret);
void aw_grade_directory(
	const struct aw_image *image, const char *path, struct aw_grade *ret);

/*
 * What is exposed is shown against a default, but not against a rule.  The default of
 * the system policy or of a file that is not trusted is not for others to set aside.
 */
enum aw_plan_access aw_plan_shown_at(const struct aw_plan_maker *maker,
	enum aw_plan_access wanted, const struct aw_grade *grade);
void aw_plan_want_exposed(struct aw_plan_maker *maker);
int aw_plan_check_exposed(const struct aw_plan_params *params, struct aw_error *err);

bool aw_plan_fill_network(const struct aw_plan_params *params, struct aw_plan *plan);

/* True when path is directory, or below it. */
bool aw_path_is_below(const char *path, const char *folder);

#endif
