/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c - from a policy to what a sandbox must show and hide. */
#include "supervisor/sandbox/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/image/region.h"
#include "supervisor/sandbox/plan_internal.h"
#include "supervisor/util/cleanup.h"

static enum aw_plan_access access_of(
	const struct aw_decision *read, const struct aw_decision *write)
{
	if (read->verdict > AW_ASK)
		return AW_PLAN_NOTHING;
	return write->verdict > AW_ASK ? AW_PLAN_READ : AW_PLAN_WRITE;
}

void aw_grade_file(const struct aw_image *image, const char *path, struct aw_grade *ret)
{
	struct aw_decision read, write;

	aw_image_decide_path(image, AW_READ, path, strlen(path), &read);
	aw_image_decide_path(image, AW_WRITE, path, strlen(path), &write);
	ret->access = access_of(&read, &write);
	ret->reads_denied = read.verdict != AW_ALLOW;
	ret->hidden = read.verdict == AW_HIDE;
	ret->rule = ret->access == AW_PLAN_NOTHING ? read.rule : write.rule;
}

void aw_grade_directory(
	const struct aw_image *image, const char *path, struct aw_grade *ret)
{
	struct aw_region region;

	aw_image_region(image, path, strlen(path), &region);
	ret->access = access_of(&region.mildest_read, &region.mildest_write);
	ret->reads_denied = region.strictest_read.verdict != AW_ALLOW;
	ret->hidden = region.mildest_read.verdict == AW_HIDE;
	ret->rule = ret->access == AW_PLAN_NOTHING ? region.mildest_read.rule
						   : region.mildest_write.rule;
}

/* The deepest entry at or above path, or NULL. */
static const struct aw_plan_entry *above(const struct aw_plan *plan, const char *path)
{
	const struct aw_plan_entry *best = NULL;

	for (size_t i = 0; i < plan->count; i++)
		if (aw_path_is_below(path, plan->entries[i].path))
			best = &plan->entries[i]; /* sorted: a later one is deeper */
	return best;
}

enum aw_plan_access aw_plan_reach(const struct aw_plan *plan, const char *path)
{
	const struct aw_plan_entry *entry = above(plan, path);

	if (!entry || (entry->partial && strcmp(entry->path, path) != 0))
		return AW_PLAN_NOTHING;
	return entry->access;
}

bool aw_plan_lacks(const struct aw_plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->count; i++) {
		const struct aw_plan_entry *entry = &plan->entries[i];
		bool mounted = entry->access != AW_PLAN_NOTHING &&
			       (!entry->partial || entry->whole);

		if (mounted && aw_path_is_below(path, entry->path))
			return false;
	}
	return aw_plan_reach(plan, path) == AW_PLAN_NOTHING;
}

static struct aw_plan_entry *push(struct aw_plan_maker *maker,
	const struct aw_plan_place *place, const char *source)
{
	struct aw_plan *plan = maker->plan;
	struct aw_plan_entry *entries =
		realloc(plan->entries, (plan->count + 1) * sizeof(*entries));
	AW_FREE char *path = strdup(place->path), *from = strdup(source);

	if (entries)
		plan->entries = entries;
	if (!entries || !path || !from) {
		maker->failed = true;
		return NULL;
	}
	entries += plan->count++;
	*entries = (struct aw_plan_entry){.path = aw_take_ptr(&path),
		.source = aw_take_ptr(&from),
		.why = place->why,
		.rule = AW_NO_RULE};
	return entries;
}

/* Where the place is on the host: below something exposed, that has its own source. */
static char *source_of(const struct aw_plan *plan, const struct aw_plan_place *place)
{
	const struct aw_plan_entry *entry = above(plan, place->path);
	size_t len = entry ? strlen(entry->path) : 0;
	char *source;

	if (place->source || !entry || strcmp(entry->path, entry->source) == 0)
		return strdup(place->source ? place->source : place->path);
	if (asprintf(&source, "%s%s", entry->source, place->path + len) < 0)
		return NULL;
	return source;
}

static void push_link(struct aw_plan_maker *maker, const char *path)
{
	struct aw_plan *plan = maker->plan;
	AW_FREE char *from = NULL, *to = NULL;
	struct aw_plan_link *links;
	char text[4096];
	ssize_t n = readlink(path, text, sizeof(text) - 1);

	if (n <= 0)
		return;
	text[n] = '\0';
	from = strdup(path);
	to = strdup(text);
	links = realloc(plan->links, (plan->link_count + 1) * sizeof(*links));
	if (links)
		plan->links = links;
	if (!links || !from || !to) {
		maker->failed = true;
		return;
	}
	links[plan->link_count++] =
		(struct aw_plan_link){aw_take_ptr(&from), aw_take_ptr(&to)};
}

static bool by_wish(const struct aw_plan_entry *entry)
{
	return entry && strcmp(entry->why, "policy") != 0;
}

/* What is allowed here by wish and policy together. */
static enum aw_plan_access allowed_at(const struct aw_plan_maker *maker,
	const struct aw_plan_place *place, const struct aw_plan_entry *parent,
	const struct aw_grade *grade)
{
	bool by_default = grade->rule == AW_NO_RULE && !place->taken_out;

	if (place->exposed)
		return aw_plan_shown_at(maker, place->access, grade);
	if (place->forced)
		return place->access;
	if (by_default && parent && strcmp(parent->why, "exposed") == 0)
		return parent->access;
	if (maker->minimal && !parent)
		return AW_PLAN_NOTHING;
	if (maker->minimal && by_default && !place->wished && !place->socket)
		return by_wish(parent) ? parent->access : AW_PLAN_NOTHING;
	if (grade->access == AW_PLAN_NOTHING && by_default &&
		(place->wished || place->socket))
		return AW_PLAN_READ;
	return grade->access;
}

/* Does an entry say more than the one above it? */
static bool is_news(const struct aw_plan_place *place,
	const struct aw_plan_entry *parent, enum aw_plan_access access)
{
	if (!parent || parent->partial || place->stays || place->partial ||
		place->source)
		return true;
	if (place->forced && !place->exposed)
		return access > parent->access;
	return access != parent->access;
}

/* Make the place's entry, if it needs one. */
static void settle(struct aw_plan_maker *maker, const struct aw_plan_place *place)
{
	struct aw_plan *plan = maker->plan;
	const struct aw_plan_entry *parent = above(plan, place->path);
	bool narrow = !parent || parent->partial || parent->access == AW_PLAN_NOTHING;
	AW_FREE char *source = source_of(plan, place);
	struct aw_grade grade;
	struct aw_plan_entry *entry;
	enum aw_plan_access access;
	struct stat st;
	bool there;

	if (!source) {
		maker->failed = true;
		return;
	}
	there = lstat(source, &st) == 0 || (place->forced && !place->source);
	if (there && lstat(source, &st) == 0 && S_ISLNK(st.st_mode)) {
		if (narrow && (place->wished || place->listed))
			push_link(maker, place->path);
		return;
	}
	if (there && lstat(source, &st) == 0 && !S_ISDIR(st.st_mode))
		aw_grade_file(maker->image, place->path, &grade);
	else
		aw_grade_directory(maker->image, place->path, &grade);
	access = allowed_at(maker, place, parent, &grade);
	if (access == AW_PLAN_WRITE && aw_plan_is_shown_to_read(maker, place->path))
		access = AW_PLAN_READ;
	if (place->raised && access == AW_PLAN_READ)
		access = AW_PLAN_WRITE;
	if (!is_news(place, parent, access) ||
		(!there && !(access == AW_PLAN_NOTHING && parent && parent->partial)))
		return;
	entry = push(maker, place, source);
	if (!entry)
		return;
	entry->access =
		place->raised && access == AW_PLAN_READ ? AW_PLAN_WRITE : access;
	entry->exists = there;
	entry->directory = there && lstat(source, &st) == 0 && S_ISDIR(st.st_mode);
	aw_plan_identify(entry);
	entry->open_ended = !there;
	entry->partial = place->partial;
	entry->hidden = access == AW_PLAN_NOTHING && grade.hidden;
	entry->rule = grade.rule;
	if (!place->forced && grade.access != AW_PLAN_NOTHING)
		entry->why = "policy";
}

static void want_boundaries(struct aw_plan_maker *maker)
{
	char path[4096];
	struct stat st;

	for (size_t i = 0; i < aw_image_pattern_count(maker->image); i++) {
		struct aw_boundary boundary;
		struct aw_plan_place *place;
		AW_FREE char *host = NULL, *real = NULL;

		if (!aw_image_boundary(
			    maker->image, i, path, sizeof(path), &boundary) ||
			boundary.kind == AW_BOUNDARY_OTHER)
			continue;
		host = aw_plan_host_path(maker, path);
		if (!host) {
			maker->failed = true;
			return;
		}
		if (lstat(host, &st) ==
			0) /* less than looking at each directory above */
			real = realpath(host, NULL);
		if (real && strcmp(real, host) != 0)
			continue; /* judged by its own name */
		place = aw_plan_place_add(maker, path, "policy");
		place->taken_out = boundary.negated && !boundary.wild;
		place->socket = boundary.kind == AW_BOUNDARY_SOCKET && !boundary.wild;
	}
}

static void want_parts(struct aw_plan_maker *maker)
{
	const struct aw_plan_params *params = maker->params;

	for (size_t i = 0; params->parts && params->parts[i]; i++) {
		struct aw_plan_place *place =
			aw_plan_place_add(maker, params->parts[i], "session");

		place->forced = true;
		place->access = AW_PLAN_READ;
	}
	if (params->instance) {
		struct aw_plan_place *place =
			aw_plan_place_add(maker, params->instance, "instance");

		place->forced = true;
		place->access = AW_PLAN_WRITE;
	}
	aw_plan_want_exposed(maker);
}

static void make(struct aw_plan_maker *maker)
{
	struct aw_grade all;

	aw_grade_directory(maker->image, "/", &all);
	maker->minimal = maker->params->minimal || all.access == AW_PLAN_NOTHING;
	aw_plan_place_add(maker, "/", "policy");
	want_boundaries(maker);
	want_parts(maker);
	if (maker->minimal)
		aw_plan_want_minimal(maker);
	if (maker->failed)
		return;
	aw_places_merge(maker);
	aw_plan_look_for_missing(maker);
	if (maker->failed)
		return;
	aw_places_merge(maker);
	for (size_t i = 0; i < maker->count; i++)
		settle(maker, &maker->places[i]);
	if (!maker->failed && maker->plan->count)
		aw_plan_mark_whole(maker);
}

int aw_plan_make(
	const struct aw_plan_params *params, struct aw_plan *ret, struct aw_error *err)
{
	struct aw_plan plan = {.count = 0};
	struct aw_plan_maker maker = {
		.params = params, .image = params->policy->image, .plan = &plan};

	if (aw_plan_check_exposed(params, err) < 0)
		return -1;
	make(&maker);
	if (params->instance && !(plan.instance = strdup(params->instance)))
		maker.failed = true;
	if (!aw_plan_fill_network(params, &plan))
		maker.failed = true;
	for (size_t i = 0; i < maker.count; i++)
		aw_plan_place_free(&maker.places[i]);
	free(maker.places);
	free(maker.real);
	if (maker.failed) {
		aw_plan_release(&plan);
		return aw_fail(err, ENOMEM, "planning the sandbox: out of memory");
	}
	*ret = plan;
	return 0;
}

void aw_plan_release(struct aw_plan *plan)
{
	for (size_t i = 0; i < plan->count; i++) {
		free(plan->entries[i].path);
		free(plan->entries[i].source);
	}
	for (size_t i = 0; i < plan->link_count; i++) {
		free(plan->links[i].path);
		free(plan->links[i].text);
	}
	free(plan->entries);
	free(plan->links);
	free(plan->connect_ports);
	free(plan->listen_ports);
	free(plan->instance);
	*plan = (struct aw_plan){.count = 0};
}
