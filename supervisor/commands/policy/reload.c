/* SPDX-License-Identifier: Apache-2.0 */
/* reload.c - agentwatch policy reload: new rules for a running session. */
#include <stdio.h>

#include "supervisor/commands/sessions.h"

static int reload_main(int argc, char **argv)
{
	struct aw_session *session;
	int status;

	if (aw_session_argument(&aw_command_policy_reload, argc, argv, NULL, &session,
		    &status) <= 0)
		return status;
	status = aw_session_ask(session, "reload");
	aw_session_free(session);
	return status;
}

const struct aw_command aw_command_policy_reload = {
	.name = "policy reload",
	.arguments = "SESSION",
	.brief = "make a running session read its policy files again",
	.details =
		"The policy files of the session are read again, with those that have come "
		"since.  When they have mistakes, or one is gone, the session keeps the policy "
		"it has, and the answer says what is wrong.",
	.mixed = true,
	.main = reload_main,
};
