/* SPDX-License-Identifier: Apache-2.0 */
/* proc.c - what /proc tells about a process. */
#include "supervisor/proc.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/cleanup.h"

ssize_t aw_proc_link(pid_t pid, const char *what, char *to, size_t size)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, what);
	n = readlink(path, to, size - 1);
	to[n < 0 ? 0 : n] = '\0';
	return n;
}

bool aw_proc_parent(pid_t tid, pid_t *ret_pid, pid_t *ret_ppid)
{
	char path[64], text[4096], *at;
	AW_CLOSE int fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return false;
	text[n] = '\0';
	if (!(at = strstr(text, "\nTgid:")))
		return false;
	*ret_pid = atoi(at + 6);
	if (!(at = strstr(text, "\nPPid:")))
		return false;
	*ret_ppid = atoi(at + 6);
	return true;
}

bool aw_proc_has_our_view(pid_t pid)
{
	char text[4096], ours[64], theirs[64];

	return aw_proc_link(pid, "root", text, sizeof(text)) == 1 &&
	       aw_proc_link(getpid(), "ns/mnt", ours, sizeof(ours)) > 0 &&
	       aw_proc_link(pid, "ns/mnt", theirs, sizeof(theirs)) > 0 &&
	       strcmp(ours, theirs) == 0;
}

bool aw_proc_maps_session(pid_t pid)
{
	char path[64], line[512];
	AW_FCLOSE FILE *file = NULL;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (strstr(line, "/memfd:agentwatch"))
			return true;
	return false;
}
