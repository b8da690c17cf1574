/* SPDX-License-Identifier: Apache-2.0 */
/* drain.c - from ring records to log lines. */
#include "supervisor/audit/drain.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "policy/calls.h"
#include "supervisor/audit/address.h"
#include "supervisor/decide/entry.h"
#include "supervisor/decide/hosts.h"
#include "supervisor/linux/emulate/machine.h"
#include "supervisor/linux/procfs.h"
#include "supervisor/linux/seccomp/notify.h"

enum {
	SLEEP_LEAST_US = 10000, /* each waking costs the watched programs time */
	SLEEP_MOST_US = 20000,
	PATIENCE_NS = 20000000, /* for the result of a call under way */
	HOLE_NS = 2000000000,	/* for a reservation that is never committed */
	BATCH = 4096,
};

struct aw_drain {
	struct aw_watch *watch;
	pthread_t thread;
	_Atomic bool finish;
	struct aw_taken taken; /* large, so not on a stack */
	struct aw_rule rule;
	char text[256];
	uint64_t now;
};

static void lookup_event(struct aw_drain *drain, struct aw_event *event)
{
	const struct aw_taken *t = &drain->taken;
	int port = 0;

	event->host = (struct aw_text){t->raw, t->head.raw_len};
	event->raw = (struct aw_text){NULL, 0};
	event->raw2 = event->raw;
	for (int i = 0; i < t->head.raw2_len && t->raw2[i] >= '0' && t->raw2[i] <= '9';
		i++)
		port = port * 10 + (t->raw2[i] - '0');
	event->port = port && port < 65536 ? port : -1;
}

/*
 * A look-up that enforce would refuse.  There the supervisor has answered it, and has
 * logged that: false, this word of the program's is left out.  Where the library has
 * refused it the supervisor was never asked, and this is the only word.
 */
static bool judge_lookup(struct aw_drain *drain, const struct aw_process_info *who,
	struct aw_event *event)
{
	const struct aw_image *image = atomic_load(&drain->watch->image);
	struct aw_decision decision;
	unsigned char bytes[16], found[1][16];
	char name[256];

	if (!event->host.len || event->host.len >= sizeof(name))
		return true;
	for (size_t i = 0; i < event->host.len; i++)
		name[i] = (char)tolower((unsigned char)event->host.bytes[i]);
	name[event->host.len] = '\0';
	if (strcmp(name, "localhost") == 0 || inet_pton(AF_INET, name, bytes) == 1 ||
		inet_pton(AF_INET6, name, bytes) == 1)
		return true;
	aw_image_decide_name_in(image, who->role.profiles, name, &decision);
	if (decision.verdict < AW_DENY)
		return true;
	if (drain->watch->enforce)
		return drain->taken.head.flags & AW_REC_REFUSED ||
		       !atomic_load(&drain->watch->dns);
	/* what /etc/hosts has, libc answers itself: only a rule refuses that name */
	if (decision.rule == AW_NO_RULE &&
		aw_hosts_addresses(
			aw_names_hosts(drain->watch->names), name, found, 1) > 0)
		return true;
	event->result_known = false; /* of the look-up, not of what would follow */
	aw_watch_judge(drain->watch, event, &decision, &drain->rule, true);
	return true;
}

/* machine.h: what enforce would refuse, and the library does not know. */
static void foresee_machine(const struct aw_drain *drain,
	const struct aw_process_info *who, struct aw_event *event,
	struct aw_decision *decision)
{
	const struct aw_watch *watch = drain->watch;
	const char *why;

	if (watch->enforce || watch->engine == AW_PRELOAD ||
		decision->verdict > AW_ASK || !who->plain_root ||
		!aw_machine_may_be(event->action, &event->path))
		return;
	why = aw_machine_would_keep(atomic_load(&watch->image), event->action, -1,
		&event->path, who->pid, decision->rule);
	if (!why)
		return;
	event->why = why;
	*decision = (struct aw_decision){AW_DENY, AW_NO_RULE};
}

static void fill(struct aw_drain *drain, const struct aw_process_info *who,
	struct aw_event *event)
{
	const struct aw_taken *t = &drain->taken;
	struct aw_decision decision = {(enum aw_verdict)t->head.verdict, t->head.rule};

	*event = (struct aw_event){.kind = AW_EV_CALL, .ts = t->head.ts, .port = -1};
	aw_watch_sign(event, who);
	event->call = aw_call_name(t->head.call);
	event->action = (enum aw_action)t->head.action;
	event->path = (struct aw_text){t->path, t->head.path_len};
	event->path2 = (struct aw_text){t->path2, t->head.path2_len};
	event->raw = (struct aw_text){t->raw, t->head.raw_len};
	event->raw2 = (struct aw_text){t->raw2, t->head.raw2_len};
	foresee_machine(drain, who, event, &decision);
	aw_watch_judge(drain->watch, event, &decision, &drain->rule, true);
	event->enforced = t->head.flags & AW_REC_REFUSED || drain->watch->enforce;
	event->result_known = t->state == AW_REC_DONE;
	event->result = (int)t->err;
}

/* What a look-up gave goes into no line of its own. */
static void keep_answer(struct aw_drain *drain, const struct aw_process_info *who)
{
	const struct aw_taken *t = &drain->taken;
	const struct aw_dns_report answer = {.pid = who->pid,
		.ts = t->head.ts,
		.host = t->raw,
		.len = t->head.raw_len,
		.addresses = (const unsigned char *)t->path,
		.count = t->head.path_len / AW_RING_ANSWER};

	if (drain->watch->unnamed)
		aw_pending_events_answer(drain->watch->unnamed, &answer);
}

/* An exec of the preload engine: the vector in one block, the working directory beside
 * it. */
static void exec_event(struct aw_drain *drain, const struct aw_process_info *who,
	struct aw_event *event)
{
	const struct aw_taken *t = &drain->taken;
	struct aw_text *argv;
	size_t count = 0, i = 0, at = 0;

	event->cwd = event->path2;
	event->path2 = event->raw2 = (struct aw_text){NULL, 0};
	for (int c = 0; c < t->head.raw2_len; c++)
		count += t->raw2[c] == '\0';
	argv = calloc(count + 1, sizeof(*argv));
	if (!argv)
		return;
	for (; i < count; i++) {
		argv[i] = (struct aw_text){t->raw2 + at, strlen(t->raw2 + at)};
		at += argv[i].len + 1;
	}
	event->argv = argv; /* freed by the caller */
	event->argc = count;
	/* with a kernel layer that says when a program is executed */
	if (t->err || drain->watch->engine != AW_PRELOAD)
		return;
	event->kind = AW_EV_EXEC;
	aw_entry_sign(drain->watch, who, event);
	aw_processes_exec(
		drain->watch->tree, who->pid, &(struct aw_exec){.tid = who->pid});
}

static bool sane(const struct aw_record *head)
{
	return head->call < AW_CALL_COUNT && head->action < AW_ACTIONS &&
	       head->verdict <= AW_HIDE &&
	       head->address_len <= sizeof(struct sockaddr_storage);
}

/*
 * One that we have not met: in the engine preload a child that only executes something
 * says no hello, and has often ended by now.  Of who is there the kernel says whose
 * child it is.
 */
static bool may_be_child(
	const struct aw_drain *drain, const struct aw_process_info *owner, pid_t pid)
{
	struct aw_proc_stat stat;

	if (pid <= 0 || pid == drain->watch->self || pid == drain->watch->launcher)
		return false;
	if (aw_proc_stat(pid, &stat))
		return stat.ppid == owner->pid;
	return drain->watch->engine == AW_PRELOAD;
}

/*
 * A record carries the pid of a child that shares its parent's memory, or has not said
 * hello yet; believe only that, and take all else for the owner's own.  Such a child
 * runs its parent's program.
 */
static struct aw_process_info signer(
	struct aw_drain *drain, const struct aw_process_info *owner, int32_t claimed)
{
	struct aw_process_info who;

	if (claimed == owner->inner_pid)
		return *owner;
	if (drain->watch->own_pids) { /* rare: a child that is about to exec */
		claimed = aw_proc_outer_pid(owner->pid, claimed);
		if (!claimed) /* gone meanwhile */
			return *owner;
	}
	if (aw_processes_peek(drain->watch->tree, claimed, &who)) {
		if (who.ppid != owner->pid)
			return *owner;
		who.exe = owner->exe;
		return who;
	}
	who = *owner;
	if (may_be_child(drain, owner, claimed)) {
		who.pid = claimed;
		who.ppid = owner->pid;
	}
	return who;
}

static void log_record(struct aw_drain *drain, const struct aw_process_info *owner)
{
	const struct aw_record *head = &drain->taken.head;
	struct aw_process_info who = signer(drain, owner, head->pid);
	union aw_any_address any;
	struct aw_event event;
	struct aw_address to;

	if (!sane(head)) {
		aw_watch_warn(drain->watch, owner, "ring",
			"a record in the ring of process %d makes no sense; left out",
			owner->pid);
		return;
	}
	if (head->flags & AW_REC_ANSWER) {
		keep_answer(drain, &who);
		return;
	}
	fill(drain, &who, &event);
	if (head->action == AW_CONNECT && !head->address_len) {
		lookup_event(drain, &event);
		if (!judge_lookup(drain, &who, &event))
			return;
	}
	if (head->address_len) {
		memset(&any, 0, sizeof(any));
		memcpy(&any, drain->taken.address, head->address_len);
		aw_address_describe(&any, head->address_len, event.path, drain->text,
			sizeof(drain->text), &to, &event);
		event.path = (struct aw_text){NULL, 0};
	}
	if (head->action == AW_EXEC)
		exec_event(drain, &who, &event);
	aw_watch_log(drain->watch, &event);
	free((void *)event.argv);
}

/* Writers that wait for room, and writers that have waited too often. */
static void make_room(struct aw_reader *reader)
{
	struct aw_ring *ring = reader->ring;

	if (!atomic_exchange(&ring->waiters, 0))
		return;
	atomic_store(&ring->stuck, 0);
	syscall(SYS_futex, &ring->waiters, FUTEX_WAKE, 1 << 30, NULL, NULL, 0);
	if (reader->size < AW_RING_BIG)
		atomic_store(&ring->retired, 1);
}

/* Is the record at the tail old enough that waiting for it makes no sense any more? */
static bool is_stale(struct aw_drain *drain, struct aw_reader *reader, uint64_t limit)
{
	if (reader->stuck_at != reader->tail || !reader->stuck_since) {
		reader->stuck_at = reader->tail;
		reader->stuck_since = drain->now;
		return false;
	}
	return drain->now - reader->stuck_since > limit;
}

static bool on_ring(void *ctx, const struct aw_process_info *who,
	struct aw_reader *reader, bool last)
{
	struct aw_drain *drain = ctx;
	bool patient = !last, skip = last, busy = false;

	for (int i = 0; (last || i < BATCH) && !reader->broken; i++) {
		switch (aw_ring_take(reader, patient, skip, &drain->taken)) {
		case AW_TAKE_RECORD:
			busy = true;
			log_record(drain, who);
			patient = !last;
			skip = last;
			continue;
		case AW_TAKE_WAIT:
			if (patient && is_stale(drain, reader, PATIENCE_NS)) {
				patient = false;
				continue;
			}
			if (!skip && is_stale(drain, reader, HOLE_NS)) {
				skip = true;
				continue;
			}
			break;
		case AW_TAKE_BROKEN:
			reader->broken = true;
			aw_watch_warn(drain->watch, who, "ring",
				"the ring of process %d holds impossible numbers and "
				"is not read any more; the kernel layer still sees it",
				who->pid);
			break;
		case AW_TAKE_EMPTY:
			break;
		}
		break;
	}
	make_room(reader);
	return busy;
}

static void on_exit_seen(void *ctx, const struct aw_process_info *who, int status)
{
	struct aw_drain *drain = ctx;
	struct aw_event event = {.kind = AW_EV_EXIT, .status = -1, .port = -1};
	const char *name;

	if (drain->watch->unnamed)
		aw_pending_events_exit(drain->watch->unnamed, drain->watch, who->pid);
	aw_watch_sign(&event, who);
	if (status >= 0 && WIFEXITED(status)) {
		event.status = WEXITSTATUS(status);
	} else if (status >= 0 && WIFSIGNALED(status)) {
		name = sigabbrev_np(WTERMSIG(status));
		snprintf(drain->text, sizeof(drain->text), "SIG%s", name ? name : "?");
		event.status_signal = drain->text;
	}
	aw_watch_log(drain->watch, &event);
}

static bool pass(struct aw_drain *drain)
{
	const struct aw_processes_visitor visitor = {on_ring, on_exit_seen, drain};
	struct aw_pending_events *late = drain->watch->unnamed;
	bool busy;

	drain->now = aw_watch_now();
	if (late)
		aw_pending_events_begin(late);
	aw_watch_ends(drain->watch);
	busy = aw_processes_visit(drain->watch->tree, &visitor);
	if (late)
		aw_pending_events_end(late, drain->watch);
	aw_watch_complete(drain->watch);
	aw_notify_relieve(drain->watch);
	aw_watch_flush(drain->watch);
	if (drain->watch->shim[0] && !atomic_load(&drain->finish))
		aw_watch_fill_pool(drain->watch);
	return busy;
}

static void doze(struct aw_drain *drain, long us)
{
	struct timespec time = {0, us * 1000};
	struct aw_page *page = atomic_load(&drain->watch->shared)->page;
	uint32_t before =
		atomic_load(&page->doorbell); /* before the last look at finish */

	atomic_store(&page->drowsy, 1);
	if (!atomic_load(&drain->finish))
		syscall(SYS_futex, &page->doorbell, FUTEX_WAIT, before, &time, NULL, 0);
	atomic_store(&page->drowsy, 0);
}

static void *run(void *arg)
{
	struct aw_drain *drain = arg;
	long us = SLEEP_LEAST_US;

	prctl(PR_SET_NAME, "aw-drain");
	while (!atomic_load(&drain->finish)) {
		unsigned door = aw_epoch_enter(&drain->watch->readers);

		us = pass(drain) ? SLEEP_LEAST_US : us * 2;
		doze(drain, us > SLEEP_MOST_US ? (us = SLEEP_MOST_US) : us);
		aw_epoch_leave(&drain->watch->readers, door);
	}
	return NULL;
}

int aw_drain_start(struct aw_watch *watch, struct aw_drain **ret, struct aw_error *err)
{
	struct aw_drain *drain = calloc(1, sizeof(*drain));

	if (!drain)
		return aw_fail(err, ENOMEM, "starting the audit thread");
	drain->watch = watch;
	if (pthread_create(&drain->thread, NULL, run, drain) != 0) {
		free(drain);
		return aw_fail(err, EAGAIN, "starting the audit thread");
	}
	*ret = drain;
	return 0;
}

/* Look now. */
static void wake_up(struct aw_drain *drain)
{
	struct aw_page *page = atomic_load(&drain->watch->shared)->page;

	atomic_fetch_add(&page->doorbell, 1);
	syscall(SYS_futex, &page->doorbell, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void aw_drain_finish(struct aw_drain *drain)
{
	if (!drain)
		return;
	atomic_store(&drain->finish, true);
	wake_up(drain);
	pthread_join(drain->thread, NULL);
	while (pass(drain))
		;
	pass(drain); /* what came late in the last one */
	free(drain);
}
