/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arguments.h - what one call is about, taken from its arguments by its row in
 * calls.def.
 */
#ifndef AW_PRELOAD_ARGUMENTS_H
#define AW_PRELOAD_ARGUMENTS_H

#include "policy/calls.h"
#include "policy/shared/ring.h"
#include "preload/gate.h"

/* What one call is about, built in scratch memory. */
struct aw_subject {
	struct aw_record head;
	const void *parts[5]; /* path, path2, raw, raw2, address */
};

/* Paths into scratch and s; false: there is nothing to judge (the kernel will refuse). */
bool aw_subject_files(struct aw_self *self, struct aw_scratch *scratch,
	const struct aw_syscall *row, const long args[6], struct aw_subject *s);

/* A socket address; false: none, or it cannot be read. */
bool aw_subject_network(struct aw_self *self, struct aw_scratch *scratch, int effect,
	const struct aw_syscall *row, const long args[6], struct aw_subject *s);

/* Put the record of a judged call; a full ring goes over the socket.  judge.c */
void aw_put_call(struct aw_self *self, const struct aw_syscall *row,
	const struct aw_subject *s, struct aw_passage *ret);

#endif
