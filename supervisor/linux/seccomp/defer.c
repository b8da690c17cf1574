/* SPDX-License-Identifier: Apache-2.0 */
/*
 * defer.c - notified calls that wait for a human.
 *
 * What is kept of a call is the kernel's request and nothing of what was found: with an
 * answer it is dealt with once more from the start, so that what is carried out is what
 * was judged, and an answer is good only for the same rule, subject and file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "supervisor/approval/approval_queue.h"
#include "supervisor/linux/emulate/emulate.h"
#include "supervisor/linux/target/creds.h"

enum { RESTART = 512 /* ERESTARTSYS: the kernel's own, of signal.c */ };

struct parked {
	struct aw_waiter waiter; /* first */
	struct aw_watch *watch;
	aw_call_again *again;
	struct seccomp_notif request;
	uint64_t ts;
	bool verifying;
	bool sure; /* of the signal that was seen */
};

static void answer_limit(struct aw_notified *call)
{
	static _Atomic bool said;

	if (!atomic_exchange(&said, true))
		aw_watch_warn(call->watch, &call->target.who, "ask",
			"process %d was denied what it should have been asked about, "
			"since %d questions are open or %d calls wait already",
			call->target.who.pid, AW_QUESTIONS_MAX, AW_APPROVAL_QUEUE_MAX);
}

static void refuse(struct aw_notified *call, struct aw_event *event, int err)
{
	event->ask_denied = true;
	call->reply = AW_REPLY_FAIL;
	call->err = err;
}

bool aw_call_ask(struct aw_notified *call, struct aw_event *event)
{
	const struct aw_asked asked = {.event = event,
		.device = call->device,
		.inode = call->inode,
		.tid = call->target.tid,
		.cookie = call->id};
	struct aw_answered answered = {.state = AW_ANSWER_NO, .how = AW_HOW_WOULD_FAIL};

	if (!event->call)
		event->call = aw_call_name((unsigned)call->sys);
	aw_watch_sign(event, &call->target.who);
	if (!call->would_fail)
		aw_questions_ask(call->watch->questions, &asked, &answered);
	event->ask_denied = answered.state != AW_ANSWER_YES;
	if (answered.state == AW_ANSWER_OPEN) {
		call->reply = AW_REPLY_ASK;
		call->question = answered.id;
		return false;
	}
	aw_answer_members(&answered, call->answer, sizeof(call->answer));
	event->extra = call->answer;
	if (answered.state == AW_ANSWER_YES)
		return true;
	if (answered.how == AW_HOW_LIMIT)
		answer_limit(call);
	refuse(call, event,
		call->would_fail ? call->would_fail
				 : aw_watch_refusal(call->watch, event, AW_DENY));
	return false;
}

static void prepare(void)
{
	aw_creds_prepare();
}

static enum aw_waiter_state look(struct aw_waiter *waiter)
{
	struct parked *p = (struct parked *)(void *)waiter;

	if (ioctl(p->watch->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &p->request.id) <
			0 &&
		errno == ENOENT)
		return AW_WAITER_DEAD;
	return aw_emulate_has_signal((pid_t)p->request.pid, &p->sure)
		       ? AW_WAITER_INTERRUPTED
		       : AW_WAITS;
}

/* Nothing is done yet: the handler runs, then the call is made again, or is EINTR. */
static void interrupt(struct aw_waiter *waiter)
{
	struct parked *p = (struct parked *)(void *)waiter;
	struct seccomp_notif_resp response = {
		.id = p->request.id, .error = p->sure ? -RESTART : -EINTR};

	aw_shared_interrupted(atomic_load(&p->watch->shared));
	ioctl(p->watch->listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

static void resume(struct aw_waiter *waiter)
{
	struct parked *p = (struct parked *)(void *)waiter;

	p->again(p->watch, &p->request, waiter->question, p->ts, p->verifying);
	free(p);
}

static void drop(struct aw_waiter *waiter)
{
	free(waiter);
}

static const struct aw_waiter_kind kind = {.prepare = prepare,
	.look = look,
	.interrupt = interrupt,
	.resume = resume,
	.free = drop};

bool aw_call_defer(struct aw_notified *call, const struct seccomp_notif *request,
	aw_call_again *again)
{
	struct aw_watch *watch = call->watch;
	struct parked *p = calloc(1, sizeof(*p));

	aw_creds_restore();
	if (call->waited_for)
		aw_questions_leave(
			watch->questions, call->id, AW_LEFT_SERVED, call->question);
	if (p) {
		*p = (struct parked){.waiter = {.kind = &kind,
					     .question = call->question,
					     .cookie = call->id},
			.watch = watch,
			.again = again,
			.request = *request,
			.ts = call->event.ts,
			.verifying = call->verifying};
		if (aw_approval_queue_add(watch->queue, &p->waiter))
			return true;
	}
	free(p);
	aw_questions_leave(watch->questions, call->id, AW_LEFT_SERVED, 0);
	refuse(call, &call->event, EACCES);
	return false;
}
