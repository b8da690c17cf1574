/* SPDX-License-Identifier: Apache-2.0 */
/* path_variable.c - the variables of a policy as directories. */
#include "supervisor/learn/path_variable.h"

#include <string.h>

static size_t depth_of(const char *path)
{
	size_t depth = 0;

	for (; *path; path++)
		depth += *path == '/';
	return depth;
}

/* Behind those that are nearer to the root; of two for one directory the first counts. */
static void add(struct aw_path_variables *anchors, const char *name, const char *path)
{
	size_t at = anchors->count, i;

	if (!path || path[0] != '/' || !path[1])
		return;
	for (i = 1; i < anchors->count; i++)
		if (strcmp(anchors->items[i].path, path) == 0)
			return;
	while (at > 1 && depth_of(anchors->items[at - 1].path) > depth_of(path)) {
		anchors->items[at] = anchors->items[at - 1];
		at--;
	}
	anchors->items[at] = (struct aw_path_variable){name, path, strlen(path)};
	anchors->count++;
}

void aw_path_variables_init(
	struct aw_path_variables *anchors, const struct aw_policy_variables *variables)
{
	*anchors = (struct aw_path_variables){.items = {{"", "", 0}}, .count = 1};
	add(anchors, "$WORKSPACE", variables->workspace);
	add(anchors, "$HOME", variables->home);
	add(anchors, "$TMPDIR", variables->tmpdir);
	add(anchors, "$AGENTWATCH_DIR", variables->agentwatch_dir);
}

size_t aw_path_variable_of(const struct aw_path_variables *anchors, const char *path,
	const char **ret_rest)
{
	for (size_t i = anchors->count - 1;; i--) {
		const struct aw_path_variable *a = &anchors->items[i];

		if (strncmp(path, a->path, a->len) != 0 ||
			(path[a->len] && path[a->len] != '/'))
			continue;
		*ret_rest = path + a->len + (path[a->len] == '/');
		return i;
	}
}

bool aw_path_variable_within(
	const struct aw_path_variables *anchors, const char *path, bool self)
{
	size_t len = strlen(path);

	if (len == 1)
		return true;
	for (size_t i = 1; i < anchors->count; i++) {
		const struct aw_path_variable *a = &anchors->items[i];

		if (strncmp(a->path, path, len) == 0 &&
			(a->path[len] == '/' || (self && !a->path[len])))
			return true;
	}
	return false;
}
