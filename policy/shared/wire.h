/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire.h - the messages between shim and supervisor on the session's socket.
 *
 * Used by the preload engine; the hybrid engine asks by notification.  One connection,
 * one message, one answer (SOCK_STREAM; native byte order, same machine).  The sender's
 * pid is the kernel's (SO_PEERCRED), never one that a message claims.
 */
#ifndef AW_POLICY_SHARED_WIRE_H
#define AW_POLICY_SHARED_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "policy/error.h"

#define AW_WIRE_MAGIC 0x61777732u /* "aww2" */
#define AW_WIRE_PARTS 5
#define AW_WIRE_MAX (256u * 1024) /* bytes behind the head */

enum aw_wire_type {
	AW_WIRE_REGISTER = 1, /* answer: ring and session descriptors (SCM_RIGHTS) */
	AW_WIRE_REGISTER_BIG, /* answer: a larger ring */
	AW_WIRE_AGAIN,	      /* answer: the new session descriptor */
	AW_WIRE_ASK,	      /* judge and log this call; answer: a verdict */
	AW_WIRE_EXEC,	      /* as ASK; part 3 is argv, each string with its NUL */
	AW_WIRE_MOVED,	      /* a directory was renamed: bump the generation */
	AW_WIRE_TYPES
};

/* Parts in order: path, path2, raw, raw2 (or argv), socket address. */
struct aw_wire_head {
	uint32_t magic;
	uint16_t type;		/* enum aw_wire_type */
	uint16_t call;		/* enum aw_call */
	uint8_t action, effect; /* enum aw_action, enum aw_effect */
	uint8_t reserved[6];
	uint64_t ts; /* CLOCK_REALTIME in nanoseconds */
	uint32_t len[AW_WIRE_PARTS];
};

struct aw_wire_answer {
	uint32_t magic;
	uint32_t verdict; /* enum aw_verdict */
	uint32_t refuse;  /* 1: the call must fail */
	int32_t err;	  /* with this errno */
};

/* 0 when head is a message that may follow nothing; the sum of its parts in *ret_size. */
int aw_wire_check(
	const struct aw_wire_head *head, size_t *ret_size, struct aw_error *err);

#endif
