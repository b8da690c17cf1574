/* SPDX-License-Identifier: Apache-2.0 */
/* plan_missing.c - paths that a policy names and that are not there yet. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/cleanup.h"
#include "supervisor/runner/plan_make.h"

/* A folder that holds more is not listed one by one. */
#define LISTED_MAX 512

static bool is_there(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

/* Many names that are missing have one folder above them. */
static bool is_real(struct aw_plan_maker *maker, const char *folder)
{
	char *real;

	if (maker->real && strcmp(maker->real, folder) == 0)
		return true;
	real = realpath(folder, NULL);
	free(maker->real);
	maker->real = real;
	return real && strcmp(real, folder) == 0;
}

/* The deepest folder above path that is there, with its length; NULL: none of use. */
static char *folder_above(struct aw_plan_maker *maker, const char *path)
{
	AW_FREE char *at = strdup(path);

	while (at && !is_there(at[0] ? at : "/"))
		*strrchr(at, '/') = '\0';
	if (at && !at[0])
		return strdup("/");
	return at && is_real(maker, at) ? aw_take_ptr(&at) : NULL;
}

/* Its name in that folder, as a path. */
static char *name_in(const char *folder, const char *path)
{
	size_t start = strcmp(folder, "/") == 0 ? 1 : strlen(folder) + 1;

	return strndup(path, start + strcspn(path + start, "/"));
}

static struct aw_place *place_at(struct aw_plan_maker *maker, const char *path)
{
	for (size_t i = 0; i < maker->count; i++)
		if (strcmp(maker->places[i].path, path) == 0)
			return &maker->places[i];
	return aw_place_add(maker, path, "policy");
}

static bool is_listed(const struct aw_plan_maker *maker, const char *path)
{
	for (size_t i = 0; i < maker->count; i++)
		if (maker->places[i].partial &&
			strcmp(maker->places[i].path, path) == 0)
			return true;
	return false;
}

/* Everything in the folder becomes a place; false: too much, or not to be read. */
static bool list(struct aw_plan_maker *maker, const char *folder)
{
	AW_CLOSEDIR DIR *dir = opendir(folder);
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
				aw_place_free(&maker->places[--maker->count]);
			return false;
		}
		aw_place_add(maker, path, "policy")->listed = true;
	}
	return dir != NULL;
}

static bool is_special(const char *path)
{
	return aw_path_is_below(path, "/proc") || aw_path_is_below(path, "/dev") ||
	       aw_path_is_below(path, "/sys");
}

/* A file that may be made in a folder that may not be changed otherwise. */
static void raise_folder(struct aw_plan_maker *maker, const char *folder)
{
	struct aw_place *place;
	struct aw_grade grade;

	aw_grade_folder(maker->image, folder, &grade);
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

	if (is_there(path) || is_special(path) || !(above = folder_above(maker, path)))
		return;
	name = name_in(above, path);
	if (!name || strcmp(name, path) != 0)
		return; /* nobody may make its folder */
	aw_grade_file(maker->image, path, &file);
	aw_grade_folder(maker->image, path, &folder);
	if (file.access == AW_PLAN_WRITE || folder.access == AW_PLAN_WRITE)
		raise_folder(maker, above);
}

/* Who may not read it later must not find it later. */
static void close_above(struct aw_plan_maker *maker, const char *path)
{
	struct aw_grade file, folder, whole, next;
	AW_FREE char *above = NULL, *name = NULL;
	struct aw_place *place;

	if (is_there(path) || !(above = folder_above(maker, path)) ||
		!(name = name_in(above, path)) || is_listed(maker, above))
		return;
	aw_grade_file(maker->image, path, &file);
	aw_grade_folder(maker->image, path, &folder);
	if (!file.reads_denied && !folder.reads_denied)
		return;
	aw_grade_folder(maker->image, above, &whole);
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
}
