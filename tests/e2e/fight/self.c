/* SPDX-License-Identifier: Apache-2.0 */
/* self.c - what a program can know about itself, one line each */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/times.h>
#include <termios.h>
#include <unistd.h>

extern char **environ;

static void signals(void)
{
	sigset_t set;
	int number;

	sigprocmask(SIG_BLOCK, NULL, &set);
	for (number = 1; number < NSIG; number++) {
		struct sigaction action;

		if (sigaction(number, NULL, &action) < 0)
			continue;
		if (sigismember(&set, number) || action.sa_handler != SIG_DFL ||
			action.sa_flags)
			printf("signal %d: blocked %d, handler %s, flags %x\n", number,
				sigismember(&set, number),
				action.sa_handler == SIG_IGN ? "ignored"
				: action.sa_handler	     ? "own"
							     : "default",
				(unsigned)action.sa_flags);
	}
	sigpending(&set);
	printf("pending: %d\n", sigisemptyset(&set) ? 0 : 1);
}

static void limits(void)
{
	int which;

	for (which = 0; which < RLIM_NLIMITS; which++) {
		struct rlimit limit;

		getrlimit(which, &limit);
		printf("limit %d: %lld %lld\n", which, (long long)limit.rlim_cur,
			(long long)limit.rlim_max);
	}
}

/* Lines of /proc/self/status that must not change. */
static void from_status(void)
{
	static const char *const wanted[] = {"Name", "Umask", "Uid", "Gid", "Groups",
		"NStgid", "Threads", "SigQ", "SigPnd", "ShdPnd", "SigBlk", "SigIgn",
		"SigCgt", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb",
		"THP_enabled", "Cpus_allowed", "Mems_allowed"};
	char line[4096];
	FILE *file = fopen("/proc/self/status", "r");
	size_t i;

	while (file && fgets(line, sizeof line, file))
		for (i = 0; i < sizeof wanted / sizeof *wanted; i++) {
			size_t len = strlen(wanted[i]);

			/* SigQ counts the whole user's; NStgid is the pid in each
			 * namespace */
			if (strncmp(line, wanted[i], len) || line[len] != ':')
				continue;
			if (!strcmp(wanted[i], "NStgid")) {
				int n = 0;
				char *p;

				for (p = line; *p; p++)
					n += *p == '\t';
				printf("pid namespaces: %d\n", n);
			} else if (strcmp(wanted[i], "SigQ")) {
				fputs(line, stdout);
			}
		}
	if (file)
		fclose(file);
}

static void descriptors(void)
{
	struct dirent *entry;
	DIR *dir = opendir("/proc/self/fd");
	int count = 0;

	while ((entry = readdir(dir)))
		if (atoi(entry->d_name) > 2 && atoi(entry->d_name) != dirfd(dir)) {
			char name[300], to[256] = "";

			snprintf(name, sizeof name, "/proc/self/fd/%s", entry->d_name);
			if (readlink(name, to, sizeof to - 1) > 0)
				printf("descriptor %s: %s\n", entry->d_name, to);
		} else {
			count++;
		}
	printf("descriptors: %d, lowest free %d\n", count - 3, dirfd(dir));
	closedir(dir);
}

int main(int argc, char **argv)
{
	char text[4096];
	struct itimerval timer;
	ssize_t len;
	cpu_set_t cpus;
	int i, fd;

	for (i = 0; i < argc; i++)
		printf("argv[%d] = %s\n", i, argv[i]);
	printf("invocation name %s, AT_EXECFN %s\n", program_invocation_name,
		(char *)getauxval(AT_EXECFN));
	for (i = 0; environ[i]; i++)
		if (strncmp(environ[i], "LD_PRELOAD=", 11) &&
			strncmp(environ[i], "AGENTWATCH_", 11))
			printf("environ: %s\n", environ[i]);
	len = readlink("/proc/self/exe", text, sizeof text - 1);
	printf("exe: %.*s\n", (int)len, text);
	printf("cwd: %s\n", getcwd(text, sizeof text));
	fd = open("/proc/self/comm", O_RDONLY);
	len = read(fd, text, sizeof text);
	printf("comm: %.*s", (int)len, text);
	close(fd);
	fd = open("/proc/self/cmdline", O_RDONLY);
	len = read(fd, text, sizeof text);
	for (i = 0; i < len; i++)
		putchar(text[i] ? text[i] : '|');
	close(fd);
	puts("");
	printf("ids: %d %d %d %d, secure %lu\n", getuid(), geteuid(), getgid(),
		getegid(), getauxval(AT_SECURE));
	printf("umask: %o\n", (unsigned)umask(0));
	printf("group leader %d, session leader %d, in the foreground %d, terminals "
	       "%d%d%d, /dev/tty %d\n",
		getpgrp() == getpid(), getsid(0) == getpid(), tcgetpgrp(0) == getpgrp(),
		isatty(0), isatty(1), isatty(2), open("/dev/tty", O_RDWR) >= 0);
	printf("dumpable %d, pdeathsig %d, keepcaps %d, securebits %d, subreaper %d, "
	       "timerslack %d\n",
		prctl(PR_GET_DUMPABLE), (prctl(PR_GET_PDEATHSIG, &i), i),
		prctl(PR_GET_KEEPCAPS), prctl(PR_GET_SECUREBITS),
		(prctl(PR_GET_CHILD_SUBREAPER, &i), i), prctl(PR_GET_TIMERSLACK));
	printf("nice %d, scheduler %d, personality %x\n", getpriority(PRIO_PROCESS, 0),
		sched_getscheduler(0), (unsigned)personality(0xffffffff));
	sched_getaffinity(0, sizeof cpus, &cpus);
	printf("cpus %d\n", CPU_COUNT(&cpus));
	getitimer(ITIMER_REAL, &timer);
	printf("timer %ld, alarm %u\n", (long)timer.it_value.tv_sec, alarm(0));
	fd = open("/proc/self/oom_score_adj", O_RDONLY);
	len = read(fd, text, sizeof text);
	printf("oom %.*s", (int)len, text);
	close(fd);
	printf("parent is alive: %d\n", kill(getppid(), 0) == 0 || errno == EPERM);
	signals();
	limits();
	from_status();
	descriptors();
	return 0;
}
