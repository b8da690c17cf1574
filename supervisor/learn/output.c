/* SPDX-License-Identifier: Apache-2.0 */
/* output.c - a policy into a file: whole or not at all, for its owner alone. */
#include "supervisor/learn/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/util/cleanup.h"

static int write_all(int fd, const char *text, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		text += n;
		len -= (size_t)n;
	}
	return fsync(fd);
}

/* A link is refused when the name is taken, a rename is not. */
static int publish(const char *made, const char *file, bool force)
{
	if (force)
		return rename(made, file);
	if (link(made, file) < 0)
		return -1;
	unlink(made);
	return 0;
}

int aw_output_write(
	const char *file, const char *text, bool force, struct aw_error *err)
{
	AW_FREE char *made = NULL;
	AW_CLOSE int fd = -1;
	int code;

	if (asprintf(&made, "%s.XXXXXX", file) < 0)
		return aw_fail(err, ENOMEM, "%s: out of memory", file);
	fd = mkostemp(made, O_CLOEXEC); /* 0600 */
	if (fd < 0)
		return aw_fail(err, errno, "%s: %s", file, strerror(errno));
	if (write_all(fd, text, strlen(text)) == 0 && publish(made, file, force) == 0)
		return 0;
	code = errno;
	unlink(made);
	if (code == EEXIST)
		return aw_fail(err, code,
			"%s is there already; --force replaces it, --output FILE names another",
			file);
	return aw_fail(err, code, "%s: %s", file, strerror(code));
}
