/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands.h - the commands that main() chooses from.
 */
#ifndef AW_SUPERVISOR_COMMANDS_COMMANDS_H
#define AW_SUPERVISOR_COMMANDS_COMMANDS_H

#include "supervisor/cli/manual.h"
#include "supervisor/cli/options.h"
#include "supervisor/commands/approve.h"
#include "supervisor/commands/learn.h"
#include "supervisor/commands/log.h"
#include "supervisor/commands/policy/policy_command.h"
#include "supervisor/commands/sessions.h"

extern const struct aw_command aw_command_run;

#endif
