/* SPDX-License-Identifier: Apache-2.0 */
/* plan_view.c - the minimal view: the system, the program, where it works. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/array.h"
#include "supervisor/sandbox/plan_internal.h"
#include "supervisor/session/find.h"
#include "supervisor/util/cleanup.h"

enum { INTERPRETERS_MAX = 4 };

static const char *const system_paths[] = {"/usr", "/bin", "/sbin", "/lib", "/lib32",
	"/lib64", "/libx32", "/etc", "/opt", "/nix/store", "/gnu/store", "/proc",
	"/dev"};

/* Links in /etc that lead out of it. */
static const char *const system_files[] = {
	"/etc/resolv.conf", "/etc/hosts", "/etc/localtime", "/etc/machine-id"};

static bool exists(const char *path)
{
	return access(path, F_OK) == 0;
}

static void want_if_there(
	struct aw_plan_maker *maker, const char *folder, const char *name)
{
	AW_FREE char *path = NULL;

	if (asprintf(&path, "%s/%s", folder, name) < 0)
		maker->failed = true;
	else if (exists(path))
		aw_plan_want(maker, path, "program");
}

/* The directories of modules that a package may load from: the outermost node_modules. */
static bool want_modules(struct aw_plan_maker *maker, const char *real)
{
	static const char name[] = "/node_modules/";
	const char *at = strstr(real, name);
	AW_FREE char *folder = NULL;

	if (!at)
		return false;
	folder = strndup(real, (size_t)(at - real) + sizeof(name) - 2);
	if (folder)
		aw_plan_want(maker, folder, "program");
	else
		maker->failed = true;
	return true;
}

/* The nearest directory above with a package.json: never the home directory or "/". */
static void want_package(struct aw_plan_maker *maker, const char *folder)
{
	const char *home = maker->params->variables->home;
	AW_FREE char *at = strdup(folder);

	while (at && at[0] && !(home && strcmp(at, home) == 0)) {
		AW_FREE char *file = NULL;

		if (asprintf(&file, "%s/package.json", at) >= 0 && exists(file)) {
			aw_plan_want(maker, at, "program");
			return;
		}
		*strrchr(at, '/') = '\0';
	}
}

/* A directory "bin" mostly has what its programs need beside it. */
static void want_beside(struct aw_plan_maker *maker, const char *folder)
{
	const char *slash = strrchr(folder, '/');
	AW_FREE char *above = strndup(folder, (size_t)(slash - folder));

	if (!above || above[0] == '\0' || strcmp(slash, "/bin") != 0)
		return;
	want_if_there(maker, above, "lib");
	want_if_there(maker, above, "pyvenv.cfg");
}

static void want_folder_of(struct aw_plan_maker *maker, const char *path)
{
	const char *home = maker->params->variables->home;
	AW_FREE char *folder = strndup(path, (size_t)(strrchr(path, '/') - path));

	aw_plan_want(maker, path, "program");
	if (!folder || !folder[0] || (home && strcmp(folder, home) == 0))
		return;
	aw_plan_want(maker, folder, "program");
	want_beside(maker, folder);
}

/* "#! /usr/bin/env node": the interpreter, and the program that env would find. */
static int read_interpreters(const char *path, char *line, size_t size, char *ret[2])
{
	AW_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t n = fd < 0 ? -1 : read(fd, line, size - 1);
	char *word, *rest = NULL, *base;
	int count = 0;

	if (n < 3 || line[0] != '#' || line[1] != '!')
		return 0;
	line[n] = '\0';
	line[strcspn(line, "\n")] = '\0';
	word = strtok_r(line + 2, " \t", &rest);
	if (!word || word[0] != '/')
		return 0;
	ret[count++] = word;
	base = strrchr(word, '/') + 1;
	while (strcmp(base, "env") == 0 && (word = strtok_r(NULL, " \t", &rest)))
		if (word[0] != '-' && !strchr(word, '=')) {
			ret[count++] = word;
			break;
		}
	return count;
}

static void want_program(struct aw_plan_maker *maker, const char *path, int depth)
{
	AW_FREE char *real = realpath(path, NULL);
	char line[512], *names[2] = {NULL, NULL};
	struct aw_error err;
	int count;

	if (!real)
		return;
	if (path[0] == '/')
		want_folder_of(maker, path);
	want_folder_of(maker, real);
	if (!want_modules(maker, real)) {
		AW_FREE char *folder =
			strndup(real, (size_t)(strrchr(real, '/') - real));

		if (folder)
			want_package(maker, folder);
	}
	count = depth < INTERPRETERS_MAX
			? read_interpreters(real, line, sizeof(line), names)
			: 0;
	for (int i = 0; i < count; i++) {
		AW_FREE char *found = NULL;

		if (aw_find_program(names[i], &found, &err) == 0)
			want_program(maker, found, depth + 1);
	}
}

static void want_arguments(struct aw_plan_maker *maker)
{
	char **command = maker->params->command;

	for (size_t i = 1; command && command[0] && command[i]; i++)
		if (command[i][0] == '/' && command[i][1] && exists(command[i]))
			aw_plan_want(maker, command[i], "argument");
}

void aw_plan_want_minimal(struct aw_plan_maker *maker)
{
	const struct aw_plan_params *params = maker->params;
	struct stat st;

	for (size_t i = 0; i < ARRAY_SIZE(system_paths); i++)
		if (exists(system_paths[i]))
			aw_plan_want(maker, system_paths[i], "system");
	for (size_t i = 0; i < ARRAY_SIZE(system_files); i++)
		if (exists(system_files[i]))
			aw_plan_want(maker, system_files[i], "system");
	if (params->program)
		want_program(maker, params->program, 0);
	if (params->cwd && strcmp(params->cwd, "/") != 0)
		aw_plan_want(maker, params->cwd, "working directory");
	want_arguments(maker);
	if (params->variables->home && stat(params->variables->home, &st) == 0)
		aw_plan_place_add(maker, params->variables->home, "home")->stays = true;
}
