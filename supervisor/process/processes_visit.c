/* SPDX-License-Identifier: Apache-2.0 */
/* processes_visit.c - rings, ends, and the drainer's way through all of them. */
#include "supervisor/process/processes_internal.h"
#include "supervisor/session/shared.h"
#include "supervisor/util/cleanup.h"

int aw_processes_add_ring(struct aw_processes *tree, const struct aw_process_info *who,
	struct aw_ring *ring, uint32_t size)
{
	struct ring_entry *entry = calloc(1, sizeof(*entry));
	int ret = -1;

	if (!entry)
		return -1;
	entry->reader = (struct aw_reader){.ring = ring, .size = size};
	if (!tree->sees_execs && !who->exe_is_new) /* else it is known by the exec */
		WITH_PROCESS(tree, who->pid, aw_table_refresh_exe(tree, p_));
	WITH_PROCESS(tree, who->pid, entry->next = p_->rings; entry->exe = p_->who.exe;
		     entry->role = p_->who.role; p_->rings = entry;
		     p_->who.shim = AW_SHIM_READY;
		     atomic_store(&ring->plain, p_->who.filtered); ret = 0);
	if (ret < 0)
		free(entry);
	return ret;
}

size_t aw_processes_rings(struct aw_processes *tree, pid_t pid)
{
	size_t n = 0;

	WITH_PROCESS(
		tree, pid, for (struct ring_entry *r = p_->rings; r; r = r->next) n++);
	return n;
}

void aw_processes_exited(struct aw_processes *tree, pid_t pid, int status)
{
	WITH_PROCESS(tree, pid, p_->exited = true; p_->status = status;
		     aw_table_role_ends(tree, p_));
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

static void unmap_rings(struct process *p)
{
	while (p->rings) {
		struct ring_entry *next = p->rings->next;

		aw_ring_unmap(p->rings->reader.ring, p->rings->reader.size);
		free(p->rings);
		p->rings = next;
	}
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
		struct aw_process_info who;
		bool exited;

		/* entries are removed here alone, so p stays valid without the lock */
		pthread_mutex_lock(&tree->lock);
		p = aw_table_by_pid(tree, list[i].pid);
		exited = p && list[i].exited;
		who = p ? p->who : (struct aw_process_info){.exe = "?"};
		rings = p ? p->rings : NULL;
		pthread_mutex_unlock(&tree->lock);
		if (!p)
			continue;
		for (struct ring_entry *r = rings; r; r = r->next) {
			if (exited)
				atomic_store(&r->reader.ring->closed, 1);
			who.exe = r->exe;
			who.role = r->role;
			busy |= visitor->on_ring(
				visitor->ctx, &who, &r->reader, exited);
		}
		if (!exited)
			continue;
		who.exe = p->who.exe;
		who.role = p->who.role;
		visitor->on_exit(visitor->ctx, &who, p->status);
		busy = true;
		pthread_mutex_lock(&tree->lock);
		HASH_DEL(tree->processes, p);
		forget_threads(tree, who.pid);
		pthread_mutex_unlock(&tree->lock);
		unmap_rings(p);
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
