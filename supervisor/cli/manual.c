/* SPDX-License-Identifier: Apache-2.0 */
/* manual.c - man pages from the tables of commands. */
#include "supervisor/cli/manual.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "policy/array.h"
#include "supervisor/cli/say.h"
#include "supervisor/util/cleanup.h"

struct manual_options {
	const char *man;
};

/* Text as roff: no character of it may be taken for a request. */
static void put_roff(FILE *out, const char *text, size_t len)
{
	bool start = true;

	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (start && (c == '.' || c == '\''))
			fputs("\\&", out);
		if (c == '\\')
			fputs("\\e", out);
		else if (c == '-')
			fputs("\\-", out);
		else
			fputc(c, out);
		start = c == '\n';
	}
}

static void put(FILE *out, const char *text)
{
	put_roff(out, text, strlen(text));
}

/* "policy check" is the page agentwatch-policy-check. */
static void page_name(const char *name, char out[80])
{
	snprintf(out, 80, "agentwatch-%s", name);
	for (char *c = out; *c; c++)
		if (*c == ' ')
			*c = '-';
}

static void put_title(FILE *out, const char *page)
{
	fputs(".TH ", out);
	for (const char *c = page; *c; c++)
		fputc(toupper((unsigned char)*c), out);
	fputs(" 1 \"\" \"agentwatch\" \"User Commands\"\n", out);
}

static void put_details(FILE *out, const char *text)
{
	while (text && *text) {
		size_t len = strcspn(text, "\n");

		if (!len) {
			fputs(".PP\n", out);
		} else if (*text == ' ') {
			fputs(".br\n.RS 4\n", out);
			put_roff(
				out, text + strspn(text, " "), len - strspn(text, " "));
			fputs("\n.RE\n", out);
		} else {
			put_roff(out, text, len);
			fputc('\n', out);
		}
		text += len;
		text += *text == '\n';
	}
}

static void put_option(FILE *out, const struct aw_option *option)
{
	const char *value = aw_option_value_name(option);
	char variable[80];

	fputs(".TP\n\\fB", out);
	if (option->letter)
		fprintf(out, "\\-%c\\fR, \\fB", option->letter);
	fputs("\\-\\-", out);
	put(out, option->name);
	fputs("\\fR", out);
	if (value) {
		fputs(" \\fI", out);
		put(out, value);
		fputs("\\fR", out);
	}
	fputc('\n', out);
	put(out, option->help);
	aw_option_variable(option, variable, sizeof(variable));
	fprintf(out, " (%s)\n", variable);
}

static void put_command(FILE *out, const struct aw_command *command)
{
	char page[80];

	page_name(command->name, page);
	put_title(out, page);
	fputs(".SH NAME\n", out);
	put(out, page);
	fputs(" \\- ", out);
	put(out, command->brief);
	fputs("\n.SH SYNOPSIS\n\\fBagentwatch ", out);
	put(out, command->name);
	fputs("\\fR", out);
	if (command->option_count)
		fputs(" [\\fIOPTION\\fR]...", out);
	if (command->arguments) {
		fputc(' ', out);
		put(out, command->arguments);
	}
	fputs("\n.SH DESCRIPTION\n", out);
	if (command->details)
		put_details(out, command->details);
	else
		fprintf(out, "%c%s.\n", toupper((unsigned char)command->brief[0]),
			command->brief + 1);
	if (command->option_count)
		fputs(".SH OPTIONS\n", out);
	for (size_t i = 0; i < command->option_count; i++)
		put_option(out, &command->options[i]);
	if (command->option_count)
		fputs(".SH ENVIRONMENT\nEach option can be set by the variable named "
		      "after it; a flag there is yes or no, a list is separated by "
		      "colons, and an option on the command line wins.\n",
			out);
	fputs(".SH SEE ALSO\n\\fBagentwatch\\fR(1)\n", out);
}

static void put_overview(FILE *out)
{
	put_title(out, "agentwatch");
	fputs(".SH NAME\nagentwatch \\- run a coding agent under watch\n"
	      ".SH SYNOPSIS\n\\fBagentwatch\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]... "
	      "[\\fIARGUMENT\\fR]...\n"
	      ".SH DESCRIPTION\nEvery file, program and address that the agent or "
	      "anything it starts touches is judged by a policy and logged.\n"
	      ".SH COMMANDS\n",
		out);
	for (size_t i = 0; i < aw_command_count; i++) {
		char page[80];

		if (!aw_commands[i]->brief)
			continue;
		page_name(aw_commands[i]->name, page);
		fputs(".TP\n\\fB", out);
		put(out, page);
		fputs("\\fR(1)\n", out);
		put(out, aw_commands[i]->brief);
		fputc('\n', out);
	}
}

/* One page; command NULL is the overview. */
static int write_page(
	const char *dir, const struct aw_command *command, struct aw_error *err)
{
	AW_FREE char *path = NULL;
	char page[80] = "agentwatch";
	FILE *out;

	if (command)
		page_name(command->name, page);
	if (asprintf(&path, "%s/%s.1", dir, page) < 0)
		return aw_fail(err, ENOMEM, "out of memory");
	out = fopen(path, "we");
	if (!out)
		return aw_fail(err, errno, "%s: %s", path, strerror(errno));
	if (command)
		put_command(out, command);
	else
		put_overview(out);
	if (fclose(out))
		return aw_fail(err, errno, "%s: %s", path, strerror(errno));
	return 0;
}

static int manual_main(int argc, char **argv)
{
	struct manual_options values = {0};
	struct aw_error err;
	bool help;
	int first =
		aw_options_parse(&aw_command_manual, argc, argv, &values, &help, &err);

	if (first >= 0 && help) {
		aw_options_help(&aw_command_manual);
		return 0;
	}
	if (first >= 0 && (first < argc || !values.man))
		first = aw_fail(
			&err, EINVAL, "manual wants --man DIR and nothing else");
	if (first < 0)
		return aw_say_usage(&err);
	if (mkdir(values.man, 0755) < 0 && errno != EEXIST) {
		aw_fail(&err, errno, "%s: %s", values.man, strerror(errno));
		return aw_say_failed(&err);
	}
	if (write_page(values.man, NULL, &err) < 0)
		return aw_say_failed(&err);
	for (size_t i = 0; i < aw_command_count; i++)
		if (aw_commands[i]->brief &&
			write_page(values.man, aw_commands[i], &err) < 0)
			return aw_say_failed(&err);
	return 0;
}

static const struct aw_option options[] = {
	{"man", 0, AW_OPT_STRING, offsetof(struct manual_options, man), "DIR", NULL,
		"write one page a command into this directory"},
};

const struct aw_command aw_command_manual = {
	.name = "manual",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.main = manual_main,
};
