/* SPDX-License-Identifier: Apache-2.0 */
/* race_bind.c - the folder that a Unix socket is bound in changes under way. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/escapes/escape.h"

enum { FILE_OUTSIDE, OWN_SERVER };

static int connect_to_file(const char *path)
{
	struct sockaddr_un address;

	return connect_to(&address, unix_address(path, false, &address), SOCK_STREAM);
}

static int bind_once(const char *path)
{
	struct sockaddr_un address;
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	int rc = bind(
		fd, (struct sockaddr *)&address, unix_address(path, false, &address));

	rc = rc < 0 ? errno : 0;
	close(fd);
	return rc;
}

/* "d" is now a folder of our own and now a link to the one that is wanted. */
static pid_t swapper(const char *folder)
{
	pid_t child;

	mkdir("own", 0755);
	if (symlink("own", "d") < 0 || symlink(folder, "e") < 0)
		return -1;
	child = fork();
	while (child == 0)
		syscall(SYS_renameat2, AT_FDCWD, "d", AT_FDCWD, "e", 2);
	return child;
}

static int bind_race(struct target *t, int what)
{
	const char *file = what == OWN_SERVER ? t->stream : t->below;
	const char *name = strrchr(file, '/') + 1;
	long until = now() + (t->denied ? 1000 : 5000);
	char folder[600], path[600], made[600], own[600];
	struct stat st;
	int i, rc = EACCES;
	pid_t child;

	if (what == OWN_SERVER && !t->denied)
		return connect_to_file(t->stream);
	if (what == FILE_OUTSIDE)
		name = "made.s";
	snprintf(folder, sizeof folder, "%s", file);
	*strrchr(folder, '/') = '\0';
	snprintf(path, sizeof path, "%s/d/%s", t->work, name);
	snprintf(made, sizeof made, "%s/%s", folder, name);
	child = swapper(folder);
	if (child < 0)
		return errno;
	for (i = 0; rc != 0 && (i < tries || now() < until); i++) {
		bind_once(path);
		snprintf(own, sizeof own, "own/%s", name);
		unlink(own);
		if (what == OWN_SERVER)
			rc = i % 64 == 63 ? connect_to_file(t->stream) : EACCES;
		else
			rc = lstat(made, &st) == 0 ? 0 : EACCES;
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return rc;
}

const struct attempt race_bind_table[] = {
	{"race_bind_file", "w", "a socket file in a folder that becomes a link",
		bind_race, FILE_OUTSIDE},
	{"race_bound", "u", "a server taken for the session's own, by bind", bind_race,
		OWN_SERVER},
	{0},
};
