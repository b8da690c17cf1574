/* SPDX-License-Identifier: Apache-2.0 */
/* entry.c - roles by programs that are started. */
#include "supervisor/entry.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/cleanup.h"
#include "supervisor/proc.h"

enum { WORDS_MAX = 64, VECTOR_MAX = 64 * 1024 };

static void name_server(struct aw_watch *watch, const struct aw_who *who,
	const struct aw_started *started, struct aw_role *ret)
{
	char name[AW_MCP_NAME];

	if (aw_mcp_configured(watch->mcp, started, name) ||
		(!who->role.mcp && aw_mcp_looks_like(started, name)))
		ret->mcp = aw_processes_intern(watch->tree, name);
}

void aw_entry_foresee(struct aw_watch *watch, const struct aw_who *who,
	const struct aw_started *started, struct aw_role *ret)
{
	*ret = who->role;
	if (watch->mcp)
		name_server(watch, who, started, ret);
}

void aw_entry_sign(
	struct aw_watch *watch, const struct aw_who *who, struct aw_event *event)
{
	AW_FREE char *path =
		strndup(event->path.bytes ? event->path.bytes : "", event->path.len);
	AW_FREE const char **argv = calloc(event->argc + 1, sizeof(*argv));
	struct aw_started started = {
		.path = path, .argv = argv, .argc = event->argc, .pid = who->pid};
	struct aw_who parent;
	struct aw_role role;

	if (!path || !argv)
		return;
	for (size_t i = 0; i < event->argc; i++)
		argv[i] = event->argv[i].bytes; /* each is terminated */
	if (aw_processes_peek(watch->tree, who->ppid, &parent))
		started.parent = parent.pid;
	aw_entry_foresee(watch, who, &started, &role);
	event->mcp = role.mcp;
	event->profile = role.profile;
}

/* The command line as the kernel keeps it; how many words, at most WORDS_MAX. */
static size_t read_vector(pid_t pid, char *text, const char *argv[WORDS_MAX])
{
	char path[64];
	AW_CLOSE int fd = -1;
	size_t count = 0;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, text, VECTOR_MAX - 1);
	text[n > 0 ? n : 0] = '\0';
	for (ssize_t at = 0; at < n && count < WORDS_MAX; count++) {
		argv[count] = text + at;
		at += (ssize_t)strlen(text + at) + 1;
	}
	return count;
}

void aw_entry_find(
	struct aw_watch *watch, const struct aw_who *who, struct aw_role *ret)
{
	AW_FREE char *text = malloc(VECTOR_MAX);
	const char *argv[WORDS_MAX];
	struct aw_who parent;
	struct aw_started started = {.path = who->exe, .argv = argv, .pid = who->pid};

	*ret = who->role;
	/* a child that was only forked runs its parent's program and has its role */
	if (!text || aw_proc_mark(who->pid).forked)
		return;
	started.argc = read_vector(who->pid, text, argv);
	if (started.argc)
		started.raw = argv[0];
	if (aw_processes_peek(watch->tree, who->ppid, &parent))
		started.parent = parent.pid;
	aw_entry_foresee(watch, who, &started, ret);
}
