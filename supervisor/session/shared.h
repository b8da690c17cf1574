/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared.h - the memory that the supervisor shares with watched processes.
 *
 * Both memfds are sealed before a target gets hold of them: a target that could shrink
 * one would kill its reader with SIGBUS (memfd_create(2), "File sealing").
 */
#ifndef AW_SUPERVISOR_SESSION_SHARED_H
#define AW_SUPERVISOR_SESSION_SHARED_H

#include <stddef.h>
#include <stdint.h>

#include "policy/error.h"
#include "policy/shared/page.h"
#include "policy/shared/ring.h"

/* The session memfd; page.h says what is where. */
struct aw_shared {
	int fd;		      /* for targets; owned */
	struct aw_page *page; /* our writable mapping of the first page; owned */
};

/* What goes into the control page once and for all. */
struct aw_shared_facts {
	enum aw_work work;
	uint32_t enforce, ask, hides, profiles, refusal;
	const char *shim, *socket, *session; /* socket may be NULL */
};

int aw_shared_create(const struct aw_shared_facts *facts, const void *image,
	size_t image_size, struct aw_shared *ret, struct aw_error *err);
void aw_shared_release(struct aw_shared *shared);

/* Cached directory names may be wrong from now on. */
void aw_shared_moved(struct aw_shared *shared);

/* A signal ends a call that waits for an answer: the library must not make it again. */
void aw_shared_interrupted(struct aw_shared *shared);

/* Paths that were known to have no symbolic link in them may have one from now on. */
void aw_shared_led(struct aw_shared *shared);

/* A fresh ring for process owner. *ret_fd (owned by the caller) is for the target. */
int aw_ring_create(uint32_t size, int owner, struct aw_ring **ret_ring, int *ret_fd,
	struct aw_error *err);
void aw_ring_unmap(struct aw_ring *ring, uint32_t size);

#endif
