/* SPDX-License-Identifier: Apache-2.0 */
/* entry.c - roles by programs that are started. */
#include "supervisor/decide/entry.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/image/profile.h"
#include "supervisor/linux/procfs.h"
#include "supervisor/process/program.h"
#include "supervisor/util/cleanup.h"

enum { WORDS_MAX = 64, VECTOR_MAX = 64 * 1024, SCRIPTS_MAX = 5, NAMES_MAX = 1024 };

static void name_server(struct aw_watch *watch, const struct aw_process_info *who,
	const struct aw_started *started, struct aw_role *ret)
{
	char name[AW_MCP_NAME];

	if (aw_mcp_configured(watch->mcp, started, name) ||
		(!who->role.mcp && aw_mcp_looks_like(started, name)))
		ret->mcp = aw_processes_intern(watch->tree, name);
}

static uint32_t entered_by(
	const struct aw_image *image, const char *path, const struct aw_started *s)
{
	return path ? aw_image_entered(image, path, strlen(path), s->argv, s->argc) : 0;
}

/* The program itself, what it was called, and when it is a script what really runs. */
static uint32_t entered(
	const struct aw_image *image, const struct aw_started *s, int depth)
{
	uint32_t set = entered_by(image, s->path, s) | entered_by(image, s->raw, s);
	AW_FREE const char **argv = NULL;
	const char *interpreter, *argument;
	char line[AW_PROGRAM_LINE];
	struct aw_started script = {.file = NULL};
	char real[PATH_MAX];

	if (depth == SCRIPTS_MAX ||
		!aw_program_script(
			s->file ? s->file : s->path, line, &interpreter, &argument) ||
		!(argv = calloc(s->argc + 4, sizeof(*argv))))
		return set;
	argv[script.argc++] = interpreter;
	if (argument)
		argv[script.argc++] = argument;
	argv[script.argc++] = s->raw ? s->raw : s->path;
	for (size_t i = 1; i < s->argc; i++)
		argv[script.argc++] = s->argv[i];
	script.argv = argv;
	script.raw = interpreter;
	script.path = realpath(interpreter, real) ? real : interpreter;
	return set | entered(image, &script, depth + 1);
}

/* Their names behind those that are there. */
static void add_profiles(struct aw_watch *watch, const struct aw_image *image,
	uint32_t set, struct aw_role *ret)
{
	char names[NAMES_MAX];
	int len =
		snprintf(names, sizeof(names), "%s", ret->profile ? ret->profile : "");

	if (!(set & ~ret->profiles))
		return;
	for (unsigned i = 0; i < aw_image_profiles(image); i++) {
		const char *name = aw_image_profile_name(image, i);

		/* two of one name, which cannot loosen each other, are one for a reader */
		if (!(set & ~ret->profiles & 1u << i) ||
			(aw_image_profile_set(image, name) &
				(ret->profiles | (set & ((1u << i) - 1)))))
			continue;
		if (len < NAMES_MAX)
			len += snprintf(names + len, (size_t)(NAMES_MAX - len), "%s%s",
				len ? ", " : "", name);
	}
	ret->profiles |= set;
	ret->profile = aw_processes_intern(watch->tree, names);
}

static void enter_profiles(struct aw_watch *watch, const struct aw_started *started,
	uint32_t more, struct aw_role *ret)
{
	const struct aw_image *image = atomic_load(&watch->image);

	if (!aw_image_profiles(image))
		return;
	more |= entered(image, started, 0);
	if (ret->mcp)
		more |= aw_image_entered_by_mcp(image, ret->mcp);
	add_profiles(watch, image, more, ret);
}

void aw_entry_foresee(struct aw_watch *watch, const struct aw_process_info *who,
	const struct aw_started *started, struct aw_role *ret)
{
	*ret = who->role;
	if (watch->mcp)
		name_server(watch, who, started, ret);
	enter_profiles(watch, started, 0, ret);
}

void aw_entry_sign(struct aw_watch *watch, const struct aw_process_info *who,
	struct aw_event *event)
{
	AW_FREE char *path =
		strndup(event->path.bytes ? event->path.bytes : "", event->path.len);
	AW_FREE const char **argv = calloc(event->argc + 1, sizeof(*argv));
	struct aw_started started = {
		.path = path, .argv = argv, .argc = event->argc, .pid = who->pid};
	struct aw_process_info parent;
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

/*
 * What a program was started as when it is the interpreter of a script: that file is
 * among its first words, and names it.
 */
static uint32_t entered_as_script(
	const struct aw_image *image, const struct aw_started *s)
{
	char path[PATH_MAX + 64], real[PATH_MAX], line[AW_PROGRAM_LINE];
	const char *interpreter, *argument;
	uint32_t set = 0;

	for (size_t i = 1; i < 3 && i < s->argc; i++) {
		struct aw_started script = {.path = real,
			.raw = s->argv[i],
			.argv = s->argv + i,
			.argc = s->argc - i};

		snprintf(path, sizeof(path), "/proc/%d/%s/%s", s->pid,
			s->argv[i][0] == '/' ? "root" : "cwd", s->argv[i]);
		if (aw_program_script(path, line, &interpreter, &argument) &&
			realpath(path, real))
			set |= entered_by(image, real, &script) |
			       entered_by(image, s->argv[i], &script);
	}
	return set;
}

void aw_entry_find(
	struct aw_watch *watch, const struct aw_process_info *who, struct aw_role *ret)
{
	const struct aw_image *image = atomic_load(&watch->image);
	AW_FREE char *text = malloc(VECTOR_MAX);
	const char *argv[WORDS_MAX];
	struct aw_process_info parent;
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
	if (watch->mcp)
		name_server(watch, who, &started, ret);
	enter_profiles(watch, &started,
		aw_image_profiles(image) ? entered_as_script(image, &started) : 0, ret);
}
