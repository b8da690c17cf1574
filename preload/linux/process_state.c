/* SPDX-License-Identifier: Apache-2.0 */
/* process_state.c - hello, the per-process page, and small services on top of it. */
#include "preload/linux/process_state.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>

#include "preload/linux/arch.h"
#include "preload/linux/ask_socket.h"
#include "preload/linux/session_map.h"
#include "preload/linux/symbol.h"
#include "preload/text.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

#define SELF_SIZE ((sizeof(struct aw_self) + 4095) & ~4095ul)

struct aw_self *_Atomic aw_self_page;
static struct aw_ring *_Atomic inherited_ring;

extern int *__errno_location(void) __attribute__((weak));

typedef int clock_function(clockid_t, struct timespec *);
static _Atomic(clock_function *) libc_clock;

__thread int aw_vfork_count __attribute__((tls_model("initial-exec"), used));

/* vfork.c reaches the counter through this address. */
int *aw_vfork_depth(void)
{
	return &aw_vfork_count;
}

int *aw_errno(void)
{
	static int nowhere;

	return __errno_location ? __errno_location() : &nowhere;
}

long aw_answer(long kernel)
{
	if (kernel >= 0 || kernel < -4095)
		return kernel;
	*aw_errno() = (int)-kernel;
	return -1;
}

/* Only asks the kernel; for before and without a C library's. */
static int raw_clock(clockid_t clock, struct timespec *ts)
{
	return (int)aw_raw(__NR_clock_gettime, clock, ts);
}

/* Libraries that put another clock in front take locks there, and open files. */
uint64_t aw_now(void)
{
	clock_function *clock = atomic_load_explicit(&libc_clock, memory_order_acquire);
	struct timespec ts = {0, 0};

	if (__builtin_expect(!clock, 0)) {
		clock = (clock_function *)aw_find_in_libc("clock_gettime");
		clock = clock ? clock : raw_clock;
		atomic_store_explicit(&libc_clock, clock, memory_order_release);
	}
	clock(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* The scratches lie behind the page; one mapping is cheaper than whole pages of .bss. */
static struct aw_scratch *scratches_of(struct aw_self *self)
{
	return (struct aw_scratch *)(void *)((char *)self + SELF_SIZE);
}

/* Once per address space; the kernel must promise to wipe it in a forked child. */
static struct aw_self *make_self(void)
{
	const size_t size = SELF_SIZE + AW_SCRATCHES * sizeof(struct aw_scratch);
	struct aw_self *expected = NULL, *self;

	self = aw_map(
		NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!self)
		return NULL;
	if (aw_raw(__NR_madvise, self, SELF_SIZE, MADV_WIPEONFORK) < 0 ||
		!atomic_compare_exchange_strong(&aw_self_page, &expected, self)) {
		aw_raw(__NR_munmap, self, size);
		return expected; /* another thread was faster */
	}
	return self;
}

static long hello_open(const char *name)
{
	return aw_raw(__NR_openat, AT_FDCWD, name, O_RDWR | O_CLOEXEC, 0);
}

/* A ring from the supervisor, and the session with it when we have none. */
static struct aw_ring *take_ring(const char *name, size_t size)
{
	struct aw_registration answer = {.ring_fd = -1, .session_fd = -1};
	struct aw_ring *ring;
	bool asked;

	/* a socket's name means the preload engine, also when another session is around */
	asked = aw_socket_register(name, &answer);
	if (!asked)
		answer.ring_fd = (int)hello_open(name);
	if (answer.ring_fd < 0)
		return NULL;
	ring = aw_map(NULL, AW_RING_HEADER + size, PROT_READ | PROT_WRITE, MAP_SHARED,
		answer.ring_fd, 0);
	aw_raw(__NR_close, answer.ring_fd);
	if (ring && answer.session_fd < 0)
		answer.session_fd = ring->session_fd;
	if (answer.session_fd >= 0) {
		if (!atomic_load(&aw_session_page))
			aw_session_map(answer.session_fd, ring ? ring->session_size : 0,
				!asked);
		aw_raw(__NR_close, answer.session_fd);
	}
	if (ring && (ring->magic != AW_RING_MAGIC || ring->size != size)) {
		aw_raw(__NR_munmap, ring, AW_RING_HEADER + size);
		ring = NULL;
	}
	return ring;
}

/* First call in this process; a second thread meanwhile goes to the kernel layer. */
static struct aw_self *begin(struct aw_self *self)
{
	struct aw_ring *ring;
	uint32_t expected = AW_SELF_WIPED;

	if (!self && !(self = make_self()))
		return NULL;
	if (aw_vfork_count ||
		!atomic_compare_exchange_strong(&self->state, &expected, AW_SELF_BUSY))
		return NULL;
	self->pid = (int)aw_raw(__NR_getpid);
	ring = atomic_load(&inherited_ring);
	/* forked under a filter of its own: no call that libc would not have made */
	if (!ring || !atomic_load(&ring->plain))
		ring = take_ring(atomic_load(&aw_session_page) ? AW_REGISTER_CHILD
							       : AW_REGISTER_PATH,
			AW_RING_SMALL);
	if (!ring)
		ring = atomic_load(&inherited_ring);
	atomic_store(&self->ring, ring);
	atomic_store(&inherited_ring, ring);
	if (!ring || !atomic_load(&aw_session_page)) {
		atomic_store(&self->state, AW_SELF_UNWATCHED);
		return NULL;
	}
	atomic_store(&self->state, AW_SELF_READY);
	return self;
}

/* The supervisor noticed that this ring is too small for us. */
static void grow_ring(struct aw_self *self)
{
	struct aw_ring *old = atomic_load(&self->ring), *big;

	atomic_store(&old->retired, 0);
	big = take_ring(AW_REGISTER_BIG, AW_RING_BIG);
	if (!big)
		return;
	atomic_store(
		&self->ring, big); /* other threads may still write to the old one */
	atomic_store(&inherited_ring, big);
}

struct aw_self *aw_self_slowly(void)
{
	struct aw_self *self =
		atomic_load_explicit(&aw_self_page, memory_order_acquire);
	struct aw_ring *ring;

	if (!self || atomic_load_explicit(&self->state, memory_order_acquire) !=
			     AW_SELF_READY) {
		if (self && atomic_load(&self->state) == AW_SELF_UNWATCHED)
			return NULL;
		return begin(self);
	}
	ring = atomic_load_explicit(&self->ring, memory_order_relaxed);
	if (__builtin_expect(
		    atomic_load_explicit(&ring->retired, memory_order_relaxed), 0))
		grow_ring(self);
	return self;
}

/* A reloaded policy comes in a new memfd; the old mapping stays for those inside it. */
static const struct aw_page *fetch_again(const struct aw_page *page)
{
	long fd = page->socket[0] ? aw_socket_again() : hello_open(AW_REGISTER_AGAIN);

	if (fd < 0)
		return page;
	aw_session_map((int)fd, 0, false);
	aw_raw(__NR_close, fd);
	return aw_session();
}

const struct aw_image *aw_policy(void)
{
	const struct aw_page *page = aw_session();

	if (__builtin_expect(
		    atomic_load_explicit(&page->stale, memory_order_acquire), 0))
		page = fetch_again(page);
	return (const struct aw_image *)((const char *)page + AW_IMAGE_OFFSET);
}

struct aw_scratch *aw_scratch_claim(struct aw_self *self)
{
	uint32_t used = atomic_load_explicit(&self->scratch_used, memory_order_relaxed);

	for (;;) {
		unsigned i = (unsigned)__builtin_ctz(~used);

		if (i >= AW_SCRATCHES)
			return NULL;
		if (atomic_compare_exchange_weak_explicit(&self->scratch_used, &used,
			    used | 1u << i, memory_order_acquire, memory_order_relaxed))
			return &scratches_of(self)[i];
	}
}

void aw_scratch_release(struct aw_self *self, struct aw_scratch *scratch)
{
	unsigned i = (unsigned)(scratch - scratches_of(self));

	atomic_fetch_and_explicit(
		&self->scratch_used, ~(1u << i), memory_order_release);
}

bool aw_readable_slowly(struct aw_self *self, const void *address)
{
	uintptr_t page = (uintptr_t)address >> 12;
	_Atomic uintptr_t *slot = &self->readable[page & 15];

	if (page == 0)
		return false;
	/* An impossible "how": EINVAL once the set has been read, EFAULT if it cannot
	 * be. */
	if (aw_raw(__NR_rt_sigprocmask, ~0, page << 12, 0, 8) == -EFAULT)
		return false;
	atomic_store_explicit(slot, page, memory_order_relaxed);
	return true;
}

long aw_string_length(struct aw_self *self, const char *text, size_t max)
{
	const char *at = text;

	if (!aw_readable(self, text))
		return -1;
	while (*at) {
		at++;
		if ((size_t)(at - text) >= max)
			return -1;
		if (((uintptr_t)at & 4095) == 0 && !aw_readable(self, at))
			return -1;
	}
	return at - text;
}

/* Read the kernel's name and keep it, unless another thread is doing just that. */
static size_t read_cwd(struct aw_self *self, char *to, size_t size, uint32_t generation)
{
	long len = aw_raw(__NR_getcwd, to, size);
	uint32_t sequence = atomic_load(&self->cwd_sequence);

	if (len <= 1 || to[0] != '/')
		return 0;
	len--;
	if ((size_t)len < sizeof(self->cwd) && !(sequence & 1) &&
		atomic_compare_exchange_strong(
			&self->cwd_sequence, &sequence, sequence + 1)) {
		memcpy(self->cwd, to, (size_t)len);
		self->cwd_len = (uint32_t)len;
		self->cwd_generation = generation;
		atomic_store_explicit(
			&self->cwd_sequence, sequence + 2, memory_order_release);
	}
	return (size_t)len;
}

struct aw_ring *aw_ring_inherited(void)
{
	return atomic_load(&inherited_ring);
}

bool aw_has_own_filter(const struct aw_self *self)
{
	const struct aw_ring *ring =
		self ? atomic_load(&self->ring) : atomic_load(&inherited_ring);

	return ring && atomic_load_explicit(&ring->plain, memory_order_relaxed);
}

void aw_readable_forget(void)
{
	struct aw_self *self = atomic_load(&aw_self_page);

	for (int i = 0; self && i < 16; i++)
		atomic_store_explicit(&self->readable[i], 0, memory_order_relaxed);
}

/* One page after the other, each asked for once. */
static bool readable_beside(const void *address, uintptr_t *last)
{
	uintptr_t page = (uintptr_t)address >> 12;

	if (page == *last)
		return true;
	if (!page || aw_raw(__NR_rt_sigprocmask, ~0, page << 12, 0, 8) == -EFAULT)
		return false;
	*last = page;
	return true;
}

bool aw_vector_readable(char *const *vector)
{
	uintptr_t entries = -1ul, texts = -1ul;

	for (; vector; vector++) {
		if (!readable_beside(vector, &entries) ||
			!readable_beside((const char *)(vector + 1) - 1, &entries))
			return false;
		if (!*vector)
			return true;
		if (!readable_beside(*vector, &texts))
			return false;
	}
	return true;
}

size_t aw_cwd(struct aw_self *self, char *to, size_t size)
{
	uint32_t generation =
		atomic_load_explicit(&aw_session()->generation, memory_order_acquire);
	uint32_t sequence =
		atomic_load_explicit(&self->cwd_sequence, memory_order_acquire);
	size_t len = self->cwd_len;

	if (!(sequence & 1) && len && len < size &&
		self->cwd_generation == generation) {
		memcpy(to, self->cwd, len);
		atomic_thread_fence(memory_order_acquire);
		if (atomic_load_explicit(&self->cwd_sequence, memory_order_relaxed) ==
			sequence)
			return len;
	}
	return read_cwd(self, to, size, generation);
}

void aw_cwd_forget(void)
{
	struct aw_self *self = atomic_load(&aw_self_page);
	uint32_t sequence;

	if (!self || aw_vfork_count)
		return;
	sequence = atomic_load(&self->cwd_sequence);
	if (!(sequence & 1) && atomic_compare_exchange_strong(
				       &self->cwd_sequence, &sequence, sequence + 1)) {
		self->cwd_len = 0;
		atomic_store(&self->cwd_sequence, sequence + 2);
	}
}

void aw_ring_pushed(const struct aw_ring *ring)
{
	const struct aw_page *page = aw_session();

	if (aw_ring_used(ring) > ring->size / 2 &&
		atomic_load_explicit(&page->drowsy, memory_order_relaxed))
		aw_raw(__NR_futex, &page->doorbell, FUTEX_WAKE, 1);
}

bool aw_ring_wait(struct aw_ring *ring)
{
	const struct timespec moment = {0, 5000000};
	const struct aw_page *page = aw_session();

	if (atomic_load_explicit(&ring->stuck, memory_order_relaxed)) {
		atomic_store(&ring->waiters, 1);
		aw_raw(__NR_futex, &page->doorbell, FUTEX_WAKE, 1);
		return aw_ring_used(ring) < ring->size / 2;
	}
	for (int i = 0; i < 20; i++) {
		atomic_store(&ring->waiters, 1);
		if (aw_ring_used(ring) < ring->size / 2)
			return true;
		aw_raw(__NR_futex, &page->doorbell, FUTEX_WAKE, 1);
		aw_raw(__NR_futex, &ring->waiters, FUTEX_WAIT, 1, &moment);
		if (atomic_load_explicit(&page->work, memory_order_relaxed) ==
			AW_WORK_NONE)
			return false;
	}
	atomic_store(&ring->stuck, 1);
	return false;
}

__attribute__((constructor)) static void on_load(void)
{
	int saved = *aw_errno();

	if (aw_self())
		aw_real(AW_FN_execve); /* what a child would look up, each anew */
	*aw_errno() = saved;
}
