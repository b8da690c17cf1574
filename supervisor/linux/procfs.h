/* SPDX-License-Identifier: Apache-2.0 */
/*
 * procfs.h - what /proc tells about a process (proc(5)).
 */
#ifndef AW_SUPERVISOR_LINUX_PROCFS_H
#define AW_SUPERVISOR_LINUX_PROCFS_H

#include <stdbool.h>
#include <sys/types.h>

/* The text of the link /proc/PID/what, terminated; its length, or -1 with errno. */
ssize_t aw_proc_link(pid_t pid, const char *what, char *to, size_t size);

/* The process that a thread belongs to, and its parent; false: it is gone. */
bool aw_proc_parent(pid_t tid, pid_t *ret_pid, pid_t *ret_ppid);

/* Is there a process or thread of this number? */
bool aw_proc_exists(pid_t pid);

/* Its number in the innermost pid namespace that it is in; pid itself when unknown. */
pid_t aw_proc_inner_pid(pid_t pid);

/* The number of its group there; 0: the group was made outside of it. */
pid_t aw_proc_inner_group(pid_t pid);

/* Is it in a pid namespace below ours? */
bool aw_proc_is_inside(pid_t pid);

/* What /proc/PID/stat says; terminal: device number of the controlling one, 0 without. */
struct aw_proc_stat {
	char state; /* 'R', 'S', 'T', 'Z', ... */
	pid_t ppid;
	dev_t terminal;
	int threads;
};
bool aw_proc_stat(pid_t pid, struct aw_proc_stat *ret);

/*
 * Where the kernel has put what a process runs: the same in a process and in what it
 * forks, and others after each exec.  Only the kernel writes these numbers, but for
 * PR_SET_MM, which enforce refuses.  forked: no exec since the process was made.
 */
struct aw_proc_mark {
	bool known; /* false: it does not let itself be looked at */
	bool forked;
	bool moving; /* an exec is under way, and nothing in its place yet */
	unsigned long at[7];
};
struct aw_proc_mark aw_proc_mark(pid_t pid);

/* Is one the mark of what ran before an exec, and the other of what runs behind it? */
bool aw_proc_mark_differs(
	const struct aw_proc_mark *before, const struct aw_proc_mark *after);

/* Its real user; false: it is gone. */
bool aw_proc_user(pid_t pid, uid_t *ret);

/* The numbers of its threads; *ret is owned by the caller. */
size_t aw_proc_threads(pid_t pid, pid_t **ret);

/* All processes of a group; *ret is owned by the caller, NULL when /proc fails. */
size_t aw_proc_group(pid_t group, pid_t **ret);

/* The process is stopped at this moment. */
bool aw_proc_stopped(pid_t pid);

/* Room for /proc/TID/status with more than a thousand supplementary groups. */
enum { AW_PROC_STATUS = 32 * 1024 };

/* The whole of /proc/TID/status, terminated; false: it is gone. */
bool aw_proc_status(pid_t tid, char *to, size_t size);

/* The value behind "Name:" in such a text, without leading blanks; NULL: not there. */
const char *aw_proc_status_value(const char *status, const char *name);

/* Same root directory and mount namespace as ours. */
bool aw_proc_has_our_view(pid_t pid);

/* Who has this number in the pid namespace of a process; 0: nobody. */
pid_t aw_proc_outer_pid(pid_t pid, pid_t inner_pid);

/* The session's memory is mapped: the program that runs has said hello. */
bool aw_proc_maps_session(pid_t pid);

#endif
