/* SPDX-License-Identifier: Apache-2.0 */
/* help.c - agentwatch help, and finding a command by its words. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "supervisor/cli/manual.h"
#include "supervisor/cli/say.h"
#include "supervisor/cli/suggest.h"

enum { WORDS_MAX = 3 };

bool aw_command_in_group(const struct aw_command *command, const char *group)
{
	size_t len = strlen(group);

	return !strncmp(command->name, group, len) &&
	       (command->name[len] == ' ' || !command->name[len]);
}

static bool group_exists(const char *group)
{
	for (size_t i = 0; i < aw_command_count; i++)
		if (aw_command_in_group(aw_commands[i], group))
			return true;
	return false;
}

static int unknown_command(int argc, char **argv, struct aw_error *err)
{
	bool group = group_exists(argv[1]);
	const char *kind = argv[1][0] == '-' ? "option" : "command";
	struct aw_suggestion near;
	const char *best;
	char word[128];

	if (group && argc < 3)
		return aw_fail(err, EINVAL,
			"'%s' wants a second word; see: agentwatch help %s", argv[1],
			argv[1]);
	snprintf(word, sizeof(word), "%s%s%s", argv[1], group ? " " : "",
		group ? argv[2] : "");
	aw_suggest_init(&near, word);
	for (size_t i = 0; i < aw_command_count; i++)
		if (aw_commands[i]->brief)
			aw_suggest_offer(&near, aw_commands[i]->name);
	aw_suggest_offer(&near, "--help");
	aw_suggest_offer(&near, "--version");
	best = aw_suggest_best(&near);
	if (best)
		return aw_fail(err, EINVAL, "there is no %s '%s'; did you mean '%s'?",
			kind, word, best);
	return aw_fail(
		err, EINVAL, "there is no %s '%s'; see: agentwatch help", kind, word);
}

int aw_command_find(int argc, char **argv, const struct aw_command **ret,
	int *ret_words, struct aw_error *err)
{
	const struct aw_command *found = NULL;
	char words[256] = "";
	size_t used = 0;

	if (argc < 2)
		return aw_fail(err, EINVAL, "no command given; try 'agentwatch help'");
	for (int n = 1; n < argc && n <= WORDS_MAX && used < sizeof(words); n++) {
		used += (size_t)snprintf(words + used, sizeof(words) - used, "%s%s",
			n > 1 ? " " : "", argv[n]);
		for (size_t i = 0; used < sizeof(words) && i < aw_command_count; i++) {
			if (strcmp(aw_commands[i]->name, words) != 0)
				continue;
			found = aw_commands[i];
			*ret_words = n;
		}
	}
	if (!found)
		return unknown_command(argc, argv, err);
	*ret = found;
	return 0;
}

static void list_commands(const char *group)
{
	for (size_t i = 0; i < aw_command_count; i++) {
		const struct aw_command *command = aw_commands[i];

		if (command->brief && (!group || aw_command_in_group(command, group)))
			printf("  %-16s %s\n", command->name, command->brief);
	}
}

void aw_help_overview(void)
{
	printf("Usage: agentwatch COMMAND [OPTION]... [ARGUMENT]...\n"
	       "\n"
	       "Runs a coding agent under watch: every file, program and address that it or\n"
	       "anything it starts touches is judged by a policy and logged.\n"
	       "\n"
	       "  agentwatch run -- COMMAND [ARG...]     watch a command, block nothing\n"
	       "  agentwatch run --mode enforce -- COMMAND\n"
	       "                                         refuse what the policy denies\n"
	       "  agentwatch log --denied                show what was denied, or would have "
	       "been\n"
	       "\n"
	       "Commands:\n");
	list_commands(NULL);
	printf("\n"
	       "  agentwatch help COMMAND                its options\n"
	       "  agentwatch --version\n");
}

bool aw_help_wanted(const char *word)
{
	return word && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0);
}

bool aw_help_group(const char *group)
{
	if (!group_exists(group))
		return false;
	list_commands(group);
	return true;
}

static int help_main(int argc, char **argv)
{
	const struct aw_command *command;
	struct aw_error err;
	bool help;
	int words, first;

	first = aw_options_parse(&aw_command_help, argc, argv, NULL, &help, &err);
	if (first < 0)
		return aw_say_usage(&err);
	if (help || first == argc) {
		aw_help_overview();
		return 0;
	}
	/* The word before the first argument takes the place of the program's name. */
	if (!aw_command_find(
		    argc - first + 1, argv + first - 1, &command, &words, &err)) {
		/* NOLINTNEXTLINE(clang-analyzer-core.*): found, so it is set */
		aw_options_help(command);
		return 0;
	}
	if (argc - first == 1 && aw_help_group(argv[first]))
		return 0;
	return aw_say_usage(&err);
}

const struct aw_command aw_command_help = {
	.name = "help",
	.arguments = "[COMMAND]",
	.brief = "explain a command and its options",
	.main = help_main,
};
