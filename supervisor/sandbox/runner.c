/* SPDX-License-Identifier: Apache-2.0 */
/* runner.c - the rows, and the sandboxes that they make. */
#include "supervisor/sandbox/runner.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/array.h"

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

enum { ROWS = ARRAY_SIZE(rows) };

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
