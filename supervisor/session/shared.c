/* SPDX-License-Identifier: Apache-2.0 */
/* shared.c - making and sealing the session memfd and the rings. */
#include "supervisor/session/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "policy/image/image.h"
#include "supervisor/util/cleanup.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010u
#endif

/* system call, return */
#if defined(__x86_64__)
static const unsigned char gate[] = {0x0f, 0x05, 0xc3};
#elif defined(__aarch64__)
static const uint32_t gate[] = {0xd4000001, 0xd65f03c0};
#endif

static int make_memfd(const char *name, size_t size, struct aw_error *err)
{
	AW_CLOSE int fd =
		memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC);

	if (fd < 0 && errno == EINVAL) /* before Linux 6.3 */
		fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return aw_fail(err, errno, "memfd_create: %s", strerror(errno));
	if (ftruncate(fd, (off_t)size) < 0)
		return aw_fail(err, errno, "sizing a memfd to %zu bytes: %s", size,
			strerror(errno));
	return aw_take_fd(&fd);
}

static int write_at(
	int fd, off_t at, const void *bytes, size_t len, struct aw_error *err)
{
	const char *from = bytes;

	while (len) {
		ssize_t n = pwrite(fd, from, len, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return aw_fail(
				err, errno, "filling a memfd: %s", strerror(errno));
		from += n;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

static void fill_page(
	struct aw_page *page, const struct aw_shared_facts *facts, size_t image_size)
{
	page->magic = AW_PAGE_MAGIC;
	page->version = 1;
	page->enforce = facts->enforce;
	page->ask = facts->ask;
	page->hides = facts->hides;
	page->profiles = facts->profiles;
	page->refusal = facts->refusal;
	page->image_size = image_size;
	snprintf(page->shim, sizeof(page->shim), "%s", facts->shim);
	snprintf(page->socket, sizeof(page->socket), "%s",
		facts->socket ? facts->socket : "");
	snprintf(page->session, sizeof(page->session), "%s", facts->session);
	atomic_store(&page->generation, 1);
	atomic_store(&page->work, facts->work);
}

int aw_shared_create(const struct aw_shared_facts *facts, const void *image,
	size_t image_size, struct aw_shared *ret, struct aw_error *err)
{
	AW_CLOSE int fd = make_memfd("agentwatch", AW_IMAGE_OFFSET + image_size, err);
	void *page;

	if (fd < 0 || aw_image_check(image, image_size, err) < 0)
		return -1;
	if (write_at(fd, AW_GATE_OFFSET, gate, sizeof(gate), err) < 0 ||
		write_at(fd, AW_IMAGE_OFFSET, image, image_size, err) < 0)
		return -1;
	page = mmap(NULL, AW_PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		return aw_fail(
			err, errno, "mapping the control page: %s", strerror(errno));
	fill_page(page, facts, image_size);
	if (fcntl(fd, F_ADD_SEALS,
		    F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) <
		0) {
		aw_fail(err, errno, "sealing the session memory: %s", strerror(errno));
		munmap(page, AW_PAGE_SIZE);
		return -1;
	}
	ret->fd = aw_take_fd(&fd);
	ret->page = page;
	return 0;
}

void aw_shared_release(struct aw_shared *shared)
{
	if (shared->page)
		munmap(shared->page, AW_PAGE_SIZE);
	if (shared->fd >= 0)
		close(shared->fd);
	shared->page = NULL;
	shared->fd = -1;
}

void aw_shared_moved(struct aw_shared *shared)
{
	atomic_fetch_add(&shared->page->generation, 1);
}

void aw_shared_interrupted(struct aw_shared *shared)
{
	atomic_fetch_add(&shared->page->interrupted, 1);
}

void aw_shared_led(struct aw_shared *shared)
{
	atomic_fetch_add(&shared->page->links, 1);
}

int aw_ring_create(uint32_t size, int owner, struct aw_ring **ret_ring, int *ret_fd,
	struct aw_error *err)
{
	AW_CLOSE int fd = make_memfd("agentwatch-ring", AW_RING_HEADER + size, err);
	struct aw_ring *ring;

	if (fd < 0)
		return -1;
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		return aw_fail(err, errno, "sealing a ring: %s", strerror(errno));
	ring = mmap(
		NULL, AW_RING_HEADER + size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED)
		return aw_fail(err, errno, "mapping a ring: %s", strerror(errno));
	ring->magic = AW_RING_MAGIC;
	ring->size = size;
	ring->owner = owner;
	ring->session_fd = -1;
	*ret_ring = ring;
	*ret_fd = aw_take_fd(&fd);
	return 0;
}

void aw_ring_unmap(struct aw_ring *ring, uint32_t size)
{
	if (ring)
		munmap(ring, AW_RING_HEADER + size);
}
