/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.h - the session memfd: control page, gate page, policy image.
 *
 *   offset 0      struct aw_page    one page, written by the supervisor alone
 *   offset 4096   gate              one page of code, mapped at AW_GATE_ADDRESS
 *   offset 8192   image             policy/image/image.h
 *
 * The supervisor maps the first page writable, then seals the memfd against growth,
 * shrinking and future writes (memfd_create(2), F_SEAL_FUTURE_WRITE), so that a target
 * can only read.  A new policy is a new memfd; the old page's generation says so.
 */
#ifndef AW_POLICY_SHARED_PAGE_H
#define AW_POLICY_SHARED_PAGE_H

#include <stdatomic.h>
#include <stdint.h>

#define AW_PAGE_MAGIC 0x61776331u /* "awc1" */
#define AW_PAGE_SIZE 4096
#define AW_GATE_OFFSET 4096
#define AW_IMAGE_OFFSET 8192

/*
 * Where the gate lies in every process: below the first address of non-PIE programs
 * (0x200000 for lld, 0x400000 for GNU ld) and above vm.mmap_min_addr; outside the
 * shadow memory of ASan, TSan and MSan, rr's page (0x70000000), Go's arenas and what
 * MAP_32BIT hands out.
 */
#define AW_GATE_ADDRESS 0x1d0000ul

/* A session of at most this size is mapped as a whole, with the gate in its place. */
#define AW_AROUND_GATE 65536

/* The address that the filter sees: behind the system call instruction. */
#if defined(__x86_64__)
#define AW_GATE_RETURN (AW_GATE_ADDRESS + 2)
#else
#define AW_GATE_RETURN (AW_GATE_ADDRESS + 4)
#endif

/* How the shim has to work; one value at a time in aw_page.work. */
enum aw_work {
	AW_WORK_NONE, /* step aside: no decision, no event */
	AW_WORK_FAST, /* hybrid, audit, verdicts local: decide, log, go through the gate
		       */
	AW_WORK_KERNEL,	 /* every watched call is notified; only carry the shim on */
	AW_WORK_READS,	 /* hybrid, enforce, Landlock refuses what may not be read:
			    decide and log reading opens here, the rest is notified */
	AW_WORK_PRELOAD, /* no kernel layer: decide and log here, ask over the socket */
};

struct aw_page {
	uint32_t magic;
	uint32_t version;
	_Atomic uint32_t work; /* enum aw_work; NONE once the supervisor is gone */
	_Atomic uint32_t generation; /* +1: cached directories may have moved */
	_Atomic uint32_t links;	     /* +1: a path may lead elsewhere than it did */
	_Atomic uint32_t stale;	     /* a newer memfd exists: fetch it */
	_Atomic uint32_t doorbell;   /* futex: the drainer sleeps on it */
	_Atomic uint32_t drowsy;     /* 1 while the drainer sleeps */
	_Atomic uint32_t
		interrupted; /* +1: a signal ends a call that waits for an answer */
	uint32_t enforce;    /* 1: denied calls fail */
	uint32_t ask;	     /* 1: every call waits for the supervisor */
	uint32_t hides;	     /* 1: metadata is watched */
	uint32_t profiles;   /* 1: an exec may enter one */
	uint32_t refusal;    /* errno of a denied connect */
	uint64_t image_size;
	char shim[1024];  /* what LD_PRELOAD must hold */
	char socket[128]; /* preload engine: where to ask; "" otherwise */
	char session[64];
};

/*
 * hello: an open of this name with these flags.  The supervisor answers it with the
 * descriptor of a fresh ring whose header holds the session memfd's descriptor. Outside
 * a session the name does not exist.
 */
#define AW_REGISTER_PATH "/proc/self/agentwatch-hello"
/* has the session already, and -big wants a larger ring */
#define AW_REGISTER_CHILD "/proc/self/agentwatch-hello-child"
#define AW_REGISTER_BIG "/proc/self/agentwatch-hello-big"
/* the new session memfd alone */
#define AW_REGISTER_AGAIN "/proc/self/agentwatch-hello-again"

#endif
