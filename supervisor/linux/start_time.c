/* SPDX-License-Identifier: Apache-2.0 */
/* start_time.c - start times from /proc. */
#include "supervisor/linux/start_time.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/util/cleanup.h"

static int read_small(const char *path, char *out, size_t size)
{
	AW_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = read(fd, out, size - 1);
	if (n < 0)
		return -1;
	out[n] = 0;
	return 0;
}

int aw_process_start(pid_t pid, uint64_t *ret_ticks)
{
	enum { STATE = 3, START = 22 }; /* fields of proc(5), counted from 1 */
	char path[32], text[1024];
	const char *at;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (read_small(path, text, sizeof(text)) < 0) {
		if (errno == ENOENT)
			errno = ESRCH;
		return -1;
	}
	/* The second field is the program's name, which may hold blanks and brackets. */
	at = strrchr(text, ')');
	if (!at || at[1] != ' ' || at[2] == 'Z' || at[2] == 'X') {
		errno = ESRCH;
		return -1;
	}
	at += 2;
	for (int field = STATE; field < START; field++) {
		at = strchr(at, ' ');
		if (!at) {
			errno = EBADMSG;
			return -1;
		}
		at++;
	}
	*ret_ticks = strtoull(at, NULL, 10);
	return 0;
}

char *aw_boot_id(void)
{
	char text[64];

	if (read_small("/proc/sys/kernel/random/boot_id", text, sizeof(text)) < 0)
		return NULL;
	text[strcspn(text, "\n")] = 0;
	return strdup(text);
}
