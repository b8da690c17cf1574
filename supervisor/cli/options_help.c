/* SPDX-License-Identifier: Apache-2.0 */
/* options_help.c - help for one command, from its table. */
#include "supervisor/cli/options.h"

#include <stdio.h>
#include <string.h>

enum { WIDTH = 80, HELP_COLUMN = 30 };

/* Print words from column on, each further line indented like the first. */
static void put_wrapped(const char *text, int column, int indent)
{
	while (*text) {
		int len = (int)strcspn(text, " ");

		if (column + 1 + len > WIDTH && column > indent) {
			printf("\n%*s", indent, "");
			column = indent;
		} else if (column > indent) {
			putchar(' ');
			column++;
		}
		printf("%.*s", len, text);
		column += len;
		text += len;
		text += strspn(text, " ");
	}
	putchar('\n');
}

static void put_paragraphs(const char *text)
{
	while (text && *text) {
		size_t len = strcspn(text, "\n");
		char paragraph[4096];

		snprintf(paragraph, sizeof(paragraph), "%.*s", (int)len, text);
		/* A line that starts with a blank is an example: it stays as it is. */
		if (paragraph[0] == ' ')
			printf("%s\n", paragraph);
		else
			put_wrapped(paragraph, 0, 0);
		text += len;
		text += *text == '\n';
	}
}

const char *aw_option_value_name(const struct aw_option *option)
{
	if (aw_option_is_flag(option))
		return NULL;
	if (option->value)
		return option->value;
	return option->choices ? option->choices : "VALUE";
}

static void put_option(const struct aw_option *option)
{
	const char *value = aw_option_value_name(option);
	int column;

	if (option->letter)
		column = printf("  -%c, --%s", option->letter, option->name);
	else
		column = printf("      --%s", option->name);
	if (value)
		column += printf(" %s", value);
	if (column + 2 > HELP_COLUMN)
		printf("\n%*s", HELP_COLUMN, "");
	else
		printf("%*s", HELP_COLUMN - column, "");
	put_wrapped(option->help, HELP_COLUMN, HELP_COLUMN);
}

void aw_options_help(const struct aw_command *command)
{
	char variable[80] = "";

	printf("Usage: agentwatch %s%s%s%s\n", command->name,
		command->option_count ? " [OPTION]..." : "",
		command->arguments ? " " : "",
		command->arguments ? command->arguments : "");
	if (command->brief)
		printf("\n%s\n", command->brief);
	if (command->details) {
		putchar('\n');
		put_paragraphs(command->details);
	}
	if (!command->option_count)
		return;
	printf("\nOptions:\n");
	for (size_t i = 0; i < command->option_count; i++)
		put_option(&command->options[i]);
	aw_option_variable(&command->options[0], variable, sizeof(variable));
	printf("\n");
	put_wrapped(
		"Every option can also be set in the environment, for example", 0, 0);
	printf("  %s\n", variable);
	put_wrapped("A flag there is yes or no, a list is separated by colons; an "
		    "option on the command line wins.",
		0, 0);
}
