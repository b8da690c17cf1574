/* SPDX-License-Identifier: Apache-2.0 */
/* lines.c - the lines of a file that may still grow. */
#include "supervisor/view/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 128 * 1024, LINE_MAX_BYTES = 256 * 1024 * 1024 };

int aw_lines_open(struct aw_lines *lines, const char *name, struct aw_error *err)
{
	struct stat st;
	int fd;

	if (!strcmp(name, "-"))
		fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	else
		fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return aw_fail(err, errno, "%s: %s", name, strerror(errno));
	if (!fstat(fd, &st) && S_ISDIR(st.st_mode)) {
		close(fd);
		return aw_fail(err, EISDIR, "%s: %s", name, strerror(EISDIR));
	}
	*lines = (struct aw_lines){.fd = fd, .notify = -1};
	if (S_ISREG(st.st_mode))
		lines->notify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (lines->notify >= 0)
		inotify_add_watch(lines->notify, name, IN_MODIFY);
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
		if (n == 0)
			return 0;
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
}
