/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_ring.c - whatever a process writes into its ring, the reader stays inside it,
 * gives out records whose parts lie in its own copy, consumes no more than head says
 * was written, and comes to an end.
 *
 * Input: one byte for the size, one for patience, eight for head, eight for the
 * reader's tail; the rest is repeated over the ring.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "policy/shared/ring.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct aw_taken taken;

static void must_be_inside(const void *part, size_t len)
{
	const unsigned char *at = part;

	if (at < taken.bytes || len > sizeof(taken.bytes) ||
		(size_t)(at - taken.bytes) > sizeof(taken.bytes) - len)
		abort();
}

static void must_be_sane(void)
{
	if (taken.state != AW_REC_PENDING && taken.state != AW_REC_DONE &&
		taken.state != AW_REC_FINAL)
		abort();
	must_be_inside(taken.path, taken.head.path_len);
	must_be_inside(taken.path2, taken.head.path2_len);
	must_be_inside(taken.raw, taken.head.raw_len);
	must_be_inside(taken.raw2, taken.head.raw2_len);
	must_be_inside(taken.address, taken.head.address_len);
}

/* Until the reader has had enough; false when it does not come to an end. */
static bool read_all(struct aw_reader *reader, bool patient, bool skip)
{
	unsigned steps = reader->size / sizeof(struct aw_record) + 2;

	while (steps--) {
		if (aw_ring_take(reader, patient, skip, &taken) != AW_TAKE_RECORD)
			return true;
		must_be_sane();
	}
	return false;
}

/* A record of our own in the middle of the rest: it must not be in the way. */
static void put_one(struct aw_ring *ring)
{
	const struct aw_record head = {.path_len = 5, .raw_len = 3, .address_len = 16};
	const void *const parts[5] = {"/a/bc", NULL, "a/b", NULL, "sixteen bytes..."};
	struct aw_ticket ticket;

	if (aw_ring_put(ring, &head, parts, AW_REC_PENDING, 0, &ticket))
		aw_ring_result(&ticket, AW_REC_DONE, 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct aw_reader reader = {.ring = NULL};
	uint64_t head, start;
	struct aw_ring *ring;
	unsigned char *bytes;

	if (size < 19)
		return 0;
	reader.size = 256u << (data[0] & 7);
	ring = aligned_alloc(64, AW_RING_HEADER + reader.size);
	if (!ring)
		return 0;
	memset(ring, 0, AW_RING_HEADER);
	memcpy(&head, data + 2, 8);
	memcpy(&start, data + 10, 8);
	start &= ~7ull; /* the reader's own, always whole words */
	bytes = (unsigned char *)ring + AW_RING_HEADER;
	for (uint32_t i = 0; i < reader.size; i++)
		bytes[i] = data[18 + i % (size - 18)];
	ring->magic = AW_RING_MAGIC;
	ring->size = reader.size;
	atomic_store(&ring->head, head);
	atomic_store(&ring->tail, start);
	reader.ring = ring;
	reader.tail = start;
	/* where a process has put its head between words it ends its own writers, as
	 * aarch64 has no atomics there; the reader must not care */
	if (data[1] & 4 && !(head & 7))
		put_one(ring);
	head = atomic_load(&ring->head);
	if (!read_all(&reader, data[1] & 1, data[1] & 2))
		abort();
	if (reader.tail - start > reader.size ||
		(reader.tail != start && reader.tail - start > head - start))
		abort();
	if (reader.tail & 7)
		abort();
	free(ring);
	return 0;
}
