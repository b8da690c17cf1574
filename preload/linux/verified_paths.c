/* SPDX-License-Identifier: Apache-2.0 */
/* verified_paths.c - directories whose paths are known to hold no symbolic link. */
#include "preload/linux/verified_paths.h"

uint32_t aw_links_now(void)
{
	return atomic_load_explicit(&aw_session()->links, memory_order_acquire);
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 32;
}

/* Of the path without its last component, and the count; never 0. */
static uint64_t proof(const char *path, size_t len, uint32_t links)
{
	uint64_t hash = links, word;

	while (len > 0 && path[len - 1] != '/')
		len--;
	hash = mix(hash, len);
	for (; len >= sizeof(word); len -= sizeof(word), path += sizeof(word)) {
		__builtin_memcpy(&word, path, sizeof(word));
		hash = mix(hash, word);
	}
	for (word = 0; len > 0; len--)
		word = word << 8 | (unsigned char)path[len - 1];
	return mix(hash, word) | 1;
}

bool aw_is_proven(
	const struct aw_self *self, const char *path, size_t len, uint32_t links)
{
	uint64_t own = proof(path, len, links);

	return atomic_load_explicit(&self->proven[own >> 1 & (AW_PROVEN - 1)],
		       memory_order_relaxed) == own;
}

void aw_prove(struct aw_self *self, const char *path, size_t len, uint32_t links)
{
	uint64_t own = proof(path, len, links);

	atomic_store_explicit(
		&self->proven[own >> 1 & (AW_PROVEN - 1)], own, memory_order_relaxed);
}
