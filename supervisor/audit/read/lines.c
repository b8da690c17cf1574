/* SPDX-License-Identifier: Apache-2.0 */
/* lines.c - the lines of a file that may still grow. */
#include "supervisor/audit/read/lines.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/audit/segments.h"
#include "supervisor/util/cleanup.h"

enum { CHUNK = 128 * 1024, LINE_MAX_BYTES = 256 * 1024 * 1024 };

enum { NONE = UINT_MAX }; /* no segment: the log under its own name */

/* The number in the name of a segment of base, or NONE. */
static unsigned number_of(const char *name, const char *base)
{
	size_t len = strlen(base);

	if (strncmp(name, base, len) != 0 || name[len] != '.' ||
		strlen(name + len + 1) < AW_SEGMENT_DIGITS ||
		name[len + 1 + strspn(name + len + 1, "0123456789")])
		return NONE;
	return (unsigned)strtoul(name + len + 1, NULL, 10);
}

/* The first segment from number `from` on, or NONE; behind the last one comes
 * *ret_next. */
static unsigned find_part(
	const struct aw_lines *lines, unsigned from, unsigned *ret_next)
{
	const char *slash = strrchr(lines->name, '/');
	const char *base = slash ? slash + 1 : lines->name;
	AW_FREE char *dir =
		slash ? strndup(lines->name, (size_t)(slash - lines->name) + 1) : NULL;
	DIR *all = opendir(slash && dir ? dir : ".");
	unsigned found = NONE, next = 1;
	struct dirent *entry;

	while (all && (entry = readdir(all))) {
		unsigned number = number_of(entry->d_name, base);

		if (number == NONE)
			continue;
		if (number >= from && number < found)
			found = number;
		if (number >= next)
			next = number + 1;
	}
	if (all)
		closedir(all);
	*ret_next = next;
	return found;
}

static int open_file(struct aw_lines *lines, unsigned part, struct aw_error *err)
{
	char *file = NULL;
	int fd, code;

	if (part == NONE ? !(file = strdup(lines->name))
			 : asprintf(&file, "%s.%0*u", lines->name, AW_SEGMENT_DIGITS,
				   part) < 0)
		return aw_fail(err, ENOMEM, "%s: out of memory", lines->name);
	fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		code = errno;
		aw_fail(err, code, "%s: %s", file, strerror(code));
		free(file);
		return -1;
	}
	if (lines->fd >= 0)
		close(lines->fd);
	free(lines->file);
	lines->file = file;
	lines->fd = fd;
	lines->part = part;
	lines->number = 0;
	return 0;
}

/* Go over to the first segment from number `from` on that there is, or to the log
 * itself. */
static int open_part(struct aw_lines *lines, unsigned from, struct aw_error *err)
{
	struct aw_error gone;
	unsigned part, again;

	for (;;) {
		part = find_part(lines, from, &lines->next);
		if (part != NONE) {
			if (open_file(lines, part, &gone) == 0)
				return 0;
			if (gone.code != ENOENT)
				return aw_fail(err, gone.code, "%s", gone.text);
			continue; /* removed since */
		}
		if (open_file(lines, NONE, err) < 0)
			return -1;
		again = find_part(lines, from, &lines->next);
		if (again == NONE)
			return 0; /* else it got its number in between */
	}
}

/* At the end of the file: 1 when there is another to read, 0 when not now, -1 on error. */
static int go_on(struct aw_lines *lines, struct aw_error *err)
{
	struct stat named, st;

	if (!lines->name)
		return 0;
	if (lines->part != NONE)
		return open_part(lines, lines->part + 1, err) < 0 ? -1 : 1;
	if (stat(lines->name, &named) < 0 || fstat(lines->fd, &st) < 0 ||
		(named.st_dev == st.st_dev && named.st_ino == st.st_ino))
		return 0;
	lines->part =
		lines->next; /* it was renamed; what came before that is still read */
	return 1;
}

int aw_lines_open(struct aw_lines *lines, const char *name, struct aw_error *err)
{
	struct stat st;

	*lines = (struct aw_lines){.fd = -1, .notify = -1, .part = NONE};
	if (!strcmp(name, "-")) {
		lines->fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
		lines->file = strdup(name);
		return lines->fd >= 0
			       ? 0
			       : aw_fail(err, errno, "%s: %s", name, strerror(errno));
	}
	if (stat(name, &st) < 0)
		return aw_fail(err, errno, "%s: %s", name, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return aw_fail(err, EISDIR, "%s: %s", name, strerror(EISDIR));
	if (!(lines->name = strdup(name)))
		return aw_fail(err, ENOMEM, "%s: out of memory", name);
	if ((S_ISREG(st.st_mode) ? open_part(lines, 0, err)
				 : open_file(lines, NONE, err)) < 0) {
		aw_lines_release(lines);
		return -1;
	}
	if (S_ISREG(st.st_mode)) {
		lines->notify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	} else { /* a pipe has no segments */
		free(lines->name);
		lines->name = NULL;
	}
	return 0;
}

static int make_room(struct aw_lines *lines, struct aw_error *err)
{
	size_t kept = lines->len - lines->start, size;
	char *bytes;

	if (lines->bytes && lines->start) {
		memmove(lines->bytes, lines->bytes + lines->start, kept);
		lines->len = kept;
		lines->start = 0;
	}
	if (lines->size - lines->len > CHUNK / 2)
		return 0;
	size = lines->size ? lines->size * 2 : CHUNK * 2;
	bytes = size <= LINE_MAX_BYTES ? realloc(lines->bytes, size) : NULL;
	if (!bytes)
		return aw_fail(
			err, EFBIG, "line %lu is too long to read", lines->number + 1);
	lines->bytes = bytes;
	lines->size = size;
	return 0;
}

int aw_lines_next(
	struct aw_lines *lines, char **ret, size_t *ret_len, struct aw_error *err)
{
	for (;;) {
		size_t have = lines->len - lines->start;
		char *line = lines->bytes ? lines->bytes + lines->start : NULL;
		char *end = NULL;
		ssize_t n;
		int r;

		if (line && have > lines->looked)
			end = memchr(line + lines->looked, '\n', have - lines->looked);
		if (end) {
			*end = 0;
			*ret = line;
			*ret_len = (size_t)(end - line);
			lines->start += *ret_len + 1;
			lines->looked = 0;
			lines->number++;
			return 1;
		}
		lines->looked = have;
		if (make_room(lines, err) < 0)
			return -1;
		n = read(
			lines->fd, lines->bytes + lines->len, lines->size - lines->len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return aw_fail(err, errno, "reading: %s", strerror(errno));
		if (n == 0 && (r = go_on(lines, err)) <= 0)
			return r;
		lines->len += (size_t)n;
	}
}

bool aw_lines_torn(const struct aw_lines *lines)
{
	return lines->len > lines->start;
}

void aw_lines_wait(struct aw_lines *lines, int ms)
{
	struct pollfd ready = {.fd = lines->notify, .events = POLLIN};
	char events[4096] __attribute__((aligned(8)));

	/* of another file after each segment; the same one again changes nothing */
	if (lines->notify >= 0 && lines->name)
		inotify_add_watch(lines->notify, lines->name, IN_MODIFY | IN_MOVE_SELF);
	if (poll(&ready, 1, ms) > 0)
		while (read(lines->notify, events, sizeof(events)) > 0)
			continue;
}

void aw_lines_release(struct aw_lines *lines)
{
	if (lines->fd >= 0)
		close(lines->fd);
	if (lines->notify >= 0)
		close(lines->notify);
	free(lines->bytes);
	free(lines->name);
	free(lines->file);
}
