/* SPDX-License-Identifier: Apache-2.0 */
/* completion_fish.c - the completion script for fish. */
#include <string.h>

#include "supervisor/cli/completion_internal.h"

static void fish_value(FILE *out, const char *value)
{
	switch (aw_value_kind(value)) {
	case AW_FILE_VALUE:
		fputs(" -r -F", out);
		break;
	case AW_DIR_VALUE:
		fputs(" -x -a '(__fish_complete_directories)'", out);
		break;
	case AW_SESSION_VALUE:
		fputs(" -x -a '(__agentwatch_sessions)'", out);
		break;
	case AW_ANY_VALUE:
		fputs(" -x", out);
		break;
	}
}

static void fish_command(FILE *out, const struct aw_command *command)
{
	size_t len = strcspn(command->name, " ");
	bool two = command->name[len] == ' ';

	if (two)
		fprintf(out,
			"complete -c agentwatch -n '__agentwatch_at 1 %.*s' -f -a '%s' -d '",
			(int)len, command->name, command->name + len + 1);
	else
		fprintf(out,
			"complete -c agentwatch -n '__agentwatch_at 0' -f -a '%s' -d '",
			command->name);
	aw_put_quoted(out, command->brief, "\\");
	fputs("'\n", out);
	for (size_t i = 0; i < command->option_count; i++) {
		const struct aw_option *option = &command->options[i];

		fprintf(out, "complete -c agentwatch -n '__agentwatch_in %s' -l %s",
			command->name, option->name);
		if (option->letter)
			fprintf(out, " -s %c", option->letter);
		if (option->choices) {
			fputs(" -x -a '", out);
			aw_put_choices(out, option);
			fputc('\'', out);
		} else if (!aw_option_is_flag(option)) {
			fish_value(out, option->value);
		}
		fputs(" -d '", out);
		aw_put_quoted(out, option->help, "\\");
		fputs("'\n", out);
	}
	fprintf(out, "complete -c agentwatch -n '__agentwatch_in %s'", command->name);
	if (aw_takes_command(command))
		fputs(" -x -a '(__fish_complete_subcommand)'", out);
	else if (!strcmp(command->name, "completion"))
		fputs(" -x -a 'bash zsh fish'", out);
	else if (command->arguments)
		fish_value(out, command->arguments);
	else
		fputs(" -f", out);
	fputc('\n', out);
}

void aw_completion_fish(FILE *out)
{
	fprintf(out,
		"# fish completion for agentwatch\n"
		"function __agentwatch_sessions\n"
		"\tset -q XDG_STATE_HOME; and set -l state $XDG_STATE_HOME; "
		"or set -l state $HOME/.local/state\n"
		"\tls $state/agentwatch/sessions 2>/dev/null\nend\n"
		"# true when the line starts with these words\n"
		"function __agentwatch_in\n"
		"\tset -l words (commandline -opc)\n"
		"\tset -e words[1]\n"
		"\ttest (count $words) -ge (count $argv); or return 1\n"
		"\tfor i in (seq (count $argv))\n"
		"\t\ttest $words[$i] = $argv[$i]; or return 1\n\tend\nend\n"
		"# true when it is these words, so many of them\n"
		"function __agentwatch_at\n"
		"\tset -l words (commandline -opc)\n"
		"\ttest (count $words) -eq (math $argv[1] + 1); or return 1\n"
		"\ttest (count $argv) -eq 1; or __agentwatch_in $argv[2..-1]\nend\n");
	fputs("complete -c agentwatch -n '__agentwatch_at 0' -f -l version\n", out);
	for (size_t i = 0; i < aw_command_count; i++) {
		const char *name = aw_commands[i]->name;

		if (!aw_commands[i]->brief)
			continue;
		if (strchr(name, ' ') && aw_first_of_its_word(i))
			fprintf(out,
				"complete -c agentwatch -n '__agentwatch_at 0' -f -a '%.*s'\n",
				(int)strcspn(name, " "), name);
		fish_command(out, aw_commands[i]);
	}
}
