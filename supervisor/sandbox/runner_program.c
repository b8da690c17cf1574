/* SPDX-License-Identifier: Apache-2.0 */
/* runner_program.c - runners that are programs: find one, make its arguments, try it. */
#include "supervisor/sandbox/runner.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervisor/session/find.h"
#include "supervisor/util/cleanup.h"

char *aw_runner_program(const char *name, struct aw_error *err)
{
	AW_FREE char *passed_over = NULL;
	char *found = aw_find_helper(name, &passed_over);

	if (!found && passed_over)
		aw_fail(err, EPERM,
			"%s is not used: its user may change it, or a directory above "
			"it, and so may the command; install %s for the whole machine",
			passed_over, name);
	else if (!found)
		aw_fail(err, ENOENT, "%s is not installed", name);
	return found;
}

static void become(char *const *argv, int err)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	char *env[] = {(char *)"PATH=/usr/bin:/bin:/usr/sbin:/sbin", NULL};
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGCHLD, SIG_DFL);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	execve(argv[0], argv, env);
	_exit(127);
}

int aw_runner_try(char *const *argv, char *line, size_t size)
{
	int pair[2], status = -1;
	size_t used = 0;
	ssize_t n;
	pid_t pid;

	line[0] = '\0';
	if (pipe2(pair, O_CLOEXEC) < 0)
		return -1;
	pid = fork();
	if (pid == 0)
		become(argv, pair[1]);
	close(pair[1]);
	while (pid > 0 && used < size - 1 &&
		(n = read(pair[0], line + used, size - 1 - used)) > 0)
		used += (size_t)n;
	line[used] = '\0';
	line[strcspn(line, "\n")] = '\0';
	close(pair[0]);
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return -1;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

void aw_arguments_add(struct aw_arguments *args, size_t count, ...)
{
	char **items = realloc(args->items, (args->count + count + 1) * sizeof(*items));
	va_list list;

	if (!items) {
		args->failed = true;
		return;
	}
	args->items = items;
	va_start(list, count);
	for (size_t i = 0; i < count; i++) {
		char *copy = strdup(va_arg(list, const char *));

		if (copy)
			items[args->count++] = copy;
		else
			args->failed = true;
	}
	va_end(list);
	items[args->count] = NULL;
}

void aw_arguments_free(struct aw_arguments *args)
{
	for (size_t i = 0; i < args->count; i++)
		free(args->items[i]);
	free(args->items);
	*args = (struct aw_arguments){.count = 0};
}
