/* SPDX-License-Identifier: Apache-2.0 */
/* completion.c - agentwatch completion: scripts for bash, zsh and fish. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "supervisor/cli/completion_internal.h"
#include "supervisor/cli/manual.h"
#include "supervisor/cli/say.h"

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

/* Write the completion script; false for a shell that is not known. */
static bool write_completion(const char *shell, FILE *out)
{
	static const struct {
		const char *shell;
		void (*write)(FILE *out);
	} writers[] = {{"bash", aw_completion_bash}, {"zsh", aw_completion_zsh},
		{"fish", aw_completion_fish}};

	for (size_t i = 0; i < sizeof(writers) / sizeof(writers[0]); i++) {
		if (!strcmp(writers[i].shell, shell)) {
			writers[i].write(out);
			return true;
		}
	}
	return false;
}

static int completion_main(int argc, char **argv)
{
	struct aw_error err;
	bool help;
	int first =
		aw_options_parse(&aw_command_completion, argc, argv, NULL, &help, &err);

	if (first >= 0 && help) {
		aw_options_help(&aw_command_completion);
		return 0;
	}
	if (first >= 0 && argc - first != 1)
		first = aw_fail(
			&err, EINVAL, "completion wants one shell: bash, zsh or fish");
	if (first >= 0 && !write_completion(argv[first], stdout))
		first = aw_fail(&err, EINVAL,
			"there is no completion for '%s', only for bash, zsh and fish",
			argv[first]);
	return first < 0 ? aw_say_usage(&err) : 0;
}

const struct aw_command aw_command_completion = {
	.name = "completion",
	.arguments = "bash|zsh|fish",
	.brief = "print a completion script for a shell",
	.details = "For bash: source <(agentwatch completion bash).  For zsh put the "
		   "script "
		   "as _agentwatch into a folder of $fpath, for fish as "
		   "agentwatch.fish into "
		   "~/.config/fish/completions.",
	.main = completion_main,
};
