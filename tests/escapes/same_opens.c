/* SPDX-License-Identifier: Apache-2.0 */
/* same_opens.c - descriptors as asked, modes as the umask says, creation for real */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tests/escapes/escape.h"
#include "tests/escapes/same.h"

static void flags(void)
{
	static const struct {
		const char *what;
		int flags;
	} all[] = {{"read", O_RDONLY}, {"close on exec", O_RDONLY | O_CLOEXEC},
		{"non-blocking", O_RDWR | O_NONBLOCK}, {"append", O_WRONLY | O_APPEND},
		{"path", O_PATH}, {"path, close on exec", O_PATH | O_CLOEXEC},
		{"synchronous", O_RDWR | O_SYNC},
		{"no access time", O_RDONLY | O_NOATIME},
		{"all at once", O_RDWR | O_APPEND | O_NONBLOCK | O_CLOEXEC | O_DSYNC},
		{"unknown bits", O_RDONLY | 0x40000000}};
	size_t i;
	int fd;

	file("f", "text\n");
	for (i = 0; i < sizeof all / sizeof *all; i++) {
		fd = open("f", all[i].flags);
		printf("%s: descriptor %d flags %x close-on-exec %d\n", all[i].what, fd,
			fd < 0 ? errno : fcntl(fd, F_GETFL), fcntl(fd, F_GETFD));
		close(fd);
	}
}

static void lowest(void)
{
	struct rlimit limit, few;
	int a = open("f", O_RDONLY), b = open("f", O_RDONLY), c = open("f", O_RDONLY),
	    fd;

	close(a);
	close(b);
	fd = open("f", O_RDONLY);
	holds("the lowest free descriptor is taken", fd == a);
	close(fd);
	close(c);
	getrlimit(RLIMIT_NOFILE, &limit);
	few = limit;
	few.rlim_cur = a;
	setrlimit(RLIMIT_NOFILE, &few);
	say("no descriptor left", open("f", O_RDONLY));
	say("no descriptor left, and it would be made",
		open("not-made", O_CREAT | O_WRONLY, 0600));
	setrlimit(RLIMIT_NOFILE, &limit);
	show("not-made");
}

/* With this umask, everything that makes something. */
static void umasks(int mask)
{
	static const char *const made[] = {
		"u.open", "u.dir", "u.fifo", "u.node", "u.creat", "u.sock", "u.sticky"};
	struct sockaddr_un address;
	size_t i;
	int fd;

	umask(mask);
	printf("umask %o\n", mask);
	close(open("u.open", O_CREAT | O_EXCL | O_WRONLY, 0666));
	close(creat("u.creat", 04777));
	mkdir("u.dir", 0777);
	mkdir("u.sticky", 01777);
	mkfifo("u.fifo", 0666);
	mknod("u.node", S_IFREG | 0640, 0);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	say("bind", bind(fd, (struct sockaddr *)&address,
			    unix_address("u.sock", false, &address)));
	close(fd);
	for (i = 0; i < sizeof made / sizeof *made; i++) {
		show(made[i]);
		say("removed", remove(made[i]));
	}
	umask(022);
}

static void folders(void)
{
	int dir, fd, gone;

	mkdir("d", 0755);
	file("d/f", "in d\n");
	dir = open("d", O_RDONLY | O_DIRECTORY);
	fd = openat(dir, "f", O_RDONLY);
	say("openat below a folder", fd);
	say("openat below a file", openat(fd, "f", O_RDONLY));
	say("openat, empty", openat(dir, "", O_RDONLY));
	say("mkdirat", mkdirat(dir, "sub", 0700));
	say("renameat", renameat(dir, "f", dir, "g"));
	say("renameat2, no replace", syscall(SYS_renameat2, dir, "g", dir, "sub", 1));
	say("renameat2, exchange", syscall(SYS_renameat2, dir, "g", dir, "sub", 2));
	say("renameat2, unknown flag",
		syscall(SYS_renameat2, dir, "g", dir, "sub", 64));
	show("d/sub");
	say("linkat", linkat(dir, "sub", AT_FDCWD, "hard", 0));
	say("symlinkat", symlinkat("sub", dir, "link"));
	say("unlinkat", unlinkat(dir, "sub", 0));
	show("hard");
	say("fchmodat", fchmodat(dir, "g", 0711, 0));
	show("d/g");
	gone = open("d/g", O_RDONLY | O_DIRECTORY);
	say("fchdir", fchdir(gone));
	say("the folder is removed", unlinkat(dir, "g", AT_REMOVEDIR));
	say("open in a folder that is gone", open("x", O_RDONLY));
	say("create in a folder that is gone", open("x", O_CREAT | O_WRONLY, 0600));
	say("back", fchdir(dir));
	say("and up", chdir(".."));
	close(dir);
	close(fd);
	close(gone);
}

static void contents(void)
{
	char name[300], target[64] = "";
	int fd, i;

	file("c", "one\n");
	fd = open("c", O_WRONLY | O_APPEND);
	say("append", write(fd, "two\n", 4));
	close(fd);
	fd = open("c", O_RDWR);
	say("deleted while open", unlink("c"));
	say("read what was deleted", pread(fd, target, 8, 0));
	holds("it is whole", memcmp(target, "one\ntwo\n", 8) == 0);
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	say("reopened by /proc/self/fd", open(name, O_RDONLY));
	say("linked back", linkat(AT_FDCWD, name, AT_FDCWD, "back", AT_SYMLINK_FOLLOW));
	fd = open(".", O_TMPFILE | O_RDWR, 0640);
	if (say("an unnamed file", fd) >= 0) {
		snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
		say("written", write(fd, "unnamed\n", 8));
		say("given a name",
			linkat(AT_FDCWD, name, AT_FDCWD, "named", AT_SYMLINK_FOLLOW));
		show("named");
	}
	for (i = 1; i < 256; i++) /* every byte in a name */
		if (i != '/') {
			snprintf(name, sizeof name, "n%c", i);
			if (open(name, O_CREAT | O_EXCL | O_WRONLY, 0600) < 0 ||
				unlink(name))
				printf("byte %d in a name: %s\n", i, errno_name(errno));
		}
	memset(name, 'l', 255);
	name[255] = 0;
	say("a name of 255 bytes", mkdir(name, 0700));
	say("is removed", rmdir(name));
	say("setxattr", setxattr("back", "user.one", "1", 1, 0));
	say("setxattr again, only new",
		setxattr("back", "user.one", "1", 1, XATTR_CREATE));
	say("removexattr", removexattr("back", "user.one"));
	say("truncate", truncate("back", 3));
	show("back");
	say("a lock", flock(open("back", O_RDONLY), LOCK_EX | LOCK_NB));
	say("a second lock", flock(open("back", O_RDONLY), LOCK_EX | LOCK_NB));
}

void same_opens(void)
{
	int before = descriptors();

	flags();
	lowest();
	umasks(0);
	umasks(077);
	umasks(027);
	folders();
	holds("no descriptor is left over", descriptors() == before);
	contents();
}
