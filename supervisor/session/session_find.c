/* SPDX-License-Identifier: Apache-2.0 */
/* session_find.c - sessions by name, and all of them. */
#include "supervisor/session/session.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/cli/suggest.h"
#include "supervisor/session/folders.h"
#include "supervisor/util/cleanup.h"

void aw_session_list_free(struct aw_session_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		aw_session_free(list->items[i]);
	free(list->items);
	list->items = NULL;
	list->count = 0;
}

static int by_start(const void *a, const void *b)
{
	const struct aw_session *one = *(struct aw_session *const *)a;
	const struct aw_session *other = *(struct aw_session *const *)b;
	int order = strcmp(one->started, other->started);

	return order ? order : strcmp(one->id, other->id);
}

/* Add the session in directory/name; one that cannot be read is passed over. */
static int add(struct aw_session_list *list, const char *folder, const char *name,
	struct aw_error *err)
{
	AW_FREE char *dir = NULL;
	struct aw_session *session, **items;

	if (asprintf(&dir, "%s/%s", folder, name) < 0)
		return aw_fail(err, ENOMEM, "out of memory");
	if (aw_session_read(dir, &session, NULL) < 0)
		return 0;
	items = realloc(list->items, (list->count + 1) * sizeof(struct aw_session *));
	if (!items) {
		aw_session_free(session);
		return aw_fail(err, ENOMEM, "out of memory");
	}
	list->items = items;
	items[list->count++] = session;
	return 0;
}

/* The sessions whose name starts with start ("" for all), oldest first. */
static int collect(
	const char *start, struct aw_session_list *list, struct aw_error *err)
{
	AW_FREE char *folder = NULL;
	AW_CLOSEDIR DIR *dir = NULL;
	const struct dirent *entry;

	if (aw_sessions_directory(false, &folder, err) < 0)
		return -1;
	dir = opendir(folder);
	if (!dir && errno == ENOENT)
		return 0;
	if (!dir)
		return aw_fail(err, errno, "%s: %s", folder, strerror(errno));
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.' ||
			strncmp(entry->d_name, start, strlen(start)))
			continue;
		if (add(list, folder, entry->d_name, err) < 0)
			return -1;
	}
	if (list->count)
		qsort(list->items, list->count, sizeof(struct aw_session *), by_start);
	return 0;
}

int aw_session_list(struct aw_session_list *ret, struct aw_error *err)
{
	struct aw_session_list list = {0};

	if (collect("", &list, err) < 0) {
		aw_session_list_free(&list);
		return -1;
	}
	*ret = list;
	return 0;
}

static int not_found(const char *id, struct aw_error *err)
{
	struct aw_session_list all = {0};
	struct aw_suggestion near;
	char best[80] = "";

	aw_suggest_init(&near, id);
	if (!aw_session_list(&all, NULL))
		for (size_t i = 0; i < all.count; i++)
			aw_suggest_offer(&near, all.items[i]->id);
	if (aw_suggest_best(&near))
		snprintf(best, sizeof(best), "%s", aw_suggest_best(&near));
	aw_session_list_free(&all);
	if (best[0])
		return aw_fail(
			err, ENOENT, "no session '%s'; did you mean '%s'?", id, best);
	return aw_fail(err, ENOENT, "no session '%s'; see: agentwatch ps --all", id);
}

/* One of those found: the exact name, the only one, or for no name the latest. */
static int choose(const char *id, const struct aw_session_list *list, size_t *ret,
	struct aw_error *err)
{
	char names[256] = "";
	size_t used = 0;

	for (size_t i = 0; id && i < list->count; i++) {
		if (!strcmp(list->items[i]->id, id)) {
			*ret = i;
			return 0;
		}
	}
	if (list->count && (!id || list->count == 1)) {
		*ret = list->count - 1;
		return 0;
	}
	if (!id)
		return aw_fail(err, ENOENT,
			"no session yet; start one: agentwatch run -- COMMAND");
	if (!list->count)
		return not_found(id, err);
	for (size_t i = 0; i < list->count && used < sizeof(names); i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
			i ? ", " : "", list->items[i]->id);
	return aw_fail(
		err, EINVAL, "'%s' is the start of several sessions: %s", id, names);
}

int aw_session_find(const char *id, struct aw_session **ret, struct aw_error *err)
{
	struct aw_session_list list = {0};
	size_t index = 0;
	int r;

	if (id && (!*id || strchr(id, '/')))
		return aw_fail(err, EINVAL, "'%s' is not the name of a session", id);
	r = collect(id ? id : "", &list, err);
	if (!r)
		r = choose(id, &list, &index, err);
	if (!r) {
		/* NOLINTNEXTLINE(clang-analyzer-core.*): chosen from items */
		*ret = list.items[index];
		list.items[index] = NULL;
	}
	aw_session_list_free(&list);
	return r;
}
