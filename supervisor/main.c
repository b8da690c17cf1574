/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - agentwatch: choose the command by its one or two words. */
#include <stdio.h>
#include <string.h>

#include "policy/array.h"
#include "supervisor/cli/say.h"
#include "supervisor/cli/suggest.h"
#include "supervisor/cli/version.h"
#include "supervisor/commands/commands.h"

/* Sorted by name. */
static const struct aw_command *const commands[] = {
	&aw_command_approve,
	&aw_command_completion,
	&aw_command_help,
	&aw_command_learn,
	&aw_command_log,
	&aw_command_policy_check,
	&aw_command_policy_explain,
	&aw_command_policy_from_log,
	&aw_command_policy_import,
	&aw_command_policy_presets,
	&aw_command_policy_reload,
	&aw_command_policy_schema,
	&aw_command_policy_show,
	&aw_command_policy_test,
	&aw_command_ps,
	&aw_command_run,
	&aw_command_stop,
	&aw_command_trust,
	&aw_command_untrust,
};

static bool asks_for_version(const char *word)
{
	return strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0 ||
	       strcmp(word, "version") == 0;
}

static int no_command(const struct aw_error *err)
{
	aw_say("%s", err->text);
	return AW_EXIT_USAGE;
}

int main(int argc, char **argv)
{
	const struct aw_command *command;
	struct aw_error err;
	int words;

	aw_commands_are(commands, ARRAY_SIZE(commands));
	if (argc == 2 && asks_for_version(argv[1])) {
		printf("agentwatch %s\n", AW_VERSION);
		return 0;
	}
	if (argc == 2 && aw_help_wanted(argv[1])) {
		aw_help_overview();
		return 0;
	}
	if (argc > 1 && strcmp(argv[1], aw_command_manual.name) == 0)
		return aw_command_manual.main(argc - 1, argv + 1);
	if (aw_command_find(argc, argv, &command, &words, &err) < 0) {
		if (argc == 3 && aw_help_wanted(argv[2]) && aw_help_group(argv[1]))
			return 0;
		return no_command(&err);
	}
	aw_options_check_environment(command);
	return command->main(argc - words, argv + words);
}
