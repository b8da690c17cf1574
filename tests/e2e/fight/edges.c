/* SPDX-License-Identifier: Apache-2.0 */
/* edges.c - odd arguments; every answer must be the one that bare gives */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(const char *what, long result)
{
	int code = errno;

	printf("%-34s %ld %s\n", what, result, result < 0 ? strerror(code) : "");
	fflush(stdout);
}

static void say_fd(const char *what, int fd)
{
	int code = errno;
	struct stat st;

	if (fd < 0) {
		errno = code;
		say(what, fd);
		return;
	}
	fstat(fd, &st);
	printf("%-34s %d mode %o flags %o cloexec %d\n", what, fd, (unsigned)st.st_mode,
		(unsigned)fcntl(fd, F_GETFL), fcntl(fd, F_GETFD));
	fflush(stdout);
	close(fd);
}

static void on_alarm(int number)
{
	(void)number;
}

static void odd_strings(void)
{
	static char longest[PATH_MAX + 10], component[300];
	char *page = mmap(
		NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(page + 4096, 4096);
	memcpy(page + 4096 - 5, "plain", 5);
	say_fd("unterminated up to a hole", open(page + 4096 - 5, O_RDONLY));
	memcpy(page + 4096 - 6, "plain", 6);
	say_fd("terminated before a hole", open(page + 4096 - 6, O_RDONLY));
	say_fd("no pointer", open((char *)8, O_RDONLY));
	say_fd("null", syscall(SYS_openat, AT_FDCWD, NULL, O_RDONLY));
	say_fd("kernel address", open((char *)-4096L, O_RDONLY));
	say("unlink of no pointer", unlink((char *)8));
	say("rename of no pointer", rename("plain", (char *)8));
	say("execve of no pointer", execve((char *)8, NULL, NULL));
	say("execve with bad argv", execve("/bin/true", (char **)8, NULL));
	say("connect to no pointer",
		connect(socket(AF_UNIX, SOCK_STREAM, 0), (void *)8, 20));
	close(3);
	say_fd("empty", open("", O_RDONLY));
	memset(longest, '/', sizeof longest - 1);
	memcpy(longest + PATH_MAX - 6, "plain", 6);
	say_fd("PATH_MAX of slashes", open(longest, O_RDONLY));
	memset(longest, '/', sizeof longest - 1);
	say_fd("too long", open(longest, O_RDONLY));
	memset(component, 'x', 256);
	say_fd("component too long", open(component, O_RDONLY | O_CREAT, 0600));
	say_fd("trailing slash on a file", open("plain/", O_RDONLY));
	say_fd("trailing slash on a new file", open("new/", O_WRONLY | O_CREAT, 0600));
	say_fd("trailing slash on a folder", open("folder/", O_RDONLY));
	say_fd("dots", open("./folder/.././plain", O_RDONLY));
	say_fd("dots through a file", open("plain/../plain", O_RDONLY));
	say_fd("dots through what is not there", open("nowhere/../plain", O_RDONLY));
	say_fd("dots through a link", open("linkdir/../plain", O_RDONLY));
	say_fd("above the root", open("/../../../etc/passwd", O_RDONLY));
	say_fd("not UTF-8", open("n\xff\xfe", O_WRONLY | O_CREAT, 0600));
	say_fd("new line in the name", open("a\nb", O_WRONLY | O_CREAT, 0600));
}

/* Last, since a watcher that trusts what it read before dies of it. */
static void lost_pages(void)
{
	char *page = mmap(
		NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(page, "plain", 6);
	say_fd("a page", open(page, O_RDONLY));
	mprotect(page, 4096, PROT_NONE);
	say_fd("the same page, barred", open(page, O_RDONLY));
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
	say_fd("the same page, back again", open(page, O_RDONLY));
	munmap(page, 4096);
	say_fd("the same page, gone", open(page, O_RDONLY));
}

static void odd_flags(void)
{
	say_fd("O_PATH", open("plain", O_PATH));
	say_fd("O_PATH on a link", open("link", O_PATH | O_NOFOLLOW));
	say_fd("O_PATH with more",
		open("plain", O_PATH | O_RDWR | O_CREAT | O_TRUNC, 0777));
	say_fd("O_NOFOLLOW on a link", open("link", O_RDONLY | O_NOFOLLOW));
	say_fd("O_NOFOLLOW beyond a link",
		open("linkdir/inner", O_RDONLY | O_NOFOLLOW));
	say_fd("O_DIRECTORY on a file", open("plain", O_RDONLY | O_DIRECTORY));
	say_fd("O_DIRECTORY on a folder", open("folder", O_RDONLY | O_DIRECTORY));
	say_fd("O_DIRECTORY | O_CREAT",
		open("folder", O_RDONLY | O_DIRECTORY | O_CREAT, 0700));
	say_fd("writing a folder", open("folder", O_WRONLY));
	say_fd("O_CREAT on a folder", open("folder", O_RDONLY | O_CREAT, 0600));
	say_fd("O_EXCL on a link that dangles",
		open("dangling", O_WRONLY | O_CREAT | O_EXCL, 0600));
	say_fd("O_CREAT through it", open("dangling", O_WRONLY | O_CREAT, 0600));
	say_fd("all bits of the mode", open("modes", O_WRONLY | O_CREAT, 07777));
	say_fd("mode bits beyond", open("modes2", O_WRONLY | O_CREAT, 0xfffff1ff));
	say_fd("mode without O_CREAT", open("plain", O_RDONLY, 07777777));
	say_fd("unknown flag bits", open("plain", O_RDONLY | 0x20000000 | 0x04000000));
	say_fd("access mode 3", open("plain", 3));
	say_fd("O_TMPFILE", open("folder", O_TMPFILE | O_RDWR, 0600));
	say_fd("O_TMPFILE reading", open("folder", O_TMPFILE | O_RDONLY, 0600));
	say_fd("O_TMPFILE on a file", open("plain", O_TMPFILE | O_RDWR, 0600));
	say_fd("O_CLOEXEC", open("plain", O_RDONLY | O_CLOEXEC));
	say_fd("O_NONBLOCK | O_APPEND | O_SYNC",
		open("plain", O_RDWR | O_NONBLOCK | O_APPEND | O_SYNC));
	say_fd("O_TRUNC", open("plain", O_WRONLY | O_TRUNC));
	umask(0777);
	say_fd("umask 777", open("masked", O_WRONLY | O_CREAT, 0666));
	umask(022);
	say_fd("loop", open("loop", O_RDONLY));
	say_fd("loop in the middle", open("loop/x", O_RDONLY));
	say_fd("magic link", open("/proc/self/fd/1", O_WRONLY));
	say_fd("magic link in the middle", open("/proc/self/cwd/plain", O_RDONLY));
	say_fd("magic root", open("/proc/self/root/etc/passwd", O_RDONLY));
	say_fd("/dev/fd", open("/dev/fd/1", O_WRONLY));
	say_fd("/dev/stdout", open("/dev/stdout", O_WRONLY));
	say_fd("/dev/tty without one", open("/dev/tty", O_RDWR));
}

static void folders(void)
{
	char name[64];
	int dir = open("folder", O_RDONLY | O_DIRECTORY),
	    plain = open("plain", O_RDONLY);
	int removed, i;

	say_fd("beside a descriptor", openat(dir, "inner", O_RDONLY));
	say_fd("above a descriptor", openat(dir, "../plain", O_RDONLY));
	say_fd("beside a file", openat(plain, "inner", O_RDONLY));
	say_fd("absolute beside a file", openat(plain, "/etc/passwd", O_RDONLY));
	say_fd("beside no descriptor", openat(999, "inner", O_RDONLY));
	say_fd("absolute beside none", openat(999, "/etc/passwd", O_RDONLY));
	rename("folder", "moved");
	say_fd("beside one that moved", openat(dir, "inner", O_RDONLY));
	say_fd("above one that moved", openat(dir, "../plain", O_RDONLY));
	rename("moved", "folder");
	say("mkdir", mkdir("gone", 0700));
	removed = open("gone", O_RDONLY | O_DIRECTORY);
	say("chdir", chdir("gone"));
	say("rmdir of where we are", rmdir("../gone"));
	say_fd("in a removed folder", open("x", O_WRONLY | O_CREAT, 0600));
	say_fd(". in a removed folder", open(".", O_RDONLY));
	say_fd("absolute from there", open("/etc/passwd", O_RDONLY));
	say_fd("beside a removed one", openat(removed, "x", O_WRONLY | O_CREAT, 0600));
	say("fchdir", fchdir(dir));
	say_fd("after fchdir", open("inner", O_RDONLY));
	say("chdir up", chdir(".."));
	for (i = 0; i < 60; i++) { /* deeper than PATH_MAX */
		memset(name, 'd', 60);
		memcpy(name + 60, "eep", 4);
		if (mkdir(name, 0700) < 0 || chdir(name) < 0) {
			say("deep", i);
			break;
		}
	}
	/* longer than any name: enforce refuses what it cannot name (docs/LIMITS.md) */
	for (i = 0; i < 20 && !getenv("EDGES_SHALLOW"); i++)
		if (mkdir(name, 0700) < 0 || chdir(name) < 0)
			say("deeper", i);
	say_fd("created deep down", open("x", O_WRONLY | O_CREAT, 0600));
	say_fd("opened deep down", open("x", O_RDONLY));
	say("unlink deep down", unlink("x"));
	fchdir(dir);
	chdir("..");
	close(dir), close(plain), close(removed);
}

static void changes(void)
{
	say("rename onto itself", rename("plain", "plain"));
	say("rename a file onto a folder", rename("plain", "folder"));
	say("rename into itself", rename("folder", "folder/below"));
	say("renameat2 NOREPLACE", renameat2(AT_FDCWD, "plain", AT_FDCWD, "modes", 1));
	say("renameat2 EXCHANGE", renameat2(AT_FDCWD, "plain", AT_FDCWD, "modes", 2));
	say("renameat2 bad flags",
		renameat2(AT_FDCWD, "plain", AT_FDCWD, "modes", 0x100));
	say("link onto itself", link("plain", "plain"));
	say("linkat following",
		linkat(AT_FDCWD, "link", AT_FDCWD, "hard", AT_SYMLINK_FOLLOW));
	say("linkat keeping", linkat(AT_FDCWD, "link", AT_FDCWD, "hardlink", 0));
	say("symlink onto a file", symlink("x", "plain"));
	say("rmdir with something in it", rmdir("folder"));
	say("rmdir of a file", rmdir("plain"));
	say("unlink of a folder", unlink("folder"));
	say("rmdir .", rmdir("folder/."));
	say("unlink with a slash", unlink("plain/"));
	say("mkdir over", mkdir("folder", 0700));
	say("mkdir with a slash", mkdir("fresh/", 0700));
	say("mkdir through a dangling link", mkdir("dangling2", 0700));
	say("chmod of a link's end", chmod("link", 0640));
	say("chmod of nothing", chmod("nowhere", 0640));
	say("truncate", truncate("plain", 3));
	say("truncate to less than nothing", truncate("plain", -1));
	say("truncate of a folder", truncate("folder", 0));
	say("access", access("plain", R_OK | W_OK));
	say("execve of a folder", execl("folder", "x", (char *)NULL));
	say("execve of plain text", execl("./plain", "x", (char *)NULL));
}

static void interrupted(void)
{
	struct sigaction action = {.sa_handler = on_alarm};
	pid_t child;
	int fd;

	sigaction(SIGALRM, &action, NULL);
	mkfifo("pipe", 0600);
	alarm(1);
	say("open of a FIFO, interrupted", open("pipe", O_RDONLY));
	say("FIFO for writing, nobody there", open("pipe", O_WRONLY | O_NONBLOCK));
	child = fork();
	if (child == 0) {
		usleep(200000);
		fd = open("pipe", O_WRONLY);
		_exit(write(fd, "x", 1) != 1);
	}
	say_fd("FIFO with somebody later", open("pipe", O_RDONLY));
	waitpid(child, NULL, 0);
}

static void descriptors(void)
{
	int first = open("plain", O_RDONLY), second = open("plain", O_RDONLY), copy,
	    ends[2];

	close(first);
	copy = dup(second);
	printf("lowest numbers: %d %d %d", first, second, copy);
	if (pipe(ends) == 0)
		printf(" %d %d", ends[0], ends[1]);
	printf(" %d", open("plain", O_RDONLY));
	printf(" %d\n", socket(AF_UNIX, SOCK_STREAM, 0));
}

int main(void)
{
	int fd = open("plain", O_WRONLY | O_CREAT, 0755);

	if (write(fd, "text\n", 5) != 5)
		return 1;
	close(fd);
	mkdir("folder", 0755);
	close(open("folder/inner", O_WRONLY | O_CREAT, 0644));
	if (symlink("plain", "link") || symlink("folder", "linkdir") ||
		symlink("target", "dangling") || symlink("target2", "dangling2") ||
		symlink("loop", "loop"))
		return 1;
	odd_strings();
	odd_flags();
	folders();
	changes();
	interrupted();
	descriptors();
	lost_pages();
	return 0;
}
