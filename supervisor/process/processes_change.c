/* SPDX-License-Identifier: Apache-2.0 */
/* processes_change.c - what is learnt of a process while it runs. */
#include "supervisor/process/processes_internal.h"

void aw_processes_set_shim(
	struct aw_processes *tree, pid_t pid, enum aw_shim_state shim)
{
	WITH_PROCESS(tree, pid, p_->who.shim = shim);
}

void aw_processes_set_inner_pid(struct aw_processes *tree, pid_t pid, pid_t inner_pid)
{
	WITH_PROCESS(tree, pid, p_->who.inner_pid = inner_pid);
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

void aw_processes_set_all_moved_root(struct aw_processes *tree)
{
	struct process *p, *next;

	pthread_mutex_lock(&tree->lock);
	tree->moved = true;
	HASH_ITER(hh, tree->processes, p, next)
	{
		p->who.plain_root = false;
	}
	pthread_mutex_unlock(&tree->lock);
}

void aw_processes_set_adopts(struct aw_processes *tree)
{
	pthread_mutex_lock(&tree->lock);
	tree->adopts = true;
	pthread_mutex_unlock(&tree->lock);
}

void aw_processes_set_rights(struct aw_processes *tree, pid_t pid)
{
	WITH_PROCESS(tree, pid, p_->who.own_rights = tree->own_rights = true;
		     p_->who.rights_at = ++tree->changes);
}

void aw_processes_set_umask(struct aw_processes *tree, pid_t pid, int mask)
{
	WITH_PROCESS(tree, pid, p_->who.own_umask = tree->own_umask = true;
		     p_->who.umask = mask; p_->who.rights_at = ++tree->changes);
}
