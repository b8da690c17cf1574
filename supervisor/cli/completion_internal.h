/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completion_internal.h - what the completion scripts of the three shells share.
 */
#ifndef AW_SUPERVISOR_CLI_COMPLETION_INTERNAL_H
#define AW_SUPERVISOR_CLI_COMPLETION_INTERNAL_H

#include <stdbool.h>
#include <stdio.h>

#include "supervisor/cli/options.h"

/* The values that a shell knows how to offer. */
enum aw_value_kind { AW_ANY_VALUE, AW_FILE_VALUE, AW_DIR_VALUE, AW_SESSION_VALUE };

/* From the name of the value in help: "FILE", "DIR", "[SESSION|FILE]". */
enum aw_value_kind aw_value_kind(const char *value);

/* The names of sessions, one a line, in the words of the Bourne shell. */
#define AW_SESSIONS_SCRIPT                                                             \
	"ls \"${XDG_STATE_HOME:-$HOME/.local/state}/agentwatch/sessions\" 2>/dev/null"

/* True for a command whose arguments are another program's command line. */
bool aw_takes_command(const struct aw_command *command);

/* Text for between single quotes, a backslash before each of the special characters. */
void aw_put_quoted(FILE *out, const char *text, const char *special);

/* An option's choices, blanks between them. */
void aw_put_choices(FILE *out, const struct aw_option *option);

/* True for the first listed command that starts with its first word. */
bool aw_first_of_its_word(size_t index);

/* As above, of those that have two words. */
bool aw_first_of_its_group(size_t index);

void aw_completion_bash(FILE *out);
void aw_completion_zsh(FILE *out);
void aw_completion_fish(FILE *out);

#endif
