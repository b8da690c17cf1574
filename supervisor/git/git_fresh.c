/* SPDX-License-Identifier: Apache-2.0 */
/* git_fresh.c - reading, judging and copying a configuration of git's. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "policy/git/gitconfig.h"
#include "supervisor/git/git.h"
#include "supervisor/linux/target/creds.h"
#include "supervisor/util/cleanup.h"

static int read_text(struct aw_git_text *text)
{
	size_t size = AW_GITCONFIG_MAX + 1;
	ssize_t n = 1;

	if (fstat(text->fd, &text->st) < 0)
		return errno;
	if (!S_ISREG(text->st.st_mode))
		return EINVAL;
	if (text->st.st_size > AW_GITCONFIG_MAX)
		return EFBIG;
	text->bytes = malloc(size);
	if (!text->bytes)
		return ENOMEM;
	while (text->len < size && n > 0) {
		n = read(text->fd, text->bytes + text->len, size - text->len);
		if (n > 0)
			text->len += (size_t)n;
		else if (n < 0 && errno == EINTR)
			n = 1;
	}
	/* it may have grown meanwhile */
	return n < 0 ? errno : text->len > AW_GITCONFIG_MAX ? EFBIG : 0;
}

int aw_git_read(int dir, const char *name, bool follow, struct aw_git_text *ret)
{
	int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, err;

	*ret = (struct aw_git_text){.fd = -1};
	do
		ret->fd = openat(dir, name, flags | (follow ? 0 : O_NOFOLLOW));
	while (ret->fd < 0 && aw_creds_hinder());
	err = ret->fd < 0 ? errno : read_text(ret);
	if (err)
		aw_git_text_free(ret);
	return err == ELOOP ? EINVAL : err;
}

void aw_git_text_free(struct aw_git_text *text)
{
	aw_cleanup_close(&text->fd);
	free(text->bytes);
	*text = (struct aw_git_text){.fd = -1};
}

static void find(
	struct aw_git_why *ret, const char *file, unsigned line, const char *what)
{
	snprintf(ret->file, sizeof(ret->file), "%s", file);
	snprintf(ret->text, sizeof(ret->text), "git-config: %s", what);
	ret->line = line;
}

/* For what the text of a configuration alone cannot tell. */
static bool may_write_at(void *image, const char *path, size_t len)
{
	struct aw_decision decision;

	aw_image_decide_path(image, AW_WRITE, path, len, &decision);
	return decision.verdict == AW_ALLOW;
}

bool aw_git_may(const struct aw_image *image, const struct aw_git_text *now,
	const struct aw_git_text *before, const char *file, struct aw_git_why *ret)
{
	size_t before_len = before ? before->len : 0;
	AW_FREE char *scratch = malloc(
		AW_GITCONFIG_SCRATCH(now->len) + AW_GITCONFIG_SCRATCH(before_len));
	const struct aw_gitconfig_place place = {file, may_write_at, (void *)image};
	struct aw_gitconfig_finding finding;
	char said[sizeof(finding.what) + 64];

	if (!scratch) {
		find(ret, file, 1, "no memory to judge it");
		return false;
	}
	if (aw_gitconfig_may_replace(now->bytes, now->len,
		    before ? before->bytes : NULL, before_len, &place, scratch,
		    &finding))
		return true;
	aw_gitconfig_say(&finding, said, sizeof(said));
	find(ret, file, finding.line, said);
	return false;
}

static bool write_all(int fd, const char *bytes, size_t len)
{
	while (len) {
		ssize_t n = write(fd, bytes, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		bytes += n;
		len -= (size_t)n;
	}
	return true;
}

/* What only the kernel sets, or only root, is there by itself or cannot be had. */
static bool may_be_missing(const char *name)
{
	return strncmp(name, "security.", 9) == 0 || strncmp(name, "trusted.", 8) == 0;
}

static bool copy_attribute(int from, int to, const char *name)
{
	AW_FREE char *value = NULL;
	ssize_t size = fgetxattr(from, name, NULL, 0);

	if (size >= 0 && (value = malloc((size_t)size + 1)))
		size = fgetxattr(from, name, value, (size_t)size);
	if (size >= 0 && value && fsetxattr(to, name, value, (size_t)size, 0) == 0)
		return true;
	return may_be_missing(name);
}

static bool copy_attributes(int from, int to)
{
	static const char acl[] = "system.posix_acl_access";
	char names[65536];
	ssize_t len = flistxattr(from, names, sizeof(names));
	bool has_acl = false;

	for (ssize_t at = 0; at < len; at += (ssize_t)strlen(names + at) + 1) {
		if (!copy_attribute(from, to, names + at))
			return false;
		has_acl |= strcmp(names + at, acl) == 0;
	}
	if (!has_acl) /* the directory's default for new files */
		fremovexattr(to, acl);
	return true;
}

/* The file that is renamed may be another's, where its directory is the target's. */
static bool give_to(int fd, const struct stat *st)
{
	struct stat now;
	int failed;

	if (fstat(fd, &now) < 0)
		return false;
	if (now.st_uid == st->st_uid && now.st_gid == st->st_gid)
		return true;
	do
		failed = fchown(fd, st->st_uid, st->st_gid);
	while (failed && aw_creds_hinder());
	return !failed;
}

static bool fill(int fd, const struct aw_git_text *text)
{
	const struct timespec times[2] = {text->st.st_atim, text->st.st_mtim};

	return write_all(fd, text->bytes, text->len) && give_to(fd, &text->st) &&
	       copy_attributes(text->fd, fd) &&
	       fchmod(fd, text->st.st_mode & 07777) == 0 && futimens(fd, times) == 0;
}

int aw_git_make_fresh(
	int folder, const struct aw_git_text *text, struct aw_git_fresh *ret)
{
	static _Atomic unsigned number;
	AW_CLOSE int fd = -1;
	int err;

	/* a name that the protection keeps from everybody else */
	snprintf(ret->name, sizeof(ret->name), ".agentwatch-config.%d.%u", getpid(),
		atomic_fetch_add(&number, 1));
	fd = openat(folder, ret->name,
		O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno;
	if (fill(fd, text))
		return 0;
	err = errno;
	unlinkat(folder, ret->name, 0);
	return err;
}
