/* SPDX-License-Identifier: Apache-2.0 */
/* emulate_judge.c - the verdict for what a call done on behalf is about. */
#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "policy/array.h"
#include "policy/decide.h"
#include "supervisor/linux/calls/vet.h"
#include "supervisor/linux/emulate/emulate.h"
#include "supervisor/linux/emulate/machine.h"
#include "supervisor/linux/procfs.h"
#include "supervisor/linux/target/ours.h"
#include "supervisor/process/descend.h"

/*
 * "/proc/PID" of the target itself is what rules call /proc/self.  With a pid namespace
 * of the sandbox's, its /proc has the numbers that are used inside.
 */
static size_t as_self(const struct aw_notified *call, const struct aw_location *place,
	char *to, size_t size)
{
	pid_t pid = call->target.who.pid;
	char own[32];
	int n;

	if (strncmp(place->name, "/proc/", 6) != 0)
		return 0;
	if (call->watch->own_pids)
		pid = aw_proc_inner_pid(pid);
	n = snprintf(own, sizeof(own), "/proc/%d", pid);
	if (strncmp(place->name, own, (size_t)n) != 0 ||
		(place->name[n] && place->name[n] != '/'))
		return 0;
	return (size_t)snprintf(to, size, "/proc/self%s", place->name + n);
}

/* "/proc/PID" of a process of ours, or something in it. */
static bool is_supervisor(const struct aw_watch *watch, const char *name)
{
	pid_t leader, parent;
	char *end;
	long pid;

	if (strncmp(name, "/proc/", 6) != 0 || name[6] < '1' || name[6] > '9')
		return false;
	pid = strtol(name + 6, &end, 10);
	if ((*end && *end != '/') || watch->own_pids) /* its numbers are others */
		return false;
	if (aw_proc_parent((pid_t)pid, &leader, &parent)) /* of a thread */
		pid = leader;
	return pid == watch->self || pid == watch->launcher || aw_helper_is((pid_t)pid);
}

/* Not of the session, or not in the same profiles; pid as the target has it. */
static bool is_outsider(const struct aw_notified *call, pid_t pid)
{
	return !aw_ours_inside(call->watch, pid) ||
	       aw_watch_is_beyond(call->watch, &call->target.who, pid);
}

/*
 * What /proc tells of a process only to those who may trace it (proc(5)).  Done by us
 * it would be told of any process of the same user, so it is kept to those of the
 * session.  Nothing of theirs is written to.
 */
static bool is_private_of_outsider(
	const struct aw_notified *call, enum aw_action action, const char *name)
{
	static const char *const open_to_all[] = {"stat", "statm", "status", "cmdline",
		"comm", "cgroup", "sched", "schedstat", "loginuid", "sessionid",
		"oom_score", "oom_score_adj", "oom_adj", "cpuset", "limits", "wchan",
		"mounts", "mountinfo", "mountstats", "net", "task", "coredump_filter"};
	const char *what;
	char *end;
	long pid;

	if (strncmp(name, "/proc/", 6) != 0)
		return false;
	pid = strtol(name + 6, &end, 10);
	if (end == name + 6 || *end != '/' || !is_outsider(call, (pid_t)pid))
		return false;
	if (action == AW_WRITE || action == AW_CREATE)
		return true;
	what = end + 1;
	if (strncmp(what, "task/", 5) == 0 && (what = strchr(what + 5, '/')))
		what++;
	for (size_t i = 0; what && i < ARRAY_SIZE(open_to_all); i++) {
		size_t n = strlen(open_to_all[i]);

		if (strncmp(what, open_to_all[i], n) == 0 &&
			(!what[n] || what[n] == '/'))
			return false;
	}
	return what != NULL;
}

/* Pipes, sockets and memory that was never in a directory: no rule can be about them. */
static bool has_no_name(const struct aw_location *place)
{
	static const char memory[] = "/memfd:";
	struct statfs fs;

	if (place->object < 0 || !place->len)
		return false;
	if (place->name[0] != '/')
		return true;
	return place->st.st_nlink == 0 &&
	       strncmp(place->name, memory, sizeof(memory) - 1) == 0 &&
	       fstatfs(place->object, &fs) == 0 &&
	       (fs.f_type == TMPFS_MAGIC || fs.f_type == HUGETLBFS_MAGIC);
}

/* The target has it open already, for the same; /dev/stdout may be a pipe. */
static bool has_it_already(const struct aw_location *place, enum aw_action action)
{
	mode_t needed = action == AW_READ			    ? S_IRUSR
			: action == AW_WRITE || action == AW_CREATE ? S_IWUSR
								    : 0;

	return needed && place->own & needed && has_no_name(place);
}

/*
 * The kernel adds this to the name of what is not there any more by it: removed, or
 * replaced by another file.  Rules are about the name that it had.  *ret_len is the
 * length of that; false: it is no such name, or the file is really called so.
 */
static bool had_name(const struct aw_location *place, size_t *ret_len)
{
	static const char gone[] = " (deleted)";
	size_t n = sizeof(gone) - 1;
	struct stat st;

	/* found by name in a directory, not by a descriptor */
	if (place->parent >= 0 && place->last[0] && place->last[0] != '/' &&
		strcmp(place->last, ".") != 0 && strcmp(place->last, "..") != 0)
		return false;
	if (place->len <= n || memcmp(place->name + place->len - n, gone, n) != 0 ||
		has_no_name(place))
		return false;
	*ret_len = place->len - n;
	return lstat(place->name, &st) < 0 || st.st_dev != place->st.st_dev ||
	       st.st_ino != place->st.st_ino;
}

/* What the rules say of a name. */
static void judge_name(struct aw_notified *call, enum aw_action action,
	const char *name, size_t len, struct aw_decision *ret)
{
	const struct aw_image *image = atomic_load(&call->watch->image);
	uint32_t profiles = call->target.who.role.profiles;

	if (action == AW_METADATA && call->row->effect == AW_FX_OPEN)
		aw_decide_pin(image, profiles, name, len, ret);
	else
		aw_image_decide_path_in(image, profiles, action, name, len, ret);
}

void aw_emulate_judge(struct aw_notified *call, enum aw_action action,
	const struct aw_location *place, struct aw_decision *ret)
{
	char self[AW_LOCATION_PATH + 32];
	struct aw_decision own;
	size_t n;

	judge_name(call, action, place->name, place->len, ret);
	if (had_name(place, &n)) {
		judge_name(call, action, place->name, n, &own);
		if (own.verdict > ret->verdict)
			*ret = own;
	}
	n = as_self(call, place, self, sizeof(self));
	if (ret->rule == AW_NO_RULE && has_it_already(place, action))
		ret->verdict = AW_ALLOW;
	if (n) {
		judge_name(call, action, self, n, &own);
		if (ret->rule == AW_NO_RULE || own.verdict > ret->verdict)
			*ret = own;
	}
	if (action != AW_METADATA &&
		(is_supervisor(call->watch, place->name) ||
			is_private_of_outsider(call, action, place->name) ||
			!aw_vet_path(call, place->name) ||
			(ret->verdict != AW_DENY && ret->verdict != AW_HIDE &&
				aw_machine_keeps(call, action, place, ret->rule))))
		*ret = (struct aw_decision){AW_DENY, AW_NO_RULE};
}

/* Refused whatever the defaults say; NULL: it was one of these. */
static const char *why_never(const struct aw_notified *call, enum aw_action action,
	const struct aw_location *place)
{
	if (is_supervisor(call->watch, place->name))
		return "it belongs to agentwatch";
	if (is_private_of_outsider(call, action, place->name))
		return "the process is not of the session";
	return aw_machine_keeps(call, action, place, AW_NO_RULE);
}

/* What ps and its like look at, for each process that there is. */
static bool is_looked_at_by_ps(const char *name)
{
	static const char *const grave[] = {"mem", "root", "cwd", "pagemap"};
	const char *what = strchr(name + strlen("/proc/"), '/');

	if (!what)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(grave); i++) {
		size_t n = strlen(grave[i]);

		if (strncmp(what + 1, grave[i], n) == 0 &&
			(!what[n + 1] || what[n + 1] == '/'))
			return false;
	}
	return true;
}

/*
 * What the kernel keeps from everybody but who may trace the process (proc(5)) gets the
 * kernel's answer and is no denial; a process that asks is told of once.
 */
static bool is_kept_by_proc(struct aw_notified *call, const struct aw_location *place)
{
	static _Atomic pid_t told[64];
	const struct aw_decision allowed = {AW_ALLOW, AW_NO_RULE};
	const struct aw_process_info *who = &call->target.who;

	if (call->event.action != AW_READ || strncmp(place->name, "/proc/", 6) != 0 ||
		!is_looked_at_by_ps(place->name))
		return false;
	if (atomic_exchange(&told[who->pid % 64], who->pid) != who->pid)
		aw_watch_warn(call->watch, who, "outside",
			"process %d asked for what /proc keeps of processes that are "
			"not of the session, and got EACCES",
			who->pid);
	aw_call_decide(call, &allowed);
	aw_emulate_answer(call, -EACCES);
	return true;
}

/* The file that an answer will be about. */
static void note_file(struct aw_notified *call, const struct aw_location *place)
{
	call->device = place->object < 0 ? 0 : place->st.st_dev;
	call->inode = place->object < 0 ? 0 : place->st.st_ino;
}

bool aw_emulate_may(struct aw_notified *call, const struct aw_location *place,
	const struct aw_location *second)
{
	enum aw_action action = call->event.action;
	enum aw_effect effect = (enum aw_effect)call->row->effect;
	struct aw_decision decision, other;

	aw_emulate_judge(
		call, effect == AW_FX_LINK ? AW_WRITE : action, place, &decision);
	if (second) {
		aw_emulate_judge(call, action, second, &other);
		if (other.verdict > decision.verdict)
			decision = other;
	}
	if (effect == AW_FX_META && decision.verdict != AW_HIDE)
		call->silent = true;
	note_file(call, place);
	if (place->object < 0 && (action != AW_CREATE || effect == AW_FX_LINK)) {
		if (decision.verdict > AW_ASK && aw_call_is_absent(call, place->name)) {
			decision = (struct aw_decision){AW_ALLOW, AW_NO_RULE};
			aw_call_decide(call, &decision);
			aw_emulate_answer(call, -ENOENT);
			return false;
		}
		call->would_fail = ENOENT;
	}
	if (decision.verdict == AW_DENY && decision.rule == AW_NO_RULE) {
		call->event.why = why_never(call, action, place);
		if (call->event.why && is_kept_by_proc(call, place))
			return false;
	}
	aw_call_decide(call, &decision);
	call->would_fail = 0;
	return call->reply == AW_REPLY_CONTINUE && aw_emulate_waits(call);
}

bool aw_emulate_is_taken(struct aw_notified *call, const struct aw_location *place)
{
	struct aw_decision made, seen;

	if (place->object < 0)
		return false;
	aw_emulate_judge(call, call->event.action, place, &made);
	if (made.verdict == AW_ALLOW)
		return false;
	aw_emulate_judge(call, AW_READ, place, &seen);
	if (seen.verdict != AW_ALLOW)
		return false;
	aw_call_decide(call, &seen);
	aw_emulate_answer(call, -EEXIST);
	return true;
}
