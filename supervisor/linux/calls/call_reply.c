/* SPDX-License-Identifier: Apache-2.0 */
/* call_reply.c - what becomes of a notified call: its verdict, refusal or warning. */
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>

#include "supervisor/linux/calls/call.h"

int aw_call_inject(struct aw_notified *call, int fd, bool send)
{
	struct seccomp_notif_addfd add = {.id = call->id,
		.flags = send ? SECCOMP_ADDFD_FLAG_SEND : 0,
		.srcfd = (uint32_t)fd,
		.newfd_flags = O_CLOEXEC};

	return ioctl(call->watch->listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add);
}

void aw_call_decide(struct aw_notified *call, const struct aw_decision *decision)
{
	struct aw_watch *watch = call->watch;

	aw_watch_judge(watch, &call->event, decision, &call->rule, false);
	call->event.enforced = watch->enforce;
	if (!watch->enforce || decision->verdict == AW_ALLOW)
		return;
	if (decision->verdict == AW_ASK) {
		aw_call_ask(call, &call->event);
		return;
	}
	call->reply = AW_REPLY_FAIL;
	call->err = aw_watch_refusal(watch, &call->event, decision->verdict);
}

void aw_call_unreadable(struct aw_notified *call, int err)
{
	struct aw_event *event = &call->event;
	struct aw_watch *watch = call->watch;
	bool barred = err == EPERM || err == EACCES;

	event->source = AW_FROM_KERNEL;
	event->strength = watch->strength_kernel;
	event->enforced = watch->enforce;
	event->why = "its arguments cannot be read";
	call->silent = !barred; /* a bad pointer: nothing was looked at */
	if (barred)
		aw_watch_warn(watch, &call->target.who, "unreadable",
			"the arguments of %s by process %d cannot be read%s",
			aw_call_name((unsigned)call->sys), call->target.who.pid,
			watch->enforce ? "; it was refused" : "");
	if (watch->enforce) {
		event->verdict =
			barred ? AW_DENY : AW_ALLOW; /* a bad pointer is none */
		call->reply = AW_REPLY_FAIL;
		call->err = barred ? EPERM : err;
	} else if (!barred) {
		event->result_known = true;
		event->result = err;
	}
}

void aw_call_refuse(struct aw_notified *call, const char *kind, const char *what)
{
	struct aw_watch *watch = call->watch;
	struct aw_event event = {.kind = AW_EV_CALL,
		.ts = call->event.ts,
		.call = what,
		.action = AW_SYSTEM_CALL,
		.port = -1,
		.verdict = AW_DENY,
		.enforced = watch->enforce,
		.why = "never allowed in mode enforce",
		.strength = watch->strength_kernel,
		.source = AW_FROM_KERNEL,
		.warning_kind = kind};

	call->silent = true;
	if (watch->enforce) {
		call->reply = AW_REPLY_FAIL;
		call->err = EPERM;
		event.result_known = true;
		event.result = EPERM;
	}
	aw_watch_sign(&event, &call->target.who);
	aw_watch_log(watch, &event);
}

void aw_call_warn(struct aw_notified *call, const char *kind, const char *what)
{
	if (call->watch->enforce ||
		(call->sys >= 0 && call->row->effect == AW_FX_MACHINE)) {
		aw_call_refuse(call, kind, what);
		return;
	}
	aw_watch_warn(call->watch, &call->target.who, kind, "%s by process %d", what,
		call->target.who.pid);
	call->silent = true;
}

void aw_call_arrived(struct aw_notified *call, bool loads_shim)
{
	struct aw_processes *tree = call->watch->tree;
	struct aw_process_info *who = &call->target.who;
	unsigned over = aw_processes_execs_over(tree, who->pid, call->target.tid);

	if (over && ioctl(call->watch->listener, SECCOMP_IOCTL_NOTIF_ID_VALID,
			    &call->id) < 0)
		over = 0;
	aw_processes_arrived(tree, who, over, loads_shim);
}
