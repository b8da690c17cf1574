/* SPDX-License-Identifier: Apache-2.0 */
/*
 * processes_internal.h - the table behind processes.h; for the processes*.c files
 * alone.
 *
 * Every function here wants the tree's lock held.
 */
#ifndef AW_SUPERVISOR_PROCESS_PROCESSES_INTERNAL_H
#define AW_SUPERVISOR_PROCESS_PROCESSES_INTERNAL_H

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "supervisor/linux/procfs.h"
#include "supervisor/process/processes.h"
#include "supervisor/util/hash.h"

struct ring_entry {
	struct aw_reader reader;
	const char *exe;     /* interned: the program that writes here */
	struct aw_role role; /* of that program */
	struct ring_entry *next;
};

enum { AW_EXECS = 8 };

struct process {
	struct aw_process_info who;
	struct ring_entry *rings; /* owned */
	const char *exe_next; /* interned: what the exec under way should make of it */
	bool exe_sure;	      /* and will, if it succeeds */
	const char *exe_before; /* the last exec: what it was, in case it fails */
	enum aw_shim_state shim_before;
	pid_t execs[AW_EXECS];	       /* threads that are at it; 0: a free place */
	bool more_execs;	       /* than places */
	unsigned exec_count;	       /* of all that there were; 0: none was */
	struct aw_file_id file_before; /* what it runs until one succeeds */
	struct aw_file_id files[AW_PROGRAM_FILES]; /* of the last exec */
	bool odd_file;
	struct aw_role role_next;	 /* turning: what it will be */
	struct aw_proc_mark mark_before; /* turning: of what it is */
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

/* A program that plays a role, by what the kernel tells its descendants apart by. */
struct image {
	unsigned long at[7];
	struct aw_role role;
	UT_hash_handle hh;
};

/* A file that some exec may have come to. */
struct foreseen {
	struct aw_file_id file;
	UT_hash_handle hh;
};

struct aw_processes {
	pthread_mutex_t lock;
	struct image *images; /* of all that ever had a role */
	struct aw_role lost;  /* of those that ended before they were seen to begin */
	struct aw_role all;   /* the roles of all of them together */
	unsigned turning;     /* how many processes are */
	struct process *processes;
	struct thread *threads;
	struct name *names;
	aw_processes_born born;
	void *ctx;
	bool sees_execs;
	bool verifies; /* what has become another program waits for a word */
	bool adopts;   /* some process is a subreaper (prctl(2)) */
	bool moved;    /* some process has changed its root */
	struct foreseen *foreseen;  /* files that execs were judged as */
	bool odd_file;		    /* what is registered may have come of one */
	bool own_rights, own_umask; /* some process has changed these */
	uint64_t changes;	    /* of rights, in any process */
};

/* The one copy of a program's name, which lives as long as the tree. */
const char *aw_table_intern(struct aw_processes *tree, const char *text);

struct process *aw_table_by_pid(struct aw_processes *tree, pid_t pid);

/* Ask /proc which program it runs; an exec may be under way all the same. */
void aw_table_refresh_exe(struct aw_processes *tree, struct process *p);

/* processes_role.c: the role of a process that is new here; parent may be NULL. */
struct aw_role aw_table_role(
	struct aw_processes *tree, pid_t pid, const struct process *parent);
/* It has ended: an exec under way may have succeeded. */
void aw_table_role_ends(struct aw_processes *tree, struct process *p);

/* Do something with the process p_ if it is known; takes the lock. */
#define WITH_PROCESS(tree, pid, body)                                                  \
	do {                                                                           \
		struct process *p_;                                                    \
		pthread_mutex_lock(&(tree)->lock);                                     \
		p_ = aw_table_by_pid(tree, pid);                                       \
		if (p_) {                                                              \
			body;                                                          \
		}                                                                      \
		pthread_mutex_unlock(&(tree)->lock);                                   \
	} while (0)

#endif
