/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_session_map.c - neither the supervisor hands out nor the library maps a policy
 * image that could lead outside of itself.
 */
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "preload/linux/session_map.h"
#include "supervisor/session/shared.h"
#include "tests/unit/policy_text.h"

/* The library's, of which only the mapping is linked. */
__thread int aw_vfork_count;

/* Session memory with these bytes as the image, as the supervisor would make it. */
static int memory_of(const void *image, size_t claimed, size_t size)
{
	struct aw_page page = {.magic = AW_PAGE_MAGIC, .image_size = claimed};
	int fd = memfd_create("session", MFD_CLOEXEC);

	if (fd < 0 || pwrite(fd, &page, sizeof(page), 0) < 0 ||
		pwrite(fd, image, size, AW_IMAGE_OFFSET) < 0)
		abort();
	return fd;
}

static bool maps(const void *image, size_t claimed, size_t size, size_t told)
{
	int fd = memory_of(image, claimed, size);
	bool mapped;

	atomic_store(&aw_session_page, NULL);
	mapped = aw_session_map(fd, told, false);
	ok(mapped == (aw_session() != NULL), "it is known to be mapped or not");
	close(fd);
	return mapped;
}

static bool is_handed_out(const void *image, size_t size)
{
	const struct aw_shared_facts facts = {
		.work = AW_WORK_KERNEL, .shim = "", .session = "one"};
	struct aw_shared shared = {.fd = -1};
	struct aw_error err;
	bool created = aw_shared_create(&facts, image, size, &shared, &err) == 0;

	aw_shared_release(&shared);
	return created;
}

int main(void)
{
	struct aw_image *image = image_of("filesystem: {deny: [/a, /b/*.txt]}");
	size_t size = aw_image_size(image);
	size_t whole = AW_IMAGE_OFFSET + size;
	char *broken = malloc(size);
	size_t refused = 0, mapped = 0;

	ok(is_handed_out(image, size), "an image is handed out");
	ok(maps(image, size, size, 0), "the library maps it");
	ok(maps(image, size, size, whole), "also when it is told the size");
	ok(!maps(image, size + 1, size, whole), "not when it is said to be longer");
	ok(!maps(image, SIZE_MAX - AW_IMAGE_OFFSET + 1, size, whole),
		"nor when its length goes round");
	/* each word of the header, which says where the parts are */
	for (size_t at = 0; at < 64; at += 4) {
		memcpy(broken, image, size);
		memset(broken + at, 0xff, 4);
		refused += !is_handed_out(broken, size);
		mapped += maps(broken, size, size, whole);
	}
	ok(refused >= 4, "%zu of 16 broken headers are not handed out", refused);
	ok(mapped == 16 - refused, "the library maps no others: %zu", mapped);
	free(broken);
	free(image);
	return done();
}
