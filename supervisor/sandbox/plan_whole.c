/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_whole.c - directories whose parts are granted one by one, but not mounted so.
 *
 * bwrap reads all mounts again at each one, so a hundred of them take a tenth of a
 * second.  A directory of many parts is mounted as a whole instead, what is out of
 * reach in it is covered, and Landlock, where it stands behind the mounts, grants its
 * parts one by one: that holds what comes later, and what takes the place of something
 * covered.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/sandbox/plan_internal.h"
#include "supervisor/util/cleanup.h"

enum {
	PARTS_FEW = 32,	       /* are mounted one by one all the same */
	NEIGHBOURS_MOST = 4096 /* in a directory above, each of which is granted, too */
};

/* Its name must not be seen either, and under a cover it would be. */
static bool is_hidden(
	const struct aw_plan_maker *maker, const struct aw_plan_entry *entry)
{
	struct aw_decision decision;

	aw_image_decide_path(
		maker->image, AW_READ, entry->path, strlen(entry->path), &decision);
	return entry->access == AW_PLAN_NOTHING && decision.verdict == AW_HIDE;
}

static bool has_few(const char *folder)
{
	AW_CLOSEDIR DIR *dir = opendir(folder);
	size_t count = 0;

	while (dir && count <= NEIGHBOURS_MOST && readdir(dir))
		count++;
	return dir && count <= NEIGHBOURS_MOST;
}

/* A grant on a directory is one on all below it, so those above are carved as well. */
static bool can_be_carved(const char *path)
{
	AW_FREE char *above = strdup(path);
	char *slash;

	while (above && (slash = strrchr(above, '/')) && slash != above) {
		*slash = '\0';
		if (!has_few(above))
			return false;
	}
	return above && has_few("/");
}

static bool is_worth_it(const struct aw_plan_maker *maker, size_t index)
{
	const struct aw_plan *plan = maker->plan;
	const char *folder = plan->entries[index].path;
	size_t parts = 0;

	for (size_t i = index + 1; i < plan->count; i++) {
		if (!aw_path_is_below(plan->entries[i].path, folder))
			continue;
		if (is_hidden(maker, &plan->entries[i]))
			return false;
		parts += plan->entries[i].access != AW_PLAN_NOTHING;
	}
	return parts > PARTS_FEW;
}

void aw_plan_mark_whole(struct aw_plan_maker *maker)
{
	struct aw_plan *plan = maker->plan;

	/* what is shown elsewhere has no neighbours that could be listed out here */
	if (!maker->params->layered || plan->entries[0].partial ||
		plan->entries[0].access != AW_PLAN_READ)
		return;
	for (size_t i = 0; i < plan->count; i++)
		if (strcmp(plan->entries[i].path, plan->entries[i].source) != 0)
			return;
	for (size_t i = 1; i < plan->count; i++)
		plan->entries[i].whole = plan->entries[i].partial &&
					 is_worth_it(maker, i) &&
					 can_be_carved(plan->entries[i].path);
}
