/* SPDX-License-Identifier: Apache-2.0 */
/* git_look.c - the same for renames that somebody else makes: by path. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/git/git.h"
#include "supervisor/util/cleanup.h"

void aw_git_path(const struct aw_process_info *who, const char *path, size_t len,
	char *to, size_t size)
{
	int n = 0;

	if (!who->plain_root)
		n = snprintf(to, size, "/proc/%d/root", who->pid);
	snprintf(to + n, size - (size_t)n, "%.*s", (int)len, path);
}

static bool is_there(const char *folder, const char *name)
{
	char path[AW_CALL_PATH + 64];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* "config" beside what makes a repository; path is ours to see. */
static bool is_repositorys(const char *path)
{
	const char *slash = strrchr(path, '/');
	char folder[AW_CALL_PATH + 32];

	if (!slash || strcmp(slash, "/config") != 0)
		return false;
	snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path), path);
	return is_there(folder, "objects") && is_there(folder, "refs");
}

bool aw_git_would_refuse(const struct aw_image *image,
	const struct aw_process_info *who, const struct aw_text *from,
	const struct aw_text *to, struct aw_git_why *ret)
{
	char ours[AW_CALL_PATH + 32], name[AW_CALL_PATH];
	struct aw_git_text now, before;
	const char *ignored;
	uint32_t at = 0;
	size_t len;
	bool may, had;

	ret->text[0] = '\0';
	if (!from->len || !to->len ||
		!aw_image_next_keyed(image, &at, &ignored, &len, &ret->rule))
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)to->len, to->bytes);
	aw_git_path(who, to->bytes, to->len, ours, sizeof(ours));
	if (!aw_image_keyed(image, to->bytes, to->len, &ret->rule) &&
		!is_repositorys(ours))
		return false;
	had = aw_git_read(AT_FDCWD, ours, false, &before) == 0;
	aw_git_path(who, from->bytes, from->len, ours, sizeof(ours));
	/* what cannot be looked at here is no configuration that was written by git */
	may = aw_git_read(AT_FDCWD, ours, false, &now) == 0 &&
	      aw_git_may(image, &now, had ? &before : NULL, name, ret);
	aw_git_text_free(&now);
	if (had)
		aw_git_text_free(&before);
	return !may;
}
