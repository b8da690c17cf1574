/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fair.h - no process takes all notification threads.
 *
 * A call can hold its thread up: its arguments are read while another thread of the
 * process changes its memory map without end, say.  So the last thread that is free
 * does not take a call of a process that already has half of them; such a call is put
 * aside until one of these is through.
 */
#ifndef AW_SUPERVISOR_LINUX_SECCOMP_FAIR_H
#define AW_SUPERVISOR_LINUX_SECCOMP_FAIR_H

#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>

struct aw_fair;

/* For at most so many threads, numbered from 0; NULL: no memory. */
struct aw_fair *aw_fair_create(unsigned most, size_t request_size);
void aw_fair_free(struct aw_fair *fair); /* NULL is fine */

enum aw_fair_turn {
	AW_FAIR_NOW,   /* deal with it */
	AW_FAIR_LAST,  /* the same; none is left and half are held up: add a thread */
	AW_FAIR_LATER, /* it is put aside */
};

/* Thread `slot` of so many has received a call. */
enum aw_fair_turn aw_fair_begin(struct aw_fair *fair, unsigned slot, unsigned threads,
	const struct seccomp_notif *request);

/*
 * It is through with its call.  True: *request is one that was put aside, which it has
 * to deal with now.
 */
bool aw_fair_next(struct aw_fair *fair, unsigned slot, unsigned threads,
	struct seccomp_notif *request);

/* There was always a thread free lately. */
bool aw_fair_is_calm(struct aw_fair *fair);

#endif
