/* SPDX-License-Identifier: Apache-2.0 */
/* completion_bash.c - the completion script for bash. */
#include <string.h>

#include "supervisor/cli/completion_internal.h"

/* The first words of all commands, each once. */
static void put_first_words(FILE *out)
{
	for (size_t i = 0; i < aw_command_count; i++) {
		const char *name = aw_commands[i]->name;

		if (aw_commands[i]->brief && aw_first_of_its_word(i))
			fprintf(out, "%.*s ", (int)strcspn(name, " "), name);
	}
}

/* The second words of the commands that start with the first word of name. */
static void put_second_words(FILE *out, const char *name)
{
	size_t len = strcspn(name, " ");

	for (size_t i = 0; i < aw_command_count; i++) {
		const char *other = aw_commands[i]->name;

		if (aw_commands[i]->brief && !strncmp(other, name, len) &&
			other[len] == ' ')
			fprintf(out, "%s ", other + len + 1);
	}
}

static void bash_value(FILE *out, const char *kind_text, const struct aw_option *option)
{
	if (option && option->choices) {
		fputs("COMPREPLY=($(compgen -W '", out);
		aw_put_choices(out, option);
		fputs("' -- \"$cur\"))", out);
		return;
	}
	switch (aw_value_kind(kind_text)) {
	case AW_FILE_VALUE:
		fputs("COMPREPLY=($(compgen -f -- \"$cur\"))", out);
		break;
	case AW_DIR_VALUE:
		fputs("COMPREPLY=($(compgen -d -- \"$cur\"))", out);
		break;
	case AW_SESSION_VALUE:
		fputs("COMPREPLY=($(compgen -W \"$(_agentwatch_sessions)\" -- \"$cur\"))",
			out);
		break;
	case AW_ANY_VALUE:
		fputs("COMPREPLY=()", out);
		break;
	}
}

static void bash_command(FILE *out, const struct aw_command *command)
{
	fprintf(out, "\t'%s')\n\t\tcase $prev in\n", command->name);
	for (size_t i = 0; i < command->option_count; i++) {
		const struct aw_option *option = &command->options[i];

		if (aw_option_is_flag(option))
			continue;
		if (option->letter)
			fprintf(out, "\t\t-%c|", option->letter);
		else
			fputs("\t\t", out);
		fprintf(out, "--%s) ", option->name);
		bash_value(out, option->value, option);
		fputs("; return ;;\n", out);
	}
	fputs("\t\tesac\n\t\tif [[ $cur == -* ]]; then\n"
	      "\t\t\tCOMPREPLY=($(compgen -W '",
		out);
	for (size_t i = 0; i < command->option_count; i++)
		fprintf(out, "--%s ", command->options[i].name);
	fputs("--help' -- \"$cur\"))\n\t\telse\n\t\t\t", out);
	if (aw_takes_command(command))
		fputs("COMPREPLY=($(compgen -c -- \"$cur\"))", out);
	else if (!strcmp(command->name, "help"))
		fputs("COMPREPLY=($(compgen -W \"$commands\" -- \"$cur\"))", out);
	else if (!strcmp(command->name, "completion"))
		fputs("COMPREPLY=($(compgen -W 'bash zsh fish' -- \"$cur\"))", out);
	else
		bash_value(out, command->arguments, NULL);
	fputs("\n\t\tfi ;;\n", out);
}

void aw_completion_bash(FILE *out)
{
	fprintf(out,
		"# bash completion for agentwatch\n"
		"_agentwatch_sessions() { %s; }\n"
		"_agentwatch()\n{\n"
		"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
		"\tlocal command=${COMP_WORDS[1]} commands='",
		AW_SESSIONS_SCRIPT);
	put_first_words(out);
	fputs("--version --help'\n"
	      "\tif ((COMP_CWORD == 1)); then\n"
	      "\t\tCOMPREPLY=($(compgen -W \"$commands\" -- \"$cur\"))\n\t\treturn\n\tfi\n"
	      "\tcase $command in\n",
		out);
	for (size_t i = 0; i < aw_command_count; i++) {
		const char *name = aw_commands[i]->name;

		if (!aw_commands[i]->brief || !strchr(name, ' ') ||
			!aw_first_of_its_word(i))
			continue;
		fprintf(out,
			"\t%.*s)\n\t\tif ((COMP_CWORD == 2)); then\n"
			"\t\t\tCOMPREPLY=($(compgen -W '",
			(int)strcspn(name, " "), name);
		put_second_words(out, name);
		fputs("' -- \"$cur\"))\n\t\t\treturn\n\t\tfi\n"
		      "\t\tcommand+=\" ${COMP_WORDS[2]}\" ;;\n",
			out);
	}
	fputs("\tesac\n\tcase $command in\n", out);
	for (size_t i = 0; i < aw_command_count; i++)
		if (aw_commands[i]->brief)
			bash_command(out, aw_commands[i]);
	fputs("\tesac\n}\ncomplete -o filenames -F _agentwatch agentwatch\n", out);
}
