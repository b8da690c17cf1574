/* SPDX-License-Identifier: Apache-2.0 */
/*
 * supervisor_internal.h - what the files of the service share: supervisor.c is its loop
 * and the command's life, supervisor_set_up.c what is there before and behind it,
 * supervisor_reload.c another policy meanwhile.
 *
 * All of it is the service's first thread's.
 */
#ifndef AW_SUPERVISOR_LAUNCH_SUPERVISOR_INTERNAL_H
#define AW_SUPERVISOR_LAUNCH_SUPERVISOR_INTERNAL_H

#include "supervisor/audit/drain.h"
#include "supervisor/launch/announce.h"
#include "supervisor/launch/run.h"
#include "supervisor/launch/supervisor_says.h"
#include "supervisor/linux/seccomp/notify.h"
#include "supervisor/session/control.h"

/* What the loop waits for. */
enum { WAIT_SIGNALS = 1, WAIT_NEWS, WAIT_CONTROL, WAIT_QUESTIONS };

struct service {
	struct aw_run *run;
	struct aw_watch watch;
	struct aw_notify *notify;
	struct aw_drain *drain;
	struct aw_socket_service *sockets;
	struct aw_control *control;
	int loop, news, signals;
	pid_t command, waited; /* waited: our child whose end is the command's */
	bool stopped;	       /* behind a sandbox: seen to be */
	int command_pidfd;     /* behind a sandbox; else -1 */
	int status;	       /* for run, -1 while the command runs */
	bool orphans;	       /* waitpid still has children to wait for */
	bool stopping;
	bool timed_out;
	struct aw_announcer announcer;
	struct aw_policy latest;	 /* of the last reload */
	struct aw_epoch_garbage retired; /* those of the reloads before */
	uint64_t end; /* when `limits.time` is over, in milliseconds; 0: never */
};

/* What the threads share, and the loop; nothing runs yet. */
int aw_supervisor_set_up(struct service *s, struct aw_error *err);

/*
 * Sockets of the sandbox's network can be made from now on.  Where nothing is allowed
 * that leads out of it, nobody needs them: firejail's belongs to root.
 */
int aw_supervisor_enter_network(struct service *s, struct aw_error *err);

/*
 * Where names are judged, we answer for them; again after a reload that judges some.
 */
int aw_supervisor_answer_names(
	struct service *s, const struct aw_policy *policy, struct aw_error *err);

/*
 * Read the files again; a broken one leaves everything as it is, and -1.  What is to be
 * told goes to text.
 */
int aw_supervisor_reload(struct service *s, char *text, size_t size);

/* End the threads, write the last lines and close the log. */
void aw_supervisor_finish(struct service *s);

#endif
