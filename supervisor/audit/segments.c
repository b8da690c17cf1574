/* SPDX-License-Identifier: Apache-2.0 */
/* segments.c - a log in parts, so that it never outgrows its limit. */
#include "supervisor/audit/segments.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/util/cleanup.h"

enum {
	EACH_LEAST = 128 * 1024,
	EACH_MOST =
		4 * 1024 * 1024, /* read whole when it is removed: some milliseconds */
	PARTS = 64,
};

struct aw_segments {
	int dir;	      /* owned; holds the log */
	char *name;	      /* owned; of the log, in dir */
	uint64_t each;	      /* bytes of a segment */
	uint64_t kept_most;   /* bytes of what is kept of removed ones */
	unsigned first, next; /* the segments that are there: [first, next) */
	unsigned most;	      /* so many at once */
};

int aw_segments_open(const char *path, uint64_t limit, struct aw_segments **ret,
	struct aw_error *err)
{
	struct aw_segments *s = calloc(1, sizeof(*s));
	const char *slash = strrchr(path, '/');
	AW_FREE char *dir = slash ? strndup(path, (size_t)(slash - path) + 1) : NULL;

	if (!s || !dir || !(s->name = strdup(slash + 1))) {
		free(s);
		return aw_fail(err, ENOMEM, "opening the audit log: out of memory");
	}
	s->dir = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (s->dir < 0) {
		int code = errno;

		aw_segments_close(s);
		return aw_fail(err, code, "opening %s: %s", dir, strerror(code));
	}
	s->each = limit / PARTS;
	if (s->each < EACH_LEAST)
		s->each = EACH_LEAST;
	if (s->each > EACH_MOST)
		s->each = EACH_MOST;
	s->kept_most = limit / 4;
	s->most = (unsigned)((limit - s->kept_most) / s->each);
	s->most =
		s->most > 2 ? s->most - 1 : 1; /* the one that is written counts, too */
	s->first = s->next = 1;
	*ret = s;
	return 0;
}

void aw_segments_close(struct aw_segments *segments)
{
	if (!segments)
		return;
	if (segments->dir >= 0)
		close(segments->dir);
	free(segments->name);
	free(segments);
}

static void name_segment(
	const struct aw_segments *s, unsigned number, char out[static NAME_MAX + 1])
{
	snprintf(out, NAME_MAX + 1, "%s.%0*u", s->name, AW_SEGMENT_DIGITS, number);
}

/*
 * A quote within a value is escaped, so that these can only be members.  What is
 * not of these kinds is kept.
 */
static bool is_plain(const char *line)
{
	return strstr(line, "\"verdict\":\"allow\"") ||
	       strstr(line, "\"event\":\"exit\"") ||
	       strstr(line, "\"event\":\"hello\"");
}

/* Copy what is to be kept from one file to another, while there is room. */
static int copy_kept(FILE *from, FILE *to, uint64_t room, struct aw_segments_gone *gone)
{
	AW_FREE char *line = NULL;
	size_t size = 0;
	ssize_t len;

	while ((len = getline(&line, &size, from)) > 0) {
		if (!is_plain(line) && (uint64_t)len <= room) {
			room -= (uint64_t)len;
			if (fwrite(line, 1, (size_t)len, to) != (size_t)len)
				return -1;
			continue;
		}
		gone->denials += !is_plain(line);
		gone->lines++;
	}
	return ferror(from) || fflush(to) ? -1 : 0;
}

static FILE *open_segment(const struct aw_segments *s, const char *name, int flags)
{
	AW_CLOSE int fd = openat(s->dir, name, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
	FILE *file = fd >= 0 ? fdopen(fd, flags & O_APPEND ? "a" : "r") : NULL;

	if (file)
		aw_take_fd(&fd);
	return file;
}

/* Remove the oldest segment but for what is kept of it. */
static int remove_oldest(struct aw_segments *s, struct aw_segments_gone *gone)
{
	char name[NAME_MAX + 1], kept[NAME_MAX + 1];
	AW_FCLOSE FILE *from = NULL;
	AW_FCLOSE FILE *to = NULL;
	struct stat st;
	int code;

	name_segment(s, s->first, name);
	name_segment(s, 0, kept);
	from = open_segment(s, name, O_RDONLY);
	if (!from && errno == ENOENT) {
		s->first++;
		return 0;
	}
	to = from ? open_segment(s, kept, O_WRONLY | O_CREAT | O_APPEND) : NULL;
	if (!to || fstat(fileno(to), &st) < 0)
		return -1;
	if (copy_kept(from, to,
		    (uint64_t)st.st_size < s->kept_most
			    ? s->kept_most - (uint64_t)st.st_size
			    : 0,
		    gone) < 0) {
		code = errno ? errno : EIO;
		if (ftruncate(fileno(to), st.st_size) < 0)
			code = errno;
		*gone = (struct aw_segments_gone){0};
		errno = code;
		return -1;
	}
	if (unlinkat(s->dir, name, 0) < 0 && errno != ENOENT)
		return -1;
	s->first++;
	return 0;
}

/* Rename the log, and put another file under its name and behind fd. */
static int begin_segment(struct aw_segments *s, int fd)
{
	char name[NAME_MAX + 1];
	AW_CLOSE int fresh = -1;
	int code;

	name_segment(s, s->next, name);
	if (renameat2(s->dir, s->name, s->dir, name, RENAME_NOREPLACE) < 0)
		return -1;
	fresh = openat(s->dir, s->name,
		O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fresh < 0 || dup3(fresh, fd, O_CLOEXEC) < 0) {
		code = errno;
		if (fresh >= 0)
			unlinkat(s->dir, s->name, 0);
		if (renameat2(s->dir, name, s->dir, s->name, RENAME_NOREPLACE) < 0)
			s->next++; /* it stays what it is called now */
		errno = code;
		return -1;
	}
	s->next++;
	return 0;
}

int aw_segments_turn(struct aw_segments *segments, int fd,
	struct aw_segments_gone *ret_gone, struct aw_error *err)
{
	struct aw_segments_gone gone = {0};
	struct stat st, named;

	*ret_gone = gone;
	if (fstat(fd, &st) < 0 || (uint64_t)st.st_size < segments->each)
		return 0;
	/* deleted, or another file: not ours to rename */
	if (fstatat(segments->dir, segments->name, &named, AT_SYMLINK_NOFOLLOW) < 0 ||
		named.st_dev != st.st_dev || named.st_ino != st.st_ino)
		return 0;
	if (begin_segment(segments, fd) < 0)
		return aw_fail(err, errno,
			"beginning another part of the audit log: %s", strerror(errno));
	while (segments->next - segments->first > segments->most)
		if (remove_oldest(segments, &gone) < 0)
			return aw_fail(err, errno,
				"removing the oldest part of the audit log: %s",
				strerror(errno));
	*ret_gone = gone;
	return 0;
}
