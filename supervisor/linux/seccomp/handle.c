/* SPDX-License-Identifier: Apache-2.0 */
/* handle.c - one notified call: who makes it, what it is, its answer and its line. */
#include <errno.h>
#include <linux/seccomp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "supervisor/linux/calls/vet.h"
#include "supervisor/linux/emulate/emulate.h"
#include "supervisor/linux/procfs.h"
#include "supervisor/linux/target/creds.h"
#include "supervisor/linux/target/path_walk_proc.h"

enum { KNOWN_TRIES = 50 };

static void answer(struct aw_notified *call)
{
	struct seccomp_notif_resp *response = call->response;

	if (call->reply == AW_REPLY_DONE)
		return;
	memset(response, 0, call->response_size);
	response->id = call->id;
	if (call->reply == AW_REPLY_CONTINUE)
		response->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	else if (call->err || call->reply == AW_REPLY_FAIL)
		response->error = -call->err;
	else
		response->val = call->value;
	if (ioctl(call->watch->listener, SECCOMP_IOCTL_NOTIF_SEND, response) < 0)
		call->gone = errno == ENOENT;
}

/* What every call has, also one that came to no verdict. */
static void complete(const struct aw_notified *call, struct aw_event *event)
{
	event->call = aw_call_name((unsigned)call->sys);
	if (event->source)
		return;
	event->source = AW_FROM_KERNEL;
	event->strength = call->watch->strength_kernel;
	event->enforced = call->watch->enforce;
}

/* The other calls have to do with processes and sockets, which is for us to look at. */
static bool is_about_files(const struct aw_notified *call)
{
	return call->row->effect < AW_FX_EXEC || call->row->effect == AW_FX_META;
}

static void deal_with(struct aw_notified *call)
{
	if (!is_about_files(call))
		aw_creds_restore();
	/* an open tells by its path whether the loader makes it */
	if (call->target.who.execing && call->row->effect != AW_FX_OPEN)
		aw_call_arrived(call, false);
	switch ((enum aw_effect)call->row->effect) {
	case AW_FX_EXEC:
		aw_call_exec(call);
		break;
	case AW_FX_CONNECT:
	case AW_FX_BIND:
	case AW_FX_SENDTO:
	case AW_FX_SENDMSG:
	case AW_FX_SENDMMSG:
	case AW_FX_SOCKET:
	case AW_FX_LISTEN:
	case AW_FX_OPTION:
		(call->watch->holds ? aw_emulate_network : aw_call_network)(call);
		break;
	case AW_FX_URING:
	case AW_FX_SECCOMP:
	case AW_FX_PRCTL:
	case AW_FX_NAMESPACE:
	case AW_FX_CLONE:
	case AW_FX_PROCESS:
		if (!aw_vet_call(call))
			break;
		aw_call_self(call);
		break;
	case AW_FX_MACHINE:
	case AW_FX_OWNER:
	case AW_FX_LANDLOCK:
	case AW_FX_UMASK:
	case AW_FX_CREDS:
	case AW_FX_IOCTL:
	case AW_FX_CLONE3:
	case AW_FX_REFUSE:
		aw_call_self(call);
		break;
	default:
		(call->watch->holds ? aw_emulate_file : aw_call_file)(call);
		break;
	}
}

static void reset(struct aw_notified *call, const struct seccomp_notif *request)
{
	call->id = request->id;
	call->reply = AW_REPLY_CONTINUE;
	call->err = 0;
	call->value = 0;
	call->silent = call->gone = call->moves = call->leads = false;
	call->would_fail = 0;
	call->verifying &= call->waited_for != 0;
	call->device = call->inode = 0;
	call->event = (struct aw_event){.kind = AW_EV_CALL,
		.ts = call->waited_for ? call->first_ts : aw_watch_now(),
		.port = -1};
	aw_vector_free(&call->argv);
	call->argv = (struct aw_vector){.text = NULL};
	free(call->argv_text);
	call->argv_text = NULL;
	call->target.tid = (pid_t)request->pid;
}

static void log_call(struct aw_notified *call)
{
	struct aw_event *event = &call->event;

	if (call->silent)
		return;
	complete(call, event);
	if (call->reply == AW_REPLY_FAIL) {
		event->result_known = true;
		event->result = call->err;
	}
	aw_watch_sign(event, &call->target.who);
	aw_watch_log(call->watch, event);
}

/* Enforce: after an exec it is checked what the process has really become. */
static bool arrives_well(struct aw_notified *call)
{
	struct aw_process_info *who = &call->target.who;

	if (!call->watch->holds || (!who->execing && !call->verifying))
		return true;
	aw_creds_restore();
	if (who->execing)
		aw_call_arrived(call, false);
	if (!who->fresh && !call->verifying)
		return true;
	if (!aw_call_verify(call))
		return false;
	aw_processes_verified(call->watch->tree, who);
	return true;
}

/* Audit, and no memory for an entry: what it does is told all the same. */
static bool is_there(struct aw_notified *call)
{
	struct aw_process_info who = {.exe = "?", .umask = -1};

	if (!aw_proc_parent(call->target.tid, &who.pid, &who.ppid))
		return false;
	who.inner_pid = who.pid;
	call->target.who = who;
	return true;
}

/*
 * Who is it?  One whose number is still held by a process that is not read out to the
 * end is known a little later.  Enforce refuses what nobody is known to have asked for.
 */
static bool is_known(struct aw_notified *call)
{
	const struct timespec pause = {.tv_nsec = 2000000};
	struct aw_watch *watch = call->watch;
	int tries = KNOWN_TRIES;

	while (!aw_processes_find(watch->tree, call->target.tid, &call->target.who)) {
		if (!watch->holds)
			return is_there(call);
		if (!aw_emulate_waits(call))
			return false;
		if (--tries <= 0) {
			call->reply = AW_REPLY_FAIL;
			call->err = EPERM;
			return false;
		}
		nanosleep(&pause, NULL);
	}
	if (watch->holds)
		aw_path_walk_proc(watch, &call->target);
	call->profiles_before = call->target.who.role.profiles;
	if (call->target.who.turning) {
		aw_creds_restore();
		aw_processes_turned(watch->tree, &call->target.who);
	}
	return true;
}

/* Enforce: what cannot be logged any more is not done; the agent is being stopped. */
static bool is_blind(struct aw_notified *call)
{
	if (!atomic_load(&call->watch->stop_agent))
		return false;
	call->reply = AW_REPLY_FAIL;
	call->err = EIO;
	return true;
}

static aw_call_again handle_again;

static void handle_inside(struct aw_notified *call, const struct seccomp_notif *request)
{
	struct aw_watch *watch = call->watch;
	bool log_first = watch->enforce || watch->ask;

	reset(call, request);
	aw_creds_keep_for(call->target.tid);
	if (is_blind(call) || !is_known(call) ||
		!aw_call_identify(call, &request->data))
		call->silent = true;
	else if (arrives_well(call))
		deal_with(call);
	if (call->reply == AW_REPLY_ASK && aw_call_defer(call, request, handle_again))
		return;
	if (call->moves) {
		aw_shared_moved(atomic_load(&watch->shared));
		atomic_store(&watch->settle, 4);
	}
	if (call->leads) {
		aw_shared_led(atomic_load(&watch->shared));
		atomic_store(&watch->settle_links, 4);
	}
	if (log_first)
		log_call(call);
	answer(call);
	if (!log_first && !call->gone)
		log_call(call);
	if (call->waited_for)
		aw_questions_leave(watch->questions, call->id, AW_LEFT_SERVED, 0);
}

void aw_call_handle(struct aw_notified *call, const struct seccomp_notif *request)
{
	unsigned door = aw_epoch_enter(&call->watch->readers);

	handle_inside(call, request);
	aw_epoch_leave(&call->watch->readers, door);
}

/* In the thread of the approval queue, whose call is not one of notify.c. */
static void handle_again(struct aw_watch *watch, const struct seccomp_notif *request,
	uint64_t question, uint64_t ts, bool verifying)
{
	struct seccomp_notif_sizes sizes;
	struct aw_notified *call = calloc(1, sizeof(*call));

	syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes);
	if (call) {
		call->watch = watch;
		call->response_size =
			sizes.seccomp_notif_resp > sizeof(struct seccomp_notif_resp)
				? sizes.seccomp_notif_resp
				: sizeof(struct seccomp_notif_resp);
		call->response = calloc(1, call->response_size);
		call->waited_for = question;
		call->first_ts = ts;
		call->verifying = verifying;
	}
	if (call && call->response) {
		aw_call_handle(call, request);
		aw_vector_free(&call->argv);
		free(call->argv_text);
		free(call->response);
	}
	free(call);
	aw_creds_restore();
}
