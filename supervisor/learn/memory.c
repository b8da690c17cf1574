/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c - memory that is there or ends the command. */
#include "supervisor/learn/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/cli/say.h"
#include "supervisor/session/find.h"

void aw_learn_no_memory(void)
{
	aw_say("learning a policy: out of memory; nothing was written");
	exit(AW_RUN_FAILED);
}

void *aw_learn_new(size_t size)
{
	void *memory = calloc(1, size ? size : 1);

	if (!memory)
		aw_learn_no_memory();
	return memory;
}

void *aw_learn_grow(void *memory, size_t size)
{
	void *grown = realloc(memory, size ? size : 1);

	if (!grown)
		aw_learn_no_memory();
	return grown;
}

char *aw_learn_copy(const char *text, size_t len)
{
	char *copy = aw_learn_new(len + 1);

	memcpy(copy, text, len);
	return copy;
}

char *aw_learn_text(const char *fmt, ...)
{
	char *text = NULL;
	va_list args;
	int n;

	va_start(args, fmt);
	n = vasprintf(&text, fmt, args);
	va_end(args);
	if (n < 0)
		aw_learn_no_memory();
	return text;
}
