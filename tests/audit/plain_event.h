/* SPDX-License-Identifier: Apache-2.0 */
/* plain_event.h - an ordinary event, and a file to write it to. */
#ifndef AW_TESTS_AUDIT_PLAIN_EVENT_H
#define AW_TESTS_AUDIT_PLAIN_EVENT_H

#include <stdlib.h>
#include <unistd.h>

#include "supervisor/audit/audit_log.h"
#include "supervisor/util/cleanup.h"
#include "supervisor/util/json.h"

#define TEXT(literal) ((struct aw_text){literal, sizeof(literal) - 1})

static const struct aw_event plain = {
	.kind = AW_EV_CALL,
	.ts = 1700000000123456789u,
	.pid = 42,
	.ppid = 1,
	.exe = {"/bin/cat", 8},
	.call = "openat",
	.action = AW_READ,
	.path = {"/etc/passwd", 11},
	.port = -1,
	.status = -1,
};

/* A file without a name. */
static inline int scratch_file(void)
{
	char name[] = "/tmp/aw-test-log.XXXXXX";
	int fd = mkstemp(name);

	unlink(name);
	return fd;
}

/* All that was written to fd, terminated, owned by the caller. */
static inline char *slurp(int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);
	char *text = calloc(1, (size_t)size + 1);

	if (pread(fd, text, (size_t)size, 0) != size)
		abort();
	return text;
}

#endif
