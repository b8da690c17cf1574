/* SPDX-License-Identifier: Apache-2.0 */
/* plan_missing.c - paths that a policy names and that are not there yet. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/sandbox/plan_internal.h"
#include "supervisor/util/cleanup.h"

/* A directory that holds more is not listed one by one. */
#define LISTED_MAX 512

static bool is_there(const struct aw_plan_maker *maker, const char *path)
{
	AW_FREE char *host = aw_plan_host_path(maker, path);
	struct stat st;

	return host && lstat(host, &st) == 0;
}

/* Many names that are missing have one directory above them. */
static bool is_real(struct aw_plan_maker *maker, const char *folder)
{
	AW_FREE char *host = aw_plan_host_path(maker, folder);
	char *real;

	if (host && maker->real && strcmp(maker->real, host) == 0)
		return true;
	real = host ? realpath(host, NULL) : NULL;
	free(maker->real);
	maker->real = real;
	return real && strcmp(real, host) == 0;
}

/* The deepest directory above path that is there, with its length; NULL: none of use. */
static char *folder_above(struct aw_plan_maker *maker, const char *path)
{
	AW_FREE char *at = strdup(path);

	while (at && !is_there(maker, at[0] ? at : "/"))
		*strrchr(at, '/') = '\0';
	if (at && !at[0])
		return strdup("/");
	return at && is_real(maker, at) ? aw_take_ptr(&at) : NULL;
}

/* Its name in that directory, as a path. */
static char *name_in(const char *folder, const char *path)
{
	size_t start = strcmp(folder, "/") == 0 ? 1 : strlen(folder) + 1;

	return strndup(path, start + strcspn(path + start, "/"));
}

static struct aw_plan_place *place_at(struct aw_plan_maker *maker, const char *path)
{
	for (size_t i = 0; i < maker->count; i++)
		if (strcmp(maker->places[i].path, path) == 0)
			return &maker->places[i];
	return aw_plan_place_add(maker, path, "policy");
}

static bool is_listed(const struct aw_plan_maker *maker, const char *path)
{
	for (size_t i = 0; i < maker->count; i++)
		if (maker->places[i].partial &&
			strcmp(maker->places[i].path, path) == 0)
			return true;
	return false;
}

/* Everything in the directory becomes a place; false: too much, or not to be read. */
static bool list(struct aw_plan_maker *maker, const char *folder)
{
	AW_FREE char *host = aw_plan_host_path(maker, folder);
	AW_CLOSEDIR DIR *dir = host ? opendir(host) : NULL;
	size_t before = maker->count;
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		AW_FREE char *path = NULL;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (maker->count - before == LISTED_MAX ||
			asprintf(&path, "%s/%s", folder[1] ? folder : "",
				entry->d_name) < 0) {
			while (maker->count > before)
				aw_plan_place_free(&maker->places[--maker->count]);
			return false;
		}
		aw_plan_place_add(maker, path, "policy")->listed = true;
	}
	return dir != NULL;
}

static bool is_special(const char *path)
{
	return aw_path_is_below(path, "/proc") || aw_path_is_below(path, "/dev") ||
	       aw_path_is_below(path, "/sys");
}

/* A file that may be made in a directory that may not be changed otherwise. */
static void raise_folder(struct aw_plan_maker *maker, const char *folder)
{
	struct aw_plan_place *place;
	struct aw_grade grade;

	aw_grade_directory(maker->image, folder, &grade);
	if (grade.access != AW_PLAN_READ || access(folder, W_OK) < 0)
		return;
	place = place_at(maker, folder);
	if (place->raised)
		return;
	place->raised = true;
	list(maker, folder);
}

static void raise_above(struct aw_plan_maker *maker, const char *path)
{
	struct aw_grade file, folder;
	AW_FREE char *above = NULL, *name = NULL;

	/* what is shown is changed only as `mode` says */
	if (aw_plan_exposed_at(maker, path) || is_there(maker, path) ||
		is_special(path) || !(above = folder_above(maker, path)))
		return;
	name = name_in(above, path);
	if (!name || strcmp(name, path) != 0)
		return; /* nobody may make its directory */
	aw_grade_file(maker->image, path, &file);
	aw_grade_directory(maker->image, path, &folder);
	if (file.access == AW_PLAN_WRITE || folder.access == AW_PLAN_WRITE)
		raise_folder(maker, above);
}

/* What a sandbox allows in a directory: less than the rules where it is shown to be
 * read. */
static void grade_shown(
	const struct aw_plan_maker *maker, const char *path, struct aw_grade *ret)
{
	aw_grade_directory(maker->image, path, ret);
	if (ret->access == AW_PLAN_WRITE && aw_plan_is_shown_to_read(maker, path))
		ret->access = AW_PLAN_READ;
}

/* Who may not read it later must not find it later. */
static void close_above(struct aw_plan_maker *maker, const char *path)
{
	struct aw_grade file, folder, whole, next;
	AW_FREE char *above = NULL, *name = NULL;
	struct aw_plan_place *place;

	if (is_there(maker, path) || !(above = folder_above(maker, path)) ||
		!(name = name_in(above, path)) || is_listed(maker, above))
		return;
	aw_grade_file(maker->image, path, &file);
	aw_grade_directory(maker->image, path, &folder);
	if (!file.reads_denied && !folder.reads_denied)
		return;
	grade_shown(maker, above, &whole);
	aw_grade_file(maker->image, name, &next);
	if (whole.access == AW_PLAN_NOTHING)
		return;
	place = place_at(maker, above);
	if (folder.access != AW_PLAN_NOTHING || next.access == AW_PLAN_WRITE ||
		whole.access == AW_PLAN_WRITE || place->raised || is_special(path) ||
		!list(maker, above))
		return;
	place_at(maker, above)->partial = true;
}

/* In a directory where something can be made, that would not stay in a view of it. */
static bool is_open(const struct aw_plan_maker *maker, const char *folder,
	enum aw_plan_access allowed)
{
	AW_FREE char *host = aw_plan_host_path(maker, folder);

	return allowed == AW_PLAN_WRITE && (!host || access(host, W_OK) == 0);
}

/* Something is shown where there is nothing: the directory above gets room for it. */
static void make_room(struct aw_plan_maker *maker, const char *path)
{
	AW_FREE char *folder = strndup(path, (size_t)(strrchr(path, '/') - path)),
		     *above = folder ? folder_above(maker, folder) : NULL;
	struct aw_grade whole;
	struct aw_plan_place *place;

	if (!above || is_listed(maker, above) || is_special(path))
		return;
	grade_shown(maker, above, &whole);
	place = place_at(maker, above);
	if (whole.access == AW_PLAN_NOTHING || place->raised || place->forced ||
		is_open(maker, above, whole.access) || !list(maker, above))
		return;
	place_at(maker, above)->partial = true;
}

static void make_rooms(struct aw_plan_maker *maker)
{
	const struct aw_policy *policy = maker->params->policy;

	for (size_t i = 0; i < policy->exposed_count && !maker->failed; i++) {
		struct stat st;

		if (lstat(policy->exposed[i].target, &st) < 0)
			make_room(maker, policy->exposed[i].target);
	}
}

void aw_plan_look_for_missing(struct aw_plan_maker *maker)
{
	size_t count = maker->count;

	/* by index: places move when more come in, and those need no look */
	for (size_t i = 0; i < count && !maker->failed; i++)
		if (!maker->places[i].forced) {
			AW_FREE char *path = strdup(maker->places[i].path);

			if (path)
				raise_above(maker, path);
		}
	for (size_t i = 0; i < count && !maker->failed; i++)
		if (!maker->places[i].forced) {
			AW_FREE char *path = strdup(maker->places[i].path);

			if (path)
				close_above(maker, path);
		}
	make_rooms(maker);
}
