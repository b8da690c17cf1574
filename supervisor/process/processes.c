/* SPDX-License-Identifier: Apache-2.0 */
/* processes.c - the table of watched processes: who is who. */
#include "supervisor/process/processes.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/linux/pidfd.h"
#include "supervisor/linux/procfs.h"
#include "supervisor/process/processes_internal.h"

const char *aw_table_intern(struct aw_processes *tree, const char *text)
{
	size_t len = strlen(text);
	struct name *found;

	HASH_FIND(hh, tree->names, text, len, found);
	if (!found) {
		found = malloc(sizeof(*found) + len + 1);
		if (!found)
			return "?";
		memcpy(found->text, text, len + 1);
		HASH_ADD_KEYPTR(hh, tree->names, found->text, len, found);
		if (!found->hh.tbl) {
			free(found);
			return "?";
		}
	}
	return found->text;
}

struct aw_processes *aw_processes_new(bool sees_execs, bool verifies)
{
	struct aw_processes *tree = calloc(1, sizeof(*tree));

	if (!tree)
		return NULL;
	pthread_mutex_init(&tree->lock, NULL);
	tree->sees_execs = sees_execs;
	tree->verifies = verifies;
	return tree;
}

void aw_processes_on_born(struct aw_processes *tree, aw_processes_born born, void *ctx)
{
	tree->born = born;
	tree->ctx = ctx;
}

void aw_table_refresh_exe(struct aw_processes *tree, struct process *p)
{
	char exe[4096];

	if (aw_proc_link(p->who.pid, "exe", exe, sizeof(exe)) > 0)
		p->who.exe = aw_table_intern(tree, exe);
	else if (p->who.execing &&
		 p->exe_next) /* it does not let itself be looked at */
		p->who.exe = p->exe_next;
}

/*
 * Who made it may have become another program and made it before its own first call:
 * then it is looked at as that one would be.  So is an orphan, of which nobody knows
 * who made it; the very first process is agentwatch-enter.
 */
static void inherit_exec(
	struct aw_processes *tree, struct process *p, const struct process *parent)
{
	if (parent && parent->who.execing) {
		p->file_before = parent->file_before;
		memcpy(p->files, parent->files, sizeof(p->files));
		p->odd_file = parent->odd_file;
		p->exe_next = parent->exe_next;
	}
	p->exec_count = 1;
	p->who.execing =
		parent ? parent->who.execing || tree->adopts : tree->processes != NULL;
}

static struct process *add(struct aw_processes *tree, pid_t pid, pid_t ppid)
{
	struct process *p = calloc(1, sizeof(*p)), *parent;
	bool orphan;

	if (!p)
		return NULL;
	HASH_FIND_INT(tree->processes, &ppid, parent);
	p->who = (struct aw_process_info){
		.pid = pid, .inner_pid = pid, .ppid = ppid, .exe = "?", .umask = -1};
	p->who.rights_at = ++tree->changes;
	p->who.role = aw_table_role(tree, pid, parent);
	/* an orphan may have been made by one that had given its rights up */
	orphan = parent ? tree->adopts : tree->processes != NULL;
	p->who.own_rights =
		parent ? parent->who.own_rights || (orphan && tree->own_rights)
		       : orphan;
	p->who.own_umask =
		(parent && parent->who.own_umask) || (orphan && tree->own_umask);
	p->who.filtered = parent && parent->who.filtered;
	p->who.shim = parent && parent->who.shim == AW_SHIM_READY ? AW_SHIM_READY
								  : AW_SHIM_NONE;
	if (tree->sees_execs && parent && !parent->who.execing)
		p->who.exe =
			parent->who.exe; /* an exec of its own would have been seen */
	else
		aw_table_refresh_exe(tree, p);
	if (tree->sees_execs)
		inherit_exec(tree, p, parent);
	/* what could change it in between is a watched call */
	p->who.plain_root = !tree->moved && ((parent && parent->who.plain_root) ||
						    aw_proc_has_our_view(pid));
	HASH_ADD_INT(tree->processes, who.pid, p);
	if (p->hh.tbl)
		return p;
	free(p);
	return NULL;
}

struct process *aw_table_by_pid(struct aw_processes *tree, pid_t pid)
{
	struct process *p;

	HASH_FIND_INT(tree->processes, &pid, p);
	return p;
}

/* The process of a thread that is not a process of its own. */
static struct thread *by_tid(struct aw_processes *tree, pid_t tid, time_t now)
{
	struct thread *t;

	HASH_FIND_INT(tree->threads, &tid, t);
	return t && t->checked == now ? t : NULL;
}

static void remember(struct aw_processes *tree, pid_t tid, pid_t pid, time_t now)
{
	struct thread *t;

	HASH_FIND_INT(tree->threads, &tid, t);
	if (!t) {
		t = calloc(1, sizeof(*t));
		if (!t)
			return;
		t->tid = tid;
		HASH_ADD_INT(tree->threads, tid, t);
		if (!t->hh.tbl) {
			free(t);
			return;
		}
	}
	t->pid = pid;
	t->checked = now;
}

static time_t coarse_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return ts.tv_sec;
}

/* Process and parent of a thread not seen before; *ret_pidfd when it leads the process. */
static bool introduce(pid_t tid, pid_t *ret_pid, pid_t *ret_ppid, int *ret_pidfd)
{
	*ret_pidfd = aw_pidfd_open(tid);
	if (*ret_pidfd >= 0 && aw_pidfd_parent(*ret_pidfd, ret_pid, ret_ppid))
		return true;
	return aw_proc_parent(tid, ret_pid, ret_ppid);
}

/* Make an entry for a thread's process if there is none; NULL: it is gone. */
static struct process *meet(
	struct aw_processes *tree, pid_t tid, int *ret_pidfd, bool *ret_fresh)
{
	pid_t pid = tid, ppid = 0;
	struct process *p;

	if (!introduce(tid, &pid, &ppid, ret_pidfd))
		return NULL;
	if (pid != tid)
		remember(tree, tid, pid, coarse_now());
	p = aw_table_by_pid(tree, pid);
	if (p) /* exited: an old one whose number came back and that is not read out yet
		*/
		return p->exited ? NULL : p;
	p = add(tree, pid, ppid);
	*ret_fresh = p != NULL;
	if (p && *ret_pidfd < 0) /* met by one of its threads */
		*ret_pidfd = aw_pidfd_open(pid);
	return p;
}

bool aw_processes_find(
	struct aw_processes *tree, pid_t tid, struct aw_process_info *ret)
{
	struct process *p;
	struct thread *t;
	bool fresh = false, looked;
	int pidfd = -1;

	pthread_mutex_lock(&tree->lock);
	p = aw_table_by_pid(tree, tid);
	if (p && p->exited)
		p = NULL;
	if (!p && (t = by_tid(tree, tid, coarse_now())))
		p = aw_table_by_pid(tree, t->pid);
	if (!p)
		p = meet(tree, tid, &pidfd, &fresh);
	looked = fresh && !tree->sees_execs;
	if (p && p->who.execing && !tree->sees_execs) {
		aw_table_refresh_exe(tree, p);
		p->who.execing = false;
		looked = true;
	}
	if (p) {
		*ret = p->who;
		ret->exe_is_new = looked;
	}
	pthread_mutex_unlock(&tree->lock);
	if (fresh && tree->born)
		tree->born(tree->ctx, ret, pidfd);
	else if (pidfd >= 0)
		close(pidfd);
	return p != NULL;
}

bool aw_processes_peek(
	struct aw_processes *tree, pid_t pid, struct aw_process_info *ret)
{
	struct process *p;

	pthread_mutex_lock(&tree->lock);
	p = aw_table_by_pid(tree, pid);
	if (p)
		*ret = p->who;
	pthread_mutex_unlock(&tree->lock);
	return p != NULL;
}
