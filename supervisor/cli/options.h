/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.h - command-line options as tables.
 *
 * A command lists its options once; the parser, the help text, the man page and the
 * shell completion are all made from that list.  Flags win over AGENTWATCH_<OPTION>
 * from the environment ("-" becomes "_").  Both "--name value" and "--name=value" work;
 * "--" and the first word that is not an option end the options unless the command
 * takes mixed ones.
 */
#ifndef AW_SUPERVISOR_CLI_OPTIONS_H
#define AW_SUPERVISOR_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/error.h"

enum aw_option_kind {
	AW_OPT_FLAG,   /* bool * */
	AW_OPT_SWITCH, /* bool [2]: the value, and whether somebody has named it */
	AW_OPT_STRING, /* const char ** */
	AW_OPT_CHOICE, /* const char **, one of choices */
	AW_OPT_LIST,   /* struct aw_string_list *, may be repeated */
	AW_OPT_NUMBER, /* long * */
};

/* Strings are borrowed from argv or the environment, or live as long as the program. */
struct aw_string_list {
	const char **items; /* owned array */
	size_t count;
};

int aw_string_list_add(
	struct aw_string_list *list, const char *item, struct aw_error *err);
void aw_string_list_free(struct aw_string_list *list);

struct aw_option {
	const char *name; /* without dashes */
	char letter;	  /* or 0 */
	enum aw_option_kind kind;
	size_t offset;	     /* of the field in the command's own struct */
	const char *value;   /* name of the value in help, or NULL */
	const char *choices; /* "audit|enforce" */
	const char *help;    /* one line */
};

struct aw_command {
	const char *name;      /* "run", "policy check" */
	const char *arguments; /* "[--] COMMAND [ARG...]" */
	const char *brief;     /* one line; NULL: the command is not listed in help */
	const char *details;   /* paragraphs for help and the man page, or NULL */
	const struct aw_option *options;
	size_t option_count;
	bool mixed; /* options may follow positional arguments */
	int (*main)(int argc, char **argv);
};

/*
 * Fill *values from the environment, then from argv[1..].  Returns the index of the
 * first positional argument (for a mixed command the positional ones are moved to the
 * end), or -1 with a sentence in err.  "--help" sets *ret_help; what follows it is not
 * looked at. A flag can be taken back with "--name=no"; an environment variable that is
 * empty counts as not set, and one whose option is given as a flag is not looked at.
 */
int aw_options_parse(const struct aw_command *command, int argc, char **argv,
	void *values, bool *ret_help, struct aw_error *err);

static inline bool aw_option_is_flag(const struct aw_option *option)
{
	return option->kind == AW_OPT_FLAG || option->kind == AW_OPT_SWITCH;
}

/* "AGENTWATCH_ON_MISSING_RUNNER" for the option "on-missing-runner". */
void aw_option_variable(const struct aw_option *option, char *out, size_t size);

/* The choice at index, from 0; false when there are no more. */
bool aw_option_choice(
	const struct aw_option *option, size_t index, char *out, size_t size);

/* What help calls the option's value; NULL for a flag. */
const char *aw_option_value_name(const struct aw_option *option);

/* All commands, sorted by name: what help, manual and completion are made from. */
extern const struct aw_command *const *aw_commands;
extern size_t aw_command_count;
void aw_commands_are(const struct aw_command *const *commands, size_t count);

/*
 * One line on stderr when a variable AGENTWATCH_... is no option of any command, with
 * those of this one (options_environment.c).
 */
void aw_options_check_environment(const struct aw_command *command);

/* Help for one command on stdout (options_help.c). */
void aw_options_help(const struct aw_command *command);

#endif
