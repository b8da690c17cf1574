/* SPDX-License-Identifier: Apache-2.0 */
/* git_what.c - what is a repository, a configuration of git's, or a hook. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "policy/array.h"
#include "supervisor/git/git.h"
#include "supervisor/linux/target/creds.h"
#include "supervisor/util/cleanup.h"

/* So many that nobody looks for hooks among them. */
enum { ENTRIES_MAX = 10000 };

/* Names are compared without case, for directories in which case makes no difference. */
static bool is_called(const char *last, const char *name)
{
	size_t len = strlen(name);

	return strncasecmp(last, name, len) == 0 &&
	       !last[len + strspn(last + len, "/")];
}

static const char *last_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* When in doubt it is there. */
bool aw_git_holds(int folder, const char *name)
{
	struct stat st;

	return fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 ||
	       (errno != ENOENT && errno != ENOTDIR);
}

/* git makes nothing of a directory of that name. */
bool aw_git_holds_file(int folder, const char *name)
{
	struct stat st;

	return aw_git_holds(folder, name) &&
	       !(fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		       S_ISDIR(st.st_mode));
}

static bool is_repository(int folder)
{
	return aw_git_holds(folder, AW_GIT_OBJECTS) &&
	       aw_git_holds(folder, AW_GIT_REFS);
}

/*
 * What a descriptor's link leads to has no directory of its own yet: found by the
 * kernel's name for it, and only when it still holds that very file.
 */
static int folder_by_name(
	const struct aw_notified *call, const struct aw_location *place)
{
	const char *last = last_of(place->name);
	char path[AW_LOCATION_PATH + 32];
	AW_CLOSE int fd = -1;
	struct stat st;

	aw_git_path(&call->target.who, place->name, (size_t)(last - place->name), path,
		sizeof(path));
	do
		fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	while (fd < 0 && aw_creds_hinder());
	if (fd < 0 || fstatat(fd, last, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		st.st_dev != place->st.st_dev || st.st_ino != place->st.st_ino)
		return -1;
	return aw_take_fd(&fd);
}

/* A rule of the protection, for what none names. */
bool aw_git_rule(const struct aw_image *image, uint32_t *ret)
{
	const char *ignored;
	uint32_t at = 0;
	size_t len;

	return aw_image_next_keyed(image, &at, &ignored, &len, ret);
}

/* A pattern that is just one path, as that; false: it has wildcards or does not fit. */
static bool as_path(const char *pattern, size_t len, char *to, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		if (strchr("*?[", pattern[i]) || n + 1 >= size)
			return false;
		if (pattern[i] == '\\' && i + 1 < len)
			i++;
		to[n++] = pattern[i];
	}
	to[n] = '\0';
	return true;
}

/* Another name, made before the session, of a file that a rule names. */
static bool is_also(const struct aw_image *image, const struct stat *st, uint32_t *ret)
{
	char path[PATH_MAX];
	const char *pattern;
	struct stat known;
	uint32_t at = 0;
	size_t len;

	while (aw_image_next_keyed(image, &at, &pattern, &len, ret))
		if (as_path(pattern, len, path, sizeof(path)) &&
			stat(path, &known) == 0 && known.st_dev == st->st_dev &&
			known.st_ino == st->st_ino)
			return true;
	return false;
}

/* "config" of a repository, whatever that is called. */
static bool is_repositorys(
	const struct aw_notified *call, const struct aw_location *place)
{
	AW_CLOSE int found = -1;

	if (place->parent >= 0)
		return is_called(place->last, AW_GIT_CONFIG) &&
		       is_repository(place->parent);
	if (!place->len || !is_called(last_of(place->name), AW_GIT_CONFIG))
		return false;
	found = folder_by_name(call, place);
	return found < 0 || is_repository(found);
}

bool aw_git_is_config(const struct aw_notified *call, const struct aw_location *place,
	uint32_t *ret_rule)
{
	const struct aw_image *image = atomic_load(&call->watch->image);

	if (aw_image_keyed(image, place->name, place->len, ret_rule))
		return true;
	if (place->object >= 0 && S_ISREG(place->st.st_mode) &&
		place->st.st_nlink > 1 && is_also(image, &place->st, ret_rule))
		return true;
	return aw_git_rule(image, ret_rule) && is_repositorys(call, place);
}

bool aw_git_hooks_rule(const struct aw_image *image, uint32_t *ret)
{
	static const char name[] = "git-hooks: ";
	struct aw_rule rule;

	for (*ret = 0; aw_image_rule(image, *ret, &rule); ++*ret)
		if (strncmp(rule.text, name, sizeof(name) - 1) == 0 &&
			strcmp(rule.file, "protections") == 0 &&
			strcmp(rule.layer, "built-in") == 0)
			return true;
	return false;
}

/* None of git's hooks has a dot in its name; the samples do, and so has source code. */
static bool is_hook_name(const char *name)
{
	return *name && !strchr(name, '.');
}

/* Is the directory around the last component called that? */
static bool lies_in(const struct aw_location *place, const char *name)
{
	const char *last = last_of(place->name);
	size_t len = strlen(name);

	return (size_t)(last - place->name) >= len + 2 &&
	       strncasecmp(last - 1 - len, name, len) == 0 &&
	       last[-2 - (long)len] == '/';
}

/* Right in the "hooks" of a repository. */
static bool lies_in_hooks(
	const struct aw_notified *call, const struct aw_location *place)
{
	AW_CLOSE int found = place->parent < 0 ? folder_by_name(call, place) : -1;
	int folder = place->parent < 0 ? found : place->parent;
	AW_CLOSE int above =
		folder < 0 ? -1
			   : openat(folder, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);

	return above < 0 || is_repository(above);
}

bool aw_git_is_hook(const struct aw_notified *call, const struct aw_location *place,
	uint32_t *ret_rule)
{
	const struct aw_image *image = atomic_load(&call->watch->image);

	if (place->parent >= 0 && is_called(place->last, AW_GIT_HOOKS))
		return is_repository(place->parent) &&
		       aw_git_hooks_rule(image, ret_rule);
	return place->len && lies_in(place, AW_GIT_HOOKS) &&
	       is_hook_name(last_of(place->name)) && lies_in_hooks(call, place) &&
	       aw_git_hooks_rule(image, ret_rule);
}

bool aw_git_has_hooks(int folder)
{
	struct dirent *entry;
	unsigned count = 0;
	bool found = false;
	DIR *dir;
	int fd;

	if (!aw_git_holds(folder, AW_GIT_HOOKS))
		return false;
	fd = openat(
		folder, AW_GIT_HOOKS, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) { /* a link, or not to be looked into */
		aw_cleanup_close(&fd);
		return true;
	}
	while (!found && (entry = readdir(dir)))
		found = is_hook_name(entry->d_name) || ++count > ENTRIES_MAX;
	closedir(dir);
	return found;
}

bool aw_git_makes(const struct aw_location *place)
{
	return is_called(place->last, AW_GIT_OBJECTS) ||
	       is_called(place->last, AW_GIT_REFS);
}

bool aw_git_minds(const struct aw_location *place)
{
	static const char *const names[] = {
		AW_GIT_CONFIG, AW_GIT_OBJECTS, AW_GIT_REFS, AW_GIT_HOOKS};
	const char *last;

	if (!place->len) /* it has no name */
		return false;
	last = place->parent < 0 ? last_of(place->name) : place->last;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (is_called(last, names[i]))
			return true;
	return lies_in(place, AW_GIT_HOOKS);
}
