/* SPDX-License-Identifier: Apache-2.0 */
/*
 * processes_table.h - the table behind processes.h; for the processes*.c files alone.
 *
 * Every function here wants the tree's lock held.
 */
#ifndef AW_SUPERVISOR_PROCESSES_TABLE_H
#define AW_SUPERVISOR_PROCESSES_TABLE_H

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define uthash_fatal(msg) abort()
#include <uthash.h>

#include "supervisor/processes.h"

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

/* The one copy of a program's name, which lives as long as the tree. */
const char *aw_table_intern(struct aw_processes *tree, const char *text);

struct process *aw_table_by_pid(struct aw_processes *tree, pid_t pid);

/* Ask /proc which program it runs; an exec under way is over then. */
void aw_table_refresh_exe(struct aw_processes *tree, struct process *p);

void aw_table_free_rings(struct process *p);

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
