/* SPDX-License-Identifier: Apache-2.0 */
/*
 * processes_role.c - which part of the session a process belongs to.
 *
 * A role comes with an exec and goes on to all descendants, whatever becomes of those
 * in between: a process that is heard of for the first time may be the grandchild of
 * one that never said a word, and an orphan.  So each program that has a role is known
 * by its mark (procfs.h), which what it forks has too, and which only the next exec
 * changes; that is seen, since an exec is a watched call.
 */
#include <stdio.h>
#include <string.h>

#include "supervisor/process/processes_internal.h"

const char *aw_processes_intern(struct aw_processes *tree, const char *text)
{
	const char *name;

	pthread_mutex_lock(&tree->lock);
	name = aw_table_intern(tree, text);
	pthread_mutex_unlock(&tree->lock);
	return name;
}

static bool is_any(const struct aw_role *role)
{
	return role->mcp || role->profiles;
}

/* Both: where it is not known which, what is stricter holds. */
static void add_role(struct aw_role *to, const struct aw_role *role)
{
	if (!to->mcp)
		to->mcp = role->mcp;
	if (role->profiles & ~to->profiles)
		to->profile = role->profile;
	to->profiles |= role->profiles;
}

static void remember_image(struct aw_processes *tree, const struct aw_proc_mark *mark,
	const struct aw_role *role)
{
	struct image *image;

	if (!is_any(role))
		return;
	add_role(&tree->all, role);
	if (!mark->known)
		return;
	HASH_FIND(hh, tree->images, mark->at, sizeof(mark->at), image);
	if (image) { /* without randomised addresses: two that look alike */
		add_role(&image->role, role);
		return;
	}
	image = calloc(1, sizeof(*image));
	if (!image)
		return;
	memcpy(image->at, mark->at, sizeof(image->at));
	image->role = *role;
	HASH_ADD(hh, tree->images, at, sizeof(image->at), image);
	if (!image->hh.tbl)
		free(image);
}

static void stop_turning(struct aw_processes *tree, struct process *p)
{
	tree->turning -= p->who.turning;
	p->who.turning = false;
}

/* The exec has succeeded when the kernel has moved everything; false: not yet. */
static bool try_to_turn(struct aw_processes *tree, struct process *p)
{
	struct aw_proc_mark now = aw_proc_mark(p->who.pid);

	if (!aw_proc_mark_differs(&p->mark_before, &now))
		return false;
	/* what was read while the kernel moved it is half of this and half of that: now
	 * that the exec is known to be past that, all is new or not there yet */
	now = aw_proc_mark(p->who.pid);
	if (now.moving)
		return false;
	p->who.role = p->role_next;
	if (!now.known && p->mark_before.known) /* it may be seen a little later */
		return false;
	stop_turning(tree, p);
	remember_image(tree, &now, &p->who.role);
	return true;
}

/* More threads than one: whichever succeeds, what is stricter holds. */
static bool is_contested(const struct process *p)
{
	size_t count = p->more_execs;

	for (size_t i = 0; i < AW_EXECS; i++)
		count += p->execs[i] != 0;
	return p->who.turning && count > 1;
}

static void begin_turning(struct aw_processes *tree, struct process *p,
	const struct aw_role *role, const struct aw_proc_mark *before)
{
	if (is_contested(p)) {
		add_role(&p->role_next, role);
		return;
	}
	stop_turning(tree, p);
	if (!is_any(role))
		return;
	p->role_next = *role;
	p->mark_before = *before;
	p->who.turning = true;
	tree->turning++;
}

void aw_processes_turn(struct aw_processes *tree, pid_t pid, const struct aw_role *role,
	const struct aw_proc_mark *before)
{
	WITH_PROCESS(tree, pid, begin_turning(tree, p_, role, before));
}

void aw_processes_turned(struct aw_processes *tree, struct aw_process_info *who)
{
	WITH_PROCESS(tree, who->pid, if (p_->who.turning) try_to_turn(tree, p_);
		     who->role = p_->who.role; who->turning = p_->who.turning);
}

void aw_processes_set_role(struct aw_processes *tree, struct aw_process_info *who,
	const struct aw_role *role)
{
	struct aw_proc_mark mark = {.known = false};

	if (is_any(role))
		mark = aw_proc_mark(who->pid);
	WITH_PROCESS(tree, who->pid, p_->who.role = *role;
		     remember_image(tree, &mark, role));
	who->role = *role;
}

void aw_table_role_ends(struct aw_processes *tree, struct process *p)
{
	if (!p->who.turning)
		return;
	stop_turning(tree, p);
	add_role(&tree->lost, &p->role_next);
	add_role(&tree->all, &p->role_next);
}

struct aw_role aw_table_role(
	struct aw_processes *tree, pid_t pid, const struct process *parent)
{
	struct aw_role role = parent ? parent->who.role : tree->lost;
	struct aw_proc_mark mark;
	struct process *p, *next;
	struct image *image;

	if (!tree->turning && !is_any(&tree->all))
		return role;
	HASH_ITER(hh, tree->processes, p, next)
	{
		if (tree->turning && p->who.turning && !p->exited)
			try_to_turn(tree, p);
	}
	mark = aw_proc_mark(pid);
	if (!mark.known) {
		if (!parent)
			add_role(&role, &tree->all);
		return role;
	}
	HASH_FIND(hh, tree->images, mark.at, sizeof(mark.at), image);
	return image ? image->role : tree->lost;
}
