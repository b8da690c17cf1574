/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.h - a watched process's events on their way to the supervisor, in shared memory.
 *
 * A memfd: one header page, then 2^n bytes of records.  Any number of threads of the
 * process (and children that share its memory) write without locks; the supervisor
 * alone reads.  Positions count bytes and never wrap in practice (64 bit); a record
 * starts at position modulo size and may wrap around.
 *
 * A writer reserves by moving head, fills the record in, and commits by storing the
 * first word with release order.  The word carries the low bits of its own position, so
 * that leftovers of an earlier lap are never taken for a record.  A record is committed
 * before its call is made, in state PENDING, and the result is put in afterwards by
 * compare and exchange, which fails harmlessly when the reader has been faster.
 *
 * The target can write anything here.  The reader copies each record out before
 * looking, bounds every length, and gives a ring up when its numbers cannot be true.
 */
#ifndef AW_POLICY_SHARED_RING_H
#define AW_POLICY_SHARED_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AW_RING_MAGIC 0x61777231u /* "awr1" */
#define AW_RING_HEADER 4096
#define AW_RING_SMALL (64u * 1024) /* bytes of records */
#define AW_RING_BIG (1024u * 1024)
#define AW_RING_NATIVE 16

struct aw_ring {
	uint32_t magic;
	uint32_t size;	       /* of the record area, a power of two */
	int32_t owner;	       /* process that said hello, as the supervisor sees it */
	int32_t session_fd;    /* hello: the session memfd in the target, or -1 */
	uint32_t session_size; /* hello: its size in bytes */
	_Atomic uint32_t
		plain; /* 1: the target has a filter of its own; only libc's calls */
	_Atomic uint32_t retired; /* 1: ask for a larger ring */
	_Atomic uint32_t closed;  /* 1: its process is gone, nobody reads it any more */
	_Atomic uint32_t waiters; /* futex: writers wait here for room */
	uint32_t profiles; /* hello: those that its process is in; policy/image/image.h
			    */
	/* 1: a writer has waited in vain, so others need not; the reader takes it back */
	_Atomic uint32_t stuck;
	/* programs of our architecture, as the writers know them; children share it */
	_Atomic uint64_t native[AW_RING_NATIVE];
	_Atomic uint64_t head __attribute__((aligned(64)));
	_Atomic uint64_t tail __attribute__((aligned(64)));
};

enum aw_record_state {
	AW_REC_EMPTY,
	AW_REC_RESERVED,
	AW_REC_PENDING, /* committed, the call is under way */
	AW_REC_DONE,	/* committed, with its result */
	AW_REC_VOID,	/* committed, means nothing: the call went another way */
	AW_REC_FINAL,	/* committed, and no result will come */
};

/* bits of aw_record.flags */
enum {
	AW_REC_REFUSED = 1, /* the shim refused it: the verdict was carried out */
	AW_REC_ANSWER = 2,  /* no call: what a look-up of the name in raw gave; path
			       holds addresses of AW_RING_ANSWER bytes */
};

/* One address that a name has, IPv4-mapped. */
#define AW_RING_ANSWER 16
#define AW_RING_ANSWERS 64 /* of one look-up, at most */

struct aw_record {
	_Atomic uint64_t word; /* position:32 | length/8:16 | errno:12 | state:4 */
	uint64_t ts;	       /* CLOCK_REALTIME in nanoseconds */
	int32_t pid;
	uint32_t rule;
	uint16_t call; /* enum aw_call */
	uint8_t action, verdict;
	uint16_t path_len, path2_len, raw_len, raw2_len;
	uint16_t address_len; /* struct sockaddr behind the strings */
	uint16_t flags;
	/* path, path2, raw, raw2, address follow without terminators */
};

#define AW_RECORD_MAX (4 * 4096 + 256)

static inline uint64_t aw_record_word(
	uint64_t pos, size_t len, unsigned err, enum aw_record_state state)
{
	return (pos >> 3) << 32 | (uint64_t)(len >> 3 & 0xffff) << 16 |
	       (uint64_t)(err & 0xfff) << 4 | (unsigned)state;
}

static inline size_t aw_word_len(uint64_t word)
{
	return (size_t)(word >> 16 & 0xffff) << 3;
}

static inline unsigned aw_word_errno(uint64_t word)
{
	return word >> 4 & 0xfff;
}

static inline enum aw_record_state aw_word_state(uint64_t word)
{
	return (enum aw_record_state)(word & 15);
}

static inline bool aw_word_is_at(uint64_t word, uint64_t pos)
{
	return word >> 32 == ((pos >> 3) & 0xffffffff);
}

/* --- the writer's half: async-signal-safe, no system calls --- */

/* What aw_ring_put() gives back to fill the result in. */
struct aw_ticket {
	struct aw_ring *ring; /* NULL: nothing was put */
	uint64_t pos, word;
};

/*
 * Put one record: head (its word is ignored) and the bytes of its five parts.  False
 * when there is no room.  *ret may be NULL; state is PENDING or DONE (with err).
 */
bool aw_ring_put(struct aw_ring *ring, const struct aw_record *head,
	const void *const parts[5], enum aw_record_state state, unsigned err,
	struct aw_ticket *ret);

/* The call came back with this errno (0: success), or went another way (VOID). */
void aw_ring_result(
	const struct aw_ticket *ticket, enum aw_record_state state, unsigned err);

/* Bytes written and not yet read. */
uint64_t aw_ring_used(const struct aw_ring *ring);

/* --- the reader's half --- */

enum aw_take {
	AW_TAKE_RECORD, /* *ret filled in */
	AW_TAKE_EMPTY,	/* nothing to read */
	AW_TAKE_WAIT,	/* the next record is not committed, or its call is under way */
	AW_TAKE_BROKEN, /* the numbers cannot be true: give the ring up */
};

/* The reader's private state; its own tail, never the shared one, is believed. */
struct aw_reader {
	struct aw_ring *ring;
	uint32_t size;
	uint64_t tail;
	uint64_t skipped; /* holes left by writers that died */
	uint64_t stuck_at,
		stuck_since; /* for the caller: where and since when it waits */
	bool broken;	     /* for the caller: given up */
};

struct aw_taken {
	struct aw_record head;
	enum aw_record_state state;
	unsigned err;
	const char *path, *path2, *raw, *raw2;
	const void *address;
	_Alignas(8) unsigned char bytes[AW_RECORD_MAX];
};

/*
 * Take the next record.  With patient true a PENDING record is left for its result.
 * With skip true a hole (a reservation that was never committed) is passed over.
 */
enum aw_take aw_ring_take(
	struct aw_reader *reader, bool patient, bool skip, struct aw_taken *ret);

#endif
