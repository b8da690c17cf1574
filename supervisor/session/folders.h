/* SPDX-License-Identifier: Apache-2.0 */
/*
 * directories.h - where agentwatch keeps things, made private on first use.
 */
#ifndef AW_SUPERVISOR_SESSION_FOLDERS_H
#define AW_SUPERVISOR_SESSION_FOLDERS_H

#include <stdbool.h>

#include "policy/error.h"

/* The user's home: $HOME, else the account's; NULL when there is none.  Borrowed. */
const char *aw_home(void);

/* $XDG_STATE_HOME/agentwatch/sessions; made (0700) when make is true.  *ret owned. */
int aw_sessions_directory(bool make, char **ret, struct aw_error *err);

/* $XDG_CONFIG_HOME/agentwatch, never made.  *ret owned. */
int aw_config_directory(char **ret, struct aw_error *err);

/*
 * The directory for sockets: $XDG_RUNTIME_DIR/agentwatch, else a private directory
 * under the temporary directory; made 0700.  One that is a symbolic link, belongs to
 * someone else or is open to others is refused.  *ret owned.
 */
int aw_runtime_directory(char **ret, struct aw_error *err);

#endif
