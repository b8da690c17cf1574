/* SPDX-License-Identifier: Apache-2.0 */
/* counter.c - how often something was asked for, and by which programs. */
#include "supervisor/learn/counter.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "supervisor/cli/say.h"
#include "supervisor/learn/memory.h"

#define uthash_fatal(msg) aw_learn_no_memory()
#include <uthash.h>

struct aw_program_name {
	UT_hash_handle hh;
	char text[];
};

/* What starts the command for us is not one of its programs. */
static const char own[] = "agentwatch-enter";

const char *aw_program_name_of(struct aw_programs *programs, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t len = strlen(name);
	struct aw_program_name *found;

	if (!len || strcmp(name, own) == 0)
		return NULL;
	HASH_FIND(hh, programs->names, name, len, found);
	if (!found) {
		found = aw_learn_new(sizeof(*found) + len + 1);
		memcpy(found->text, name, len + 1);
		HASH_ADD_KEYPTR(hh, programs->names, found->text, len, found);
	}
	return found->text;
}

bool aw_programs_have(const struct aw_programs *programs, const char *start)
{
	struct aw_program_name *name, *next;
	size_t len = strlen(start);

	HASH_ITER(hh, programs->names, name, next)
	if (strncmp(name->text, start, len) == 0 &&
		!isalpha((unsigned char)name->text[len]))
		return true;
	return false;
}

void aw_programs_free(struct aw_programs *programs)
{
	struct aw_program_name *name, *next;

	HASH_ITER(hh, programs->names, name, next)
	{
		HASH_DEL(programs->names, name);
		free(name);
	}
}

static void add_name(struct aw_counter *tally, const char *by)
{
	for (uint8_t i = 0; i < tally->known; i++)
		if (tally->by[i] == by)
			return;
	if (tally->known < AW_COUNTER_NAMES)
		tally->by[tally->known++] = by;
	else
		tally->others = true;
}

void aw_counter_add(struct aw_counter *tally, uint64_t times, const char *by)
{
	tally->times += times;
	if (by)
		add_name(tally, by);
}

void aw_counter_join(struct aw_counter *tally, const struct aw_counter *other)
{
	tally->times += other->times;
	tally->others |= other->others;
	for (uint8_t i = 0; i < other->known; i++)
		add_name(tally, other->by[i]);
}

void aw_counter_text(const struct aw_counter *tally, char *out, size_t size)
{
	size_t used = (size_t)snprintf(out, size, "%" PRIu64 " time%s", tally->times,
		tally->times == 1 ? "" : "s");

	for (uint8_t i = 0; i < tally->known && used < size; i++) {
		bool last = i + 1 == tally->known && !tally->others;
		char name[64];

		aw_show(tally->by[i], strlen(tally->by[i]), name, sizeof(name));
		used += (size_t)snprintf(out + used, size - used, "%s%s",
			i == 0 ? ", by "
			: last ? " and "
			       : ", ",
			name);
	}
	if (tally->others && used < size)
		snprintf(out + used, size - used, " and others");
}
