/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manual.h - help, man pages and completion, all made from the tables of aw_commands[].
 */
#ifndef AW_SUPERVISOR_CLI_MANUAL_H
#define AW_SUPERVISOR_CLI_MANUAL_H

#include <stdio.h>

#include "supervisor/cli/options.h"

extern const struct aw_command aw_command_help;
extern const struct aw_command aw_command_completion;
extern const struct aw_command aw_command_manual; /* not listed: for `make install` */

/* What `agentwatch help` and `agentwatch --help` print. */
void aw_help_overview(void);

/* "--help" or "-h"; word may be NULL. */
bool aw_help_wanted(const char *word);

/* List the commands whose names begin with this word; false: there are none. */
bool aw_help_group(const char *group);

/*
 * The command that the words argv[1..] start with ("policy check" takes two), and how
 * many words it took in *ret_words.  -1 with a sentence that suggests the nearest one.
 */
int aw_command_find(int argc, char **argv, const struct aw_command **ret,
	int *ret_words, struct aw_error *err);

/* True when name is group itself or starts with it and a blank. */
bool aw_command_in_group(const struct aw_command *command, const char *group);

#endif
