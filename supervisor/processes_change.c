/* SPDX-License-Identifier: Apache-2.0 */
/* processes_change.c - what is learnt of a process while it runs. */
#include "supervisor/proc.h"
#include "supervisor/processes_table.h"

void aw_processes_exec(struct aw_processes *tree, pid_t pid, enum aw_shim_state shim,
	const char *program, bool sure)
{
	struct process *p;

	pthread_mutex_lock(&tree->lock);
	p = aw_table_by_pid(tree, pid);
	if (p && p->who.shim != AW_SHIM_EXPECTED) { /* else the last one failed */
		p->exe_before = p->who.exe;
		p->shim_before = p->who.shim;
	}
	if (p) {
		p->who.rights_at = ++tree->changes;
		p->exe_next = program ? aw_table_intern(tree, program) : NULL;
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
	p = aw_table_by_pid(tree, who->pid);
	if (p && loads_shim && p->exe_sure && p->who.shim == AW_SHIM_EXPECTED) {
		p->who.exe = p->exe_next;
		p->who.execing = false;
	} else if (p && p->who.execing) {
		aw_table_refresh_exe(tree, p);
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

	WITH_PROCESS(tree, pid, aw_table_refresh_exe(tree, p_);
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

void aw_processes_set_inner(struct aw_processes *tree, pid_t pid, pid_t inner)
{
	WITH_PROCESS(tree, pid, p_->who.inner = inner);
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
