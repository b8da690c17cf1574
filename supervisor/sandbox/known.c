/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known.c - a sandbox that has been tried need not be tried at each start.
 *
 * Trying one costs as much as building it.  That it worked is noted in the state
 * directory, with all that it could depend on: one that differs is tried again.  What
 * has changed all the same shows when the sandbox is built: that fails, nothing is
 * started, and the note is taken back.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/array.h"
#include "supervisor/linux/procfs.h"
#include "supervisor/sandbox/runner.h"
#include "supervisor/session/folders.h"
#include "supervisor/util/cleanup.h"

/* .../agentwatch/NAME.works, beside the sessions; NULL: nowhere. */
static char *path_of(const char *name)
{
	AW_FREE char *sessions = NULL;
	struct aw_error ignored;
	char *path = NULL;

	if (aw_sessions_directory(true, &sessions, &ignored) < 0)
		return NULL;
	*strrchr(sessions, '/') = '\0';
	return asprintf(&path, "%s/%s.works", sessions, name) < 0 ? NULL : path;
}

/* A file as it is now: replaced, updated and moved ones differ. */
static void print_file(FILE *out, const char *path)
{
	struct stat st = {.st_dev = 0};

	if (stat(path, &st) == 0)
		fprintf(out, " %ju:%ju:%jd.%ld", (uintmax_t)st.st_dev,
			(uintmax_t)st.st_ino, (intmax_t)st.st_ctim.tv_sec,
			st.st_ctim.tv_nsec);
}

/* The root and namespaces: their times change, and say nothing. */
static void print_place(FILE *out, const char *path)
{
	struct stat st = {.st_dev = 0};

	stat(path, &st);
	fprintf(out, " %ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
}

/* The first line of a small file of /proc. */
static void print_line(FILE *out, const char *path)
{
	AW_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[128];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = '\0';
	fprintf(out, " '%.*s'", (int)strcspn(text, "\n"), text);
}

static void print_rights(FILE *out)
{
	static const char *const names[] = {
		"CapEff", "CapBnd", "NoNewPrivs", "Seccomp", "Uid", "Gid"};
	char status[AW_PROC_STATUS] = "";

	aw_proc_status(getpid(), status, sizeof(status));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *value = aw_proc_status_value(status, names[i]);

		if (value)
			fprintf(out, " %.*s", (int)strcspn(value, "\n"), value);
	}
}

/*
 * All that decides whether the program can build a sandbox for us, in one line.  Owned;
 * NULL: it cannot be said.
 */
static char *describe(const char *program)
{
	static const char *const places[] = {
		"/", "/proc/self/ns/user", "/proc/self/ns/mnt", "/proc/self/ns/pid"};
	static const char *const lines[] = {"/proc/sys/kernel/random/boot_id",
		"/proc/self/attr/current", "/proc/sys/user/max_user_namespaces",
		"/proc/sys/kernel/unprivileged_userns_clone",
		"/proc/sys/kernel/apparmor_restrict_unprivileged_userns"};
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	fputs(program, out);
	print_file(out, program);
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		print_place(out, places[i]);
	print_rights(out);
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		print_line(out, lines[i]);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

bool aw_runner_works(const char *name, const char *program)
{
	AW_FREE char *path = path_of(name), *now = describe(program), *noted = NULL;
	AW_FCLOSE FILE *file = path ? fopen(path, "re") : NULL;
	size_t room = 0;

	return file && now && getdelim(&noted, &room, '\0', file) > 0 &&
	       strcmp(now, noted) == 0;
}

/* Of two that write at once, one or none is read as a note later. */
void aw_runner_note(const char *name, const char *program)
{
	AW_FREE char *path = path_of(name), *now = describe(program), *fresh = NULL;
	AW_CLOSE int fd = -1;
	ssize_t len;

	if (!path || !now || asprintf(&fresh, "%s.new", path) < 0)
		return;
	len = (ssize_t)strlen(now);
	unlink(fresh);
	fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0 && (write(fd, now, (size_t)len) != len || rename(fresh, path) < 0))
		unlink(fresh);
}

void aw_runner_forget(const char *name)
{
	AW_FREE char *path = path_of(name);

	if (path)
		unlink(path);
}
