/* SPDX-License-Identifier: Apache-2.0 */
/* sessions.c - what the commands about running sessions share. */
#include "supervisor/commands/sessions.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "supervisor/cli/say.h"
#include "supervisor/process/inside.h"
#include "supervisor/session/control.h"
#include "supervisor/util/cleanup.h"

static int find_running(const char *id, struct aw_session **ret, struct aw_error *err)
{
	struct aw_session *session;

	if (aw_session_find(id, &session, err) < 0)
		return -1;
	if (!aw_session_alive(session) || !session->control) {
		if (session->ended)
			aw_fail(err, ESRCH,
				"session '%s' is not running: it ended at %s",
				session->id, session->ended);
		else
			aw_fail(err, ESRCH,
				"session '%s' is not running: its supervisor is gone",
				session->id);
		aw_session_free(session);
		return -1;
	}
	*ret = session;
	return 0;
}

int aw_session_argument(const struct aw_command *command, int argc, char **argv,
	void *values, struct aw_session **ret, int *ret_status)
{
	struct aw_error err;
	bool help;
	int first = aw_options_parse(command, argc, argv, values, &help, &err);

	if (first >= 0 && help) {
		aw_options_help(command);
		*ret_status = 0;
		return 0;
	}
	if (first >= 0 && argc - first != 1)
		first = aw_fail(&err, EINVAL,
			"%s wants one session; see: agentwatch ps", command->name);
	if (first < 0) {
		*ret_status = aw_say_usage(&err);
		return -1;
	}
	if (aw_refuse_inside(command->name, &err) < 0 ||
		find_running(argv[first], ret, &err) < 0) {
		*ret_status = aw_say_failed(&err);
		return -1;
	}
	return 1;
}

int aw_session_ask(const struct aw_session *session, const char *request)
{
	AW_FREE char *text = NULL;
	AW_FREE char *shown = NULL;
	struct aw_error err;

	if (aw_control_request(session->control, request, &text, &err) < 0) {
		aw_while(&err, "session '%s'", session->id);
		return aw_say_failed(&err);
	}
	shown = aw_shown(text, strlen(text));
	if (shown && *shown)
		printf("%s\n", shown);
	return 0;
}
