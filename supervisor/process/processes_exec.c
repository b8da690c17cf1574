/* SPDX-License-Identifier: Apache-2.0 */
/*
 * processes_exec.c - what becomes of a process while execs of it are under way.
 *
 * An exec is judged by a name, and made by the kernel a little later: another thread
 * may put another name there meanwhile, make a call of its own, or be inside an exec
 * itself. So nothing but the file that a process runs, and what its threads are at,
 * says that an exec has come to something.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/linux/procfs.h"
#include "supervisor/process/processes_internal.h"

/* The file that it runs; none when it does not let itself be looked at. */
static struct aw_file_id file_of(pid_t pid)
{
	struct stat st;
	char path[40];

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	if (stat(path, &st) < 0)
		return (struct aw_file_id){.inode = 0};
	return (struct aw_file_id){st.st_dev, st.st_ino};
}

static bool is_same_file(const struct aw_file_id *a, const struct aw_file_id *b)
{
	return a->inode && a->inode == b->inode && a->device == b->device;
}

/* Interpreters of scripts, mostly: few, and the same again and again. */
static struct foreseen *find_foreseen(
	struct aw_processes *tree, const struct aw_file_id *id, struct aw_file_id *key)
{
	struct foreseen *known;

	memset(key, 0, sizeof(*key)); /* a key has no odd bytes */
	key->device = id->device;
	key->inode = id->inode;
	HASH_FIND(hh, tree->foreseen, key, sizeof(*key), known);
	return known;
}

static void foresee(struct aw_processes *tree, const struct aw_exec *exec)
{
	struct foreseen *known;
	struct aw_file_id key;

	tree->odd_file |= exec->odd;
	for (size_t i = 0; i < AW_PROGRAM_FILES && exec->files[i].inode; i++) {
		if (find_foreseen(tree, &exec->files[i], &key) ||
			!(known = calloc(1, sizeof(*known))))
			continue;
		memcpy(&known->file, &key, sizeof(key));
		HASH_ADD(hh, tree->foreseen, file, sizeof(key), known);
		if (!known->hh.tbl)
			free(known);
	}
}

/* Who has no exec of its own may be what any of the session's was judged as. */
static bool is_among(struct aw_processes *tree, const struct process *p,
	const struct aw_file_id *now)
{
	bool own = p->files[0].inode;
	struct aw_file_id key;

	if (is_same_file(now, &p->file_before))
		return true;
	for (size_t i = 0; i < AW_PROGRAM_FILES; i++)
		if (is_same_file(now, &p->files[i]))
			return true;
	if (!own && find_foreseen(tree, now, &key))
		return true;
	return (own ? p->odd_file : tree->odd_file) && aw_program_is_registered(now);
}

static void note_exec(struct process *p, pid_t tid)
{
	p->exec_count++;
	for (size_t i = 0; i < AW_EXECS; i++)
		if (!p->execs[i] || p->execs[i] == tid) {
			p->execs[i] = tid;
			return;
		}
	p->more_execs = true;
}

void aw_processes_exec(struct aw_processes *tree, pid_t pid, const struct aw_exec *exec)
{
	struct aw_file_id now = file_of(pid);
	struct process *p;

	pthread_mutex_lock(&tree->lock);
	p = aw_table_by_pid(tree, pid);
	if (p && p->who.shim != AW_SHIM_EXPECTED) { /* else the last one failed */
		p->exe_before = p->who.exe;
		p->shim_before = p->who.shim;
	}
	if (p) {
		if (!p->who.execing)
			p->file_before = now;
		note_exec(p, exec->tid);
		foresee(tree, exec);
		memcpy(p->files, exec->files, sizeof(p->files));
		p->odd_file = exec->odd;
		p->who.rights_at = ++tree->changes;
		p->exe_next =
			exec->program ? aw_table_intern(tree, exec->program) : NULL;
		p->exe_sure = exec->sure && exec->shim == AW_SHIM_EXPECTED;
		p->who.execing = true;
		p->who.shim = exec->shim;
	}
	pthread_mutex_unlock(&tree->lock);
}

static void end_execs(struct process *p)
{
	memset(p->execs, 0, sizeof(p->execs));
	p->more_execs = p->who.execing = false;
}

/*
 * Which program it is now; its execs go on when it is the old one and not over.  While
 * another thread than the first one is at it, there is a moment when the process cannot
 * be looked at.
 */
static void look_again(struct aw_processes *tree, struct process *p,
	struct aw_process_info *who, unsigned over)
{
	struct aw_file_id now = file_of(p->who.pid);
	bool same = is_same_file(&now, &p->file_before), ended = over == p->exec_count;

	who->execs = p->exec_count;
	if (!now.inode && !ended)
		return;
	aw_table_refresh_exe(tree, p);
	who->fresh = !same && p->who.exe != p->exe_next; /* both interned */
	/* else what it makes meanwhile would not be looked at */
	p->who.execing = (same && !ended) || (who->fresh && tree->verifies);
	if (!p->who.execing)
		end_execs(p);
}

void aw_processes_arrived(struct aw_processes *tree, struct aw_process_info *who,
	unsigned over, bool loads_shim)
{
	struct process *p;

	pthread_mutex_lock(&tree->lock);
	p = aw_table_by_pid(tree, who->pid);
	if (p && loads_shim && p->exe_sure && p->who.shim == AW_SHIM_EXPECTED) {
		p->who.exe = p->exe_next;
		end_execs(p);
	} else if (p && p->who.execing) {
		look_again(tree, p, who, over);
	}
	if (p) {
		who->exe = p->who.exe;
		p->who.rights_at = who->rights_at = ++tree->changes;
	}
	who->execing = p && p->who.execing;
	pthread_mutex_unlock(&tree->lock);
}

void aw_processes_verified(struct aw_processes *tree, struct aw_process_info *who)
{
	WITH_PROCESS(tree, who->pid, if (p_->exec_count == who->execs) end_execs(p_));
	who->execing = false;
}

unsigned aw_processes_execs_over(struct aw_processes *tree, pid_t pid, pid_t tid)
{
	pid_t at_it[AW_EXECS] = {0};
	unsigned count = 0;
	char path[64];

	WITH_PROCESS(tree, pid, memcpy(at_it, p_->execs, sizeof(at_it));
		     count = p_->more_execs ? 0 : p_->exec_count);
	for (size_t i = 0; count && i < AW_EXECS; i++) {
		if (!at_it[i] || at_it[i] == tid)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%d", pid, at_it[i]);
		if (access(path, F_OK) == 0 || errno != ENOENT)
			return 0;
	}
	return count;
}

bool aw_processes_is_foreseen(struct aw_processes *tree, pid_t pid)
{
	struct aw_file_id now = file_of(pid);
	bool foreseen = false;

	WITH_PROCESS(tree, pid, foreseen = is_among(tree, p_, &now));
	return foreseen;
}

void aw_processes_look(struct aw_processes *tree, struct aw_process_info *who)
{
	char exe[4096];

	if (aw_proc_link(who->pid, "exe", exe, sizeof(exe)) > 0)
		who->exe = aw_processes_intern(tree, exe);
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
