/* SPDX-License-Identifier: Apache-2.0 */
/* ring.c - writing and reading the event ring. */
#include "policy/shared/ring.h"

#include <string.h>

static unsigned char *data_of(struct aw_ring *ring)
{
	return (unsigned char *)ring + AW_RING_HEADER;
}

static _Atomic uint64_t *word_at(struct aw_ring *ring, uint32_t size, uint64_t pos)
{
	return (_Atomic uint64_t *)(void *)(data_of(ring) + (pos & (size - 1)));
}

static void copy_in(
	struct aw_ring *ring, uint32_t size, uint64_t pos, const void *from, size_t len)
{
	size_t at = pos & (size - 1), first = size - at < len ? size - at : len;

	memcpy(data_of(ring) + at, from, first);
	if (first < len)
		memcpy(data_of(ring), (const char *)from + first, len - first);
}

static void copy_out(
	struct aw_ring *ring, uint32_t size, uint64_t pos, void *to, size_t len)
{
	size_t at = pos & (size - 1), first = size - at < len ? size - at : len;

	memcpy(to, data_of(ring) + at, first);
	if (first < len)
		memcpy((char *)to + first, data_of(ring), len - first);
}

static bool reserve(struct aw_ring *ring, size_t len, uint64_t *ret_pos)
{
	uint32_t size = ring->size;
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

	do {
		uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);

		if (head - tail + len > size)
			return false;
	} while (!atomic_compare_exchange_weak_explicit(&ring->head, &head, head + len,
		memory_order_acq_rel, memory_order_relaxed));
	*ret_pos = head;
	return true;
}

bool aw_ring_put(struct aw_ring *ring, const struct aw_record *head,
	const void *const parts[5], enum aw_record_state state, unsigned err,
	struct aw_ticket *ret)
{
	const size_t lens[5] = {head->path_len, head->path2_len, head->raw_len,
		head->raw2_len, head->address_len};
	size_t len = sizeof(*head);
	uint64_t pos, at, word;

	for (int i = 0; i < 5; i++)
		len += lens[i];
	len = (len + 7) & ~(size_t)7;
	if (!reserve(ring, len, &pos))
		return false;

	atomic_store_explicit(word_at(ring, ring->size, pos),
		aw_record_word(pos, len, 0, AW_REC_RESERVED), memory_order_relaxed);
	copy_in(ring, ring->size, pos + sizeof(head->word),
		(const char *)head + sizeof(head->word),
		sizeof(*head) - sizeof(head->word));
	at = pos + sizeof(*head);
	for (int i = 0; i < 5; i++) {
		if (lens[i])
			copy_in(ring, ring->size, at, parts[i], lens[i]);
		at += lens[i];
	}
	word = aw_record_word(pos, len, err, state);
	atomic_store_explicit(
		word_at(ring, ring->size, pos), word, memory_order_release);
	if (ret)
		*ret = (struct aw_ticket){ring, pos, word};
	return true;
}

void aw_ring_result(
	const struct aw_ticket *ticket, enum aw_record_state state, unsigned err)
{
	uint64_t expected = ticket->word;

	if (!ticket->ring)
		return;
	atomic_compare_exchange_strong_explicit(
		word_at(ticket->ring, ticket->ring->size, ticket->pos), &expected,
		aw_record_word(ticket->pos, aw_word_len(ticket->word), err, state),
		memory_order_release, memory_order_relaxed);
}

uint64_t aw_ring_used(const struct aw_ring *ring)
{
	return atomic_load_explicit(&ring->head, memory_order_relaxed) -
	       atomic_load_explicit(&ring->tail, memory_order_relaxed);
}

/* Let the writers have everything up to pos back. */
static void release(struct aw_reader *reader, uint64_t pos)
{
	reader->tail = pos;
	atomic_store_explicit(&reader->ring->tail, pos, memory_order_release);
}

/* The next plausible record behind a hole; head when there is none. */
static uint64_t next_committed(const struct aw_reader *reader, uint64_t head)
{
	uint64_t pos = reader->tail;
	uint64_t own = atomic_load(word_at(reader->ring, reader->size, pos));

	if (aw_word_is_at(own, pos) && aw_word_state(own) == AW_REC_RESERVED &&
		aw_word_len(own) >= sizeof(struct aw_record) &&
		aw_word_len(own) <= head - pos)
		return pos + aw_word_len(own);
	for (pos += 8; pos < head; pos += 8) {
		uint64_t word = atomic_load(word_at(reader->ring, reader->size, pos));

		if (aw_word_is_at(word, pos) && aw_word_state(word) != AW_REC_EMPTY)
			return pos;
	}
	return head;
}

static bool parts_fit(const struct aw_record *head, size_t len)
{
	return sizeof(*head) + head->path_len + head->path2_len + head->raw_len +
		       head->raw2_len + head->address_len <=
	       len;
}

static void point_at_parts(struct aw_taken *taken)
{
	const unsigned char *at = taken->bytes + sizeof(struct aw_record);

	taken->path = (const char *)at;
	at += taken->head.path_len;
	taken->path2 = (const char *)at;
	at += taken->head.path2_len;
	taken->raw = (const char *)at;
	at += taken->head.raw_len;
	taken->raw2 = (const char *)at;
	at += taken->head.raw2_len;
	taken->address = at;
}

/* Copy the record at tail out, then judge the copy. */
static enum aw_take take_at_tail(
	struct aw_reader *reader, uint64_t word, uint64_t head, struct aw_taken *ret)
{
	size_t len = aw_word_len(word);

	if (len < sizeof(struct aw_record) || len > sizeof(ret->bytes) ||
		len > head - reader->tail)
		return AW_TAKE_BROKEN;
	copy_out(reader->ring, reader->size, reader->tail, ret->bytes, len);
	atomic_store(word_at(reader->ring, reader->size, reader->tail), 0);
	release(reader, reader->tail + len);
	memcpy(&ret->head, ret->bytes, sizeof(ret->head));
	ret->state = aw_word_state(word);
	ret->err = aw_word_errno(word);
	if (!parts_fit(&ret->head, len))
		return AW_TAKE_BROKEN;
	point_at_parts(ret);
	return AW_TAKE_RECORD;
}

enum aw_take aw_ring_take(
	struct aw_reader *reader, bool patient, bool skip, struct aw_taken *ret)
{
	for (;;) {
		uint64_t head =
			atomic_load_explicit(&reader->ring->head, memory_order_acquire);
		uint64_t word;

		if (head == reader->tail)
			return AW_TAKE_EMPTY;
		if (head - reader->tail > reader->size || head & 7)
			return AW_TAKE_BROKEN;
		word = atomic_load_explicit(
			word_at(reader->ring, reader->size, reader->tail),
			memory_order_acquire);
		if (!aw_word_is_at(word, reader->tail) ||
			aw_word_state(word) <= AW_REC_RESERVED) {
			if (!skip)
				return AW_TAKE_WAIT;
			reader->skipped++;
			release(reader, next_committed(reader, head));
			continue;
		}
		if (aw_word_state(word) == AW_REC_PENDING && patient)
			return AW_TAKE_WAIT;
		if (aw_word_state(word) > AW_REC_FINAL)
			return AW_TAKE_BROKEN;
		if (aw_word_state(word) == AW_REC_PENDING &&
			!atomic_compare_exchange_strong(
				word_at(reader->ring, reader->size, reader->tail),
				&word,
				aw_record_word(reader->tail, aw_word_len(word), 0,
					AW_REC_DONE)))
			continue; /* its result came at this moment: look again */
		switch (aw_word_state(word)) {
		case AW_REC_VOID:
			if (aw_word_len(word) < sizeof(struct aw_record) ||
				aw_word_len(word) > head - reader->tail)
				return AW_TAKE_BROKEN;
			release(reader, reader->tail + aw_word_len(word));
			continue;
		default:
			return take_at_tail(reader, word, head, ret);
		}
	}
}
