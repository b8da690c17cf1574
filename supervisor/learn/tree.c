/* SPDX-License-Identifier: Apache-2.0 */
/* tree.c - the files that were used, as a tree of names. */
#include "supervisor/learn/tree.h"

#include <stdio.h>
#include <string.h>

static struct aw_branch *new_branch(struct aw_branch *up, const char *name, bool wild)
{
	struct aw_branch *branch = aw_learn_new(sizeof(*branch));

	branch->name = aw_learn_copy(name, strlen(name));
	branch->wild = wild;
	branch->up = up;
	return branch;
}

void aw_learn_tree_init(
	struct aw_learn_tree *tree, const struct aw_path_variables *anchors)
{
	*tree = (struct aw_learn_tree){.anchors = anchors};
	for (size_t i = 0; i < anchors->count; i++)
		tree->tops[i] = new_branch(NULL, "", false);
}

/* No deeper than a path has parts. */
static void free_branch(struct aw_branch *branch)
{
	struct aw_branch *child, *next;

	HASH_ITER(hh, branch->below, child, next)
	{
		HASH_DEL(branch->below, child);
		free_branch(child);
	}
	free(branch->name);
	free(branch);
}

void aw_learn_tree_free(struct aw_learn_tree *tree)
{
	for (size_t i = 0; i < tree->anchors->count; i++)
		free_branch(tree->tops[i]);
}

static struct aw_branch *child_of(struct aw_learn_tree *tree, struct aw_branch *branch,
	const char *name, bool wild)
{
	struct aw_branch *child;
	char start[4];

	HASH_FIND_STR(branch->below, name, child);
	if (!child && HASH_COUNT(branch->below) >= AW_TREE_CHILDREN_WIDE) {
		snprintf(start, sizeof(start), "%.*s*", name[0] == '\\' ? 2 : 1, name);
		name = (unsigned char)name[0] < 0x80 ? start : "*";
		wild = true;
		HASH_FIND_STR(branch->below, name, child);
	}
	if (!child) {
		tree->count++;
		child = new_branch(branch, name, wild);
		HASH_ADD_KEYPTR(
			hh, branch->below, child->name, strlen(child->name), child);
	}
	return child;
}

/* One way down from an anchor. */
struct descent {
	struct aw_learn_tree *tree;
	const char *anchor, *rest;
	enum aw_access access;
	struct aw_name_maker maker;
	int limit; /* parts of the known directory, or -1 */
	bool anywhere;
};

/* A directory with too many names in it stands for them, where it may. */
static bool is_full(
	const struct descent *d, const struct aw_branch *branch, const char *above)
{
	return HASH_COUNT(branch->below) >= AW_TREE_CHILDREN &&
	       !aw_root_is_wide(d->anchor, above, d->access) && !branch->asked;
}

static struct aw_branch *descend(
	const struct descent *d, struct aw_branch *branch, bool *ret_whole)
{
	const char *at = d->rest;
	char above[4200] = "", name[AW_COMPONENT_SIZE];
	int parts = 0;

	*ret_whole = d->limit == 0;
	while (*at && parts != d->limit) {
		size_t len = strcspn(at, "/");
		bool temporary = aw_root_is_temporary(d->anchor, above);
		bool wild;

		if (branch->uses[d->access].whole || is_full(d, branch, above)) {
			*ret_whole = true;
			return branch;
		}
		wild = aw_component_of_path(
			d->rest, at, len, !d->anchor[0], temporary, d->maker, name);
		branch = child_of(d->tree, branch, name, wild);
		at += len + (at[len] == '/');
		snprintf(above, sizeof(above), "%.*s",
			(int)(at - d->rest - (at > d->rest && at[-1] == '/')), d->rest);
		parts++;
		if (parts == d->limit || (temporary && wild))
			*ret_whole = true;
		if (temporary && wild)
			break;
	}
	return branch;
}

struct aw_branch *aw_learn_tree_find(struct aw_learn_tree *tree, const char *path,
	enum aw_access access, struct aw_name_maker maker, bool *ret_whole)
{
	struct descent d = {.tree = tree, .access = access, .maker = maker};
	size_t anchor = aw_path_variable_of(tree->anchors, path, &d.rest);
	struct aw_branch *top = tree->tops[anchor];

	d.anchor = tree->anchors->items[anchor].name;
	d.limit = aw_root_parts(&tree->style, d.anchor, d.rest, access, &d.anywhere);
	if (d.anywhere) { /* "$WORKSPACE/" "**" "/NAME" */
		const char *name = d.rest;

		for (int i = 1; i < d.limit; i++)
			name = strchr(name, '/') + 1;
		d.rest = name;
		d.limit = 1;
		top = child_of(tree, top, "**", true);
	}
	return descend(&d, top, ret_whole);
}

void aw_learn_tree_ask(struct aw_learn_tree *tree, const char *path)
{
	const char *rest;
	size_t anchor = aw_path_variable_of(tree->anchors, path, &rest);
	struct aw_branch *branch = tree->tops[anchor];
	char name[AW_COMPONENT_SIZE];

	branch->asked = true;
	while (*rest) {
		size_t len = strcspn(rest, "/");

		aw_component_quote(rest, len, name);
		/* what many names stand for is told apart by "deny" */
		if (HASH_COUNT(branch->below) >= AW_TREE_CHILDREN)
			return;
		branch = child_of(tree, branch, name, false);
		branch->asked = true;
		rest += len + (rest[len] == '/');
	}
}

/* The index of the anchor that the branch is below. */
static size_t top_of(const struct aw_learn_tree *tree, const struct aw_branch *branch)
{
	size_t i = 0;

	while (branch && branch->up)
		branch = branch->up;
	while (i + 1 < tree->anchors->count && tree->tops[i] != branch)
		i++;
	return i;
}

static size_t put_rest(const struct aw_branch *branch, char *out, size_t size)
{
	size_t used;

	if (!branch || !branch->up)
		return 0;
	used = put_rest(branch->up, out, size);
	if (used < size)
		used += (size_t)snprintf(
			out + used, size - used, "%s%s", used ? "/" : "", branch->name);
	return used;
}

const char *aw_branch_rest(const struct aw_learn_tree *tree,
	const struct aw_branch *branch, char *out, size_t size)
{
	if (size)
		out[0] = '\0';
	put_rest(branch, out, size);
	return tree->anchors->items[top_of(tree, branch)].name;
}

char *aw_branch_text(const struct aw_learn_tree *tree, const struct aw_branch *branch)
{
	char rest[16384];
	const char *anchor = aw_branch_rest(tree, branch, rest, sizeof(rest));

	if (!rest[0])
		return aw_learn_text("%s", anchor[0] ? anchor : "/");
	return aw_learn_text("%s/%s", anchor, rest);
}

bool aw_branch_path(const struct aw_learn_tree *tree, const struct aw_branch *branch,
	char *out, size_t size)
{
	const char *top = tree->anchors->items[top_of(tree, branch)].path;
	char rest[16384];
	size_t used, to;

	for (const struct aw_branch *b = branch; b; b = b->up)
		if (b->wild)
			return false;
	aw_branch_rest(tree, branch, rest, sizeof(rest));
	used = (size_t)snprintf(out, size, "%s/", top);
	to = used;
	for (size_t i = 0; rest[i] && to + 1 < size; i++) {
		if (rest[i] == '\\' && rest[i + 1])
			i++;
		out[to++] = rest[i];
	}
	if (used >= size)
		return false;
	if (to > 1 && out[to - 1] == '/')
		to--;
	out[to] = '\0';
	return true;
}

/* True when nothing is left of it. */
static bool prune(struct aw_learn_tree *tree, struct aw_branch *branch)
{
	struct aw_branch *child, *next;

	HASH_ITER(hh, branch->below, child, next)
	{
		if (!prune(tree, child))
			continue;
		/* NOLINTNEXTLINE(clang-analyzer-core.*): it is in the hash */
		HASH_DEL(branch->below, child);
		free_branch(child);
		tree->count--;
	}
	for (int i = 0; i < AW_TREE_USES; i++)
		if (branch->uses[i].needed)
			return false;
	return !branch->below && !branch->asked;
}

void aw_learn_tree_prune(struct aw_learn_tree *tree)
{
	for (size_t i = 0; i < tree->anchors->count; i++)
		prune(tree, tree->tops[i]);
}

static int by_name(const struct aw_branch *a, const struct aw_branch *b)
{
	return strcmp(a->name, b->name);
}

static void sort(struct aw_branch *branch)
{
	struct aw_branch *child, *next;

	HASH_SORT(branch->below, by_name);
	HASH_ITER(hh, branch->below, child, next)
	sort(child);
}

void aw_learn_tree_sort(struct aw_learn_tree *tree)
{
	for (size_t i = 0; i < tree->anchors->count; i++)
		sort(tree->tops[i]);
}
