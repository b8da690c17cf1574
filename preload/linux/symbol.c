/* SPDX-License-Identifier: Apache-2.0 */
/* symbol.c - symbol look-up in the link map, GNU and SysV hash tables. */
#include "preload/linux/symbol.h"

#include <elf.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>

#include "preload/text.h"

extern struct r_debug _r_debug __attribute__((weak));		   /* glibc */
extern struct r_debug *const _dl_debug_addr __attribute__((weak)); /* musl */
extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));

struct library {
	uintptr_t base;
	const ElfW(Sym) * symbols;
	const char *strings;
	const uint32_t *gnu_hash;
	const uint32_t *sysv_hash;
	const ElfW(Half) * versions;
};

/* glibc has relocated these addresses, musl has not. */
static const void *address(uintptr_t base, ElfW(Addr) value)
{
	return (const void *)(value < base ? base + value : value);
}

static void library_of(const struct link_map *map, struct library *ret)
{
	*ret = (struct library){.base = map->l_addr};
	for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
		const void *at = address(map->l_addr, d->d_un.d_ptr);

		if (d->d_tag == DT_SYMTAB)
			ret->symbols = at;
		else if (d->d_tag == DT_STRTAB)
			ret->strings = at;
		else if (d->d_tag == DT_GNU_HASH)
			ret->gnu_hash = at;
		else if (d->d_tag == DT_HASH)
			ret->sysv_hash = at;
		else if (d->d_tag == DT_VERSYM)
			ret->versions = at;
	}
}

static bool matches(const struct library *lib, uint32_t index, const char *name)
{
	const ElfW(Sym) *sym = &lib->symbols[index];

	return sym->st_shndx != SHN_UNDEF && sym->st_value &&
	       !(lib->versions && lib->versions[index] & 0x8000) &&
	       aw_text_equal(lib->strings + sym->st_name, name);
}

static const ElfW(Sym) * in_gnu_hash(const struct library *lib, const char *name)
{
	const uint32_t *table = lib->gnu_hash;
	uint32_t buckets = table[0], offset = table[1], words = table[2],
		 shift = table[3];
	const ElfW(Addr) *bloom = (const ElfW(Addr) *)(const void *)(table + 4);
	const uint32_t *bucket = (const uint32_t *)(const void *)(bloom + words);
	const uint32_t *chain = bucket + buckets;
	const unsigned bits = sizeof(ElfW(Addr)) * 8;
	uint32_t hash = 5381, i;
	ElfW(Addr) mask;

	for (const char *c = name; *c; c++)
		hash = hash * 33 + (unsigned char)*c;
	mask = (ElfW(Addr))1 << hash % bits | (ElfW(Addr))1 << (hash >> shift) % bits;
	if (!buckets || (words && (bloom[hash / bits % words] & mask) != mask))
		return NULL;
	i = bucket[hash % buckets];
	if (i < offset)
		return NULL;
	for (;; i++) {
		if ((chain[i - offset] | 1) == (hash | 1) && matches(lib, i, name))
			return &lib->symbols[i];
		if (chain[i - offset] & 1)
			return NULL;
	}
}

static const ElfW(Sym) * in_sysv_hash(const struct library *lib, const char *name)
{
	const uint32_t *table = lib->sysv_hash;
	uint32_t hash = 0;

	for (const char *c = name; *c; c++) {
		hash = (hash << 4) + (unsigned char)*c;
		hash ^= hash >> 24 & 0xf0;
	}
	hash &= 0xfffffff;
	for (uint32_t i = table[2 + hash % table[0]]; i; i = table[2 + table[0] + i])
		if (matches(lib, i, name))
			return &lib->symbols[i];
	return NULL;
}

static void *look_in(const struct link_map *map, const char *name)
{
	const ElfW(Sym) *sym = NULL;
	struct library lib;

	library_of(map, &lib);
	if (!lib.symbols || !lib.strings)
		return NULL;
	if (lib.gnu_hash)
		sym = in_gnu_hash(&lib, name);
	else if (lib.sysv_hash)
		sym = in_sysv_hash(&lib, name);
	if (!sym)
		return NULL;
	if ((sym->st_info & 15) == STT_GNU_IFUNC)
		return ((void *(*)(void))(lib.base + sym->st_value))();
	return (void *)(lib.base + sym->st_value);
}

static const struct link_map *behind_us(void)
{
	const struct r_debug *debug = &_r_debug		? &_r_debug
				      : &_dl_debug_addr ? _dl_debug_addr
							: NULL;
	const struct link_map *map = debug ? debug->r_map : NULL;

	while (map && map->l_ld != _DYNAMIC)
		map = map->l_next;
	return map ? map->l_next : NULL;
}

static void *find(const char *name, const struct link_map **ret_owner)
{
	for (const struct link_map *map = behind_us(); map; map = map->l_next) {
		void *found = look_in(map, name);

		if (found) {
			if (ret_owner)
				*ret_owner = map;
			return found;
		}
	}
	return NULL;
}

void *aw_find(const char *name)
{
	return find(name, NULL);
}

void *aw_find_in_libc(const char *name)
{
	const struct link_map *libc = NULL;

	find("__libc_start_main", &libc);
	return libc ? look_in(libc, name) : NULL;
}

_Atomic(void *) aw_reals[AW_CALL_COUNT];
_Atomic unsigned char aw_owners[AW_CALL_COUNT];

void *aw_real_slowly(enum aw_call call)
{
	const struct link_map *owner = NULL, *libc = NULL;
	void *found = find(aw_call_name(call), &owner);

	if (!found)
		return NULL;
	find("__libc_start_main", &libc);
	atomic_store_explicit(&aw_owners[call],
		owner == libc ? AW_OWNER_LIBC : AW_OWNER_OTHER, memory_order_relaxed);
	atomic_store_explicit(&aw_reals[call], found, memory_order_release);
	return found;
}
