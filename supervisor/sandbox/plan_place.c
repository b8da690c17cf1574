/* SPDX-License-Identifier: Apache-2.0 */
/* plan_place.c - paths that matter to a plan. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/sandbox/plan_internal.h"
#include "supervisor/util/cleanup.h"

/* As many links in a row as the kernel follows. */
#define LINKS_MAX 40

bool aw_path_is_below(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	if (len == 1)
		return true;
	return strncmp(path, folder, len) == 0 && (!path[len] || path[len] == '/');
}

static bool make_room(struct aw_plan_maker *maker)
{
	size_t room = maker->room ? maker->room * 2 : 64;
	struct aw_plan_place *places;

	if (maker->count < maker->room)
		return true;
	places = realloc(maker->places, room * sizeof(*places));
	if (!places)
		return false;
	maker->places = places;
	maker->room = room;
	return true;
}

struct aw_plan_place *aw_plan_place_add(
	struct aw_plan_maker *maker, const char *path, const char *why)
{
	static struct aw_plan_place aside;
	AW_FREE char *copy = strdup(path);
	struct aw_plan_place *place;

	if (!copy || !make_room(maker)) {
		maker->failed = true;
		return &aside;
	}
	place = &maker->places[maker->count++];
	*place = (struct aw_plan_place){.path = aw_take_ptr(&copy), .why = why};
	return place;
}

/* Each symbolic link on the way is wished for too; the path behind the first one. */
static char *behind_link(struct aw_plan_maker *maker, const char *path, const char *why)
{
	AW_FREE char *at = strdup(path);
	char *ret = NULL;

	for (char *slash = at; slash && *slash;) {
		struct stat st;
		char text[4096], *end = strchr(slash + 1, '/');
		ssize_t n;

		if (end)
			*end = '\0';
		if (lstat(at, &st) == 0 && S_ISLNK(st.st_mode) &&
			(n = readlink(at, text, sizeof(text) - 1)) > 0) {
			text[n] = '\0';
			aw_plan_place_add(maker, at, why)->wished = true;
			*slash = '\0';
			if (asprintf(&ret, "%s%s%s%s%s", text[0] == '/' ? "" : at,
				    text[0] == '/' ? "" : "/", text, end ? "/" : "",
				    end ? end + 1 : "") < 0)
				return NULL;
			return ret;
		}
		if (end)
			*end = '/';
		slash = end;
	}
	return ret;
}

void aw_plan_want(struct aw_plan_maker *maker, const char *path, const char *why)
{
	AW_FREE char *real = realpath(path, NULL), *at = NULL;

	if (!real || strcmp(real, "/") == 0)
		return;
	at = strdup(path);
	for (int i = 0; at && i < LINKS_MAX; i++) {
		char *next = behind_link(maker, at, why);

		free(at);
		at = next;
	}
	aw_plan_place_add(maker, real, why)->wished = true;
}

static int by_path(const void *a, const void *b)
{
	const struct aw_plan_place *left = a, *right = b;

	return strcmp(left->path, right->path);
}

void aw_plan_place_free(struct aw_plan_place *place)
{
	free(place->path);
	free(place->source);
}

void aw_places_merge(struct aw_plan_maker *maker)
{
	struct aw_plan_place *to = maker->places;

	if (!maker->count)
		return;
	qsort(maker->places, maker->count, sizeof(*maker->places), by_path);
	for (size_t i = 1; i < maker->count; i++) {
		struct aw_plan_place *from = &maker->places[i];

		if (strcmp(to->path, from->path) != 0) {
			*++to = *from;
			continue;
		}
		to->wished |= from->wished;
		to->taken_out |= from->taken_out;
		to->socket |= from->socket;
		to->listed |= from->listed;
		to->partial |= from->partial;
		to->raised |= from->raised;
		to->stays |= from->stays;
		if (strcmp(to->why, "policy") == 0 || from->source)
			to->why = from->why;
		if (from->forced &&
			(!to->forced || from->source || from->access > to->access)) {
			to->exposed = from->exposed;
			to->forced = true;
			to->access = from->access;
		}
		if (from->source) {
			free(to->source);
			to->source = aw_take_ptr(&from->source);
		}
		aw_plan_place_free(from);
	}
	maker->count = (size_t)(to - maker->places) + 1;
}
