/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work.c - what runs while something goes wrong.
 *
 *   work DIR MILLISECONDS [WHAT...]    opens DIR/open, /raw, /forked and /secret again
 * and again, and ends with status 11
 *
 * DIR/report has, as text, what it has done and what has failed: that is written
 * through a descriptor from the beginning, whatever happens later.  WHAT is a
 * misbehaviour of its own, see habits below.
 *
 *   work DIR once    opens DIR/forked and DIR/secret once, see enum once
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TIMES = 10000 };

/* Status of "once": what it found around itself, or what went wrong. */
enum once { WHOLE = 32, NO_RING, NO_SHIM, NOT_OPENED, LEAKED = 8 /* besides */ };

static struct report {
	unsigned long opened, raw, forked, refused, leaked, failed;
	unsigned long bare;	     /* programs that had the shim and no ring */
	unsigned long refused_files; /* EFBIG */
	int first_errno;
	bool finished;
} report;
static int report_fd;
static const char *dir;

static void tell(void)
{
	char text[384];
	int n = snprintf(text, sizeof(text),
		"{\"opened\": %lu, \"raw\": %lu, \"forked\": %lu, \"refused\": %lu, "
		"\"leaked\": %lu, \"failed\": %lu, \"bare\": %lu, "
		"\"refused_files\": %lu, \"errno\": \"%s\", \"finished\": %s}%40s\n",
		report.opened, report.raw, report.forked, report.refused, report.leaked,
		report.failed, report.bare, report.refused_files,
		report.first_errno ? strerrorname_np(report.first_errno) : "",
		report.finished ? "true" : "false", "");

	if (pwrite(report_fd, text, (size_t)n, 0) != n)
		_exit(12);
}

static long open_path(const char *name, bool raw)
{
	char path[512];
	long fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
#if defined(__x86_64__)
	if (raw) {
		__asm__ volatile(
			"syscall"
			: "=a"(fd)
			: "a"(SYS_open), "D"(path), "S"(O_RDONLY | O_CLOEXEC), "d"(0)
			: "rcx", "r11", "memory");
		if (fd < 0) {
			errno = (int)-fd;
			fd = -1;
		}
		return fd;
	}
#endif
	fd = raw ? syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC)
		 : open(path, O_RDONLY | O_CLOEXEC);
	return fd;
}

static void open_once(const char *name, bool raw, unsigned long *count)
{
	long fd = open_path(name, raw);

	if (fd >= 0) {
		close((int)fd);
		++*count;
	} else {
		report.failed++;
		report.first_errno = report.first_errno ? report.first_errno : errno;
	}
}

static void try_secret(void)
{
	long fd = open_path("secret", report.refused % 2);

	if (fd >= 0) {
		close((int)fd);
		report.leaked++;
	} else {
		report.refused++;
	}
}

static void in_a_child(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		long fd = open_path("forked", false);

		_exit(fd < 0 ? errno : 0);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
		report.forked++;
	} else {
		report.failed++;
		if (!report.first_errno)
			report.first_errno = pid < 0 ? errno : WEXITSTATUS(status);
	}
}

/* --- misbehaviour --- */

/* Too little for another ring, enough to go on. */
static void little_memory(const char *unused)
{
	struct rlimit limit;
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	(void)unused;
	if (!file || fscanf(file, "%lu", &pages) != 1)
		exit(12);
	fclose(file);
	limit.rlim_cur = limit.rlim_max = (pages + 8) * 4096;
	setrlimit(RLIMIT_AS, &limit);
	report.bare += mmap(NULL, 64 * 1024, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED;
}

/* This program again, with room for so many pages, 0: all that there is; false: it
 * could not even begin. */
static bool again(unsigned long pages, int *ret)
{
	const struct rlimit limit = {pages * 4096, pages * 4096};
	char *const argv[] = {"work", (char *)dir, "once", NULL};
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		dup2(open("/dev/null", O_WRONLY), 2);
		if (pages)
			setrlimit(RLIMIT_AS, &limit);
		execv("/proc/self/exe", argv);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	status = pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 0;
	*ret = status & ~LEAKED;
	if (*ret < WHOLE || *ret > NOT_OPENED)
		return false;
	report.bare += *ret == NO_RING;
	report.forked += *ret != NOT_OPENED;
	report.failed += *ret == NOT_OPENED;
	report.leaked += *ret != status;
	return true;
}

/* From too little for the program to enough for it, the shim and a ring. */
static void tight(const char *unused)
{
	int whole = 0;

	(void)unused;
	for (unsigned long pages = 300; whole < 5 && pages < 2500; pages += 5) {
		int found;

		if (again(pages, &found))
			whole += found == WHOLE;
	}
}

static int once(void)
{
	static char maps[65536];
	int fd = open_path("forked", false) >= 0 ? 0 : -1;
	int leaked = open_path("secret", false) >= 0 ? LEAKED : 0;
	size_t len = 0;

	if (fd < 0)
		return NOT_OPENED | leaked;
	fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	for (ssize_t n = 1; n > 0 && len<sizeof(maps) - 1; len += n> 0 ? n : 0)
		n = read(fd, maps + len, sizeof(maps) - 1 - len);
	return leaked | (strstr(maps, "agentwatch-ring")	   ? WHOLE
				: strstr(maps, "libagentwatch.so") ? NO_RING
								   : NO_SHIM);
}

/* Files of at most one page. */
static void small_files(const char *unused)
{
	const struct rlimit limit = {4096, 4096};
	char page[5000] = "", path[512];
	int fd;

	(void)unused;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
	snprintf(path, sizeof(path), "%s/large", dir);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	for (int i = 0; i < 2; i++)
		report.refused_files +=
			write(fd, page, sizeof(page)) < 0 && errno == EFBIG;
	close(fd);
}

static void eat(const char *unused)
{
	(void)unused;
	for (size_t size = 1 << 20, all = 0; all < (1ul << 30); all += size) {
		char *more = malloc(size);

		if (more)
			memset(more, 1, size);
	}
}

static void few_files(const char *unused)
{
	const struct rlimit limit = {8, 8};

	(void)unused;
	setrlimit(RLIMIT_NOFILE, &limit); /* room for one */
	for (int fd = dup(0); fd >= 0 && fd < 6; fd = dup(0))
		;
}

/* Nonsense over all that we share with the supervisor and may write. */
static void scribble(const char *unused)
{
	char line[512];
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long from, to;
	char mode[8];

	(void)unused;
	while (maps && fgets(line, sizeof(line), maps)) {
		if (!strstr(line, "agentwatch-ring") ||
			sscanf(line, "%lx-%lx %7s", &from, &to, mode) != 3 ||
			mode[1] != 'w')
			continue;
		for (unsigned long at = from + 64; at < to; at += 8)
			*(volatile uint64_t *)at =
				(uint64_t)random() << 33 | (uint64_t)random();
	}
	if (maps)
		fclose(maps);
}

/* Connect and say nonsense, in all lengths; some hang up at once, some never do. */
static void garbage(const char *path)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	char noise[300];

	snprintf(un.sun_path, sizeof(un.sun_path), "%s", path);
	signal(SIGPIPE, SIG_IGN);
	for (int i = 0; i < TIMES; i++) {
		int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

		for (size_t k = 0; k < sizeof(noise); k++)
			noise[k] = (char)random();
		if (fd >= 0 && connect(fd, (void *)&un, sizeof(un)) == 0 && i % 3)
			(void)!write(fd, noise, (size_t)random() % sizeof(noise));
		if (fd >= 0 && i % 500)
			close(fd);
	}
}

static void hellos(const char *unused)
{
	(void)unused;
	for (int i = 0; i < TIMES; i++) {
		long fd = syscall(SYS_openat, AT_FDCWD,
			i % 2 ? "/proc/self/agentwatch-hello-big"
			      : "/proc/self/agentwatch-hello",
			O_RDWR | O_CLOEXEC);

		if (fd >= 0)
			close((int)fd);
		for (int k = 3; k < 64; k++)
			if (k != report_fd)
				close(k);
	}
}

static const struct {
	const char *name;
	void (*act)(const char *argument);
	int every; /* rounds between two of them; 0: once, at the start */
} habits[] = {
	{"tight", tight, 0},
	{"small-files", small_files, 0},
	{"eat", eat, 20},
	{"little-memory", little_memory, 0},
	{"few-files", few_files, 0},
	{"scribble", scribble, 7},
	{"garbage", garbage, 0},
	{"hellos", hellos, 0},
};

static void misbehave(int count, char **what, unsigned long round)
{
	for (int i = 0; i < count; i++) {
		const char *argument = strchr(what[i], '=');
		size_t len = strcspn(what[i], "=");

		for (size_t h = 0; h < sizeof(habits) / sizeof(habits[0]); h++)
			if (strlen(habits[h].name) == len &&
				memcmp(habits[h].name, what[i], len) == 0 &&
				(habits[h].every ? round % habits[h].every == 3
						 : round == 0))
				habits[h].act(argument ? argument + 1 : NULL);
	}
}

static double now(void)
{
	struct timespec ts;

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &ts); /* whatever is preloaded */
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	char path[512];
	double until;
	int found;

	if (argc < 3)
		return 2;
	dir = argv[1];
	if (strcmp(argv[2], "once") == 0)
		return once();
	snprintf(path, sizeof(path), "%s/report", dir);
	report_fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (report_fd < 0)
		return 12;
	tell();
	until = now() + atof(argv[2]);
	for (unsigned long round = 0; round == 0 || now() < until; round++) {
		misbehave(argc - 3, argv + 3, round);
		open_once("open", false, &report.opened);
		open_once("raw", true, &report.raw);
		try_secret();
		if (round % 16 == 0)
			in_a_child();
		if (round % 64 == 40)
			again(0, &found);
		tell();
		usleep(300);
	}
	report.finished = true;
	tell();
	return 11;
}
