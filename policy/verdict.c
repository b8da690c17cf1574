/* SPDX-License-Identifier: Apache-2.0 */
/* verdict.c - the words for verdicts and actions. */
#include "policy/verdict.h"

static const char *const verdicts[] = {"allow", "ask", "deny", "hide"};

static const char *const actions[AW_ACTIONS] = {
	[AW_READ] = "read",
	[AW_WRITE] = "write",
	[AW_CREATE] = "create",
	[AW_DELETE] = "delete",
	[AW_RENAME] = "rename",
	[AW_EXEC] = "exec",
	[AW_CONNECT] = "connect",
	[AW_BIND] = "bind",
	[AW_SEND] = "send",
	[AW_SYSTEM_CALL] = "system",
	[AW_METADATA] = "read",
};

const char *aw_verdict_name(enum aw_verdict verdict)
{
	return (unsigned)verdict <= AW_HIDE ? verdicts[verdict] : "?";
}

const char *aw_action_name(enum aw_action action)
{
	return (unsigned)action < AW_ACTIONS ? actions[action] : "?";
}
