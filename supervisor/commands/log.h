/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.h - agentwatch log.
 */
#ifndef AW_SUPERVISOR_COMMANDS_LOG_H
#define AW_SUPERVISOR_COMMANDS_LOG_H

#include "supervisor/cli/options.h"

extern const struct aw_command aw_command_log;

#endif
