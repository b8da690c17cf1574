/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.h - the files that were used, as a tree of names, and what was wanted of each.
 *
 * A path goes in below its anchor ($WORKSPACE, $HOME, ... or the root), made-up names
 * as patterns, and no deeper than the known directory that it lies in.  So the tree's
 * size depends on how many different directories were used and not on the number of
 * calls.
 */
#ifndef AW_SUPERVISOR_LEARN_TREE_H
#define AW_SUPERVISOR_LEARN_TREE_H

#include "supervisor/learn/path_variable.h"
#include "supervisor/learn/memory.h"
#include "supervisor/learn/component.h"
#include "supervisor/learn/root.h"
#include "supervisor/learn/counter.h"

#define uthash_fatal(msg) aw_learn_no_memory()
#include <uthash.h>

enum {
	AW_TREE_USES = AW_GRANT_EXEC + 1,
	AW_TREE_CHILDREN = 256, /* then a directory stands for them, where it may */
	AW_TREE_CHILDREN_WIDE = 4096, /* then first letters do, where it may not */
};

/* What was wanted of one name. */
struct aw_use {
	struct aw_counter tally;
	bool needed;	  /* of just this name */
	bool whole;	  /* stands for all that is below */
	bool folder;	  /* each time as a directory: listed, entered or made */
	bool listed;	  /* ... at least once to see or change what is in it */
	bool made;	  /* ... at least once made */
	bool unnamed;	  /* ... at least once to make a file without a name in it */
	bool missing;	  /* it was never there */
	uint64_t presets; /* those that admit each of these uses, a bit each */
};

struct aw_branch {
	char *name; /* owned; the pattern of one part */
	bool wild;
	struct aw_branch *up, *below; /* below is a hash by name */
	struct aw_use uses[AW_TREE_USES];
	bool asked; /* a person is asked about this, or something below */
	UT_hash_handle hh;
};

struct aw_learn_tree {
	const struct aw_path_variables *anchors; /* borrowed */
	struct aw_root_style style;
	struct aw_branch *tops[AW_PATH_VARIABLES]; /* one an anchor; owned */
	size_t count;				   /* of branches */
};

void aw_learn_tree_init(
	struct aw_learn_tree *tree, const struct aw_path_variables *anchors);
void aw_learn_tree_free(struct aw_learn_tree *tree);

/*
 * The branch that a need for path ends in, made when it is not there.  *ret_whole: it
 * is a known directory and stands for all below.
 */
struct aw_branch *aw_learn_tree_find(struct aw_learn_tree *tree, const char *path,
	enum aw_access access, struct aw_name_maker maker, bool *ret_whole);

/* Note that a person is asked about path: no directory above it may stand for it. */
void aw_learn_tree_ask(struct aw_learn_tree *tree, const char *path);

/* The text of a branch as a policy has it, with anchors; owned by the caller. */
char *aw_branch_text(const struct aw_learn_tree *tree, const struct aw_branch *branch);

/* The parts below the anchor, "" for the anchor itself, and the anchor's name. */
const char *aw_branch_rest(const struct aw_learn_tree *tree,
	const struct aw_branch *branch, char *out, size_t size);

/* The path of a branch whose parts are all literal; false for a pattern. */
bool aw_branch_path(const struct aw_learn_tree *tree, const struct aw_branch *branch,
	char *out, size_t size);

/* Free the branches of which nothing is wanted any more. */
void aw_learn_tree_prune(struct aw_learn_tree *tree);

/* Sort every level by name. */
void aw_learn_tree_sort(struct aw_learn_tree *tree);

#endif
