/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_note.h - who has connected to the proxy, as the hands saw it.
 *
 * A note is a hint of where to look first: descriptors are passed on and closed, so it
 * is verified whenever it is used.  Notes of other sockets take its place in time.  Any
 * thread may be in here at any time.
 */
#ifndef AW_SUPERVISOR_NET_EGRESS_CLIENT_NOTE_H
#define AW_SUPERVISOR_NET_EGRESS_CLIENT_NOTE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { AW_CLIENT_NOTES = 1024 };

/* Its parts may be of two notes: it is verified anyway. */
struct aw_client_note {
	_Atomic uint64_t inode; /* of the client's socket */
	_Atomic int pid, number;
};

struct aw_client_notes {
	_Atomic unsigned port; /* of the proxy; 0: there is none */
	struct aw_client_note all[AW_CLIENT_NOTES];
};

static inline void aw_client_note(
	struct aw_client_notes *notes, uint64_t inode, pid_t pid, int number)
{
	struct aw_client_note *note = &notes->all[inode % AW_CLIENT_NOTES];

	atomic_store(&note->pid, pid);
	atomic_store(&note->number, number);
	atomic_store(&note->inode, inode);
}

/* Who had it as which descriptor; false: nobody is known. */
static inline bool aw_client_noted(
	struct aw_client_notes *notes, uint64_t inode, pid_t *ret_pid, int *ret_number)
{
	struct aw_client_note *note = &notes->all[inode % AW_CLIENT_NOTES];

	if (!inode || atomic_load(&note->inode) != inode)
		return false;
	*ret_pid = atomic_load(&note->pid);
	*ret_number = atomic_load(&note->number);
	return *ret_pid > 0;
}

#endif
