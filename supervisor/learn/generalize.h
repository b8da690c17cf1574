/* SPDX-License-Identifier: Apache-2.0 */
/*
 * generalize.h - from many names to the few that a person would have written.
 *
 * A directory stands for what was used in it when at least `siblings` different names
 * directly below it were used, when it was listed or made and something in it was used,
 * or when it was listed at all and is not too wide.  It never does when it is too wide
 * (root.h), when it holds a directory that a variable stands for, or when a person is
 * asked about something in it.
 */
#ifndef AW_SUPERVISOR_LEARN_GENERALIZE_H
#define AW_SUPERVISOR_LEARN_GENERALIZE_H

#include "supervisor/learn/tree.h"

/* One entry of a list. */
struct aw_line {
	char *text; /* owned; as it stands in the policy */
	struct aw_counter tally;
	bool folder;  /* followed by an entry that takes out what is below */
	bool unnamed; /* ... and by one for files that are made in it without a name */
	bool missing; /* never there */
};

struct aw_list_of_lines {
	struct aw_line *items; /* owned */
	size_t count;
};

/* Fold the tree's uses of this kind. */
void aw_generalize(
	struct aw_learn_tree *tree, enum aw_access access, unsigned siblings);

/*
 * The entries that are left, in an order in which a directory stands in front of what
 * is below it.  Reads that a write entry admits are left out.
 */
void aw_generalize_lines(struct aw_learn_tree *tree, enum aw_access access,
	struct aw_list_of_lines *ret);

void aw_list_of_lines_free(struct aw_list_of_lines *lines);

#endif
