/* SPDX-License-Identifier: Apache-2.0 */
/* runner.c - the rows, and what runners that are programs share. */
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

static int always(struct aw_error *err)
{
	(void)err;
	return 0;
}

static int no_wall(const struct aw_plan_params *params, const struct aw_plan *plan,
	struct aw_sandbox *ret, struct aw_error *err)
{
	(void)params;
	(void)plan;
	(void)ret;
	(void)err;
	return 0;
}

static int landlock(const struct aw_plan_params *params, const struct aw_plan *plan,
	struct aw_sandbox *ret, struct aw_error *err)
{
	(void)params;
	(void)plan;
	(void)err;
	ret->landlock = true;
	return 0;
}

static int not_yet(struct aw_error *err)
{
	return aw_fail(err, ENOTSUP, "it is not available in this version");
}

static const struct aw_runner exec_row = {"exec", NULL, always, no_wall};
static const struct aw_runner landlock_row = {
	"landlock", "Linux 5.13 or later", aw_landlock_probe, landlock};

/* Best first. */
static const struct aw_runner *const rows[] = {
	&exec_row,
	&aw_runner_bwrap,
	&landlock_row,
	&aw_runner_firejail,
	&(const struct aw_runner){"docker", NULL, not_yet, no_wall},
	&(const struct aw_runner){"podman", NULL, not_yet, no_wall},
	&(const struct aw_runner){"user", NULL, not_yet, no_wall},
	&(const struct aw_runner){"sandbox-exec", NULL, not_yet, no_wall},
	&(const struct aw_runner){"restricted-token", NULL, not_yet, no_wall},
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

const struct aw_runner *aw_runner_find(const char *name)
{
	for (size_t i = 0; i < ROWS; i++)
		if (strcmp(rows[i]->name, name) == 0)
			return rows[i];
	return NULL;
}

const char *aw_runner_names(void)
{
	static char all[256];
	size_t used = 0;

	for (size_t i = 0; i < ROWS; i++)
		used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s",
			i ? ", " : "", rows[i]->name);
	return all;
}

static void free_vector(char **vector)
{
	for (size_t i = 0; vector && vector[i]; i++)
		free(vector[i]);
	free(vector);
}

void aw_sandbox_release(struct aw_sandbox *sandbox)
{
	free_vector(sandbox->prefix);
	free_vector(sandbox->shown);
	for (size_t i = 0; i < sandbox->fd_count; i++)
		close(sandbox->fds[i]);
	free(sandbox->profile);
	free(sandbox->fds);
	*sandbox = (struct aw_sandbox){.runner = sandbox->runner};
}

/* As a shell would read it. */
static void print_word(const char *word, FILE *out)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWX"
				    "YZ0123456789_@%+=:,./-";

	if (*word && strspn(word, plain) == strlen(word)) {
		fputs(word, out);
		return;
	}
	fputc('\'', out);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", out);
		else
			fputc(*word, out);
	fputc('\'', out);
}

void aw_sandbox_print(
	const struct aw_plan *plan, const struct aw_sandbox *sandbox, FILE *out)
{
	char **words = sandbox->shown ? sandbox->shown : sandbox->prefix;

	aw_plan_print(plan, out);
	fprintf(out, "runner  %s\n", sandbox->runner->name);
	for (size_t i = 0; words && words[i]; i++) {
		/* an option a line */
		if (i && strncmp(words[i], "--", 2) == 0)
			fputs(" \\\n    ", out);
		else if (i)
			fputc(' ', out);
		print_word(words[i], out);
	}
	if (words)
		fputs(" agentwatch-enter COMMAND\n", out);
	if (sandbox->profile)
		fprintf(out, "profile\n%s", sandbox->profile);
}

char *aw_runner_program(const char *name, struct aw_error *err)
{
	AW_FREE char *passed_over = NULL;
	char *found = aw_find_helper(name, &passed_over);

	if (!found && passed_over)
		aw_fail(err, EPERM,
			"%s is not used: its user may change it, or a folder above it, "
			"and so may the command; install %s for the whole machine",
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
