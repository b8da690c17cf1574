/* SPDX-License-Identifier: Apache-2.0 */
/*
 * escape.c - run attempts; prints a line for each and a line for its twin.
 *
 *   escape --list                   name, kind, theme, what it tries
 *   escape ROOT TRIES [NAME...]     run them all but those of kind 1, or the named ones
 *   escape --cat PATH               print a file: what other attempts execute
 *
 * `name ESCAPED|HELD|UNSUPPORTED detail`, `name:allowed WORKS|BROKEN|UNSUPPORTED
 * detail`.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/escapes/escape.h"

static const struct {
	const char *name;
	const struct attempt *table;
} themes[] = {
	{"calls", calls_table},
	{"paths", paths_table},
	{"races", race_table},
	{"races", race_bind_table},
	{"changes", change_table},
	{"programs", exec_table},
	{"programs", peek_table},
	{"processes", process_table},
	{"views", spaces_table},
	{"network", net_table},
	{"where packets go", options_table},
	{"kinds of sockets", ways_table},
	{"sockets", unix_table},
	{"io_uring", uring_table},
	{"session", session_table},
};

int tries;
const char *self;
pid_t started_by;

static void place(char *to, const char *root, const char *folder, const char *name,
	const char *file)
{
	snprintf(to, 512, "%s/%s/%s%s", root, folder, name, file);
}

/* What stage.py wrote down for this attempt. */
static bool facts(struct target *t)
{
	char path[512], denied[32], allowed[32];
	int denied_port, allowed_port, pid, fd;
	unsigned long memory;
	FILE *file;
	bool whole;

	snprintf(path, sizeof path, "%s/w/facts/%s", t->root, t->name);
	file = fopen(path, "r");
	if (!file)
		return false;
	whole = fscanf(file, "%d %lx %d %31s %d %31s %d %90s", &pid, &memory, &fd,
			denied, &denied_port, allowed, &allowed_port, t->abstract) == 8;
	fclose(file);
	t->pid = pid;
	t->memory = memory;
	t->fd = fd;
	t->inet.sin_family = AF_INET;
	t->inet.sin_port = htons(t->denied ? denied_port : allowed_port);
	inet_pton(AF_INET, t->denied ? denied : allowed, &t->inet.sin_addr);
	strcat(t->abstract, t->denied ? "-deny-" : "-open-");
	strncat(t->abstract, t->name, 40);
	return whole;
}

static bool prepare(struct target *t)
{
	bool no = t->denied;

	place(t->read, t->root, no ? "w/secret" : "w/open", t->name, "/key");
	place(t->hidden, t->root, no ? "w/hidden" : "w/open", t->name, "/key");
	place(t->pattern, t->root, "w/open", t->name, no ? "/key.pem" : "/key");
	place(t->write, t->root, no ? "w/frozen" : "w/free", t->name, "/file");
	place(t->below, t->root, no ? "ro" : "w/free", t->name, "/file");
	place(t->program, t->root, no ? "w/deny-bin" : "w/bin", t->name, "");
	place(t->deep, t->root, no ? "w/deep" : "w/plain", t->name, "");
	place(t->stream, t->root, no ? "run" : "w/sock", t->name, ".s");
	place(t->dgram, t->root, no ? "run" : "w/sock", t->name, ".d");
	place(t->work, t->root, no ? "w/tmp" : "w/tmp2", t->name, "");
	return facts(t) && chdir(t->work) == 0;
}

static void speak(const struct target *t, int rc)
{
	const char *word, *detail = rc > 0 ? errno_name(rc) : t->got;

	if (rc == NOT_HERE)
		word = "UNSUPPORTED";
	else if (t->denied)
		word = rc == 0 ? "ESCAPED" : "HELD";
	else
		word = rc == 0 ? "WORKS" : "BROKEN";
	printf("%s%s %s %s\n", t->name, t->denied ? "" : ":allowed", word, detail);
	fflush(stdout);
}

static void in_child(const struct attempt *attempt, bool denied, const char *root)
{
	struct target t = {.root = root,
		.name = attempt->name,
		.what = attempt->what,
		.denied = denied};
	int rc;

	alarm(tries > 10000 ? 120 : 30);
	if (!prepare(&t))
		rc = errno ? errno : EINVAL;
	else if (!denied && strpbrk(attempt->kind, "ps") && own_victim(&t) != 0)
		rc = ECHILD;
	else
		rc = attempt->go(&t, attempt->arg);
	speak(&t, rc);
	if (!denied && t.pid > 0 && strpbrk(attempt->kind, "ps"))
		kill(t.pid, SIGKILL);
	_exit(0);
}

static void run(const struct attempt *attempt, bool denied, const char *root)
{
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0)
		in_child(attempt, denied, root);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status))
		printf("%s%s %s ended by signal %d\n", attempt->name,
			denied ? "" : ":allowed", denied ? "HELD" : "BROKEN",
			WTERMSIG(status));
	fflush(stdout);
}

static bool wanted(const struct attempt *attempt, char **names)
{
	if (!*names)
		return !strchr(attempt->kind, '1');
	for (; *names; names++)
		if (strcmp(*names, attempt->name) == 0)
			return true;
	return false;
}

static int each(char **argv)
{
	const struct attempt *attempt;
	size_t i;

	for (i = 0; i < sizeof themes / sizeof *themes; i++)
		for (attempt = themes[i].table; attempt->name; attempt++) {
			if (!argv) {
				printf("%s\t%s\t%s\t%s\n", attempt->name, attempt->kind,
					themes[i].name, attempt->what);
				continue;
			}
			if (!wanted(attempt, argv + 3))
				continue;
			if (!strchr(attempt->kind, 'n'))
				run(attempt, false, argv[1]);
			run(attempt, true, argv[1]);
		}
	if (argv)
		puts("END");
	return 0;
}

int main(int argc, char **argv)
{
	struct target t = {0};

	self = argv[0];
	started_by = getppid();
	signal(SIGPIPE, SIG_IGN);
	if (argc == 2 && strcmp(argv[1], "--list") == 0)
		return each(NULL);
	if (argc == 3 && strcmp(argv[1], "--cat") == 0) {
		int rc = take_path(&t, argv[2]);

		puts(t.got);
		return rc;
	}
	if (argc < 3)
		return 2;
	tries = atoi(argv[2]);
	return each(argv);
}
