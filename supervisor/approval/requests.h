/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requests.h - questions over the control socket.
 *
 * {"request":"questions","after":0} gives one object a line, as many as fit;
 * {"request":"answer","question":1,"yes":true,"how":"session"} answers one, with
 * "layer" where how is "always"; {"request":"waiting"} gives the number of open ones.
 * All from outside of sessions alone.  For the service's own thread.
 */
#ifndef AW_SUPERVISOR_APPROVAL_REQUESTS_H
#define AW_SUPERVISOR_APPROVAL_REQUESTS_H

#include <stdbool.h>

#include "supervisor/session/control.h"

struct aw_run;
struct aw_watch;

struct aw_ask_session {
	struct aw_run *run;
	struct aw_watch *watch;
	/* read the policy files again; what became of it in text */
	int (*reload)(void *ctx, char *text, size_t size);
	void *ctx;
};

bool aw_ask_request_is(const char *name);

/* As aw_control_handler. */
int aw_ask_request(const struct aw_ask_session *session,
	const struct aw_control_request *request, char *text, size_t size);

#endif
