/* SPDX-License-Identifier: Apache-2.0 */
/* session_map.c - mapping the session, and giving the gate's place up. */
#include "preload/linux/session_map.h"

#include <sys/mman.h>
#include <time.h>

#include "policy/image/image.h"
#include "preload/linux/arch.h"

const struct aw_page *_Atomic aw_session_page;
_Atomic bool aw_gate_mapped;

/* What we have mapped low in memory; its end is 0 while there is nothing. */
static _Atomic uintptr_t low_begin, low_end;
static _Atomic bool given_up;

struct aw_passers aw_passers[AW_PASSERS];

void *aw_map(void *at, size_t size, int prot, int flags, int fd, long offset)
{
	long ret = aw_raw(__NR_mmap, at, size, prot, flags, fd, offset);

	return ret < 0 && ret > -4096 ? NULL : (void *)ret;
}

/* No rule is looked at in an image that could lead outside of it. */
static bool is_session(const struct aw_page *page, size_t size)
{
	return page->magic == AW_PAGE_MAGIC && size >= AW_IMAGE_OFFSET &&
	       page->image_size <= size - AW_IMAGE_OFFSET &&
	       aw_image_check((const char *)page + AW_IMAGE_OFFSET, page->image_size,
		       NULL) == 0;
}

/* At this very address or not at all; kernels that do not know the flag take another. */
static void *map_low(uintptr_t at, size_t size, int fd, long offset)
{
	void *ret = aw_map((void *)at, size, PROT_READ | PROT_EXEC,
		MAP_SHARED | MAP_FIXED_NOREPLACE, fd, offset);

	if (ret && (uintptr_t)ret != at) {
		aw_raw(__NR_munmap, ret, size);
		ret = NULL;
	}
	return ret;
}

static void note_gate(uintptr_t begin, size_t size)
{
	atomic_store(&low_begin, begin);
	atomic_store(&low_end, begin + size);
	atomic_store(&aw_gate_mapped, true);
}

/*
 * Page, gate and image at once, so that the gate comes to lie where it belongs: one
 * mapping and one page fault instead of two.  NULL when that cannot be.
 */
static struct aw_page *map_around_gate(int fd, size_t size)
{
	const uintptr_t at = AW_GATE_ADDRESS - AW_GATE_OFFSET;
	struct aw_page *page;

	if (!size || size > AW_AROUND_GATE)
		return NULL;
	page = map_low(at, size, fd, 0);
	if (page &&
		(!is_session(page, size) || atomic_load(&page->work) != AW_WORK_FAST)) {
		aw_raw(__NR_munmap, page, size);
		page = NULL;
	}
	if (page)
		note_gate(at, size);
	return page;
}

/* The gate alone. One that is there already is that of an older session page: the same
 * code. */
static void map_gate(int fd)
{
	if (!atomic_load(&aw_gate_mapped) &&
		map_low(AW_GATE_ADDRESS, AW_PAGE_SIZE, fd, AW_GATE_OFFSET))
		note_gate(AW_GATE_ADDRESS, AW_PAGE_SIZE);
}

bool aw_session_map(int fd, size_t size, bool gated)
{
	const bool may_gate = !atomic_load(&given_up);
	struct aw_page *page = gated && may_gate ? map_around_gate(fd, size) : NULL;

	if (page) {
		atomic_store(&aw_session_page, page);
		return true;
	}
	if (!size) {
		page = aw_map(NULL, AW_PAGE_SIZE, PROT_READ, MAP_SHARED, fd, 0);
		if (!page)
			return false;
		size = AW_IMAGE_OFFSET + page->image_size;
		aw_raw(__NR_munmap, page, AW_PAGE_SIZE);
	}
	page = aw_map(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (!page)
		return false;
	if (!is_session(page, size)) {
		aw_raw(__NR_munmap, page, size);
		return false;
	}
	if (may_gate && (atomic_load(&page->work) == AW_WORK_FAST ||
				atomic_load(&page->work) == AW_WORK_READS))
		map_gate(fd);
	atomic_store(&aw_session_page, page);
	return true;
}

/* A second mapping of the same memory, which needs no descriptor (mremap(2), old size
 * 0).  Without room for it the library has nothing to go by and steps aside for good.
 */
static void move_page(uintptr_t begin, size_t size)
{
	long at = aw_raw(__NR_mremap, begin, 0, size, MREMAP_MAYMOVE, 0);

	if (at < 0 && at > -4096) {
		atomic_store(&aw_session_page, NULL);
		return;
	}
	aw_raw(__NR_mprotect, at, size, PROT_READ);
	atomic_store(&aw_session_page, (const struct aw_page *)at);
}

/* Those who are on their way through it; one that a signal handler left by a jump
 * counts for ever, so not without end. */
static void wait_for_passers(void)
{
	const struct timespec moment = {0, 1000000};
	uint32_t sum = 1;

	for (int i = 0; sum && i < 200; i++) {
		aw_raw(__NR_nanosleep, &moment, NULL);
		sum = 0;
		for (int j = 0; j < AW_PASSERS; j++)
			sum |= atomic_load(&aw_passers[j].count);
	}
}

void aw_session_step_aside(uintptr_t begin, uintptr_t end)
{
	uintptr_t ours = atomic_load(&low_begin), ours_end = atomic_load(&low_end);

	if (begin >= ours_end || end <= ours ||
		!atomic_compare_exchange_strong(&low_end, &ours_end, 0))
		return;
	atomic_store(&given_up, true);
	atomic_store(&aw_gate_mapped, false);
	if ((uintptr_t)aw_session() == ours)
		move_page(ours, ours_end - ours);
	if (!(&__libc_single_threaded && __libc_single_threaded))
		wait_for_passers();
	aw_raw(__NR_munmap, ours, ours_end - ours);
}
