/* SPDX-License-Identifier: Apache-2.0 */
/* test_ring.c - events come out of the ring as they went in, and lies do no harm. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "policy/shared/ring.h"
#include "tests/unit/tap.h"

enum { SIZE = 1024, WRITERS = 4, EACH = 20000 };

static struct aw_taken taken;

static struct aw_ring *make_ring(uint32_t size, struct aw_reader *ret_reader)
{
	struct aw_ring *ring = aligned_alloc(64, AW_RING_HEADER + size);

	if (!ring)
		exit(1);
	memset(ring, 0, AW_RING_HEADER + size);
	ring->magic = AW_RING_MAGIC;
	ring->size = size;
	*ret_reader = (struct aw_reader){.ring = ring, .size = size};
	return ring;
}

static bool put(struct aw_ring *ring, const char *path, enum aw_record_state state,
	struct aw_ticket *ret)
{
	const struct aw_record head = {.pid = 7, .path_len = (uint16_t)strlen(path)};
	const void *const parts[5] = {path};

	return aw_ring_put(ring, &head, parts, state, 0, ret);
}

static bool took(struct aw_reader *reader, const char *path)
{
	return aw_ring_take(reader, false, false, &taken) == AW_TAKE_RECORD &&
	       taken.head.path_len == strlen(path) &&
	       memcmp(taken.path, path, strlen(path)) == 0;
}

static void a_record_comes_out_as_it_went_in(void)
{
	const struct aw_record head = {.ts = 1234567890123456789u,
		.pid = 4711,
		.rule = 12,
		.call = 300,
		.action = 5,
		.verdict = 2,
		.flags = AW_REC_REFUSED,
		.path_len = 4,
		.path2_len = 1,
		.raw_len = 0,
		.raw2_len = 3,
		.address_len = 16};
	const void *const parts[5] = {"/etc", "b", NULL, "../", "sixteen bytes..."};
	struct aw_reader reader;
	struct aw_ring *ring = make_ring(SIZE, &reader);

	ok(aw_ring_take(&reader, false, true, &taken) == AW_TAKE_EMPTY,
		"nothing is in a new ring");
	ok(aw_ring_put(ring, &head, parts, AW_REC_DONE, ENOENT, NULL) &&
			aw_ring_used(ring) == 64,
		"a record takes whole words");
	ok(aw_ring_take(&reader, true, false, &taken) == AW_TAKE_RECORD &&
			!memcmp(&taken.head.ts, &head.ts,
				sizeof(head) - offsetof(struct aw_record, ts)),
		"its head comes out as it went in");
	ok(!memcmp(taken.path, "/etc", 4) && taken.path2[0] == 'b' &&
			!memcmp(taken.raw2, "../", 3) &&
			!memcmp(taken.address, "sixteen bytes...", 16),
		"so do its parts");
	ok(taken.state == AW_REC_DONE && taken.err == ENOENT && !aw_ring_used(ring),
		"with its result, and room again");
	free(ring);
}

static void records_wrap_around(void)
{
	static char text[256];
	struct aw_reader reader;
	struct aw_ring *ring = make_ring(SIZE, &reader);
	unsigned wrong = 0, laps;

	for (unsigned i = 0; i < 5000; i++) {
		size_t len = i * 37 % 251;

		memset(text, 'a' + i % 26, len);
		text[len] = '\0';
		wrong += !put(ring, text, AW_REC_DONE, NULL) || !took(&reader, text);
	}
	laps = (unsigned)(reader.tail / SIZE);
	ok(!wrong && laps > 100, "%u laps, each record whole", laps);
	free(ring);
}

static void a_full_ring_takes_no_more(void)
{
	struct aw_reader reader;
	struct aw_ring *ring = make_ring(SIZE, &reader);
	unsigned count = 0, got = 0;
	static char large[SIZE + 1];

	while (put(ring, "/a/path", AW_REC_DONE, NULL))
		count++;
	ok(count == SIZE / 48, "it takes what fits (%u)", count);
	ok(took(&reader, "/a/path") && put(ring, "/a/path", AW_REC_DONE, NULL),
		"and one more when one is taken out");
	while (took(&reader, "/a/path"))
		got++;
	ok(got == count, "nothing is lost");
	memset(large, 'x', SIZE);
	ok(!put(ring, large, AW_REC_DONE, NULL),
		"what is larger than the ring never fits");
	free(ring);
}

static void results_are_waited_for(void)
{
	struct aw_reader reader;
	struct aw_ring *ring = make_ring(SIZE, &reader);
	struct aw_ticket one, two;

	put(ring, "/one", AW_REC_PENDING, &one);
	ok(aw_ring_take(&reader, true, false, &taken) == AW_TAKE_WAIT,
		"a patient reader waits for a call under way");
	aw_ring_result(&one, AW_REC_DONE, EACCES);
	ok(aw_ring_take(&reader, true, false, &taken) == AW_TAKE_RECORD &&
			taken.state == AW_REC_DONE && taken.err == EACCES,
		"and gets its result");
	put(ring, "/two", AW_REC_PENDING, &two);
	ok(took(&reader, "/two") && taken.state == AW_REC_PENDING,
		"an impatient one takes it without");
	aw_ring_result(&two, AW_REC_DONE, EPERM);
	ok(aw_ring_take(&reader, false, false, &taken) == AW_TAKE_EMPTY,
		"a result that is late does no harm");
	put(ring, "/final", AW_REC_FINAL, NULL);
	ok(aw_ring_take(&reader, true, false, &taken) == AW_TAKE_RECORD &&
			taken.state == AW_REC_FINAL,
		"a record that no result will come for is not waited for");
	put(ring, "/void", AW_REC_PENDING, &one);
	put(ring, "/next", AW_REC_DONE, NULL);
	aw_ring_result(&one, AW_REC_VOID, 0);
	ok(took(&reader, "/next"), "a call that went another way is passed over");
	free(ring);
}

static void late_results_miss_a_later_lap(void)
{
	struct aw_reader reader;
	struct aw_ring *ring = make_ring(64, &reader);
	struct aw_ticket old;

	put(ring, "/old/record/of/24/bytes", AW_REC_PENDING, &old);
	took(&reader, "/old/record/of/24/bytes");
	put(ring, "/new/record/of/24/bytes", AW_REC_PENDING, NULL);
	aw_ring_result(&old, AW_REC_VOID, 0);
	ok(took(&reader, "/new/record/of/24/bytes"),
		"a result does not hit a later record in the same place");
	free(ring);
}

static _Atomic uint64_t *word_at(struct aw_ring *ring, uint64_t pos)
{
	return (_Atomic uint64_t *)(void *)((char *)ring + AW_RING_HEADER +
					    (pos & (ring->size - 1)));
}

static void holes_are_skipped(void)
{
	struct aw_reader reader;
	struct aw_ring *ring = make_ring(SIZE, &reader);

	/* a writer that died between moving head and its first store */
	put(ring, "/one", AW_REC_DONE, NULL);
	atomic_fetch_add(&ring->head, 56);
	put(ring, "/two", AW_REC_DONE, NULL);
	ok(took(&reader, "/one") &&
			aw_ring_take(&reader, false, false, &taken) == AW_TAKE_WAIT,
		"a hole is waited for");
	ok(aw_ring_take(&reader, false, true, &taken) == AW_TAKE_RECORD &&
			!memcmp(taken.path, "/two", 4) && reader.skipped == 1,
		"then passed over, up to the next record");

	/* one that died while it filled its record in */
	atomic_store(word_at(ring, atomic_load(&ring->head)),
		aw_record_word(atomic_load(&ring->head), 56, 0, AW_REC_RESERVED));
	atomic_fetch_add(&ring->head, 56);
	put(ring, "/three", AW_REC_DONE, NULL);
	ok(aw_ring_take(&reader, false, false, &taken) == AW_TAKE_WAIT &&
			aw_ring_take(&reader, false, true, &taken) == AW_TAKE_RECORD &&
			!memcmp(taken.path, "/three", 6) && reader.skipped == 2,
		"so is a record that was only begun");

	atomic_fetch_add(&ring->head, 56);
	ok(aw_ring_take(&reader, false, true, &taken) == AW_TAKE_EMPTY &&
			!aw_ring_used(ring),
		"a hole at the end leaves nothing behind");
	free(ring);
}

static void leftovers_are_no_records(void)
{
	struct aw_reader reader;
	struct aw_ring *ring = make_ring(SIZE, &reader);

	atomic_store(word_at(ring, 0), aw_record_word(0, 48, 0, AW_REC_DONE));
	atomic_store(&ring->head, SIZE + 48);
	atomic_store(&ring->tail, SIZE);
	reader.tail = SIZE;
	ok(aw_ring_take(&reader, false, false, &taken) == AW_TAKE_WAIT,
		"what an earlier lap left is not taken for a record");
	free(ring);
}

static void lies_end_the_reading(void)
{
	static const struct {
		const char *what;
		uint64_t head, len;
		unsigned state, path_len;
	} lies[] = {
		{"a head beyond the ring", SIZE + 48, 48, AW_REC_DONE, 0},
		{"a head behind the tail", (uint64_t)-8, 48, AW_REC_DONE, 0},
		{"a head between words", 47, 48, AW_REC_DONE, 0},
		{"a record without room for its head", 48, 32, AW_REC_DONE, 0},
		{"a record of no length", 48, 0, AW_REC_DONE, 0},
		{"a record that ends behind head", 48, 56, AW_REC_DONE, 0},
		{"a void record that ends behind head", 48, 56, AW_REC_VOID, 0},
		{"a void record of no length", 48, 0, AW_REC_VOID, 0},
		{"parts that end behind their record", 48, 48, AW_REC_DONE, 60000},
		{"a state that is not there", 48, 48, 15, 0},
	};

	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		struct aw_reader reader;
		struct aw_ring *ring = make_ring(SIZE, &reader);
		struct aw_record *record = (void *)((char *)ring + AW_RING_HEADER);

		record->path_len = (uint16_t)lies[i].path_len;
		atomic_store(
			&record->word, aw_record_word(0, lies[i].len, 0,
					       (enum aw_record_state)lies[i].state));
		atomic_store(&ring->head, lies[i].head);
		ok(aw_ring_take(&reader, false, true, &taken) == AW_TAKE_BROKEN,
			"%s ends the reading", lies[i].what);
		free(ring);
	}
}

/* --- many writers --- */

struct writer {
	struct aw_ring *ring;
	int number;
};

static void *write_many(void *arg)
{
	const struct writer *w = arg;
	static const char text[] =
		"/some/path/that/is/long/enough/to/wrap/around/often";

	for (unsigned i = 0; i < EACH; i++) {
		const struct aw_record head = {.pid = w->number,
			.rule = i,
			.path_len = (uint16_t)(i % sizeof(text))};
		const void *const parts[5] = {text};
		struct aw_ticket ticket;

		while (!aw_ring_put(w->ring, &head, parts, AW_REC_PENDING, 0, &ticket))
			sched_yield();
		aw_ring_result(&ticket, AW_REC_DONE, i & 0xff);
	}
	return NULL;
}

static void threads_write_together(void)
{
	struct writer writers[WRITERS];
	pthread_t threads[WRITERS];
	unsigned next[WRITERS] = {0}, wrong = 0, count = 0;
	struct aw_reader reader;
	struct aw_ring *ring = make_ring(SIZE, &reader);

	for (int i = 0; i < WRITERS; i++) {
		writers[i] = (struct writer){ring, i};
		if (pthread_create(&threads[i], NULL, write_many, &writers[i]))
			exit(1);
	}
	while (count < WRITERS * EACH && !wrong) {
		enum aw_take what = aw_ring_take(&reader, true, false, &taken);

		if (what == AW_TAKE_EMPTY || what == AW_TAKE_WAIT) {
			sched_yield();
			continue;
		}
		wrong += what != AW_TAKE_RECORD || taken.head.pid < 0 ||
			 taken.head.pid >= WRITERS;
		if (wrong)
			break;
		wrong += taken.head.rule != next[taken.head.pid]++ ||
			 taken.err != (taken.head.rule & 0xff);
		count++;
	}
	ok(!wrong && count == WRITERS * EACH,
		"%d threads at once: every record, in the order of its thread",
		WRITERS);
	if (wrong)
		exit(1); /* the writers would wait for ever */
	for (int i = 0; i < WRITERS; i++)
		pthread_join(threads[i], NULL);
	free(ring);
}

int main(void)
{
	a_record_comes_out_as_it_went_in();
	records_wrap_around();
	a_full_ring_takes_no_more();
	results_are_waited_for();
	late_results_miss_a_later_lap();
	holes_are_skipped();
	leftovers_are_no_records();
	lies_end_the_reading();
	threads_write_together();
	return done();
}
