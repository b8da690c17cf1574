/* SPDX-License-Identifier: Apache-2.0 */
/*
 * version.h - what `agentwatch --version` says.
 */
#ifndef AW_SUPERVISOR_CLI_VERSION_H
#define AW_SUPERVISOR_CLI_VERSION_H

#define AW_VERSION "0.1.0"

#endif
