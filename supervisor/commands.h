/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands.h - the commands that main() chooses from.
 */
#ifndef AW_SUPERVISOR_COMMANDS_H
#define AW_SUPERVISOR_COMMANDS_H

#include "supervisor/import/import.h"
#include "supervisor/learn/command.h"
#include "supervisor/manual.h"
#include "supervisor/options.h"
#include "supervisor/policy/command.h"
#include "supervisor/view/approve.h"
#include "supervisor/view/log.h"
#include "supervisor/view/sessions.h"

extern const struct aw_command aw_command_run;

#endif
