/* SPDX-License-Identifier: Apache-2.0 */
/* same.c - `same SECTION`: one section's results; `same --list` */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/escapes/escape.h"
#include "tests/escapes/same.h"

static const struct {
	const char *name;
	void (*run)(void);
} sections[] = {
	{"errors", same_errors},
	{"opens", same_opens},
	{"types", same_types},
	{"ids", same_ids},
	{"self", same_self},
	{"signals", same_signals},
	{"sockets", same_sockets},
	{"queues", same_queues},
	{"waits", same_waits},
	{"threads", same_threads},
};

const char *self;

long say(const char *what, long rc)
{
	printf("%s: %s\n", what, rc < 0 ? errno_name(errno) : "ok");
	return rc;
}

void holds(const char *what, bool yes)
{
	printf("%s: %s\n", what, yes ? "yes" : "no");
}

void file(const char *path, const char *text)
{
	if (put(path, text) != 0)
		printf("%s cannot be made: %s\n", path, errno_name(errno));
}

void show(const char *path)
{
	struct stat info;
	char text[40] = "";
	int fd;

	if (lstat(path, &info) < 0) {
		printf("%s is not there: %s\n", path, errno_name(errno));
		return;
	}
	if (S_ISREG(info.st_mode) && (fd = open(path, O_RDONLY)) >= 0) {
		if (read(fd, text, sizeof text - 1) < 0)
			strcpy(text, "?");
		close(fd);
		text[strcspn(text, "\n")] = 0;
	}
	printf("%s: mode %o owner %d group %d links %d \"%s\"\n", path, info.st_mode,
		info.st_uid, info.st_gid,
		S_ISDIR(info.st_mode) ? 0 : (int)info.st_nlink, text);
}

int descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count;
}

long clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int main(int argc, char **argv)
{
	size_t i;

	self = argv[0];
	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGPIPE, SIG_IGN);
	umask(022);
	alarm(100);
	for (i = 0; i < sizeof sections / sizeof *sections; i++) {
		if (argc == 2 && strcmp(argv[1], "--list") == 0)
			puts(sections[i].name);
		else if (argc == 2 && strcmp(argv[1], sections[i].name) == 0)
			sections[i].run();
	}
	return 0;
}
