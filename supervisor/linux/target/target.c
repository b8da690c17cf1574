/* SPDX-License-Identifier: Apache-2.0 */
/* target.c - memory of a waiting thread. */
#include "supervisor/linux/target/target.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "supervisor/linux/target/creds.h"
#include "supervisor/util/cleanup.h"

static ssize_t read_some(pid_t tid, uint64_t address, void *to, size_t len)
{
	struct iovec here = {to, len}, there = {(void *)(uintptr_t)address, len};

	ssize_t n;

	do
		n = process_vm_readv(tid, &here, 1, &there, 1, 0);
	while (n < 0 && aw_creds_hinder());
	return n;
}

bool aw_target_read(
	const struct aw_target *target, uint64_t address, void *to, size_t len)
{
	ssize_t n = read_some(target->tid, address, to, len);

	if (n >= 0 && n != (ssize_t)len)
		errno = EFAULT; /* the rest of it is not there */
	return n == (ssize_t)len;
}

bool aw_target_write(
	const struct aw_target *target, uint64_t address, const void *from, size_t len)
{
	struct iovec here = {(void *)from, len},
		     there = {(void *)(uintptr_t)address, len};

	ssize_t n;

	do
		n = process_vm_writev(target->tid, &here, 1, &there, 1, 0);
	while (n < 0 && aw_creds_hinder());
	return n == (ssize_t)len;
}

ssize_t aw_target_string(
	const struct aw_target *target, uint64_t address, char *to, size_t size)
{
	size_t have = 0;

	while (have < size) {
		/* to the end of the page: the next one may not be there */
		size_t step = 4096 - ((address + have) & 4095);
		ssize_t n;
		char *end;

		if (step > size - have)
			step = size - have;
		if (have == 0 && step > 256)
			step = 256;
		n = read_some(target->tid, address + have, to + have, step);
		if (n <= 0)
			return -1;
		end = memchr(to + have, '\0', (size_t)n);
		if (end)
			return end - to;
		have += (size_t)n;
	}
	errno = ENAMETOOLONG;
	return -1;
}

/* Strings of one vector mostly lie side by side: read a piece, find many in it. */
struct window {
	uint64_t start;
	size_t len;
	char *bytes; /* owned, WINDOW bytes */
};

enum {
	WINDOW = 8 * 1024,
	ONE_MAX = 128 * 1024, /* the kernel's MAX_ARG_STRLEN */
	ALL_MAX = 6 * 1024 *
		  1024, /* three quarters of the stack limit that ARG_MAX is from */
	POINTERS = 512,
	FEW_POINTERS = 32, /* mostly enough, and mostly on one page */
};

/* To the end of the page, since each page costs time, unless that is near. */
static size_t window_from(uint64_t address)
{
	size_t len = 4096 - (address & 4095);

	return len >= 512 ? len : len + 4096;
}

/* The string at address if the window holds all of it; else the window moves there. */
static ssize_t in_window(const struct aw_target *target, struct window *w,
	uint64_t address, const char **ret)
{
	const size_t lens[] = {window_from(address), WINDOW};

	for (int again = 0; again < 3; again++) {
		if (address >= w->start && address < w->start + w->len) {
			const char *at = w->bytes + (address - w->start);
			const char *end =
				memchr(at, '\0', w->len - (size_t)(at - w->bytes));

			if (end) {
				*ret = at;
				return end - at;
			}
		}
		ssize_t n = again == 2 ? 0
				       : read_some(target->tid, address, w->bytes,
						 lens[again]);

		w->start = address;
		w->len = n > 0 ? (size_t)n : 0;
	}
	return -1;
}

/* Room for len more bytes and one more entry. */
static bool make_room(
	struct aw_vector *v, size_t used, size_t len, size_t *room, size_t *slots)
{
	if (v->count == *slots) {
		size_t want = *slots ? *slots * 2 : 64;
		size_t *at = realloc(v->at, want * sizeof(*at)), *lens;

		if (!at)
			return false;
		v->at = at;
		lens = realloc(v->len, want * sizeof(*lens));
		if (!lens)
			return false;
		v->len = lens;
		*slots = want;
	}
	if (used + len > *room) {
		size_t want = *room ? *room : 4096;
		char *text;

		while (want < used + len)
			want *= 2;
		text = want > ALL_MAX ? NULL : realloc(v->text, want);
		if (!text)
			return false;
		v->text = text;
		*room = want;
	}
	return true;
}

struct vector_reader {
	const struct aw_target *target;
	struct aw_vector *v;
	struct window window;
	size_t used, room, slots;
};

/* Append one string; false: stop here. */
static bool append(struct vector_reader *r, uint64_t address)
{
	const char *text;
	ssize_t n = in_window(r->target, &r->window, address, &text);
	struct aw_vector *v = r->v;

	if (n < 0) { /* longer than a window, or at the edge of what is mapped */
		if (!make_room(v, r->used, ONE_MAX, &r->room, &r->slots))
			return false;
		n = aw_target_string(r->target, address, v->text + r->used, ONE_MAX);
		if (n < 0)
			return false;
	} else {
		if (!make_room(v, r->used, (size_t)n + 1, &r->room, &r->slots))
			return false;
		memcpy(v->text + r->used, text, (size_t)n + 1);
	}
	v->at[v->count] = r->used;
	v->len[v->count++] = (size_t)n;
	r->used += (size_t)n + 1;
	return true;
}

/* As many pointers as can be read from here, at most most (and POINTERS). */
static size_t read_pointers(const struct aw_target *target, uint64_t address,
	unsigned word, size_t most, uint64_t *ret)
{
	union {
		uint64_t wide[POINTERS];
		uint32_t narrow[POINTERS];
	} raw;
	ssize_t n = read_some(target->tid, address, &raw, (size_t)word * most);

	if (n <= 0)
		return 0;
	for (size_t i = 0; i < (size_t)n / word; i++)
		ret[i] = word == 8 ? raw.wide[i] : raw.narrow[i];
	return (size_t)n / word;
}

void aw_target_vector(const struct aw_target *target, uint64_t address, unsigned word,
	struct aw_vector *ret)
{
	struct vector_reader r = {.target = target, .v = ret};
	AW_FREE char *bytes = malloc(WINDOW);
	uint64_t pointers[POINTERS];
	size_t most = FEW_POINTERS;

	*ret = (struct aw_vector){.text = NULL};
	r.window.bytes = bytes;
	while (address && bytes) {
		size_t n = read_pointers(target, address, word, most, pointers);

		for (size_t i = 0; i < n; i++) {
			if (!pointers[i])
				return;
			if (!append(&r, pointers[i])) {
				ret->truncated = true;
				return;
			}
		}
		if (!n) {
			ret->truncated = true;
			return;
		}
		address += n * word;
		most = POINTERS;
	}
}

void aw_vector_free(struct aw_vector *vector)
{
	free(vector->text);
	free(vector->at);
	free(vector->len);
}
