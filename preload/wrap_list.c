/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap_list.c - the list of loaded objects, with us at its end.
 *
 * AddressSanitizer refuses to run unless its own library is the first one of that list
 * (gcc links it dynamically), so that its malloc comes first. We have no malloc.
 */
#include <link.h>
#include <stddef.h>

#include "preload/gate.h"
#include "preload/linux/symbol.h"
#include "preload/text.h"

typedef int visit(struct dl_phdr_info *, size_t, void *);

struct tour {
	visit *visit;
	void *data;
	struct dl_phdr_info ours;
	size_t size; /* of ours; 0 while it has not been met */
};

static bool is_ours(const struct dl_phdr_info *info)
{
	const uintptr_t here = (uintptr_t)&aw_session_page;

	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type == PT_LOAD &&
			here - (info->dlpi_addr + part->p_vaddr) < part->p_memsz)
			return true;
	}
	return false;
}

static int pass_on(struct dl_phdr_info *info, size_t size, void *data)
{
	struct tour *tour = data;

	if (tour->size || size > sizeof(tour->ours) || !is_ours(info))
		return tour->visit(info, size, tour->data);
	memcpy(&tour->ours, info, size);
	tour->size = size;
	return 0;
}

AW_EXPORT int dl_iterate_phdr(visit *visitor, void *data)
{
	struct tour tour = {.visit = visitor, .data = data};
	int (*real)(visit *, void *);
	int ret;

	*(void **)&real = aw_real(AW_FN_dl_iterate_phdr);
	if (!real)
		return 0;
	ret = real(pass_on, &tour);
	return ret || !tour.size ? ret : visitor(&tour.ours, tour.size, data);
}
