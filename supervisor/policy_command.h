/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy_command.h - agentwatch policy check and show.
 */
#ifndef AW_SUPERVISOR_POLICY_COMMAND_H
#define AW_SUPERVISOR_POLICY_COMMAND_H

#include "supervisor/options.h"

extern const struct aw_command aw_command_policy_check;
extern const struct aw_command aw_command_policy_show;

#endif
