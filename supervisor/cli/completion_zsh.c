/* SPDX-License-Identifier: Apache-2.0 */
/* completion_zsh.c - the completion script for zsh. */
#include <string.h>

#include "supervisor/cli/completion_internal.h"
#include "supervisor/cli/manual.h"

static const char *zsh_action(const char *value)
{
	static const char *const actions[] = {
		[AW_ANY_VALUE] = " ",
		[AW_FILE_VALUE] = "_files",
		[AW_DIR_VALUE] = "_files -/",
		[AW_SESSION_VALUE] = "_agentwatch_sessions",
	};

	return actions[aw_value_kind(value)];
}

static void zsh_option(FILE *out, const struct aw_option *option)
{
	fputs(" \\\n\t\t\t'", out);
	if (option->kind == AW_OPT_LIST)
		fputc('*', out);
	fprintf(out, "--%s%s[", option->name, aw_option_is_flag(option) ? "" : "=");
	aw_put_quoted(out, option->help, "[]:\\");
	fputc(']', out);
	if (option->choices) {
		fputs(":value:(", out);
		aw_put_choices(out, option);
		fputc(')', out);
	} else if (!aw_option_is_flag(option)) {
		fprintf(out, ":value:%s", zsh_action(option->value));
	}
	fputc('\'', out);
}

static void zsh_command(FILE *out, const struct aw_command *command)
{
	fprintf(out, "\t('%s')\n\t\t_arguments -S", command->name);
	for (size_t i = 0; i < command->option_count; i++)
		zsh_option(out, &command->options[i]);
	fputs(" \\\n\t\t\t'--help[explain the options]'", out);
	if (aw_takes_command(command))
		fputs(" \\\n\t\t\t'(-)1:command:_command_names -e' '*::arguments:_normal'",
			out);
	else if (!strcmp(command->name, "completion"))
		fputs(" \\\n\t\t\t'1:shell:(bash zsh fish)'", out);
	else if (command->arguments)
		fprintf(out, " \\\n\t\t\t'*:argument:%s'",
			zsh_action(command->arguments));
	fputs(" ;;\n", out);
}

static void zsh_descriptions(FILE *out, const char *group)
{
	for (size_t i = 0; i < aw_command_count; i++) {
		const struct aw_command *command = aw_commands[i];
		size_t len = strcspn(command->name, " ");
		bool two = command->name[len] == ' ';

		if (!command->brief ||
			(group && (!two || !aw_command_in_group(command, group))) ||
			(!group && !aw_first_of_its_word(i)))
			continue;
		if (group)
			fprintf(out, " '%s:", command->name + len + 1);
		else
			fprintf(out, " '%.*s:", (int)len, command->name);
		aw_put_quoted(out, command->brief, ":\\");
		fputc('\'', out);
	}
}

void aw_completion_zsh(FILE *out)
{
	fprintf(out,
		"#compdef agentwatch\n"
		"_agentwatch_sessions() { compadd -- ${(f)\"$(%s)\"}; }\n"
		"_agentwatch() {\n\tlocal name=$words[2]\n\tlocal -a commands\n"
		"\tif ((CURRENT == 2)); then\n\t\tcommands=(",
		AW_SESSIONS_SCRIPT);
	zsh_descriptions(out, NULL);
	fputs(")\n\t\t_describe command commands\n\t\treturn\n\tfi\n\tcase $name in\n",
		out);
	for (size_t i = 0; i < aw_command_count; i++) {
		char group[80];

		snprintf(group, sizeof(group), "%.*s",
			(int)strcspn(aw_commands[i]->name, " "), aw_commands[i]->name);
		if (!aw_first_of_its_group(i))
			continue;
		fprintf(out, "\t(%s)\n\t\tif ((CURRENT == 3)); then\n\t\t\tcommands=(",
			group);
		zsh_descriptions(out, group);
		fputs(")\n\t\t\t_describe command commands\n\t\t\treturn\n\t\tfi\n"
		      "\t\tname+=\" $words[3]\"\n\t\tshift words\n\t\t((CURRENT--)) ;;\n",
			out);
	}
	fputs("\tesac\n\tshift words\n\t((CURRENT--))\n\tcase $name in\n", out);
	for (size_t i = 0; i < aw_command_count; i++)
		if (aw_commands[i]->brief)
			zsh_command(out, aw_commands[i]);
	fputs("\tesac\n}\n_agentwatch \"$@\"\n", out);
}
