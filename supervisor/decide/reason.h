/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reason.h - why something was refused, in words.
 */
#ifndef AW_SUPERVISOR_DECIDE_REASON_H
#define AW_SUPERVISOR_DECIDE_REASON_H

#include <stdbool.h>
#include <stddef.h>

#include "supervisor/decide/watch.h"

enum { AW_REASON_SIZE = 512 };

/*
 * The rule, or the default and where it stands: "filesystem.default: read-only
 * (built-in)".  "" for what is not refused.  Any thread, inside of watch->readers.
 */
void aw_reason(const struct aw_watch *watch, const struct aw_event *event,
	char out[AW_REASON_SIZE]);

/*
 * What the text of a rule begins with that stands for a key in git's configuration, or
 * for the protection of such files; a key when file is the configuration itself.
 */
#define AW_GIT_CONFIG_RULE "git-config: "
bool aw_reason_is_key(const char *file, const char *text);

#endif
