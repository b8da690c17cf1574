/* SPDX-License-Identifier: Apache-2.0 */
/* stop.c - agentwatch stop: end a session and all its processes. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>

#include "policy/array.h"
#include "supervisor/cli/say.h"
#include "supervisor/commands/sessions.h"

enum { STEP_MS = 20 };

struct stop_options {
	long timeout; /* seconds */
};

static int wait_for_end(const struct aw_session *session, long seconds)
{
	for (long left = seconds * 1000; left >= 0; left -= STEP_MS) {
		if (!aw_session_alive(session))
			return 0;
		poll(NULL, 0, STEP_MS);
	}
	aw_say("session '%s' is still ending after %ld seconds", session->id, seconds);
	return AW_EXIT_FAILED;
}

static int stop_main(int argc, char **argv)
{
	struct stop_options values = {.timeout = 10};
	struct aw_session *session;
	int status;

	if (aw_session_argument(
		    &aw_command_stop, argc, argv, &values, &session, &status) <= 0)
		return status;
	status = aw_session_ask(session, "stop");
	if (!status && values.timeout > 0)
		status = wait_for_end(session, values.timeout);
	aw_session_free(session);
	return status;
}

static const struct aw_option options[] = {
	{"timeout", 't', AW_OPT_NUMBER, offsetof(struct stop_options, timeout),
		"SECONDS", NULL,
		"how long to wait for the end, 10 by default; 0: not at all"},
};

const struct aw_command aw_command_stop = {
	.name = "stop",
	.arguments = "SESSION",
	.brief = "end a session and all its processes",
	.details = "Asks the session's supervisor to end the command and everything "
		   "that was started from it, and waits until it has.",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.mixed = true,
	.main = stop_main,
};
