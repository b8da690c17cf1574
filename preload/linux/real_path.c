/* SPDX-License-Identifier: Apache-2.0 */
/* real_path.c - which file a path reaches, asked of the kernel by the process itself. */
#include "preload/linux/real_path.h"

#include <fcntl.h>

#include "policy/path.h"
#include "preload/linux/arch.h"
#include "preload/text.h"

/* Under a filter of the target's own: no call that libc would not make. */
bool aw_is_plain(void)
{
	return aw_has_own_filter(aw_self_if_ready());
}

static size_t link_text(const char *link, char *to, size_t size)
{
	long len = aw_raw(__NR_readlinkat, AT_FDCWD, link, to, size - 1);

	if (len <= 0 || to[0] != '/')
		return 0;
	to[len] = '\0';
	return (size_t)len;
}

/* The kernel's own name for a descriptor. */
size_t aw_name_of(int fd, char *to, size_t size)
{
	char link[40];
	size_t n = aw_text_copy(link, sizeof(link), "/proc/self/fd/");

	if (fd == AT_FDCWD)
		return link_text("/proc/self/cwd", to, size);
	if (fd < 0)
		return 0;
	aw_text_number(link + n, (unsigned long)fd);
	return link_text(link, to, size);
}

/* Open with O_PATH, ask the kernel for the name, close. */
size_t aw_name_by_opening(int dir, const char *path, bool follow, char *to, size_t size)
{
	long fd = aw_raw(__NR_openat, dir, path,
		O_PATH | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW), 0);
	size_t len;

	if (fd < 0)
		return 0;
	len = aw_name_of((int)fd, to, size);
	aw_raw(__NR_close, fd);
	return len;
}

/* Resolve the parent and keep the last component, which need not exist. */
static size_t name_by_parent(int dir, const char *path, size_t len,
	struct aw_scratch *scratch, char *to, size_t size)
{
	size_t cut = len, base;

	while (cut && path[cut - 1] == '/')
		cut--;
	while (cut && path[cut - 1] != '/')
		cut--;
	if (!cut) {
		base = aw_name_of(dir, scratch->base, sizeof(scratch->base));
	} else {
		memcpy(to, path, cut);
		to[cut] = '\0';
		base = aw_name_by_opening(
			dir, to, true, scratch->base, sizeof(scratch->base));
	}
	if (!base)
		return 0;
	return aw_path_join(scratch->base, base, path + cut, len - cut, to, size);
}

/* No such directory, or no /proc: the text alone. */
static size_t name_by_text(int dir, const char *path, size_t len,
	struct aw_scratch *scratch, char *to, size_t size)
{
	size_t base = 1;

	scratch->base[0] = '/';
	if (path[0] != '/')
		base = aw_name_of(dir, scratch->base, sizeof(scratch->base));
	return base ? aw_path_join(scratch->base, base, path, len, to, size) : 0;
}

/* With what is known already, without a call. */
static size_t name_in_mind(int dir, const char *path, size_t len,
	struct aw_scratch *scratch, char *to, size_t size)
{
	struct aw_self *self = aw_self();
	size_t base = 1;

	scratch->base[0] = '/';
	if (path[0] != '/')
		base = self && dir == AT_FDCWD && self->cwd_len
			       ? aw_cwd(self, scratch->base, sizeof(scratch->base))
			       : 0;
	return base ? aw_path_join(scratch->base, base, path, len, to, size) : 0;
}

size_t aw_resolve(struct aw_scratch *scratch, int dir, const char *path, size_t len,
	bool follow, char *to, size_t size)
{
	size_t n = 0;

	if (aw_is_plain())
		return name_in_mind(dir, path, len, scratch, to, size);
	if (follow)
		n = aw_name_by_opening(dir, path, true, to, size);
	if (!n)
		n = name_by_parent(dir, path, len, scratch, to, size);
	if (!n)
		n = name_by_text(dir, path, len, scratch, to, size);
	return n;
}
