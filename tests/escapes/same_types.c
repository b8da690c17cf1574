/* SPDX-License-Identifier: Apache-2.0 */
/* same_types.c - what the type of a file says before it is opened; leases */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tests/escapes/escape.h"
#include "tests/escapes/same.h"

static void close_it(const char *what, long fd)
{
	if (say(what, fd) >= 0)
		close((int)fd);
}

/* None of these waits for the other end. */
static void pipes(void)
{
	int keep;

	mkfifo("pipe", 0600);
	close_it("a pipe, exclusive", open("pipe", O_CREAT | O_EXCL | O_WRONLY, 0600));
	close_it("a pipe as a folder", open("pipe", O_RDONLY | O_DIRECTORY));
	close_it("a pipe with a slash", open("pipe/", O_RDONLY));
	keep = open("pipe", O_RDWR);
	close_it("a pipe with a slash, both ends", open("pipe/", O_RDONLY));
	close_it("a pipe with a slash, to write", open("pipe/", O_WRONLY));
	close_it("a pipe, created", open("pipe", O_CREAT | O_WRONLY, 0600));
	close(keep);
	close_it("/dev/tty, exclusive",
		open("/dev/tty", O_CREAT | O_EXCL | O_RDWR, 0600));
	close_it("/dev/tty", open("/dev/tty", O_RDWR));
	close_it("/dev/null, exclusive", open("/dev/null", O_CREAT | O_EXCL | O_RDWR));
	close_it("/dev/null as a folder", open("/dev/null", O_RDONLY | O_DIRECTORY));
}

static void folders_and_links(void)
{
	mkdir("folder", 0755);
	file("plain", "text\n");
	if (symlink("folder", "to-folder") || symlink("plain", "to-plain"))
		puts("the links cannot be made");
	close_it("a folder, created", open("folder", O_CREAT | O_RDONLY, 0600));
	close_it("a folder, exclusive", open("folder", O_CREAT | O_EXCL, 0600));
	close_it("a folder, written", open("folder", O_WRONLY));
	close_it("a folder, cut", open("folder", O_RDONLY | O_TRUNC));
	close_it("a link to a folder, created", open("to-folder", O_CREAT, 0600));
	close_it("a link to a folder, exclusive",
		open("to-folder", O_CREAT | O_EXCL, 0600));
	close_it("a link that is not followed", open("to-plain", O_NOFOLLOW));
	close_it("the same as a folder", open("to-plain", O_NOFOLLOW | O_DIRECTORY));
	close_it("a link to a folder, not followed, as a folder",
		open("to-folder", O_NOFOLLOW | O_DIRECTORY));
	close_it("a file as a folder", open("plain", O_DIRECTORY));
	close_it("created as a folder", open("new", O_CREAT | O_DIRECTORY, 0600));
	close_it("a file with a slash", open("plain/", O_RDONLY));
	close_it("a file with a slash, created", open("plain/", O_CREAT, 0600));
	close_it("a file with a slash, cut", open("plain/", O_WRONLY | O_TRUNC));
	close_it("a file, not followed, exclusive",
		open("plain", O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
	show("plain");
}

static void *hold_up(void *result)
{
	int fd = open("leased", O_RDONLY);

	*(int *)result = fd < 0 ? errno : 0;
	if (fd >= 0)
		close(fd);
	return NULL;
}

static void *cut(void *result)
{
	*(int *)result = truncate("leased", 2) < 0 ? errno : 0;
	return NULL;
}

/* Who waits for the holder of a lease holds up nobody else. */
static void leases(void *(*waiting)(void *), const char *what)
{
	enum { WAITING = 6 };
	pthread_t threads[WAITING];
	int results[WAITING], fd, failed = 0;
	long before;

	file("leased", "text\n");
	signal(SIGIO, SIG_IGN);
	fd = open("leased", O_RDWR);
	printf("%s\n", what);
	if (say("a lease", fcntl(fd, F_SETLEASE, F_WRLCK)) < 0)
		return;
	close_it("not waited for", open("leased", O_RDONLY | O_NONBLOCK));
	fcntl(fd, F_SETLEASE, F_UNLCK);
	fcntl(fd, F_SETLEASE, F_WRLCK);
	for (int i = 0; i < WAITING; i++)
		pthread_create(&threads[i], NULL, waiting, &results[i]);
	usleep(300000);
	before = clock_ms();
	close_it("another file meanwhile", open("plain", O_RDONLY));
	holds("at once", clock_ms() - before < 2000);
	fcntl(fd, F_SETLEASE, F_UNLCK);
	for (int i = 0; i < WAITING; i++) {
		pthread_join(threads[i], NULL);
		failed += results[i] != 0;
	}
	printf("waited for in vain: %d\n", failed);
	close(fd);
	show("leased");
	fd = open("leased", O_RDWR);
	holds("to be waited for afterwards", !(fcntl(fd, F_GETFL) & O_NONBLOCK));
	close(fd);
}

/* What the kernel refuses, or does not look at. */
static void arguments(void)
{
	static const struct timespec omit[2] = {{0, UTIME_OMIT}, {0, UTIME_OMIT}};
	const struct open_how how = {
		.flags = O_RDONLY, .resolve = RESOLVE_BENEATH | RESOLVE_IN_ROOT};
	int path = open("plain", O_PATH);

	say("fchmod of a path", fchmod(path, 0640));
	say("fchown of a path", fchown(path, -1, -1));
	say("fsetxattr of a path", fsetxattr(path, "user.x", "1", 1, 0));
	say("fremovexattr of a path", fremovexattr(path, "user.x"));
	say("futimens of a path", futimens(path, NULL));
	say("fchownat of a path", fchownat(path, "", -1, -1, AT_EMPTY_PATH));
	say("fchmod of nothing", fchmod(777, 0640));
	{
		char *none[] = {NULL};

		say("exec of no descriptor",
			syscall(SYS_execveat, 777, "", none, none, AT_EMPTY_PATH));
		say("exec below no descriptor",
			syscall(SYS_execveat, 777, "plain", none, none, 0));
		say("exec of no name",
			syscall(SYS_execveat, AT_FDCWD, "", none, none, 0));
	}
	close(path);
	path = open("plain", O_RDONLY);
	say("fchmod of a file", fchmod(path, 0640));
	say("fchown of a file", fchown(path, -1, -1));
	close(path);
	say("linkat, flag 1", linkat(AT_FDCWD, "plain", AT_FDCWD, "hard", 1));
	say("linkat, flag 0x80000",
		linkat(AT_FDCWD, "plain", AT_FDCWD, "hard", 0x80000));
	close_it("openat2, beneath and in a root",
		syscall(SYS_openat2, AT_FDCWD, "plain", &how, sizeof how));
	say("utimensat, nothing of nothing",
		utimensat(AT_FDCWD, "nonexistent", omit, 0));
	show("plain");
}

void same_types(void)
{
	int before = descriptors();

	pipes();
	folders_and_links();
	arguments();
	leases(hold_up, "opened");
	leases(cut, "truncated");
	holds("no descriptor is left over", descriptors() == before);
}
