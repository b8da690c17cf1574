/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring_all.c - the ring's own code, run in every order in which its steps can come.
 *
 *   ring_all [CASE...]
 *
 * Writers and reader are coroutines that stop before each step (yield.h).  From each
 * state every one of them is let make one step, or a writer is killed; a state that has
 * been seen before is not gone on from.  A state is the ring, the stacks and what each
 * has noted, so it is put back by copying (explicit-state search, as in Holzmann's
 * SPIN).
 *
 * What must hold: no record is lost, doubled, torn or out of its writer's order; a
 * result belongs to its call; the reader finds the ring sound.  What a killed writer
 * has committed is taken, and nothing else of it.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "policy/shared/ring.h"

enum { STACK = 64 * 1024, WRITERS = 2, TASKS = WRITERS + 1, READER = WRITERS };
enum { PUTS_MOST = 5, DEPTH = 4096, SLOTS = 1 << 20 };

struct model {
	const char *name;
	uint32_t size;	   /* of the ring's records */
	int writers, puts; /* how many, and records of each */
	int path[WRITERS]; /* bytes of its paths */
	bool results;	   /* the second half of a put: its result, or VOID */
	bool deaths;
};

static const struct model models[] = {
	{"two writers, two records each, with results", 256, 2, 2, {3, 9}, true, false},
	{"the same where there is room for two", 128, 2, 2, {24, 24}, true, false},
	{"room for two records, and no results", 128, 2, 2, {8, 16}, false, false},
	{"one writer that comes round twice", 128, 1, 5, {24, 0}, true, false},
	{"room for two, and a writer is killed", 128, 2, 1, {8, 16}, true, true},
	{"two records each, and a writer is killed", 256, 2, 2, {8, 1}, false, true},
};

/* All that makes a state, in one block. */
static struct state {
	union {
		struct aw_ring ring;
		unsigned char bytes[AW_RING_HEADER + 256];
	};
	struct aw_reader reader;
	struct aw_ticket ticket[WRITERS];
	void *sp[TASKS];
	bool over[TASKS], killed[TASKS], impatient, last;
	unsigned char committed[WRITERS], finished[WRITERS], taken[WRITERS];
} state;

static const struct model *model;
static unsigned char *stacks; /* TASKS of them */
static struct aw_taken taken;
static int current;
static void *main_sp;
static const char *wrong;

/* --- coroutines --- */

void aw_model_switch(void **save, void *to);
__asm__(".globl aw_model_switch\n"
	"aw_model_switch:\n"
	"	pushq %rbp\n	pushq %rbx\n	pushq %r12\n"
	"	pushq %r13\n	pushq %r14\n	pushq %r15\n"
	"	movq %rsp, (%rdi)\n"
	"	movq %rsi, %rsp\n"
	"	popq %r15\n	popq %r14\n	popq %r13\n"
	"	popq %r12\n	popq %rbx\n	popq %rbp\n"
	"	ret\n");

void aw_model_yield(void)
{
	aw_model_switch(&state.sp[current], main_sp);
}

void aw_model_copy(void *to, const void *from, size_t len)
{
	size_t half = len / 2;

	/* what is small, and what is not the ring's, nobody sees in between */
	aw_model_yield();
	memcpy(to, from, half);
	if (len > 16)
		aw_model_yield();
	memcpy((char *)to + half, (const char *)from + half, len - half);
}

/* --- what the tasks do --- */

static char mark_of(int writer, int number)
{
	return (char)('a' + writer * PUTS_MOST + number);
}

/* All have an errno of their own, and some go another way. */
static enum aw_record_state result_of(int writer, int number)
{
	return number % 3 == writer + 1 ? AW_REC_VOID : AW_REC_DONE;
}

static unsigned errno_of(int writer, int number)
{
	return (unsigned)(writer * 10 + number + 1);
}

static void write_all(int writer)
{
	char path[32];

	for (int n = 0; n < model->puts; n++) {
		struct aw_record head = {.pid = writer, .rule = (uint32_t)n};
		const void *const parts[5] = {path, NULL, NULL, NULL, NULL};
		enum aw_record_state how =
			model->results ? AW_REC_PENDING : AW_REC_FINAL;

		head.path_len = (uint16_t)model->path[writer];
		memset(path, mark_of(writer, n), sizeof(path));
		while (!aw_ring_put(
			&state.ring, &head, parts, how, 0, &state.ticket[writer]))
			;
		state.committed[writer] = (unsigned char)(n + 1);
		if (model->results)
			aw_ring_result(&state.ticket[writer], result_of(writer, n),
				errno_of(writer, n));
		state.finished[writer] = (unsigned char)(n + 1);
	}
}

static void check_record(void)
{
	int writer = taken.head.pid, n = (int)taken.head.rule;

	if (writer < 0 || writer >= WRITERS || n < 0 || n >= model->puts) {
		wrong = "a record that nobody has written";
		return;
	}
	for (int i = 0; i < taken.head.path_len; i++)
		if (taken.path[i] != mark_of(writer, n))
			wrong = "a record is torn";
	if (taken.head.path_len != model->path[writer])
		wrong = "a record has another length";
	while (n > state.taken[writer] && model->results &&
		result_of(writer, state.taken[writer]) == AW_REC_VOID)
		state.taken[writer]++;
	if (n != state.taken[writer])
		wrong = n < state.taken[writer] ? "a record came twice"
						: "a record was lost or overtaken";
	if (taken.err && taken.err != errno_of(writer, n))
		wrong = "the result of another call";
	if (taken.state == AW_REC_PENDING && !state.impatient && !state.last)
		wrong = "a call that is still under way was taken";
	state.taken[writer] = (unsigned char)(n + 1);
}

static void read_all(void)
{
	for (;;) {
		bool last = state.last; /* all writers have ended by now */

		switch (aw_ring_take(
			&state.reader, !last && !state.impatient, last, &taken)) {
		case AW_TAKE_RECORD:
			check_record();
			break;
		case AW_TAKE_BROKEN:
			wrong = "the reader finds the ring broken";
			return;
		case AW_TAKE_EMPTY:
			if (last)
				return;
			aw_model_yield();
			break;
		case AW_TAKE_WAIT:
			aw_model_yield();
			break;
		}
	}
}

static void task(void)
{
	if (current == READER)
		read_all();
	else
		write_all(current);
	state.over[current] = true;
	for (;;)
		aw_model_switch(&state.sp[current], main_sp);
}

static void set_up(void)
{
	memset(&state, 0, sizeof(state));
	memset(stacks, 0, (size_t)TASKS * STACK);
	state.ring.magic = AW_RING_MAGIC;
	state.ring.size = model->size;
	state.reader = (struct aw_reader){.ring = &state.ring, .size = model->size};
	for (int i = 0; i < TASKS; i++) {
		void **sp = (void **)(void *)(stacks + (size_t)(i + 1) * STACK - 64);

		*--sp = NULL; /* keeps the stack aligned */
		*--sp = (void *)(uintptr_t)task;
		sp -= 6;
		state.sp[i] = sp;
	}
	for (int i = model->writers; i < WRITERS; i++)
		state.over[i] = true;
}

/* --- all orders --- */

struct saved {
	struct state state;
	size_t len[TASKS];
	unsigned char *stack; /* owned: the used ends of all, one behind the other */
	int next;	      /* choice to be tried next */
};

static uint64_t *seen;
static uint64_t states, steps, ends, kills;

static size_t used(int i)
{
	return (size_t)(stacks + (size_t)(i + 1) * STACK -
			(unsigned char *)state.sp[i]);
}

static uint64_t mix(uint64_t hash, const void *bytes, size_t len)
{
	const unsigned char *at = bytes;

	for (; len >= 8; len -= 8, at += 8) {
		uint64_t word;

		__builtin_memcpy(&word, at, 8);
		hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 29;
	}
	for (; len; len--)
		hash = (hash ^ *at++) * 0x100000001b3u;
	return hash;
}

/* True when this state is new. */
static bool is_new(void)
{
	uint64_t hash = mix(1, &state, sizeof(state));

	for (int i = 0; i < TASKS; i++)
		hash = mix(hash, state.sp[i], used(i));
	/* what the reader has copied out and not looked at yet */
	hash = mix(hash, &taken, offsetof(struct aw_taken, bytes) + 128);
	hash |= 1;
	for (uint64_t slot = hash >> 20;; slot++) {
		uint64_t *at = &seen[slot % SLOTS];

		if (*at == hash)
			return false;
		if (!*at) {
			*at = hash;
			break;
		}
	}
	if (++states > SLOTS * 3ul / 4) {
		fputs("ring_all: more states than there is room for\n", stderr);
		exit(2);
	}
	return true;
}

static struct aw_taken *taken_copies;

static void save(struct saved *to, int depth)
{
	size_t total = 0;
	unsigned char *at;

	to->state = state;
	for (int i = 0; i < TASKS; i++)
		total += to->len[i] = used(i);
	at = to->stack = malloc(total);
	for (int i = 0; i < TASKS; i++) {
		memcpy(at, state.sp[i], to->len[i]);
		at += to->len[i];
	}
	memcpy(&taken_copies[depth], &taken, offsetof(struct aw_taken, bytes) + 128);
	to->next = 0;
}

static void restore(const struct saved *from, int depth)
{
	const unsigned char *at = from->stack;

	state = from->state;
	for (int i = 0; i < TASKS; i++) {
		memcpy(state.sp[i], at, from->len[i]);
		at += from->len[i];
	}
	memcpy(&taken, &taken_copies[depth], offsetof(struct aw_taken, bytes) + 128);
}

/* Choices: a step of each task, the death of each writer, the end of patience. */
enum { CHOICES = TASKS + WRITERS + 1 };

static bool choose(int choice)
{
	bool writing = false;

	for (int i = 0; i < WRITERS; i++)
		writing |= !state.over[i] && !state.killed[i];
	if (choice == CHOICES - 1) {
		if (state.impatient || !model->results)
			return false;
		state.impatient = true;
		return true;
	}
	if (choice >= TASKS) {
		int victim = choice - TASKS;

		if (!model->deaths || state.over[victim] || state.killed[0] ||
			state.killed[1])
			return false;
		state.killed[victim] = true;
		kills++;
		return true;
	}
	if (state.over[choice] || state.killed[choice])
		return false;
	if (choice == READER && !writing)
		state.last = true;
	current = choice;
	aw_model_switch(&main_sp, state.sp[choice]);
	steps++;
	return true;
}

static void check_end(void)
{
	for (int i = 0; i < WRITERS && !wrong; i++) {
		int least = state.committed[i];

		/* one that went another way means nothing, unless it was taken before */
		while (least > state.taken[i] &&
			result_of(i, least - 1) == AW_REC_VOID && model->results)
			least--;
		if (state.taken[i] < least)
			wrong = "a record that was committed is lost";
		if (state.taken[i] > state.committed[i] + state.killed[i])
			wrong = "a record that was not committed was taken";
	}
	if (!state.killed[0] && !state.killed[1] && state.reader.skipped)
		wrong = "the reader skipped something although nobody was killed";
	ends++;
}

static const char *explore(void)
{
	static struct saved path[DEPTH];
	int depth = 0;

	set_up();
	is_new();
	save(&path[0], 0);
	while (depth >= 0 && !wrong) {
		struct saved *here = &path[depth];

		if (here->next == CHOICES) {
			free(here->stack);
			depth--;
			continue;
		}
		restore(here, depth);
		if (!choose(here->next++))
			continue;
		if (state.over[READER] && !wrong)
			check_end();
		else if (!wrong && is_new()) {
			if (++depth == DEPTH)
				return "too deep";
			save(&path[depth], depth);
		}
	}
	return wrong;
}

int main(void)
{
	int failed = 0, count = sizeof(models) / sizeof(models[0]);

	stacks = mmap(NULL, (size_t)TASKS * STACK, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	taken_copies = calloc(DEPTH, sizeof(*taken_copies));
	seen = malloc(SLOTS * sizeof(*seen));
	for (int i = 0; i < count; i++) {
		const char *why;

		model = &models[i];
		wrong = NULL;
		states = steps = ends = kills = 0;
		memset(seen, 0, SLOTS * sizeof(*seen));
		why = explore();
		printf("%s %d - %s: %lu states, %lu steps, %lu ends\n",
			why ? "not ok" : "ok", i + 1, model->name,
			(unsigned long)states, (unsigned long)steps,
			(unsigned long)ends);
		if (why)
			printf("# %s\n", why);
		fflush(stdout);
		failed += why != NULL;
	}
	printf("1..%d\n", count);
	return failed != 0;
}
