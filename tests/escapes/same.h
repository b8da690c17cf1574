/* SPDX-License-Identifier: Apache-2.0 */
/*
 * same.h - calls that are allowed: what they give must be what they give without a
 * watcher.
 *
 * `same SECTION` works in an empty current folder and prints results that are equal in
 * every run: no numbers of processes, no times, no absolute paths.  same.py compares
 * the output byte for byte.
 */
#ifndef AW_TESTS_ESCAPES_SAME_H
#define AW_TESTS_ESCAPES_SAME_H

#include <stdbool.h>

/* Print `what: ok` or `what: errno name`; returns rc. */
long say(const char *what, long rc);
/* Print `what: yes` or `what: no`. */
void holds(const char *what, bool yes);
/* A file with this text. */
void file(const char *path, const char *text);
/* What is in a file, its mode, owner and kind, in one line. */
void show(const char *path);
/* Descriptors that are open. */
int descriptors(void);
/* Milliseconds of the monotonic clock. */
long clock_ms(void);

void same_errors(void);	 /* failing calls, one for one */
void same_opens(void);	 /* flags, descriptors, modes, umask */
void same_types(void);	 /* what the type of a file says; leases */
void same_ids(void);	 /* users, groups, capabilities */
void same_self(void);	 /* what /proc/self and /dev mean */
void same_signals(void); /* a storm of signals: no call is made twice */
void same_sockets(void);
void same_queues(void);	 /* servers that let wait */
void same_waits(void);	 /* calls that block */
void same_threads(void); /* threads with folders and ids of their own */

#endif
