/* SPDX-License-Identifier: Apache-2.0 */
/* generalize.c - from many names to the few that a person would have written. */
#include "supervisor/learn/generalize.h"

#include <string.h>
#include <sys/stat.h>

struct folding {
	struct aw_learn_tree *tree;
	enum aw_access access;
	unsigned siblings;
};

static bool may_stand(const struct folding *f, const struct aw_branch *branch)
{
	char rest[16384], path[16384];
	const char *anchor;

	if (branch->asked)
		return false;
	anchor = aw_branch_rest(f->tree, branch, rest, sizeof(rest));
	if (strcmp(branch->name, "**") == 0 || aw_root_is_wide(anchor, rest, f->access))
		return false;
	return !aw_branch_path(f->tree, branch, path, sizeof(path)) ||
	       !aw_path_variable_within(f->tree->anchors, path, false);
}

/* Take over what is below. */
static void absorb(struct aw_branch *to, struct aw_branch *from, enum aw_access access)
{
	struct aw_branch *child, *next;
	struct aw_use *use = &to->uses[access];

	HASH_ITER(hh, from->below, child, next)
	{
		struct aw_use *gone = &child->uses[access];

		absorb(to, child, access);
		if (!gone->needed)
			continue;
		aw_counter_join(&use->tally, &gone->tally);
		use->missing = use->missing && gone->missing;
		use->presets &= gone->presets;
		*gone = (struct aw_use){.needed = false};
	}
}

static void stand_for_all(struct aw_branch *branch, enum aw_access access)
{
	struct aw_use *use = &branch->uses[access];

	if (!use->needed) {
		use->missing = true;
		use->presets = UINT64_MAX;
	}
	absorb(branch, branch, access);
	use->needed = use->whole = true;
}

/* The whole directory is meant by what was done with it. */
static bool is_meant(
	const struct folding *f, const struct aw_branch *branch, unsigned below)
{
	const struct aw_use *use = &branch->uses[f->access];

	if (!use->needed)
		return false;
	if (f->access == AW_GRANT_READ)
		return use->listed || (below && !use->folder);
	return below > 0;
}

/* How many entries this branch and what is below it would need. */
static unsigned fold(struct folding *f, struct aw_branch *branch)
{
	struct aw_use *use = &branch->uses[f->access];
	struct aw_branch *child, *next;
	unsigned children = 0, entries = 0;

	HASH_ITER(hh, branch->below, child, next)
	{
		unsigned n = fold(f, child);

		children += n > 0;
		entries += n;
	}
	if (!use->whole && (children >= f->siblings || is_meant(f, branch, children)) &&
		may_stand(f, branch))
		use->whole = true;
	if (!use->whole)
		return entries + use->needed;
	stand_for_all(branch, f->access);
	return 1;
}

void aw_generalize(struct aw_learn_tree *tree, enum aw_access access, unsigned siblings)
{
	struct folding f = {tree, access, siblings};

	for (size_t i = 0; i < tree->anchors->count; i++)
		fold(&f, tree->tops[i]);
}

static void add_line(struct aw_list_of_lines *lines, char *text,
	const struct aw_use *use, bool folder)
{
	lines->items =
		aw_learn_grow(lines->items, (lines->count + 1) * sizeof(*lines->items));
	lines->items[lines->count++] = (struct aw_line){
		text, use->tally, folder, folder && use->unnamed, use->missing};
}

void aw_list_of_lines_free(struct aw_list_of_lines *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		free(lines->items[i].text);
	free(lines->items);
	*lines = (struct aw_list_of_lines){.items = NULL};
}

static bool is_folder_now(
	const struct aw_learn_tree *tree, const struct aw_branch *branch)
{
	char path[16384];
	struct stat st;

	return aw_branch_path(tree, branch, path, sizeof(path)) &&
	       lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool any_below(const struct aw_branch *branch)
{
	struct aw_branch *child, *next;

	HASH_ITER(hh, branch->below, child, next)
	{
		for (int i = 0; i < AW_TREE_USES; i++)
			if (child->uses[i].needed)
				return true;
		if (child->asked || any_below(child))
			return true;
	}
	return false;
}

/* Admitted by an entry for the same or a directory above. */
static bool is_admitted(const struct aw_branch *branch, enum aw_access access)
{
	if (access == AW_GRANT_READ && branch->uses[AW_GRANT_WRITE].needed)
		return true;
	for (branch = branch->up; branch; branch = branch->up)
		if (branch->uses[access].whole ||
			(access == AW_GRANT_READ && branch->uses[AW_GRANT_WRITE].whole))
			return true;
	return false;
}

/* It was never there: whatever comes into being under that name was looked for. */
static bool stands_for_nothing(const struct aw_learn_tree *tree,
	const struct aw_branch *branch, enum aw_access access)
{
	char rest[16384];
	const char *anchor = aw_branch_rest(tree, branch, rest, sizeof(rest));

	return branch->uses[access].missing && !aw_root_is_wide(anchor, rest, access) &&
	       !any_below(branch);
}

static void collect(struct aw_learn_tree *tree, struct aw_branch *branch,
	enum aw_access access, struct aw_list_of_lines *lines)
{
	const struct aw_use *use = &branch->uses[access];
	struct aw_branch *child, *next;

	if (use->needed && !is_admitted(branch, access)) {
		bool folder = !use->whole &&
			      !stands_for_nothing(tree, branch, access) &&
			      (use->folder || any_below(branch) || !branch->up ||
				      is_folder_now(tree, branch));

		add_line(lines, aw_branch_text(tree, branch), use, folder);
	}
	HASH_ITER(hh, branch->below, child, next)
	collect(tree, child, access, lines);
}

void aw_generalize_lines(
	struct aw_learn_tree *tree, enum aw_access access, struct aw_list_of_lines *ret)
{
	for (size_t i = 0; i < tree->anchors->count; i++)
		collect(tree, tree->tops[i], access, ret);
}
