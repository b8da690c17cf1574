/* SPDX-License-Identifier: Apache-2.0 */
/* processes.c - the table of watched processes. */
#include "supervisor/processes.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define uthash_fatal(msg) abort()
#include <uthash.h>

#include "supervisor/cleanup.h"
#include "supervisor/pidfd.h"
#include "supervisor/proc.h"
#include "supervisor/shared.h"

struct ring_entry {
	struct aw_reader reader;
	const char *exe; /* interned: the program that writes here */
	struct ring_entry *next;
};

struct process {
	struct aw_who who;
	struct ring_entry *rings; /* owned */
	const char *exe_next; /* interned: what the exec under way should make of it */
	bool exe_sure;	      /* and will, if it succeeds */
	const char *exe_before; /* the last exec: what it was, in case it fails */
	enum aw_shim_state shim_before;
	bool exited;
	int status;
	UT_hash_handle hh;
};

/* A thread, looked up by tid; checked again after a second since numbers come back. */
struct thread {
	pid_t tid, pid;
	time_t checked;
	UT_hash_handle hh;
};

struct name {
	UT_hash_handle hh;
	char text[];
};

struct aw_processes {
	pthread_mutex_t lock;
	struct process *processes;
	struct thread *threads;
	struct name *names;
	aw_processes_born born;
	void *ctx;
	bool sees_execs;
	uint64_t changes; /* of rights, in any process */
};

static const char *intern(struct aw_processes *tree, const char *text)
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
	}
	return found->text;
}

struct aw_processes *aw_processes_new(bool sees_execs)
{
	struct aw_processes *tree = calloc(1, sizeof(*tree));

	if (!tree)
		return NULL;
	pthread_mutex_init(&tree->lock, NULL);
	tree->sees_execs = sees_execs;
	return tree;
}

static void free_rings(struct process *p)
{
	while (p->rings) {
		struct ring_entry *next = p->rings->next;

		aw_ring_unmap(p->rings->reader.ring, p->rings->reader.size);
		free(p->rings);
		p->rings = next;
	}
}

void aw_processes_free(struct aw_processes *tree)
{
	struct process *p, *next_process;
	struct thread *t, *next_thread;
	struct name *n, *next_name;

	if (!tree)
		return;
	HASH_ITER(hh, tree->processes, p, next_process)
	{
		HASH_DEL(tree->processes, p);
		free_rings(p);
		free(p);
	}
	HASH_ITER(hh, tree->threads, t, next_thread)
	{
		HASH_DEL(tree->threads, t);
		free(t);
	}
	HASH_ITER(hh, tree->names, n, next_name)
	{
		HASH_DEL(tree->names, n);
		free(n);
	}
	pthread_mutex_destroy(&tree->lock);
	free(tree);
}

void aw_processes_on_born(struct aw_processes *tree, aw_processes_born born, void *ctx)
{
	tree->born = born;
	tree->ctx = ctx;
}

static void refresh_exe(struct aw_processes *tree, struct process *p)
{
	char exe[4096];

	if (aw_proc_link(p->who.pid, "exe", exe, sizeof(exe)) > 0)
		p->who.exe = intern(tree, exe);
	else if (p->who.execing &&
		 p->exe_next) /* it does not let itself be looked at */
		p->who.exe = p->exe_next;
	p->who.execing = false;
}

static struct process *add(struct aw_processes *tree, pid_t pid, pid_t ppid)
{
	struct process *p = calloc(1, sizeof(*p)), *parent;

	if (!p)
		return NULL;
	HASH_FIND_INT(tree->processes, &ppid, parent);
	p->who = (struct aw_who){.pid = pid, .ppid = ppid, .exe = "?", .umask = -1};
	p->who.rights_at = ++tree->changes;
	/* an orphan may have been made by one that had given its rights up */
	p->who.own_rights = parent ? parent->who.own_rights : tree->processes != NULL;
	p->who.own_umask = parent && parent->who.own_umask;
	p->who.filtered = parent && parent->who.filtered;
	p->who.shim = parent && parent->who.shim == AW_SHIM_READY ? AW_SHIM_READY
								  : AW_SHIM_NONE;
	if (tree->sees_execs && parent && !parent->who.execing)
		p->who.exe =
			parent->who.exe; /* an exec of its own would have been seen */
	else
		refresh_exe(tree, p);
	/* what could change it in between is a watched call */
	p->who.plain_root =
		(parent && parent->who.plain_root) || aw_proc_has_our_view(pid);
	HASH_ADD_INT(tree->processes, who.pid, p);
	return p;
}

static struct process *by_pid(struct aw_processes *tree, pid_t pid)
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

/* Process and parent of a thread not seen before; *ret_pidfd when it leads the process.
 */
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
	p = by_pid(tree, pid);
	if (p) /* exited: an old one whose number came back and that is not read out yet
		*/
		return p->exited ? NULL : p;
	p = add(tree, pid, ppid);
	*ret_fresh = p != NULL;
	if (p && *ret_pidfd < 0) /* met by one of its threads */
		*ret_pidfd = aw_pidfd_open(pid);
	return p;
}

bool aw_processes_find(struct aw_processes *tree, pid_t tid, struct aw_who *ret)
{
	struct process *p;
	struct thread *t;
	bool fresh = false, looked;
	int pidfd = -1;

	pthread_mutex_lock(&tree->lock);
	p = by_pid(tree, tid);
	if (p && p->exited)
		p = NULL;
	if (!p && (t = by_tid(tree, tid, coarse_now())))
		p = by_pid(tree, t->pid);
	if (!p)
		p = meet(tree, tid, &pidfd, &fresh);
	looked = fresh && !tree->sees_execs;
	if (p && p->who.execing && !tree->sees_execs) {
		refresh_exe(tree, p);
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

bool aw_processes_peek(struct aw_processes *tree, pid_t pid, struct aw_who *ret)
{
	struct process *p;

	pthread_mutex_lock(&tree->lock);
	p = by_pid(tree, pid);
	if (p)
		*ret = p->who;
	pthread_mutex_unlock(&tree->lock);
	return p != NULL;
}

#define WITH_PROCESS(tree, pid, body)                                                  \
	do {                                                                           \
		struct process *p_;                                                    \
		pthread_mutex_lock(&(tree)->lock);                                     \
		p_ = by_pid(tree, pid);                                                \
		if (p_) {                                                              \
			body;                                                          \
		}                                                                      \
		pthread_mutex_unlock(&(tree)->lock);                                   \
	} while (0)

void aw_processes_exec(struct aw_processes *tree, pid_t pid, enum aw_shim_state shim,
	const char *program, bool sure)
{
	struct process *p;

	pthread_mutex_lock(&tree->lock);
	p = by_pid(tree, pid);
	if (p && p->who.shim != AW_SHIM_EXPECTED) { /* else the last one failed */
		p->exe_before = p->who.exe;
		p->shim_before = p->who.shim;
	}
	if (p) {
		p->who.rights_at = ++tree->changes;
		p->exe_next = program ? intern(tree, program) : NULL;
		p->exe_sure = sure && shim == AW_SHIM_EXPECTED;
		p->who.execing = true;
		p->who.shim = shim;
	}
	pthread_mutex_unlock(&tree->lock);
}

void aw_processes_arrived(
	struct aw_processes *tree, struct aw_who *who, bool loads_shim)
{
	struct process *p;

	pthread_mutex_lock(&tree->lock);
	p = by_pid(tree, who->pid);
	if (p && loads_shim && p->exe_sure && p->who.shim == AW_SHIM_EXPECTED) {
		p->who.exe = p->exe_next;
		p->who.execing = false;
	} else if (p && p->who.execing) {
		refresh_exe(tree, p);
		who->fresh = p->who.exe != p->exe_next; /* both interned */
	}
	if (p) {
		who->exe = p->who.exe;
		p->who.rights_at = who->rights_at = ++tree->changes;
	}
	who->execing = false;
	pthread_mutex_unlock(&tree->lock);
}

bool aw_processes_exec_failed(struct aw_processes *tree, pid_t pid)
{
	bool mapped = aw_proc_maps_session(pid), failed = false;

	WITH_PROCESS(tree, pid, refresh_exe(tree, p_);
		     failed = p_->who.exe == p_->exe_before &&
			      (mapped || p_->shim_before != AW_SHIM_READY);
		     if (failed) p_->who.shim = p_->shim_before);
	return failed;
}

void aw_processes_set_shim(
	struct aw_processes *tree, pid_t pid, enum aw_shim_state shim)
{
	WITH_PROCESS(tree, pid, p_->who.shim = shim);
}

void aw_processes_set_filtered(struct aw_processes *tree, pid_t pid)
{
	WITH_PROCESS(tree, pid, p_->who.filtered = true;
		     for (struct ring_entry *r = p_->rings; r; r = r->next)
			     atomic_store(&r->reader.ring->plain, 1));
}

void aw_processes_set_plain(struct aw_processes *tree, pid_t pid)
{
	WITH_PROCESS(tree, pid, p_->who.own_folders = true;
		     for (struct ring_entry *r = p_->rings; r; r = r->next)
			     atomic_store(&r->reader.ring->plain, 1));
}

void aw_processes_set_moved_root(struct aw_processes *tree, pid_t pid)
{
	WITH_PROCESS(tree, pid, p_->who.plain_root = false);
}

void aw_processes_set_rights(struct aw_processes *tree, pid_t pid)
{
	WITH_PROCESS(tree, pid, p_->who.own_rights = true;
		     p_->who.rights_at = ++tree->changes);
}

void aw_processes_set_umask(struct aw_processes *tree, pid_t pid, int mask)
{
	WITH_PROCESS(tree, pid, p_->who.own_umask = true; p_->who.umask = mask;
		     p_->who.rights_at = ++tree->changes);
}

int aw_processes_add_ring(struct aw_processes *tree, const struct aw_who *who,
	struct aw_ring *ring, uint32_t size)
{
	struct ring_entry *entry = calloc(1, sizeof(*entry));
	int ret = -1;

	if (!entry)
		return -1;
	entry->reader = (struct aw_reader){.ring = ring, .size = size};
	if (!tree->sees_execs && !who->exe_is_new) /* else it is known by the exec */
		WITH_PROCESS(tree, who->pid, refresh_exe(tree, p_));
	WITH_PROCESS(tree, who->pid, entry->next = p_->rings; entry->exe = p_->who.exe;
		     p_->rings = entry; p_->who.shim = AW_SHIM_READY;
		     atomic_store(&ring->plain, p_->who.filtered); ret = 0);
	if (ret < 0)
		free(entry);
	return ret;
}

void aw_processes_exited(struct aw_processes *tree, pid_t pid, int status)
{
	WITH_PROCESS(tree, pid, p_->exited = true; p_->status = status);
}

static void forget_threads(struct aw_processes *tree, pid_t pid)
{
	struct thread *t, *next;

	HASH_ITER(hh, tree->threads, t, next)
	{
		if (t->pid == pid) {
			HASH_DEL(tree->threads, t);
			free(t);
		}
	}
}

struct visited {
	pid_t pid;
	bool exited;
};

/*
 * All entries that matter, so that the visit can run without the lock.  Who ended has
 * ended before any ring is read: what it wrote into its parent's comes before its end.
 */
static struct visited *list_visited(struct aw_processes *tree, size_t *ret_count)
{
	struct process *p, *next;
	struct visited *list;
	size_t n = 0;

	pthread_mutex_lock(&tree->lock);
	list = calloc(HASH_COUNT(tree->processes) + 1, sizeof(*list));
	HASH_ITER(hh, tree->processes, p, next)
	{
		if (list && (p->rings || p->exited))
			list[n++] = (struct visited){p->who.pid, p->exited};
	}
	pthread_mutex_unlock(&tree->lock);
	*ret_count = n;
	return list;
}

bool aw_processes_visit(
	struct aw_processes *tree, const struct aw_processes_visitor *visitor)
{
	bool busy = false;
	size_t count;
	AW_FREE struct visited *list = list_visited(tree, &count);

	for (size_t i = 0; list && i < count; i++) {
		struct process *p;
		struct ring_entry *rings;
		struct aw_who who;
		bool exited;

		/* entries are removed here alone, so p stays valid without the lock */
		pthread_mutex_lock(&tree->lock);
		p = by_pid(tree, list[i].pid);
		exited = p && list[i].exited;
		who = p ? p->who : (struct aw_who){.exe = "?"};
		rings = p ? p->rings : NULL;
		pthread_mutex_unlock(&tree->lock);
		if (!p)
			continue;
		for (struct ring_entry *r = rings; r; r = r->next) {
			if (exited)
				atomic_store(&r->reader.ring->closed, 1);
			who.exe = r->exe;
			busy |= visitor->on_ring(
				visitor->ctx, &who, &r->reader, exited);
		}
		if (!exited)
			continue;
		who.exe = p->who.exe;
		visitor->on_exit(visitor->ctx, &who, p->status);
		busy = true;
		pthread_mutex_lock(&tree->lock);
		HASH_DEL(tree->processes, p);
		forget_threads(tree, who.pid);
		pthread_mutex_unlock(&tree->lock);
		free_rings(p);
		free(p);
	}
	return busy;
}

size_t aw_processes_alive(struct aw_processes *tree, pid_t *ret, size_t max)
{
	struct process *p, *next;
	size_t n = 0;

	pthread_mutex_lock(&tree->lock);
	HASH_ITER(hh, tree->processes, p, next)
	{
		if (!p->exited && n < max)
			ret[n++] = p->who.pid;
	}
	pthread_mutex_unlock(&tree->lock);
	return n;
}
