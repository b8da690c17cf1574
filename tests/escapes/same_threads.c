/* SPDX-License-Identifier: Apache-2.0 */
/* same_threads.c - threads at once, with folders, masks and ids of their own */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/escapes/escape.h"
#include "tests/escapes/same.h"

enum { THREADS = 8, ROUNDS = 150 };

static atomic_int bad;

static void check(bool good)
{
	bad += !good;
}

static void *together(void *arg)
{
	char name[32], other[32], text[32];
	int i, fd;

	for (i = 0; i < ROUNDS; i++) {
		snprintf(name, sizeof name, "t%d", (int)(long)arg);
		snprintf(other, sizeof other, "t%d.moved", (int)(long)arg);
		fd = open(name, O_CREAT | O_EXCL | O_RDWR, 0600);
		check(fd >= 0 && write(fd, name, strlen(name)) > 0);
		close(fd);
		check(rename(name, other) == 0);
		fd = open(other, O_RDONLY);
		memset(text, 0, sizeof text);
		check(fd >= 0 && read(fd, text, 31) > 0 && strcmp(text, name) == 0);
		close(fd);
		check(unlink(other) == 0);
	}
	return NULL;
}

/* Each has a working folder and a umask of its own. */
static void *apart(void *arg)
{
	char name[32];
	struct stat info = {0};
	int i, fd, number = (int)(long)arg;

	check(unshare(CLONE_FS) == 0);
	snprintf(name, sizeof name, "apart%d", number);
	check(mkdir(name, 0755) == 0 && chdir(name) == 0);
	umask(number & 1 ? 077 : 0);
	for (i = 0; i < ROUNDS / 3; i++) {
		fd = open("f", O_CREAT | O_EXCL | O_WRONLY, 0666);
		check(fd >= 0 && fstat(fd, &info) == 0 &&
			(info.st_mode & 0777) == (number & 1 ? 0600 : 0666));
		close(fd);
		check(unlink("f") == 0 && mkdir("/proc/self/cwd/nowhere/x", 0700) < 0);
		check(open("../nothing", O_RDONLY) < 0 && errno == ENOENT);
	}
	return NULL;
}

/* Raw calls change the ids of one thread alone. */
static void *as_user(void *arg)
{
	char name[32];
	struct stat info = {0};
	int i, number = (int)(long)arg;

	if (number & 1)
		check(raw(SYS_setresuid, -1, 1001, -1, 0, 0, 0) == 0);
	for (i = 0; i < ROUNDS / 3; i++) {
		snprintf(name, sizeof name, "ids/%d", number);
		check(mkdir(name, 0777) == 0 && stat(name, &info) == 0 &&
			info.st_uid == (number & 1 ? 1001u : 0u));
		check(rmdir(name) == 0);
	}
	return NULL;
}

static void all(const char *what, void *(*run)(void *))
{
	pthread_t threads[THREADS];
	long i;

	bad = 0;
	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run, (void *)i);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%s: %d wrong\n", what, bad);
}

void same_threads(void)
{
	int before = descriptors();

	all("together", together);
	all("with folders of their own", apart);
	if (geteuid() == 0) {
		mkdir("ids", 0777);
		chmod("ids", 0777);
		all("with ids of their own", as_user);
	}
	holds("no descriptor is left over", descriptors() == before);
}
