/* SPDX-License-Identifier: Apache-2.0 */
/* same_self.c - what /proc/self, /dev/fd, /dev/stdin and /dev/tty mean is the asker's
 * own */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/escapes/escape.h"
#include "tests/escapes/same.h"

static char *slurp(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY);
	ssize_t got = fd < 0 ? -1 : read(fd, text, size - 1);

	text[got < 0 ? 0 : got] = 0;
	close(fd);
	return text;
}

/* The number behind a word in a status file. */
static int number(const char *path, const char *word)
{
	char text[4000], *found = strstr(slurp(path, text, sizeof text), word);

	return found ? atoi(found + strlen(word)) : -1;
}

static bool same_file(const char *path, const char *other)
{
	int a = open(path, O_RDONLY), b = open(other, O_RDONLY);
	struct stat one, two;
	bool same = a >= 0 && b >= 0 && fstat(a, &one) == 0 && fstat(b, &two) == 0 &&
		    one.st_dev == two.st_dev && one.st_ino == two.st_ino;

	close(a);
	close(b);
	return same;
}

static void who(void)
{
	char path[64], text[300], other[300];

	holds("/proc/self/status is about this process",
		number("/proc/self/status", "\nPid:\t") == getpid());
	holds("/proc/thread-self/status is about this thread",
		number("/proc/thread-self/status", "\nPid:\t") ==
			(int)syscall(SYS_gettid));
	holds("its parent is ours",
		number("/proc/self/status", "\nPPid:\t") == getppid());
	printf("%.11s\n", slurp("/proc/self/status", text, sizeof text));
	snprintf(path, sizeof path, "/proc/%d/comm", getpid());
	holds("by its number it is the same",
		strcmp(slurp("/proc/self/comm", text, sizeof text),
			slurp(path, other, sizeof other)) == 0);
	file("/proc/self/comm", "renamed");
	printf("%s", slurp("/proc/self/comm", text, sizeof text));
	file("/proc/self/comm", "same");
	slurp("/proc/self/cmdline", text, sizeof text);
	holds("/proc/self/cmdline is ours", strcmp(text, self) == 0);
	holds("/proc/self/exe is this program", same_file("/proc/self/exe", self));
	holds("so is /proc/self/root and the path",
		same_file("/proc/self/root/proc/self/exe", self));
	say("/proc/self/exe is not followed",
		open("/proc/self/exe", O_RDONLY | O_NOFOLLOW));
	say("/proc/self itself is not followed",
		open("/proc/self", O_PATH | O_NOFOLLOW));
	say("/proc/self as a folder", open("/proc/self", O_RDONLY | O_DIRECTORY));
	say("/proc/self/nothing", open("/proc/self/nothing", O_RDONLY));
	say("/proc/self/task/self", open("/proc/self/task/self", O_RDONLY));
	say("/proc/self/ns/mnt", open("/proc/self/ns/mnt", O_RDONLY));
	say("/proc/self/mem", open("/proc/self/mem", O_RDWR));
	say("/proc/self/oom_score_adj", open("/proc/self/oom_score_adj", O_RDWR));
	say("/proc/self/fd/777", open("/proc/self/fd/777", O_RDONLY));
	say("/proc/self/../self/stat", open("/proc/self/../self/stat", O_RDONLY));
	say("/proc/self/attr/current", open("/proc/self/attr/current", O_RDONLY));
	snprintf(path, sizeof path, "/proc/self/task/%ld/status",
		(long)syscall(SYS_gettid));
	holds("a thread by its number",
		number(path, "\nPid:\t") == (int)syscall(SYS_gettid));
	holds("a folder's way through /proc/self",
		number("/proc/self/fdinfo/../status", "\nPid:\t") == getpid());
}

static void descriptors_by_name(void)
{
	char path[64], text[64];
	int fd, dir, pipes[2];

	file("f", "the file\n");
	fd = open("f", O_RDWR);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	holds("/proc/self/fd/N is what it is here", same_file(path, "f"));
	snprintf(path, sizeof path, "/dev/fd/%d", fd);
	holds("/dev/fd/N too", same_file(path, "f"));
	snprintf(path, sizeof path, "/proc/thread-self/fd/%d", fd);
	holds("and /proc/thread-self/fd/N", same_file(path, "f"));
	snprintf(path, sizeof path, "/proc/%d/fd/%d", getpid(), fd);
	holds("and /proc/PID/fd/N", same_file(path, "f"));
	dir = open("/proc/self", O_RDONLY | O_DIRECTORY);
	snprintf(path, sizeof path, "fd/%d", fd);
	say("relative to /proc/self", openat(dir, path, O_RDONLY));
	snprintf(path, sizeof path, "/dev/fd/%d", fd);
	if (symlink(path, "to-fd") == 0)
		holds("a symbolic link to /dev/fd/N", same_file("to-fd", "f"));
	dup2(fd, 0);
	holds("/dev/stdin is descriptor 0", same_file("/dev/stdin", "f"));
	close(0);
	say("/dev/stdin that is closed", open("/dev/stdin", O_RDONLY));
	dup2(fd, 0);
	if (pipe(pipes) == 0) {
		snprintf(path, sizeof path, "/proc/self/fd/%d", pipes[0]);
		fd = open(path, O_RDONLY | O_NONBLOCK);
		say("a pipe opened by its name", fd);
		say("written", write(pipes[1], "through", 7));
		memset(text, 0, sizeof text);
		say("read", read(fd, text, sizeof text));
		puts(text);
		snprintf(path, sizeof path, "/dev/fd/%d", pipes[1]);
		say("its other end", open(path, O_WRONLY));
	}
	say("/dev/tty where there is none", open("/dev/tty", O_RDWR | O_NOCTTY));
	say("/dev/null", open("/dev/null", O_RDWR));
	say("/dev/ptmx", open("/dev/ptmx", O_RDWR | O_NOCTTY));
}

static void places(void)
{
	char text[64];

	mkdir("sub", 0755);
	file("sub/f", "in sub\n");
	if (chdir("sub") < 0)
		return;
	printf("%s", slurp("/proc/self/cwd/f", text, sizeof text));
	printf("%s", slurp("/proc/thread-self/cwd/f", text, sizeof text));
	say("up from /proc/self/cwd", open("/proc/self/cwd/../f", O_RDONLY));
	say("made there",
		open("/proc/self/cwd/made", O_CREAT | O_EXCL | O_WRONLY, 0600));
	show("made");
	say("and removed", unlink("/proc/self/cwd/made"));
	say("renamed", rename("/proc/self/cwd/f", "g"));
	show("g");
	say("back", chdir(".."));
}

static void *in_thread(void *unused)
{
	holds("a thread's /proc/thread-self is its own",
		number("/proc/thread-self/status", "\nPid:\t") ==
			(int)syscall(SYS_gettid));
	holds("its /proc/self is the process",
		number("/proc/self/status", "\nPid:\t") == getpid());
	return unused;
}

void same_self(void)
{
	pthread_t thread;
	pid_t child;

	who();
	descriptors_by_name();
	places();
	pthread_create(&thread, NULL, in_thread, NULL);
	pthread_join(thread, NULL);
	fflush(stdout);
	child = fork();
	if (child == 0) {
		puts("in a child");
		who();
		fflush(stdout);
		_exit(0);
	}
	child_result(child);
}
