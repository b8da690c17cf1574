/* SPDX-License-Identifier: Apache-2.0 */
/* presets.c - agentwatch policy presets: what ships, and what is in it. */
#include "supervisor/commands/policy/policy_command.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "policy/load/load.h"
#include "supervisor/cli/say.h"
#include "supervisor/cli/suggest.h"
#include "supervisor/session/find.h"
#include "supervisor/util/cleanup.h"

static const char suffix[] = ".yaml";

struct presets {
	char *folder;	       /* owned */
	struct dirent **files; /* owned; d_name without the suffix */
	int count;
};

static int is_preset(const struct dirent *file)
{
	size_t len = strlen(file->d_name), end = sizeof(suffix) - 1;

	return file->d_name[0] != '.' && len > end &&
	       strcmp(file->d_name + len - end, suffix) == 0;
}

static void presets_free(struct presets *presets)
{
	while (presets->count > 0)
		free(presets->files[--presets->count]);
	free(presets->files);
	free(presets->folder);
}

static int presets_find(struct presets *ret, struct aw_error *err)
{
	struct presets found = {.folder = aw_find_part("presets")};
	int i;

	if (!found.folder)
		return aw_fail(err, ENOENT,
			"the presets that ship with agentwatch are neither beside the "
			"program nor where it installs them; install it again");
	found.count = scandir(found.folder, &found.files, is_preset, alphasort);
	if (found.count < 0) {
		aw_fail(err, errno, "%s: cannot be read: %s", found.folder,
			strerror(errno));
		free(found.folder);
		return -1;
	}
	for (i = 0; i < found.count; i++)
		*strrchr(found.files[i]->d_name, '.') = '\0';
	*ret = found;
	return 0;
}

static FILE *open_preset(const struct presets *presets, const char *name)
{
	AW_FREE char *path = NULL;

	if (asprintf(&path, "%s/%s%s", presets->folder, name, suffix) < 0)
		return NULL;
	return fopen(path, "re");
}

/* The first line of a preset is a comment that says what it is for. */
static void print_purpose(FILE *preset)
{
	char line[256];

	if (!preset || !fgets(line, sizeof(line), preset) ||
		strncmp(line, "# ", 2) != 0)
		return;
	line[strcspn(line, "\r\n")] = '\0';
	fputs(line + 2, stdout);
}

static void print_commands(const char *preset)
{
	const char *command, *picks, *before = "  [";
	size_t i;

	for (i = 0; (command = aw_preset_command(i, &picks)); i++) {
		if (strcmp(picks, preset) != 0)
			continue;
		printf("%s%s", before, command);
		before = ", ";
	}
	if (before[0] == ',')
		putchar(']');
}

static void list_presets(const struct presets *presets)
{
	int i;

	for (i = 0; i < presets->count; i++) {
		const char *name = presets->files[i]->d_name;
		AW_FCLOSE FILE *preset = open_preset(presets, name);

		printf("%-14s  ", name);
		print_purpose(preset);
		print_commands(name);
		putchar('\n');
	}
}

static int no_such_preset(
	const struct presets *presets, const char *name, struct aw_error *err)
{
	struct aw_suggestion near;
	int i;

	aw_suggest_init(&near, name);
	for (i = 0; i < presets->count; i++)
		aw_suggest_offer(&near, presets->files[i]->d_name);
	if (aw_suggest_best(&near))
		return aw_fail(err, ENOENT, "no preset '%.60s'; did you mean '%s'?",
			name, aw_suggest_best(&near));
	return aw_fail(err, ENOENT,
		"no preset '%.60s'; 'agentwatch policy presets' lists those there are",
		name);
}

/* A preset as it stands in its file, which is what its comments are for. */
static int print_preset(
	const struct presets *presets, const char *name, struct aw_error *err)
{
	AW_FCLOSE FILE *preset = NULL;
	char line[1024];
	int i;

	for (i = 0; i < presets->count; i++)
		if (strcmp(presets->files[i]->d_name, name) == 0)
			break;
	if (i == presets->count)
		return no_such_preset(presets, name, err);
	preset = open_preset(presets, name);
	if (!preset)
		return aw_fail(err, errno, "%s/%s%s: cannot be read: %s",
			presets->folder, name, suffix, strerror(errno));
	while (fgets(line, sizeof(line), preset))
		fputs(line, stdout);
	return 0;
}

static int presets_main(int argc, char **argv)
{
	struct presets presets = {0};
	struct aw_error err;
	bool help;
	int first = aw_options_parse(
		&aw_command_policy_presets, argc, argv, NULL, &help, &err);
	int i, status = 0;

	if (first < 0)
		return aw_say_usage(&err);
	if (help) {
		aw_options_help(&aw_command_policy_presets);
		return 0;
	}
	if (presets_find(&presets, &err) < 0)
		return aw_say_failed(&err);
	if (first == argc)
		list_presets(&presets);
	for (i = first; i < argc; i++)
		if (print_preset(&presets, argv[i], &err) < 0)
			status = aw_say_failed(&err);
	presets_free(&presets);
	return status;
}

const struct aw_command aw_command_policy_presets = {
	.name = "policy presets",
	.arguments = "[NAME...]",
	.brief = "list the presets that ship with agentwatch, or print some",
	.details =
		"A policy takes them by name, such as 'preset: [node, git]'.  Each opens what "
		"its program needs and says in comments why.  In brackets stand the commands "
		"that have a preset picked for them where no policy file has rules.",
	.mixed = true,
	.main = presets_main,
};
