/* SPDX-License-Identifier: Apache-2.0 */
/* completion_words.c - what the completion scripts of all shells are made from. */
#include "supervisor/cli/completion_internal.h"

#include <stdio.h>
#include <string.h>

enum aw_value_kind aw_value_kind(const char *value)
{
	if (!value)
		return AW_ANY_VALUE;
	if (strstr(value, "SESSION"))
		return AW_SESSION_VALUE;
	if (strstr(value, "DIR"))
		return AW_DIR_VALUE;
	return strstr(value, "FILE") ? AW_FILE_VALUE : AW_ANY_VALUE;
}

/* Commands that take another program's command line. */
bool aw_takes_command(const struct aw_command *command)
{
	return command->arguments && strstr(command->arguments, "COMMAND [ARG");
}

/* Between single quotes, with what zsh's _arguments reads in a special way escaped. */
void aw_put_quoted(FILE *out, const char *text, const char *special)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", out);
		else if (strchr(special, *text))
			fprintf(out, "\\%c", *text);
		else
			fputc(*text, out);
	}
}

/* The choices, blanks between them. */
void aw_put_choices(FILE *out, const struct aw_option *option)
{
	char choice[80];

	for (size_t i = 0; aw_option_choice(option, i, choice, sizeof(choice)); i++)
		fprintf(out, "%s%s", i ? " " : "", choice);
}

bool aw_first_of_its_word(size_t index)
{
	size_t len = strcspn(aw_commands[index]->name, " ");

	for (size_t i = 0; i < index; i++)
		if (aw_commands[i]->brief &&
			!strncmp(aw_commands[i]->name, aw_commands[index]->name, len) &&
			strcspn(aw_commands[i]->name, " ") == len)
			return false;
	return true;
}

bool aw_first_of_its_group(size_t index)
{
	const struct aw_command *command = aw_commands[index];

	return command->brief && strchr(command->name, ' ') &&
	       aw_first_of_its_word(index);
}
