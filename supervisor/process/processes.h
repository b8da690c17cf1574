/* SPDX-License-Identifier: Apache-2.0 */
/*
 * processes.h - the watched processes.
 *
 * Entries are made when a process is first heard of (an exec, a hello, a notified call)
 * and go when it has exited and its ring is empty.  All functions take the tree's lock
 * and hand out copies; program names are interned and live as long as the tree.
 */
#ifndef AW_SUPERVISOR_PROCESS_PROCESSES_H
#define AW_SUPERVISOR_PROCESS_PROCESSES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/shared/ring.h"
#include "supervisor/linux/procfs.h"
#include "supervisor/process/program.h"

/* What is expected of the shim in a process. */
enum aw_shim_state {
	AW_SHIM_NONE, /* nothing: static, foreign, set-id, or no shim in this engine */
	AW_SHIM_EXPECTED, /* a dynamic program has just been started */
	AW_SHIM_LOADING,  /* its loader has opened the shim */
	AW_SHIM_READY,	  /* it has said hello */
	AW_SHIM_LOST,	  /* it went on without; said once */
};

/*
 * What part a process plays in the session.  Children play their parent's, and so does
 * the next program, to which it can only add.
 */
struct aw_role {
	const char *mcp;     /* interned: the MCP server that it belongs to, or NULL */
	const char *profile; /* interned: its profiles, ", " between them, or NULL */
	uint32_t profiles;   /* the same, for policy/image/image.h */
};

/* One process, as a copy. */
struct aw_process_info {
	pid_t pid, ppid;
	pid_t inner_pid; /* pid in its own namespace, once told; else pid */
	const char *exe; /* interned */
	enum aw_shim_state shim;
	bool plain_root; /* its root and mount namespace are ours */
	bool filtered;	 /* it, or an ancestor, has installed a filter of its own */
	bool execing;	 /* an exec is under way: exe may be old */
	bool fresh; /* first met after an exec, and not the program that was judged */
	unsigned execs;	    /* how many there had been when it was looked at */
	bool own_rights;    /* it, or an ancestor, has changed ids or capabilities */
	bool own_umask;	    /* it, or an ancestor, has changed the umask */
	bool own_folders;   /* threads may have a umask and a directory of their own */
	int umask;	    /* the last that it set itself, -1 when it set none */
	uint64_t rights_at; /* of no other process, and another after each change */
	bool exe_is_new;    /* exe has been looked up for this very copy */
	struct aw_role role;
	bool turning; /* an exec under way may give it another role */
};

struct aw_processes;

/*
 * sees_execs: every exec is announced before it happens (a kernel layer is there);
 * verifies: aw_processes_verified() is called for each who->fresh that may go on.
 */
struct aw_processes *aw_processes_new(bool sees_execs, bool verifies);

/* Called with the tree unlocked when a process is first seen. pidfd may be -1. */
typedef void (*aw_processes_born)(
	void *ctx, const struct aw_process_info *who, int pidfd);
void aw_processes_on_born(struct aw_processes *tree, aw_processes_born born, void *ctx);

/*
 * Who a thread or process is; makes an entry when it is new. False: it is gone.  Where
 * execs are seen, aw_processes_arrived() follows when one is under way.
 */
bool aw_processes_find(
	struct aw_processes *tree, pid_t tid, struct aw_process_info *ret);

/* The entry of a process only if there is one. */
bool aw_processes_peek(
	struct aw_processes *tree, pid_t pid, struct aw_process_info *ret);

/* An exec that has been judged and is about to happen. */
struct aw_exec {
	pid_t tid;
	enum aw_shim_state shim;
	const char *program; /* its path; NULL: not known */
	bool sure; /* so it will be called: it is neither a script nor in another root
		    */
	struct aw_file_id files[AW_PROGRAM_FILES]; /* what may come of it: program.h */
	bool odd; /* of no kind that is known here: aw_program_is_registered() */
};
void aw_processes_exec(
	struct aw_processes *tree, pid_t pid, const struct aw_exec *exec);

/*
 * A call while an exec was under way (who->execing): which program is it now?  Fills
 * that in, and who->fresh when it is not the program that was judged.  An exec is over
 * when the process runs another file, or when nobody is at it any more, which over says
 * (aw_processes_execs_over()): until then who->execing stays, since another thread may
 * still be inside execve(2).  loads_shim: this is the loader's open of the shim, so the
 * exec has succeeded, and nothing need be looked up.
 */
void aw_processes_arrived(struct aw_processes *tree, struct aw_process_info *who,
	unsigned over, bool loads_shim);

/* It is not the program that was judged, and may go on all the same. */
void aw_processes_verified(struct aw_processes *tree, struct aw_process_info *who);

/*
 * Has every thread that was about to exec come back, or gone?  tid is making a call.
 * Not 0 says so, of the execs that there are now, and only if that call is still
 * waiting afterwards: an exec ends all other threads before it changes its number, so
 * what waits then is either behind it or was left alone by a thread that has ended.
 */
unsigned aw_processes_execs_over(struct aw_processes *tree, pid_t pid, pid_t tid);

/*
 * Does it run what one of its execs under way was judged as, or still what it ran
 * before them?  The file is compared, so that a name that changes means nothing.
 */
bool aw_processes_is_foreseen(struct aw_processes *tree, pid_t pid);

/* Which program it is at this moment, for a copy alone: nothing is settled by it. */
void aw_processes_look(struct aw_processes *tree, struct aw_process_info *who);

/* The one copy of a text, which lives as long as the tree. */
const char *aw_processes_intern(struct aw_processes *tree, const char *text);

/*
 * processes_role.c: it is about to become a program with this role.  The role is its
 * own from the moment that the exec has succeeded: aw_processes_turned() is to be
 * called for each who->turning before anything is decided, and fills the role in.
 * before: its mark, taken while this exec was still to come.
 */
void aw_processes_turn(struct aw_processes *tree, pid_t pid, const struct aw_role *role,
	const struct aw_proc_mark *before);
void aw_processes_turned(struct aw_processes *tree, struct aw_process_info *who);

/* The same where the exec has succeeded already. */
void aw_processes_set_role(struct aw_processes *tree, struct aw_process_info *who,
	const struct aw_role *role);

/*
 * Did that exec fail after all? Then what was expected of the shim before holds again.
 * Looks at the program's name and mappings, so only for when something seems wrong.
 */
bool aw_processes_exec_failed(struct aw_processes *tree, pid_t pid);
void aw_processes_set_shim(
	struct aw_processes *tree, pid_t pid, enum aw_shim_state shim);

/*
 * Its threads may have working directories of their own, which the shim cannot tell:
 * let the kernel layer see all its calls from now on.
 */
void aw_processes_set_plain(struct aw_processes *tree, pid_t pid);

/* What it calls itself, behind a sandbox with a pid namespace. */
void aw_processes_set_inner_pid(struct aw_processes *tree, pid_t pid, pid_t inner_pid);

/* From now on it has a filter of its own / another root; children inherit the first. */
void aw_processes_set_filtered(struct aw_processes *tree, pid_t pid);
void aw_processes_set_moved_root(struct aw_processes *tree, pid_t pid);
/* By a call that others may share in, nobody knows who (clone(2), CLONE_FS). */
void aw_processes_set_all_moved_root(struct aw_processes *tree);

/*
 * Some process of the session adopts the orphans of those below it: who the parent of a
 * process is does not say any more who made it.
 */
void aw_processes_set_adopts(struct aw_processes *tree);

/* It has changed its ids or capabilities / its umask; children inherit that. */
void aw_processes_set_rights(struct aw_processes *tree, pid_t pid);
void aw_processes_set_umask(struct aw_processes *tree, pid_t pid, int mask);

/* A ring of this process; several may exist, the tree owns them. */
/* The ring's events are those of the program that it runs now. */
int aw_processes_add_ring(struct aw_processes *tree, const struct aw_process_info *who,
	struct aw_ring *ring, uint32_t size);

/* How many it has. */
size_t aw_processes_rings(struct aw_processes *tree, pid_t pid);

/* It is gone: status as wait(2) has it, or -1. The entry stays until its rings are
 * read. */
void aw_processes_exited(struct aw_processes *tree, pid_t pid, int status);

/*
 * One ring or one exited process at a time, for the drainer alone: calls on_ring for
 * each ring (true: it had something), then on_exit for each process that has exited,
 * whose entry and rings are released afterwards.  Returns whether anything was done.
 */
struct aw_processes_visitor {
	bool (*on_ring)(void *ctx, const struct aw_process_info *who,
		struct aw_reader *reader, bool last);
	void (*on_exit)(void *ctx, const struct aw_process_info *who, int status);
	void *ctx;
};
bool aw_processes_visit(
	struct aw_processes *tree, const struct aw_processes_visitor *visitor);

/* Every process known to be alive, at most max; returns how many. */
size_t aw_processes_alive(struct aw_processes *tree, pid_t *ret, size_t max);

#endif
