/* SPDX-License-Identifier: Apache-2.0 */
/* load_memory.c - memory, or a loader that has failed. */
#include <stdlib.h>
#include <string.h>

#include "policy/load/load_internal.h"

char *aw_copy(struct aw_loader *l, const char *text)
{
	size_t size = strlen(text) + 1;
	char *to = malloc(size);

	if (to)
		memcpy(to, text, size);
	else
		l->failed = true;
	return to;
}

void *aw_new(struct aw_loader *l, size_t count, size_t size)
{
	void *items = calloc(count, size);

	if (!items)
		l->failed = true;
	return items;
}
